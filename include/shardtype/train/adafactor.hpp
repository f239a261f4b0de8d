#pragma once
/// Adafactor: of a matrix the optimizer keeps one number for each row and one for each column.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/autodiff/active.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/reductions.hpp>
#include <shardtype/train/model_bytes.hpp>
#include <shardtype/train/optimizers.hpp>

namespace shardtype::train {

namespace detail {

/// The dims of `A` without dim `Without`, which is counted from the last one, 1; elements are those
/// of a state.
template <class A, int Without>
struct Factor {
  static constexpr int place = static_cast<int>(A::rank) - Without;
  struct Rest {
    static constexpr Spec value = [] {
      Spec out = A::spec;
      for (int d = place; d + 1 < out.rank; ++d) out.dims[d] = out.dims[d + 1];
      out.rank = static_cast<std::int8_t>(out.rank - 1);
      return out;
    }();
  };
  using type =
      core::tensor_from_spec<Scope<A>, Rest, shardtype::detail::computed_t<typename A::element>, A>;
  static type zeros(A const& a) {
    std::array<std::int64_t, type::rank> extents{};
    for (std::size_t d = 0; d < type::rank; ++d)
      extents[d] = a.extents()[static_cast<int>(d) < place ? d : d + 1];
    auto out = shardtype::detail::uninitialized<type>(a.mesh(), extents);
    shardtype::detail::fill(out, typename type::element(0));
    return out;
  }
};
/// The type of a matrix without dim `Without`; for a vector `OfVector<A>`.
template <class A, int Without, template <class> class OfVector>
struct FactorOr : Factor<A, Without> {};
template <class A, int Without, template <class> class OfVector>
  requires(A::rank < 2)
struct FactorOr<A, Without, OfVector> {
  using type = OfVector<A>;
};
template <class>
using NotKept = autodiff::NoGradient;
template <class A>
using RowsOf = FactorOr<A, 1, state_t>;
template <class A>
using ColumnsOf = FactorOr<A, 2, NotKept>;
template <class P>
struct InRows;
template <class P>
struct InColumns;

}  // namespace detail

/// The types of the tensors that Adafactor keeps for each parameter: the mean squares of a matrix'
/// rows, or of a vector's elements; and the mean squares of a matrix' columns.
template <class P>
using rows_t = typename detail::InRows<P>::type;
template <class P>
using columns_t = typename detail::InColumns<P>::type;

namespace detail {

template <class P>
struct InRows : Kept<rows_t, RowsOf, P> {};
template <class P>
struct InColumns : Kept<columns_t, ColumnsOf, P> {};

/// The gradient over the root of its mean square, which is a product of a row's and a column's.
template <class C>
struct Factored {
  C scale, least;
  template <class G>
  KOKKOS_FUNCTION C operator()(G g, C row, C column) const {
    return (*this)(g, row * column);
  }
  template <class G>
  KOKKOS_FUNCTION C operator()(G g, C square) const {
    return scale * static_cast<C>(g) /
           shardtype::kernels::math::sqrt(square > least ? square : least);
  }
};
/// before + part (squares - before).
template <class C>
struct Toward {
  C part;
  KOKKOS_FUNCTION C operator()(C before, C squares) const {
    return before + part * (squares - before);
  }
};
template <class C>
struct Squared {
  C scale;
  template <class G>
  KOKKOS_FUNCTION C operator()(G g) const {
    C const x = scale * static_cast<C>(g);
    return x * x;
  }
};
template <class C>
struct Stepping {
  C keep, rate;
  KOKKOS_FUNCTION C operator()(C x, C u) const { return keep * x - rate * u; }
};

}  // namespace detail

/// The state that Adafactor keeps for the model `Model`; for a model with bfloat16 also the
/// parameters in float.
template <class Model>
struct FactoredState {
  std::int64_t step = 0;  ///< number of steps that changed the model
  rows_t<Model> rows;
  columns_t<Model> columns;
  std::optional<state_t<Model>> master{};

