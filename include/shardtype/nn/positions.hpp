#pragma once
/// Functions of positions: rotary embeddings, causal masks, dropout.

#include <cmath>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

#include <shardtype/check/along.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/nn/kernels_positions.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/random/distributions.hpp>
#include <shardtype/random/key.hpp>
#include <shardtype/tensor/generated.hpp>

namespace shardtype {

namespace rules {

/// Positions along the labels that the operation works on, the first of which is whole.
constexpr Verdict rotary(Question const& q) {
  if (Verdict v = has_all(q.a(), q.from); !v) return v;
  DimSpec const& features = q.a().dims[q.a().find(q.from.dims[0].label)];
  if (features.axes.size > 0)
    return refuse(Code::D03_along_split, features.label, -1, features.axes[0]);
  return accept(q.a());
}
/// As masked; the mask is no zero, so that the operand is no sum.
constexpr Verdict masked_by_infinity(Question const& q) {
  Verdict v = masked(q);
  if (v) v = in_blocks(q.a(), q.from);
  for (int x = 0; v && x < max_axes; ++x)
    if (q.a().unreduced.contains(x)) v = refuse(Code::P04_not_linear, -1, -1, x);
  return v ? accept(q.a()) : v;
}

}  // namespace rules

namespace op {

/// Pairs of features turned by an angle of their position; `back`: turned back.
template <class S, class F>
struct Rotary {
  using operation = Rotary;
  using from = shardtype::detail::Bare<F, S>;
  static constexpr std::string_view name = "rotary";
  std::int64_t first = 0;
  double base = 10000;
  bool back = false;
  static constexpr Verdict rule(rules::Question const& q) { return rules::rotary(q); }
  template <class A>
  static constexpr Code elements() {
    return nn::detail::real_elements<A>();
  }
  constexpr void extents(ResultExtents const& c) const {
    if (c.extent() % 2 != 0)
      ResultExtents::fail("rotary turns pairs of features, and index " + c.name() +
                          " has the odd extent " + std::to_string(c.extent()));
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    int const s = c.operands[0].find(c.from.dims[1].label);
    int const f = c.operands[0].find(c.from.dims[0].label);
    return {mul_sat(3, c.elements(0)),
            mul_sat(mul_sat(c.rows(0, s), c.rows(0, f)), static_cast<std::int64_t>(sizeof(double))),
            false};
  }
  constexpr Rotary transposed() const { return {first, base, !back}; }
};

/// -inf at keys K behind a query S.
template <class S, class K>
struct CausalMask {
  using operation = CausalMask;
  using gradient = Pulls;
  using from = shardtype::detail::Bare<K, S>;
  static constexpr std::string_view name = "causal_mask";
  std::int64_t first = 0;
  static constexpr Verdict rule(rules::Question const& q) { return rules::masked_by_infinity(q); }
  template <class A>
  static constexpr Code elements() {
    return nn::detail::real_elements<A>();
  }
  constexpr auto pull(auto const& g) const { return g(Triangle<S, K, false>{first}); }
};

/// Elements that are 0 by chance, by the numbers of elements and a key.
struct DropElements {
  using operation = DropElements;
  static constexpr std::string_view name = "dropout";
  RandomKey key;
  double rate = 0;
  static constexpr Verdict rule(rules::Question const& q) { return rules::accept(q.a()); }
  template <class A>
  static constexpr Code elements() {
    return nn::detail::real_elements<A>();
  }
  constexpr void extents(ResultExtents const&) const {
    if (!(rate >= 0 && rate < 1))
      ResultExtents::fail("dropout needs a rate from 0 to 1, without 1", "E30");
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return {c.elements(0), 0, false};
  }
  constexpr DropElements transposed() const { return *this; }
};
/// DropElements; with `Out`, the result is named.
template <class... Out>
using Dropout = MaybeNamed<DropElements, Out...>;

}  // namespace op

namespace nn::detail {

/// Positions along `S` of the rows of a block; `begin`: of its first row.
template <class S, class A>
kernels::RowPosition row_position(A const& a, std::int64_t begin) {
  constexpr int d = dim_of<A, S>;
  shardtype::kernels::Layout const block = shardtype::detail::block_layout(a.rows());
  return {block.stride[d], block.extent[d], begin};
}

}  // namespace nn::detail

namespace execute {

template <class S, class F>
struct Run<op::Rotary<S, F>> : Filled<Run<op::Rotary<S, F>>> {
  template <class Out, class A>
  static void fill(op::Rotary<S, F> const& op, Out& out, A const& x) {
    using T = typename A::element;
    using C = shardtype::detail::computed_t<T>;
    if (x.local_size() == 0) return;
    typename A::execution_space const exec{};
    auto const shape = nn::detail::row_shape<F>(x);
    Rows const& rows = x.rows()[static_cast<std::size_t>(dim_of<A, S>)];
    Buffer const table = x.mesh().state().pool().template take<typename A::memory_space>(
        static_cast<std::size_t>(rows.size() * shape.length) * sizeof(C));
    C* const angles = static_cast<C*>(table.data());
    nn::kernels::each_row(
        "shardtype::rotary", exec, rows.size(),
        nn::kernels::RotaryAngles<C>{angles, rows, op.first, shape.length / 2, op.base});
    nn::kernels::each_row("shardtype::rotary", exec, shape.rows,
                          nn::kernels::RotaryRows<T>{shape, nn::detail::row_position<S>(x, 0),
                                                     static_cast<T*>(out.buffer().data()),
                                                     data_of(x), angles, op.back});
    exec.fence();
  }
};
template <class S, class K>
struct Run<op::CausalMask<S, K>> : Filled<Run<op::CausalMask<S, K>>> {
  template <class Out, class A>
  static void fill(op::CausalMask<S, K> const& op, Out& out, A const& x) {
    using T = typename A::element;
    if (x.local_size() == 0) return;
    typename A::execution_space const exec{};
    auto const begin = [&](int d) { return x.rows()[static_cast<std::size_t>(d)].range().begin; };
    auto const shape = nn::detail::row_shape<K>(x);
    nn::kernels::each_row(
        "shardtype::causal_mask", exec, shape.rows,
        nn::kernels::CausalRows<T>{shape, nn::detail::row_position<S>(x, begin(dim_of<A, S>)),
                                   static_cast<T*>(out.buffer().data()), data_of(x),
                                   begin(dim_of<A, K>), op.first});
    exec.fence();
  }
};
template <>
struct Run<op::DropElements> : Filled<Run<op::DropElements>> {
  template <class Out, class A>
  static void fill(op::DropElements const& op, Out& out, A const& x) {
    using T = typename A::element;
    using Work = nn::kernels::DropoutRows<T, random::Bernoulli<bool>>;
    if (x.local_size() == 0) return;
    typename A::execution_space const exec{};
    random::Bernoulli<bool> const keep{
        op.key.bits(), static_cast<std::uint64_t>(std::ceil((1 - op.rate) * 0x1p53))};
    Work work{static_cast<T*>(out.buffer().data()),
              data_of(x),
              shardtype::detail::block_in_whole(x),
              {},
              keep,
              static_cast<typename Work::C>(1 / (1 - op.rate)),
              1};
    for (std::size_t d = 0; d < A::rank; ++d) work.rows[d] = x.rows()[d];
    if constexpr (A::rank == 0) {
      work.block.rank = 1;
      work.block.extent[0] = work.block.stride[0] = 1;
    }
    std::int64_t const length = work.block.extent[work.block.rank - 1];
    work.tiles = (length + Work::tile - 1) / Work::tile;
    nn::kernels::each_row("shardtype::dropout", exec, x.local_size() / length * work.tiles, work);
    exec.fence();
  }
};

}  // namespace execute

namespace nn::api {

/// Rotary position embedding: features k and k + n/2 of F, of n, turned by the angle (first + s) base^(-2 k / n) of the
/// position s along S. `x[B@X, S@Z, H@Y, F]` -> the same; F is whole on each rank, S may be split, also block-cyclically,
/// both at any place.
/// One kernel; the gradient turns back. Communicates nothing. In manual mode positions are those of the block.
/// Refused: D01, D03 F split, P12. Error E41 an odd extent. Source: Su et al., "RoFormer", 2021; halves as in
/// GPT-NeoX.
template <class S, class F, class A>
constexpr auto rotary(core::Argument<A> const& x, std::int64_t first = 0, double base = 10000,
                      checking::CallSite where = std::source_location::current()) {
  return call(op::Rotary<S, F>{first, base}, where, x.self());
}

/// Scores with -inf where the key's position along K is larger than first plus the query's along S; no mask is stored.
/// `x[B@X, H@Y, S, K]` -> the same; S and K may be split. The gradient is `tril<S, K>(ct, first)`. Communicates nothing.
/// Refused: D01, B03, P04 an unreduced operand, P12.
template <class S, class K, class A>
constexpr auto causal_mask(core::Argument<A> const& x, std::int64_t first = 0,
                           checking::CallSite where = std::source_location::current()) {
  return call(op::CausalMask<S, K>{first}, where, x.self());
}

/// x / (1 - rate) where an element is kept, with probability 1 - rate, else 0. Whether element n of the tensor, in
/// row-major order, is kept depends on n and the key alone: the same bits for every sharding and number of ranks, those of
/// `bernoulli<bool, ...>(mesh, key, 1 - rate)`. The backward pass draws them again: nothing is stored. Take a new key
/// for each call and step: `key.fold_in(step)`. `A[I@X, J]{U:Y}` -> the same. Communicates nothing. In manual mode
/// elements are numbered within the block: fold the rank into the key.
/// Refused: P12. Error E30 a rate outside of 0 to 1. Source: Srivastava et al., "Dropout", JMLR 2014.
template <class A>
constexpr auto dropout(core::Argument<A> const& x, RandomKey key, double rate,
                       checking::CallSite where = std::source_location::current()) {
  return call(op::Dropout<>{key, rate}, where, x.self());
}

}  // namespace nn::api

}  // namespace shardtype
