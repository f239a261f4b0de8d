#pragma once
/// The parameters that Muon treats as matrices, and how it makes them orthogonal.

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/kernels/functions.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/products.hpp>
#include <shardtype/ops/reductions.hpp>
#include <shardtype/train/structures.hpp>

namespace shardtype::train {

/// A part of Muon: parameters with a dim of one of these indices are AdamW's. `Muon<Except<V>>`: an
/// embedding and a head.
template <class... Is>
struct Except {};
/// A part of Muon: dims of these indices count matrices. With `Muon<Stacked<L>>` `[L, D, F]` is a
/// stack of L matrices.
template <class... Is>
struct Stacked {};
/// A part of Muon: dim J and dim K right behind it are one side of a matrix. With `Muon<Merged<H,
/// F>>` `[D, H, F]` has D rows and `[H, F, D]` D columns.
template <class J, class K>
struct Merged {};

/// The factor of the step of a matrix.
enum class MuonScale : std::int8_t {
  rows_over_columns,  ///< sqrt(max(1, rows / columns)): weights `[out, in]`, as in torch.optim.Muon
  columns_over_rows,  ///< sqrt(max(1, columns / rows)): weights `[in, out]`, as in nn and Flax
  as_adamw            ///< 0.2 sqrt(max(rows, columns)): steps as large as AdamW's, by its rates
};

namespace detail {

using shardtype::detail::Pack;

/// A part of Muon as a value.
struct MuonPart {
  enum class Kind : std::int8_t { none, except, stacked, merged } kind = Kind::none;
  int count = 0;
  core::Identity at[max_dims]{};

  constexpr bool has(Kind k, core::Identity id) const {
    for (int n = 0; n < count; ++n)
      if (kind == k && at[n] == id) return true;
    return false;
  }
};
template <class>
inline constexpr MuonPart muon_part{};
template <class... Is>
inline constexpr MuonPart muon_part<Except<Is...>>{
    MuonPart::Kind::except, static_cast<int>(sizeof...(Is)), {core::identity<Is>...}};
template <class... Is>
inline constexpr MuonPart muon_part<Stacked<Is...>>{
    MuonPart::Kind::stacked, static_cast<int>(sizeof...(Is)), {core::identity<Is>...}};
template <class J, class K>
inline constexpr MuonPart muon_part<Merged<J, K>>{
    MuonPart::Kind::merged, 2, {core::identity<J>, core::identity<K>}};

/// The dims of a parameter as a stack of matrices: what each counts or belongs to, and where the
/// sides begin.
struct MatrixForm {
  enum class Of : std::int8_t { stack, rows, columns };
  bool taken = false;
  Of of[max_dims]{};
  int rows = -1, columns = -1;
};
constexpr MatrixForm matrix_form(core::Identity const* labels, int rank, MuonPart const* parts,
                                 int count) {
  using Kind = MuonPart::Kind;
  MatrixForm out;
  int sides = 0, length = 0;  // of the side that the dim before belongs to, 0 of a stack
  for (int d = 0; d < rank; ++d) {
    bool stacked = false, joined = false;
    for (int p = 0; p < count; ++p) {
      if (parts[p].has(Kind::except, labels[d])) return {};
      stacked = stacked || parts[p].has(Kind::stacked, labels[d]);
      joined = joined || (d > 0 && parts[p].kind == Kind::merged &&
                          parts[p].at[0] == labels[d - 1] && parts[p].at[1] == labels[d]);
    }
    if (stacked) {
      length = 0;
      continue;
    }
    if (joined && length > 0) {
      if (++length > 2) return {};
    } else {
      length = 1;
      if (++sides > 2) return {};
      (sides == 1 ? out.rows : out.columns) = d;
    }
    out.of[d] = sides == 1 ? MatrixForm::Of::rows : MatrixForm::Of::columns;
  }
  out.taken = sides == 2;
  return out;
}

// Indices of matrices while they are made orthogonal. Their names have spaces, so that no index of
// a program has them.
constexpr std::int64_t product_of(std::int64_t a, std::int64_t b) {
  return a == dynamic || b == dynamic ? dynamic : core::mul_sat(a, b);
}
template <class J, class K>
struct RowsOfBoth : Index<"both of rows", detail::product_of(J::extent, K::extent)> {};
template <class J, class K>
struct ColumnsOfBoth : Index<"both of columns", detail::product_of(J::extent, K::extent)> {};
template <class I>
struct Again : Index<"once again", I::extent> {};
template <class I>
struct Third : Index<"a third time", I::extent> {};

/// A side of a matrix, of one dim or of two that become one; `of` are their extents.
template <template <class, class> class Both, class Is>
struct Side;
template <template <class, class> class Both, class I>
struct Side<Both, Pack<I>> {
  using index = I;
  template <class X>
  static constexpr X merged(X x) {
    return x;
  }
  template <class X>
  static constexpr X split(X x, std::int64_t const*) {
    return x;
  }
};
template <template <class, class> class Both, class J, class K>
struct Side<Both, Pack<J, K>> {
  using index = Both<J, K>;
  template <class X>
  static constexpr auto merged(X const& x) {
    return api::merge_dims<J, K, index>(x);
  }
  template <class X>
  static constexpr auto split(X const& x, std::int64_t const* of) {
    std::array<std::int64_t, 2> const extents{of[0], of[1]};
    return api::split_dim<index, Dim<J>, Dim<K>>(x, extents);
  }
};

/// The sum that ends a round.
template <class C>
struct Rounded {
  C a;
  KOKKOS_FUNCTION C operator()(C x, C more) const { return a * x + more; }
};
/// b x'x + c (x'x)².
template <class C>
struct Squares {
  C b, c;
  KOKKOS_FUNCTION C operator()(C gram, C square) const { return b * gram + c * square; }
};
template <class C>
struct OverNorm {
  C least;
  KOKKOS_FUNCTION C operator()(C x, C norm) const { return x / (norm > least ? norm : least); }
};
/// The gradient, or with nesterov the sum that the momentum would have after the next one of it.
template <class C>
struct Ahead {
  C scale, momentum;
  bool nesterov;
  template <class G>
  KOKKOS_FUNCTION C operator()(G g, C m) const {
    C const x = scale * static_cast<C>(g);
    return nesterov ? x + momentum * (m - x) : m;
  }
};

/// A stack of matrices `[Ls..., R, C]`, on every rank whole but for the stack.
template <class Ls, class R, class C>
struct Orthogonal;
template <class... Ls, class R, class C>
struct Orthogonal<Pack<Ls...>, R, C> {
  /// x becomes x / |x|, and then `rounds` times x (a + b x'x + c (x'x)²), by products of the
  /// smaller side.
  template <class X>
  static constexpr void make(X& x, std::int64_t rows, std::int64_t columns, int rounds,
                             double least) {
    using T = typename X::element;
    auto const norms = api::norm<R, C>(x);
    x = api::map(OverNorm<T>{static_cast<T>(least)}, std::move(x), norms).tensor();
    for (int k = 0; k < rounds; ++k) {
      if (rows > columns) {
        Orthogonal::template round<C>(x);
      } else {
        Orthogonal::template round<R>(x);
      }
    }
  }