  using model = Model;
  using parts = std::tuple<rows_t<Model>, columns_t<Model>>;  ///< all but the master
  /// Calls `f(name, structure)` of each structure of tensors of a state: "rows", "columns",
  /// "master".
  template <class S, class F>
  static void each_part(S& s, F const& f) {
    f(std::string("rows"), s.rows);
    f(std::string("columns"), s.columns);
    if (s.master) f(std::string("master"), *s.master);
  }
};
template <class Model>
inline constexpr bool is_state<FactoredState<Model>> = true;

/// Adafactor. Of a parameter `[B, D, F]` it keeps the mean squares `[B, D]` of its rows and `[B,
/// F]` of its columns, in the parameter's sharding; of a vector those of its elements. The rate of
/// a step is min(rate, 1 / sqrt(t)) times the root mean square of the parameter, and the root mean
/// square of a parameter's change is at most `most` before that. Corresponds to
/// torch.optim.Adafactor. Source: Shazeer, Stern, "Adafactor: adaptive learning rates with
/// sublinear memory cost", ICML 2018.
///
///     train::Adafactor const adafactor{{.rate = 0.01}};
///     auto state = adafactor.init(model);
struct Adafactor : OptimizerBase<Adafactor> {
  static constexpr std::string_view name = "Adafactor";
  static constexpr int sums = 2;  ///< of squares, of a parameter and of its change
  template <class Model>
  using StateOf = FactoredState<Model>;

  double beta2_decay = -0.8;  ///< the newest squares of step t weigh t^beta2_decay
  double epsilon = 0;         ///< least root of a mean square; 0: the precision of the element type
  double least = 1e-3;        ///< of the parameter's root mean square
  double most = 1;            ///< of a change's

  template <class O = Options>
  constexpr explicit Adafactor(O const& o, double decay2 = -0.8, double e = 0,
                               double least_rms = 1e-3, double most_rms = 1)
      : OptimizerBase(detail::options_of(o)),
        beta2_decay(decay2),
        epsilon(detail::not_negative(e, "epsilon of Adafactor")),
        least(detail::not_negative(least_rms, "the least root mean square of Adafactor")),
        most(most_rms) {
    if (!(decay2 <= 0))
      detail::throw_setting("the decay of Adafactor's beta2", decay2, "it is 0 or less");
    if (!(most_rms > 0))
      detail::throw_setting("the largest change of Adafactor", most_rms, "it is more than 0");
  }

  template <class Model>
  FactoredState<Model> zeros(Model const& model) const {
    return {0,
            detail::keep<rows_t>(model,
                                 []<class A, class Out>(A const& a, Type<Out>) {
                                   if constexpr (A::rank < 2) {
                                     return autodiff::filled<Out>(a, 0);
                                   } else {
                                     return detail::Factor<A, 1>::zeros(a);
                                   }
                                 }),
            detail::keep<columns_t>(model,
                                    []<class A, class Out>(A const& a, Type<Out>) {
                                      return detail::Factor<A, 2>::zeros(a);
                                    }),
            {}};
  }

  /// Sends, for each matrix, the means along a split dim (one all_reduce of rows, of columns, and
  /// two of the mean of the rows, where these dims are split); one AllReduce of two numbers per
  /// parameter. All ranks change replicas by the same numbers.
  template <class Model, class Gradient>
  void change(Model& model, Gradient const& gradient, FactoredState<Model>& state, double at,
              double scale, std::source_location const& where) const {
    if (state.master) {
      step(*state.master, gradient, state, at, scale, where);
      train::for_each_tensor(
          []<class W, class M>(std::string_view, W& w, M const& master) {
            if constexpr (is_trained<W>) w = api::cast<typename W::element>(master);
          },
          model, *state.master);
    } else {
      step(model, gradient, state, at, scale, where);
    }
  }

  /// The plan of the functions that `step` calls.
  template <class A>
  constexpr planning::UpdatePlan steps(Type<A>) const {
    if constexpr (is_trained<A>) {
      if constexpr (A::rank < 2) {
        planning::UpdatePlan out;
        if constexpr (Scope<A>::names.all_static())
          out.workspace = core::mul_sat(2, detail::tensor_bytes<A>().state);
        return out;
      } else {
        using R = rows_t<A>;
        using K = columns_t<A>;
        using W = state_t<A>;
        auto const all = []<class V, class G, class Rows, class Columns>(
                             V const& w, G const& g, Rows rows, Columns columns) {
          using C = typename R::element;
          Adafactor::learn(g, rows, columns, 1, 1);
          static_cast<void>(Adafactor::change_of(g, rows, columns, 1, C(1)));
          return api::map(detail::Stepping<C>{C(1), C(1)}, w,
                          Adafactor::change_of(g, rows, columns, 1, C(1)))
              .tensor();
        };
        std::int64_t given = 0;
        if constexpr (Scope<A>::names.all_static())
          given = detail::tensor_bytes<W>().all + detail::tensor_bytes<A>().all +
                  detail::tensor_bytes<R>().all + detail::tensor_bytes<K>().all;
        return planning::update_plan(api::plan(all, type<W>, type<A>, type<R>, type<K>), given);
      }
    } else {
      return {};
    }
  }

