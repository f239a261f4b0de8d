#pragma once
/// Muon: the step of a matrix is its momentum made orthogonal.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <shardtype/autodiff/active.hpp>
#include <shardtype/train/model_bytes.hpp>
#include <shardtype/train/muon_matrix.hpp>
#include <shardtype/train/optimizers.hpp>

namespace shardtype::train {

namespace detail {

template <class... Parts>
struct MuonSquares {
  template <class A>
  struct OfLeaf {
    static constexpr auto find() {
      if constexpr (form_of<A, Parts...>.taken) {
        return Type<autodiff::NoGradient>{};
      } else {
        return Type<state_t<A>>{};
      }
    }
    using type = typename decltype(find())::type;
  };
  template <class P>
  struct In;
  template <class P>
  using of = typename In<P>::type;
  template <class P>
  struct In : Kept<of, OfLeaf, P> {};
};

/// `x keep - rate g`, as an optimizer of one gradient.
struct MuonMove {
  double rate, keep;
  template <class C>
  struct Body {
    C rate, keep;
    template <class V>
    KOKKOS_FUNCTION void operator()(V& x, V const& g) const {
      x = detail::fused_by(keep, x, -(rate * g));
    }
  };
  template <class C>
  Body<C> body(double, std::int64_t, double) const {
    return {static_cast<C>(rate), static_cast<C>(keep)};
  }
};

}  // namespace detail

/// The state that Muon keeps for the model `Model`: the momentum of matrices and AdamW's mean
/// gradients, AdamW's mean squares, and, for a model with bfloat16, the parameters in float.
template <class Model, class... Parts>
struct MuonState {
  template <class P>
  using squares_t = typename detail::MuonSquares<Parts...>::template of<P>;

  std::int64_t step = 0;  ///< number of steps that changed the model
  state_t<Model> momentum;
  squares_t<Model> squares;
  std::optional<state_t<Model>> master{};

  using model = Model;
  using parts = std::tuple<state_t<Model>, squares_t<Model>>;  ///< all but the master
  /// Calls `f(name, structure)` of each structure of tensors of a state: "momentum", "squares",
  /// "master".
  template <class S, class F>
  static void each_part(S& s, F const& f) {
    f(std::string("momentum"), s.momentum);
    f(std::string("squares"), s.squares);
    if (s.master) f(std::string("master"), *s.master);
  }
};
template <class Model, class... Parts>
inline constexpr bool is_state<MuonState<Model, Parts...>> = true;

/// Muon. The momentum m of a matrix, m + (1 - momentum) (g - m), is made nearly orthogonal by five
/// Newton-Schulz rounds x (a + b x'x + c (x'x)²) in the element type of the state, and the
/// parameter x becomes x (1 - rate decay) - rate scale orthogonal(g + momentum (m - g)).
///
/// A parameter of two dims is a matrix; one of more dims by `Stacked` and `Merged`. All others, and
/// those of `Except`, are AdamW's, with options of its own: vectors, norms, an embedding.
/// `Muon<...>::takes<A>` says which.
///
///     train::Muon<train::Except<V>, train::Merged<H, F>> const muon{{.rate = 0.02, .decay = 0.01},
///                                                                   train::AdamW{{.rate = 3e-4}}};
///     auto state = muon.init(model);
///
/// Sends, of each matrix with a split side, what a reshard of the momentum to whole sides sends:
/// one AllGather for each split side, in the element type of the state (float for bfloat16), so
/// that a rank receives what it lacks of the matrix. All ranks that have the matrix then compute
/// the same rounds on the same numbers: its replicas have the same bits, and each rank keeps its
/// block. Dims of `Stacked` stay split: their ranks share the matrices, and nothing is sent along
/// them. Error E85: settings out of range, and `clip` or `skip_not_finite` of AdamW's options,
/// which are Muon's.
///
/// Corresponds to torch.optim.Muon. Sources: Jordan et al., "Muon: an optimizer for hidden layers
/// in neural networks", 2024; Liu et al., "Muon is scalable for LLM training", arXiv 2502.16982
/// (`MuonScale::as_adamw`).
template <class... Parts>
struct Muon : OptimizerBase<Muon<Parts...>> {
  static_assert(((detail::muon_part<Parts>.kind != detail::MuonPart::Kind::none) && ...),
                "a part of Muon is Except<I, ...>, Stacked<I, ...> or Merged<J, K>");
  static constexpr std::string_view name = "Muon";
  template <class Model>
  using StateOf = MuonState<Model, Parts...>;
  /// Whether the parameter `A` is a matrix or a stack of them; AdamW changes the others.
  template <class A>
  static constexpr bool takes = detail::form_of<A, Parts...>.taken;

  AdamW others;  ///< of the other parameters
  MuonScale scale = MuonScale::rows_over_columns;
  double momentum = 0.95;
  bool nesterov = true;
  int rounds = 5;
  double epsilon = 1e-7;  ///< least norm that a matrix is divided by

