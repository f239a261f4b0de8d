#pragma once
/// Sorting along one dim that is not split. Stable: equal elements keep their order. A NaN comes last,
/// in both orders. None of these communicates; a tensor that still owes a reduction is refused.

#include <cstdint>
#include <string>
#include <utility>

#include <shardtype/check/indexing.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/sort.hpp>
#include <shardtype/tensor/block_layout.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/tensor/operand.hpp>

namespace shardtype {

/// What `top_k` gives: the values, and where they stood.
template <class Values, class Places>
struct TopK {
  Values values;
  Places places;
};

namespace execute {

/// Sorts local blocks of `T` in memory `Space` along one dim. Plain values, so that tensor types share
/// its code.
template <class T, class Space>
class BlockSorter {
 public:
  using Exec = typename Space::execution_space;
  using Keyed = kernels::Keyed<T>;

  /// The block `data`, [outer, n, inner], of whose sorted rows the first `keep` are wanted.
  BlockSorter(MeshState& mesh, T const* data, kernels::Layout const& block, int d,
              std::int64_t keep, Order order)
      : mesh_(mesh),
        outer_(kernels::outer_length(block, d)),
        inner_(kernels::inner_length(block, d)),
        plan_(kernels::plan_sort<Exec>(outer_ * inner_, block.extent[d], keep)),
        descending_(order == Order::descending) {
    rows_ = turned(data, plan_.n, inner_, hold_rows_);
  }

  void values(T* out) {
    bool const direct = inner_ == 1;
    Buffer of_result;
    Buffer of_other;
    T* const result = direct ? out : take<T>(elements(), of_result);
    T* const other = plan_.in_runs + plan_.merges > 0 ? take<T>(elements(), of_other) : result;
    bool const first = plan_.ends_in_first();
    kernels::sort_rows<T>(Exec(), plan_, rows_, first ? result : other, first ? other : result,
                          descending_);
    if (!direct) turn_back(result, plan_.n, out);
    Exec().fence();
  }
  /// `values` may be null.
  void first(T* values, std::int64_t* places) {
    Buffer of_a;
    Buffer of_b;
    auto* const a = take<Keyed>(elements(), of_a);
    auto* const b = plan_.in_runs + plan_.merges > 0 ? take<Keyed>(elements(), of_b) : a;
    kernels::sort_rows<Keyed>(Exec(), plan_, rows_, a, b, descending_);
    Keyed const* const sorted = plan_.ends_in_first() ? a : b;
    if (inner_ == 1) {
      kernels::take_apart(Exec(), plan_, sorted, values, places);
    } else {
      std::int64_t const n = plan_.rows * plan_.keep;
      Buffer of_values;
      Buffer of_places;
      T* const keys = values == nullptr ? nullptr : take<T>(n, of_values);
      auto* const at = take<std::int64_t>(n, of_places);
      kernels::take_apart(Exec(), plan_, sorted, keys, at);
      if (values != nullptr) turn_back(keys, plan_.keep, values);
      turn_back(at, plan_.keep, places);
      Exec().fence();
    }
    Exec().fence();
  }

 private:
  std::int64_t elements() const { return plan_.rows * plan_.n; }
  template <class U>
  U* take(std::int64_t n, Buffer& hold) {
    hold = mesh_.pool().template take<Space>(static_cast<std::size_t>(n) * sizeof(U));
    return static_cast<U*>(hold.data());
  }
  /// [outer, n, inner] as [outer, inner, n].
  T const* turned(T const* data, std::int64_t n, std::int64_t inner, Buffer& hold) {
    if (inner == 1) return data;
    T* const to = take<T>(outer_ * n * inner, hold);
    kernels::copy_packed(Exec(), data, exchanged(n, inner), to);
    return to;
  }
  template <class U>
  void turn_back(U const* data, std::int64_t n, U* to) {
    kernels::copy_packed(Exec(), data, exchanged(inner_, n), to);
  }
  /// [outer, n, inner] read as [outer, inner, n].
  kernels::Layout exchanged(std::int64_t n, std::int64_t inner) const {
    kernels::Layout l;
    l.rank = 3;
    l.extent[0] = outer_;
    l.extent[1] = inner;
    l.extent[2] = n;
    l.stride[0] = n * inner;
    l.stride[1] = 1;
    l.stride[2] = inner;
    return l;
  }