 private:
  template <class Weights, class Gradient, class State>
  void step(Weights& weights, Gradient const& gradient, State& state, double at, double scale,
            std::source_location const& where) const {
    auto const t = static_cast<double>(state.step + 1);
    double const part = std::pow(t, beta2_decay);
    // of each parameter: the sums of squares of the change and of the parameter, and its number of
    // elements
    std::vector<double> squares;
    std::vector<double> elements;
    MeshRef const* mesh = nullptr;
    train::for_each_tensor(
        [&]<class W, class G, class R, class K>(std::string_view, W const& w, G const& g, R& rows,
                                                K& columns) {
          if constexpr (is_trained<W>) {
            if (mesh != nullptr) shardtype::detail::check_one_mesh(*mesh, w.mesh());
            mesh = &w.mesh();
            double n = 1;
            for (std::int64_t const e : w.extents()) n *= static_cast<double>(e);
            elements.push_back(n);
            if (n > 0) learn(g, rows, columns, part, scale);
            squares.push_back(n > 0
                                  ? detail::first_squares_of(change_of(
                                        g, rows, columns, scale, least_root<typename R::element>()))
                                  : 0);
            squares.push_back(n > 0 ? detail::first_squares_of(w) : 0);
          }
        },
        weights, gradient, state.rows, state.columns);
    if (mesh == nullptr || !mesh->here()) return;
    std::vector<double> totals(squares.size());
    detail::sum_alike(mesh->state(), "Adafactor", where, squares.data(), totals.data(),
                      static_cast<std::int64_t>(squares.size()));
    std::size_t k = 0;
    train::for_each_tensor(
        [&]<class W, class G, class R, class K>(std::string_view path, W& w, G const& g,
                                                R const& rows, K const& columns) {
          if constexpr (is_trained<W>) {
            using C = typename R::element;
            double const n = elements[k];
            double const changed = std::sqrt(totals[2 * k] / std::max(1.0, n));
            double const size = std::sqrt(totals[2 * k + 1] / std::max(1.0, n));
            ++k;
            if (n == 0) return;
            Group const group = this->group_of(path, static_cast<int>(W::rank));
            double const own = std::max(least, size) * std::min(at, 1 / std::sqrt(t)) * group.rate;
            double const keep = 1 - at * group.rate * group.decay;
            // small elements are changed in the master's tensors, which are not small
            if constexpr (std::is_same_v<typename W::element, C>)
              w = api::map(detail::Stepping<C>{static_cast<C>(keep),
                                               static_cast<C>(own / std::max(1.0, changed / most))},
                           std::move(w),
                           change_of(g, rows, columns, scale, least_root<typename R::element>()))
                      .tensor();
          }
        },
        weights, gradient, state.rows, state.columns);
  }

  template <class C>
  C least_root() const {
    return static_cast<C>(epsilon > 0 ? epsilon
                                      : static_cast<double>(std::numeric_limits<C>::epsilon()));
  }
  /// The mean squares with those of this gradient.
  template <class G, class R, class K>
  static constexpr void learn(G const& g, R& rows, K& columns, double part, double scale) {
    using C = typename R::element;
    detail::Toward<C> const toward{static_cast<C>(part)};
    auto const each = api::map(detail::Squared<C>{static_cast<C>(scale)}, g);
    if constexpr (std::is_same_v<K, autodiff::NoGradient>) {
      rows = api::map(toward, std::move(rows), each).tensor();
    } else {
      rows = api::map(toward, std::move(rows), api::mean<autodiff::tensor_of<R>>(each)).tensor();
      columns =
          api::map(toward, std::move(columns), api::mean<autodiff::tensor_of<K>>(each)).tensor();
    }
  }
  /// The change before its rate: the gradient over the root of its mean square.
  template <class G, class R, class K, class C>
  static constexpr auto change_of(G const& g, R const& rows, K const& columns, double scale,
                                  C root) {
    detail::Factored<C> const factored{static_cast<C>(scale), root * root};
    if constexpr (std::is_same_v<K, autodiff::NoGradient>) {
      return api::map(factored, g, rows).tensor();
    } else {
      using Mean = typename detail::Factor<autodiff::tensor_of<R>, 1>::type;
      auto const relative = (rows / api::max(api::mean<Mean>(rows), root)).tensor();
      return api::map(factored, g, relative, columns).tensor();
    }
  }
};

}  // namespace shardtype::train