  template <class O = Options>
  constexpr explicit Muon(O const& o, AdamW const& other = AdamW(Options{.rate = 3e-4}, 0.9, 0.95),
                          MuonScale by = MuonScale::rows_over_columns, double m = 0.95,
                          bool n = true, int times = 5, double e = 1e-7)
      : OptimizerBase<Muon>(detail::options_of(o)),
        others(other),
        scale(by),
        momentum(detail::below_one(m, "the momentum of Muon")),
        nesterov(n),
        rounds(times),
        epsilon(detail::not_negative(e, "epsilon of Muon")) {
    if (times < 1) detail::throw_setting("the number of Muon's rounds", times, "it is 1 or more");
    if (other.clip != 0)
      detail::throw_setting("the largest norm of Muon's AdamW", other.clip,
                            "Muon's own options have it for all parameters");
    if (other.skip_not_finite)
      detail::throw_setting("skip_not_finite of Muon's AdamW", 1,
                            "Muon's own options have it for all parameters");
  }

  template <class Model>
  StateOf<Model> zeros(Model const& model) const {
    return {0,
            train::zeros_like_state(model),
            detail::keep<StateOf<Model>::template squares_t>(
                model, []<class A, class Out>(A const& a,
                                              Type<Out>) { return autodiff::filled<Out>(a, 0); }),
            {}};
  }

  template <class Model, class Gradient>
  void change(Model& model, Gradient const& gradient, StateOf<Model>& state, double at, double by,
              std::source_location const& where) const {
    double const other_rate = others.rate(state.step);
    auto const one = [&]<class W, class G, class M, class V>(std::string_view path, W& w,
                                                             G const& g, auto* master, M& m, V& v) {
      if constexpr (is_trained<W>) {
        constexpr int rank = static_cast<int>(W::rank);
        if constexpr (takes<W>) {
          Group const group = this->group_of(path, rank);
          matrix(at * group.rate, by, group.decay, w, g, master, m, where);
        } else {
          Group const group = others.group_of(path, rank);
          detail::update_one(others, other_rate * group.rate, state.step, by, group.decay, w, g,
                             master, where, m, v);
        }
      }
    };
    if (state.master) {
      train::for_each_tensor([&](std::string_view path, auto& w, auto const& g, auto& master,
                                 auto& m, auto& v) { one(path, w, g, &master, m, v); },
                             model, gradient, *state.master, state.momentum, state.squares);
    } else {
      train::for_each_tensor(
          [&]<class A>(std::string_view path, A& w, auto const& g, auto& m, auto& v) {
            one(path, w, g, static_cast<state_t<A>*>(nullptr), m, v);
          },
          model, gradient, state.momentum, state.squares);
    }
  }

  /// The plan of the step of a matrix: its gathers and rounds. AdamW's parameters send nothing.
  template <class A>
  constexpr planning::UpdatePlan steps(Type<A>) const {
    if constexpr (!is_matrix<A>()) {
      return {};
    } else {
      using M = state_t<A>;
      auto const all = [this]<class G, class K>(G const& g, K const& m) {
        return this->template step_of<A>(g, m, 1);
      };
      std::int64_t given = 0;
      if constexpr (Scope<A>::names.all_static())
        given = detail::tensor_bytes<A>().all + detail::tensor_bytes<M>().all;
      return planning::update_plan(api::plan(all, type<A>, type<M>), given);
    }
  }

 private:
  template <class A>
  static constexpr bool is_matrix() {
    if constexpr (is_trained<A>) {
      return takes<A>;
    } else {
      return false;
    }
  }
  template <class W, class G, class Master, class M>
  void matrix(double at, double by, double decaying, W& w, G const& g, Master* master, M& m,
              std::source_location const& where) const {
    using Form = detail::MatrixOf<W, Parts...>;
    shardtype::detail::check_one_mesh(w.mesh(), g.mesh());
    auto const extents = w.extents();
    for (std::int64_t const e : extents)
      if (e == 0 || !w.mesh().here()) return;
    // m + (1 - momentum) (g - m)
    detail::MuonMove const toward{momentum - 1, momentum};
    detail::update_one(toward, at, 0, by, false, m, g, static_cast<M*>(nullptr), where);
    auto const made = step_of<W>(g, m, by);
    auto const rows =
        static_cast<double>(Form::extent(extents.data(), detail::MatrixForm::Of::rows));
    auto const columns =
        static_cast<double>(Form::extent(extents.data(), detail::MatrixForm::Of::columns));
    detail::MuonMove const move{at * factor(rows, columns), 1 - at * decaying};
    detail::update_one(move, at, 0, 1, decaying, w, made, master, where);
  }
  /// The orthogonal step, from the gradient times `by` and the momentum with it.
  template <class A, class G, class M>
  constexpr auto step_of(G const& g, M const& m, double by) const {
    using C = typename M::element;
    detail::Ahead<C> const ahead{static_cast<C>(by), static_cast<C>(momentum), nesterov};
    return detail::MatrixOf<A, Parts...>::orthogonal(api::map(ahead, g, m).tensor(), rounds,
                                                     epsilon);
  }
  double factor(double rows, double columns) const {
    switch (scale) {
      case MuonScale::rows_over_columns:
        return std::sqrt(std::max(1.0, rows / columns));
      case MuonScale::columns_over_rows:
        return std::sqrt(std::max(1.0, columns / rows));
      case MuonScale::as_adamw:
        break;
    }
    return 0.2 * std::sqrt(std::max(rows, columns));
  }
};

}  // namespace shardtype::train