  MeshState& mesh_;
  std::int64_t outer_, inner_;
  kernels::SortPlan plan_;
  bool descending_;
  Buffer hold_rows_;
  T const* rows_ = nullptr;
};

}  // namespace execute

namespace detail {

template <class A, class I>
inline constexpr int sorted_dim = A::spec.find(Scope<A>::names.find_label(identity<I>));

template <class I, class A>
auto block_sorter(A const& a, std::int64_t keep, Order order) {
  return execute::BlockSorter<typename A::element, typename A::memory_space>(
      a.mesh().state(), static_cast<typename A::element const*>(a.buffer().data()),
      block_layout(a.rows()), sorted_dim<A, I>, keep, order);
}

template <class Out, class I, class A>
Out sorted_values(A const& a, Order order) {
  Out out = uninitialized<Out>(a.mesh(), a.extents());
  if (a.local_size() > 0)
    block_sorter<I>(a, a.extents()[static_cast<std::size_t>(sorted_dim<A, I>)], order)
        .values(static_cast<typename A::element*>(out.buffer().data()));
  return out;
}
template <class Out, class I, class A>
Out sorted_places(A const& a, Order order) {
  Out out = uninitialized<Out>(a.mesh(), a.extents());
  if (a.local_size() > 0)
    block_sorter<I>(a, a.extents()[static_cast<std::size_t>(sorted_dim<A, I>)], order)
        .first(nullptr, static_cast<std::int64_t*>(out.buffer().data()));
  return out;
}
template <class Values, class Places, class I, class A>
TopK<Values, Places> largest(A const& a, std::int64_t k) {
  constexpr auto d = static_cast<std::size_t>(sorted_dim<A, I>);
  if (k < 0 || k > a.extents()[d])
    throw Error("E41",
                "index " + std::string(I::name) + " has extent " + std::to_string(a.extents()[d]) +
                    "; top_k cannot take " + std::to_string(k),
                FailedOn::every_rank);
  auto extents = a.extents();
  extents[d] = k;
  TopK<Values, Places> out{uninitialized<Values>(a.mesh(), extents),
                           uninitialized<Places>(a.mesh(), extents)};
  if (a.local_size() > 0)
    block_sorter<I>(a, k, Order::descending)
        .first(static_cast<typename A::element*>(out.values.buffer().data()),
               static_cast<std::int64_t*>(out.places.buffer().data()));
  return out;
}

}  // namespace detail

/// The elements in order along I: `a[I, J@X]` -> `sort<I>(a)` -> `[I, J@X]`. Refused: D01, D03 along a
/// split dim (reshard first), I10 while unreduced, I11 complex numbers.
template <class I, class A>
auto sort(A const& a, Order order = Order::ascending) {
  if constexpr (any_poisoned<A>) {
    return Poisoned{};
  } else {
    using R = Resolve<op::SortAlong<Sorts::values, I>, operand_t<A>>;
    if constexpr (R::verdict) {
      return detail::sorted_values<typename R::result, I>(operand(a), order);
    } else {
      return Poisoned(refusal<R, operand_t<A>>{});
    }
  }
}

/// Where the elements stand that `sort` would give, as std::int64_t: `take_along<I>(a, argsort<I>(a))` is
/// `sort<I>(a)`. Refused as sort.
template <class I, class A>
auto argsort(A const& a, Order order = Order::ascending) {
  if constexpr (any_poisoned<A>) {
    return Poisoned{};
  } else {
    using R = Resolve<op::SortAlong<Sorts::places, I>, operand_t<A>>;
    if constexpr (R::verdict) {
      return detail::sorted_places<typename R::result, I>(operand(a), order);
    } else {
      return Poisoned(refusal<R, operand_t<A>>{});
    }
  }
}

/// The `k` largest elements along I, in descending order, of equal ones the first, and where they stood:
/// `a[I@X, J]` -> `auto [values, places] = top_k<J, K>(a, 3)` -> `[I@X, K]` each. K may be left out
/// where J has no static extent. Refused as sort; D02, D05, D07. Error E41: more than there are.
template <class I, class... Result, class A>
auto top_k(A const& a, std::int64_t k) {
  if constexpr (any_poisoned<A>) {
    return TopK<Poisoned, Poisoned>{};
  } else {
    using R = Resolve<op::SortAlong<Sorts::first, I, Result...>, operand_t<A>>;
    if constexpr (R::verdict) {
      using Values = typename R::result;
      using Places = tensor_from_spec<typename R::S, typename R::Holder, std::int64_t, Values>;
      return detail::largest<Values, Places, I>(operand(a), k);
    } else {
      return TopK<Poisoned, Poisoned>{Poisoned(refusal<R, operand_t<A>>{}), {}};
    }
  }
}

}  // namespace shardtype
