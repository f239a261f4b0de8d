#pragma once
/// Sorts local blocks along one dim.

#include <cstdint>

#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/cub_sort.hpp>
#include <shardtype/kernels/sort.hpp>
#include <shardtype/ops/sorting.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/runtime/mesh.hpp>
#include <shardtype/tensor/block_layout.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype::execute {

/// Sorts local blocks of `T` in memory `Space` along one dim. It takes plain values, so that all
/// tensor types share its code.
template <class T, class Space>
class BlockSorter {
 public:
  using Exec = typename Space::execution_space;
  using Keyed = kernels::Keyed<T>;

  /// Sorts the block `data`, [outer, n, inner], along n; only the first `keep` of each sorted row
  /// are needed.
  BlockSorter(MeshState& mesh, T const* data, kernels::Layout const& block, int d,
              std::int64_t keep, op::Order order)
      : mesh_(mesh),
        in_(block, d),
        plan_(kernels::plan_sort<Exec>(in_.row(), in_.n, keep)),
        descending_(order == op::Order::descending) {
    rows_ = turned(data, plan_.n, in_.inner, hold_rows_);
  }

  void values(T* out) {
    if (plan_.n == 1) {  // also where the rows are turned
      kernels::copy_packed(runtime::instance<Exec>(), rows_, exchanged(1, in_.inner), out);
      runtime::fence(runtime::instance<Exec>());
      return;
    }
    bool const direct = in_.inner == 1;
    Buffer of_result;
    Buffer of_other;
    T* const result = direct ? out : take<T>(elements(), of_result);
    T* const other = plan_.has_second() ? take<T>(elements(), of_other) : result;
    bool const first = plan_.ends_in_first();
    kernels::sort_rows<T>(runtime::instance<Exec>(), plan_, rows_, first ? result : other,
                          first ? other : result, descending_, &mesh_.pool());
    if (!direct) turn_back(result, plan_.n, out);
    runtime::fence(runtime::instance<Exec>());
  }
  /// The sorted rows as they lie in rows, [outer, inner, n]; if `places` is not null their first
  /// elements alone, [outer, inner, keep], with their places, of which the first is `begin`.
  Buffer rows(std::int64_t begin, Buffer* places) {
    std::int64_t const n = elements();
    Buffer out;
    Buffer of_other;
    if (places == nullptr) {
      T* const result = take<T>(n, out);
      if (plan_.n == 1) {
        kernels::copy_packed(runtime::instance<Exec>(), rows_, exchanged(1, in_.inner), result);
      } else {
        T* const other = plan_.has_second() ? take<T>(n, of_other) : result;
        bool const first = plan_.ends_in_first();
        kernels::sort_rows<T>(runtime::instance<Exec>(), plan_, rows_, first ? result : other,
                              first ? other : result, descending_, &mesh_.pool());
      }
      runtime::fence(runtime::instance<Exec>());
      return out;
    }
    Buffer of_pairs;
    {
      Buffer of_a;
      auto* const a = take<Keyed>(n, of_a);
      auto* const b = plan_.has_second() ? take<Keyed>(n, of_other) : a;
      kernels::sort_rows<Keyed>(runtime::instance<Exec>(), plan_, rows_, a, b, descending_,
                                &mesh_.pool());
      runtime::fence(runtime::instance<Exec>());
      of_pairs = plan_.ends_in_first() || !plan_.has_second() ? of_a : of_other;
      of_other = {};
    }
    hold_rows_ = {};
    std::int64_t const kept = plan_.rows * plan_.keep;
    kernels::take_apart(runtime::instance<Exec>(), plan_,
                        static_cast<Keyed const*>(of_pairs.data()), take<T>(kept, out),
                        take<std::int64_t>(kept, *places), begin);
    runtime::fence(runtime::instance<Exec>());
    return out;
  }
  /// A view of [outer, inner, n] rows as [outer, n, inner].
  static kernels::Layout rows_turned(Around const& in) {
    kernels::Layout l;
    l.rank = 3;
    l.extent[0] = in.outer;
    l.extent[1] = in.n;
    l.extent[2] = in.inner;
    l.stride[0] = in.n * in.inner;
    l.stride[1] = 1;
    l.stride[2] = in.n;
    return l;
  }
  /// `values` may be null.
  void first(T* values, std::int64_t* places) {
    Buffer of_a;
    Buffer of_b;
    auto* const a = take<Keyed>(elements(), of_a);
    auto* const b = plan_.has_second() ? take<Keyed>(elements(), of_b) : a;
    kernels::sort_rows<Keyed>(runtime::instance<Exec>(), plan_, rows_, a, b, descending_,
                              &mesh_.pool());
    Keyed const* const sorted = plan_.ends_in_first() ? a : b;
    if (in_.inner == 1) {
      kernels::take_apart(runtime::instance<Exec>(), plan_, sorted, values, places);
    } else {
      std::int64_t const n = plan_.rows * plan_.keep;
      Buffer of_values;
      Buffer of_places;
      T* const keys = values == nullptr ? nullptr : take<T>(n, of_values);
      auto* const at = take<std::int64_t>(n, of_places);
      kernels::take_apart(runtime::instance<Exec>(), plan_, sorted, keys, at);
      if (values != nullptr) turn_back(keys, plan_.keep, values);
      turn_back(at, plan_.keep, places);
      runtime::fence(runtime::instance<Exec>());
    }
    runtime::fence(runtime::instance<Exec>());
  }

 private:
  std::int64_t elements() const { return plan_.rows * plan_.n; }
  template <class U>
  U* take(std::int64_t n, Buffer& hold) {
    hold = mesh_.pool().template take<Space>(static_cast<std::size_t>(n) * sizeof(U));
    return static_cast<U*>(hold.data());
  }
  /// Transposes [outer, n, inner] to [outer, inner, n].
  T const* turned(T const* data, std::int64_t n, std::int64_t inner, Buffer& hold) {
    if (inner == 1) return data;
    T* const to = take<T>(in_.outer * n * inner, hold);
    kernels::copy_packed(runtime::instance<Exec>(), data, exchanged(n, inner), to);
    return to;
  }
  template <class U>
  void turn_back(U const* data, std::int64_t n, U* to) {
    kernels::copy_packed(runtime::instance<Exec>(), data, exchanged(in_.inner, n), to);
  }
  /// A view of [outer, n, inner] as [outer, inner, n].
  kernels::Layout exchanged(std::int64_t n, std::int64_t inner) const {
    kernels::Layout l;
    l.rank = 3;
    l.extent[0] = in_.outer;
    l.extent[1] = inner;
    l.extent[2] = n;
    l.stride[0] = n * inner;
    l.stride[1] = 1;
    l.stride[2] = inner;
    return l;
  }

  MeshState& mesh_;
  Around in_;
  kernels::SortPlan plan_;
  bool descending_;
  Buffer hold_rows_;
  T const* rows_ = nullptr;
};

/// The sorter of the calling rank's block of `a` along I, of which the first `keep` of each sorted
/// row are needed.
template <class I, class A>
auto block_sorter(A const& a, std::int64_t keep, op::Order order) {
  constexpr int d = A::spec.find(Scope<A>::names.find_label(identity<I>));
  return BlockSorter<typename A::element, typename A::memory_space>(
      a.mesh().state(), static_cast<typename A::element const*>(a.buffer().data()),
      detail::block_layout(a.rows()), d, keep < 0 ? a.extents()[static_cast<std::size_t>(d)] : keep,
      order);
}

}  // namespace shardtype::execute
