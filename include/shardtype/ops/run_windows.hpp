#pragma once
/// Execution of shifts, exchanges of halos and running values.

#include <array>
#include <cstdint>
#include <source_location>
#include <utility>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/window.hpp>
#include <shardtype/kernels/accumulate.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/reducer_of.hpp>
#include <shardtype/ops/windows.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::checking {

/// The operand is a Halo; the result is the tensor whose halos it has.
template <class I, class A, class J>
struct Resolve<op::HaloAdd<I>, Halo<A, J>> : Resolve<op::HaloAdd<I>, A> {};

}  // namespace shardtype::checking

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

namespace execute {}  // namespace execute
namespace op {

template <class I, class F>
template <class Call>
auto Cumulative<I, F>::block(Call const& run) const {
  using Reducer = kernels::reducer_t<F, typename Call::element>;
  char const* const called = name.data();
  return execute::running_values<Reducer>(run, called, exclusive, reverse);
}

template <class I>
template <class Call>
auto Shift<I>::block(Call const& run) const {
  return execute::run_neighbor<false>(run, "shift", window(run.call.extent()));
}

template <class I>
template <class Call>
auto Diff<I>::block(Call const& run) const {
  runtime::Buffer const rows =
      execute::run_neighbor<false>(run, "diff", moved().window(run.call.extent()));
  auto* const out = run.writable(rows);
  kernels::subtract_blocks(run.exec(), out, run.data, out, run.out.elements());
  runtime::fence(run.exec());
  return rows;
}

template <class I>
template <class R, class A>
Halo<A, I> HaloExchange<I>::run(std::source_location const& where, A const& a) const {
  kernels::Layout const block = detail::block_layout(a.rows());
  return Halo<A, I>(a, window(), execute::exchange_halo<R, false>(*this, where, a, block, block));
}
template <class I>
template <class R, class A>
A HaloAdd<I>::run(std::source_location const& where, Halo<A, I> const& h) const {
  kernels::Layout const block = detail::block_layout(A::local_rows(h.mesh(), h.extents()));
  kernels::Layout with_halo = block;
  for (std::size_t d = 0; d < A::rank; ++d) with_halo.extent[d] = h.local_extents()[d];
  return A(h.mesh(), h.extents(),
           execute::exchange_halo<R, true>(*this, where, h, with_halo.packed(), block));
}

}  // namespace op

namespace api {

/// The plan of adding up halos of tensors of type `A`.
template <class I, class A, class J>
constexpr decltype(auto) plan(op::HaloAdd<I> const& op, Type<Halo<A, J>>) {
  return api::plan(op, type<A>);
}

/// The plan, and the coordinates in it, of adding up this halo (as `plan_at`, `coords_in` of
/// tensors).
template <class I, class A, class J>
Plan plan_at(op::HaloAdd<I> const& op, Halo<A, J> const& h) {
  return detail::plan_of_call(op, h);
}
template <class I, class A, class J>
Coords coords_in(op::HaloAdd<I> const&, Halo<A, J> const& h) {
  return runtime::map_axes(h.mesh().state(),
                           checking::Resolve<op::HaloAdd<I>, Halo<A, J>>::S::names)
      .coords;
}

/// A Halo like `h` with zeros: to write a cotangent of `h`, for halo_add. Communicates nothing.
template <class A, class I>
Halo<A, I> zeros_like(Halo<A, I> const& h) {
  using T = typename A::element;
  using Space = typename A::memory_space;
  runtime::Buffer rows;
  if (h.mesh().here()) {
    rows = h.mesh().state().pool().template take<Space>(static_cast<std::size_t>(h.local_size()) *
                                                        sizeof(T));
    typename Space::execution_space const& exec =
        runtime::instance<typename Space::execution_space>();
    kernels::fill(exec, static_cast<T*>(rows.data()), h.local_size(), T{});
    runtime::fence(exec);
  }
  return Halo<A, I>(h, std::move(rows));
}

}  // namespace api

}  // namespace shardtype
