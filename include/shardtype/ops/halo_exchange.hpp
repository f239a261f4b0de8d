#pragma once
/// Local blocks surrounded by rows of the neighbouring blocks.

#include <array>
#include <cstdint>
#include <source_location>
#include <utility>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/window.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/window.hpp>

namespace shardtype {

/// Result of `halo_exchange`: a tensor's local blocks, each surrounded by rows of the neighbouring
/// blocks along I. It is not a tensor, because the blocks overlap. A value, as a tensor is: copies
/// share memory until one is written.
template <class A, class I>
class Halo : public detail::HeldBlock {
 public:
  using tensor_type = A;
  using element = typename A::element;
  using memory_space = typename A::memory_space;
  static constexpr std::size_t rank = A::rank;

  /// The blocks of `a` with the rows of window `w`, which are `rows`.
  Halo(A const& a, planning::Window const& w, runtime::Buffer rows)
      : detail::HeldBlock(a.mesh(), rows), window_(w), extents_(a.extents()), ranges_(a.ranges()) {
    constexpr auto d = static_cast<std::size_t>(dim);
    if (ranges_[d].size() == 0) return;
    ranges_[d] = {ranges_[d].begin + w.low, ranges_[d].end + w.high};
  }
  /// The same rows of the same blocks, with other values.
  Halo(Halo const& like, runtime::Buffer rows)
      : detail::HeldBlock(like.mesh(), rows),
        window_(like.window_),
        extents_(like.extents_),
        ranges_(like.ranges_) {}

  /// The block with its halo, to read: along I `before` rows, the block's own rows, `after` rows.
  /// Empty on a rank whose own block is empty.
  typename A::template View<element const> local() const& { return view<element const>(); }
  typename A::template View<element const> local() const&& = delete;
  /// The same to write, as of a tensor. Error E21 if another Halo shares the memory.
  detail::WritingView<typename A::template View<element>> mutable_local(
      std::source_location const& where = std::source_location::current()) & {
    if (buffer_.holders() > 1)
      detail::throw_shared(
          "mutable_local", where,
          "the memory of the Halo is shared with another one; write to zeros_like(h) instead");
    return detail::WritingView<typename A::template View<element>>(view<element>(),
                                                                   buffer_.write());
  }
  /// Global indices of each dim, halo included: along I they may begin below 0 and end beyond the
  /// extent.
  std::array<core::Range, rank> const& ranges() const { return ranges_; }
  std::array<std::int64_t, rank> local_extents() const {
    std::array<std::int64_t, rank> out{};
    for (std::size_t d = 0; d < rank; ++d) out[d] = ranges_[d].size();
    return out;
  }
  /// Elements of the local block with its halo; 0 on ranks outside the mesh.
  std::int64_t local_size() const {
    std::int64_t n = mesh_.here() ? 1 : 0;
    for (core::Range const& r : ranges_) n *= r.size();
    return n;
  }
  /// Global extents of the tensor.
  std::array<std::int64_t, rank> const& extents() const { return extents_; }
  /// The rows around each block.
  planning::Window const& window() const { return window_; }

 private:
  static constexpr int dim = A::spec.find(core::Scope<A>::names.find_label(core::identity<I>));

  template <class U>
  typename A::template View<U> view() const {
    return make_view<U>(std::make_index_sequence<rank>{});
  }
  template <class U, std::size_t... D>
  typename A::template View<U> make_view(std::index_sequence<D...>) const {
    return typename A::template View<U>(static_cast<U*>(buffer_.data()),
                                        static_cast<std::size_t>(ranges_[D].size())...);
  }

  planning::Window window_;
  std::array<std::int64_t, rank> extents_;
  std::array<core::Range, rank> ranges_;
};

namespace execute {
template <class I>
struct Run<op::HaloExchange<I>> {
  template <class R, class A>
  static Halo<A, I> run(op::HaloExchange<I> const& op, std::source_location const& where,
                        A const& a) {
    kernels::Layout const block = detail::block_layout(a.rows());
    return Halo<A, I>(a, op.window(), exchange_halo<R, false>(op, where, a, block, block));
  }
};
}  // namespace execute

/// The local block of `A[I@X, J]` with the `before` rows that precede it along I and the `after`
/// rows that follow it, from whichever ranks hold them, as a `Halo`. Rows beyond the ends are
/// zeros, or with `op::Edge::wrap` rows of the other end. Each rank sends the rows that other ranks
/// need (`window_bytes`): before + after rows if the neighbouring blocks are at least that long.
/// Refused: D01, B03. Error E41: a negative number of rows.
template <class I, class A>
constexpr auto halo_exchange(A const& a, std::int64_t before, std::int64_t after,
                             op::Edge edge = op::Edge::fill_zero,
                             checking::CallSite where = std::source_location::current()) {
  return call(op::HaloExchange<I>{before, after, edge}, where, a);
}

}  // namespace shardtype
