#pragma once
/// Elements that are 0 by chance: dropout.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/nn/kernels_positions.hpp>
#include <shardtype/nn/types_norm.hpp>
#include <shardtype/random/distributions.hpp>
#include <shardtype/random/key.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/generated.hpp>

namespace shardtype {

namespace op {

/// Elements that are 0 by chance, by the numbers of elements and a key.
struct DropElements {
  using operation = DropElements;
  static constexpr std::string_view name = "dropout";
  static constexpr bool reads_places = true;
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
  friend constexpr bool operator==(DropElements const&, DropElements const&) = default;
  template <class Out, class A>
  void fill(Out& out, A const& x) const {
    using T = typename A::element;
    if (x.local_size() == 0) return;
    using Exec = typename A::execution_space;
    Exec const& exec = runtime::instance<Exec>();
    random::Bernoulli<bool> const keep{key.bits(),
                                       static_cast<std::uint64_t>(std::ceil((1 - rate) * 0x1p53))};
    kernels::Layout block = shardtype::detail::block_in_whole(x);
    Rows rows[static_cast<std::size_t>(A::rank == 0 ? 1 : A::rank)] = {};
    for (std::size_t d = 0; d < A::rank; ++d) rows[d] = x.rows()[d];
    if constexpr (A::rank == 0) {
      block.rank = 1;
      block.extent[0] = block.stride[0] = 1;
    }
    nn::kernels::DropoutRows<Exec, T, random::Bernoulli<bool>> const work(
        execute::written(out), execute::data_of(x), block, rows, keep, 1 / (1 - rate));
    kernels::launch(exec, "shardtype::dropout", work.calls(x.local_size()), work);
    runtime::fence(exec);
  }
};
/// DropElements; with `Out`, the result is named.
template <class... Out>
using Dropout = MaybeNamed<DropElements, Out...>;

}  // namespace op

namespace nn::api {

/// x / (1 - rate) where an element is kept, with probability 1 - rate, else 0. Whether element n of
/// the tensor, in row-major order, is kept depends on n and the key alone: the same bits for every
/// sharding and number of ranks, those of `bernoulli<bool, ...>(mesh, key, 1 - rate)`. The backward
/// pass draws them again: nothing is stored. Take a new key for each call and step:
/// `key.fold_in(step)`. `A[I@X, J]{U:Y}` -> the same. Communicates nothing. In manual mode elements
/// are numbered within the block: fold the rank into the key. Refused: P12. Error E30 a rate
/// outside of 0 to 1. Source: Srivastava et al., "Dropout", JMLR 2014.
template <class A>
constexpr auto dropout(core::Argument<A> const& x, RandomKey key, double rate,
                       checking::CallSite where = {}) {
  return shardtype::call(op::Dropout<>{key, rate}, where, x.self());
}

}  // namespace nn::api

}  // namespace shardtype