 private:
  template <class K, class X>
  static constexpr void round(X& x) {
    using T = typename X::element;
    using L = Again<K>;
    auto const other = api::relabel<K, L>(x);
    auto gram = api::einsum<Ls..., K, L>(x, other);
    auto const square = api::relabel<Third<K>, L>(
        api::einsum<Ls..., K, Third<K>>(gram, api::relabel<K, L, L, Third<K>>(gram)));
    gram = api::map(Squares<T>{T(-4.7750), T(2.0315)}, std::move(gram), square).tensor();
    x = api::map(Rounded<T>{T(3.4445)}, x, api::einsum<Ls..., R, C>(gram, other)).tensor();
  }
};

/// The matrix form of the parameter `A` for Muon with these parts; not `taken`: AdamW changes it.
template <class A, class... Parts>
inline constexpr MatrixForm form_of = [] {
  if constexpr (!std::is_floating_point_v<shardtype::detail::computed_t<typename A::element>>) {
    return MatrixForm{};
  } else {
    core::Identity labels[max_dims]{};
    int const rank = static_cast<int>(A::rank);
    for (int d = 0; d < rank; ++d) labels[d] = Scope<A>::names.label_id[A::spec.dims[d].label];
    MuonPart const parts[] = {muon_part<Parts>..., MuonPart{}};
    return detail::matrix_form(labels, rank, parts, static_cast<int>(sizeof...(Parts)));
  }
}();

/// A parameter that Muon takes, of `form`.
template <class A, class... Parts>
struct MatrixOf {
  using S = Scope<A>;
  static constexpr int rank = static_cast<int>(A::rank);
  static constexpr MatrixForm form = form_of<A, Parts...>;
  /// The labels of the dims of the stack, the rows or the columns.
  template <MatrixForm::Of of>
  static constexpr auto find() {
    return []<std::size_t... D>(std::index_sequence<D...>) {
      return (Pack<>{} | ... | [] {
        if constexpr (form.of[D] == of) {
          return shardtype::detail::label_type<S, A::spec.dims[D].label>();
        } else {
          return Pack<>{};
        }
      }());
    }(std::make_index_sequence<A::rank>{});
  }
  template <MatrixForm::Of of>
  using labels = decltype(find<of>());
  using Rows = Side<RowsOfBoth, labels<MatrixForm::Of::rows>>;
  using Columns = Side<ColumnsOfBoth, labels<MatrixForm::Of::columns>>;
  using Iteration =
      Orthogonal<labels<MatrixForm::Of::stack>, typename Rows::index, typename Columns::index>;

  struct Gathered {
    static constexpr Spec value = [] {
      Spec out = A::spec;
      for (int d = 0; d < rank; ++d)
        if (form.of[d] != MatrixForm::Of::stack) out.dims[d].axes = {};
      return out;
    }();
  };
  using state = state_t<A>;
  using whole = core::tensor_from_spec<S, Gathered, typename state::element, A>;

  static constexpr std::int64_t extent(std::int64_t const* all, MatrixForm::Of of) {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d)
      if (form.of[d] == of) n *= all[d];
    return n;
  }
  /// The matrices made orthogonal, in the sharding of `x`.
  template <class X>
  static constexpr auto orthogonal(X const& x, int rounds, double least) {
    auto const extents = x.extents();
    std::int64_t const rows = extent(extents.data(), MatrixForm::Of::rows);
    std::int64_t const columns = extent(extents.data(), MatrixForm::Of::columns);
    // by reference: a plan holds what was moved from until it goes out of scope
    auto all = Columns::merged(Rows::merged(api::reshard<whole>(x)));
    Iteration::make(all, rows, columns, rounds, least);
    return api::reshard<state>(Rows::split(Columns::split(all, extents.data() + form.columns),
                                           extents.data() + form.rows));
  }
};

}  // namespace detail

}  // namespace shardtype::train
