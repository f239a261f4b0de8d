#pragma once
/// Whole values as sums, and casts to reduced: free, and named, for they say what a gradient will do.

#include <source_location>

#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/unpack.hpp>
#include <shardtype/ops/reshard.hpp>
#include <shardtype/tensor/block_layout.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype {

namespace detail {

/// Whether the calling rank is the first along every axis over which `Out` is unreduced and `A` whole.
template <class Out, class A>
bool keeps_value(MeshRef const& mesh) {
  using S = Scope<Out, A>;
  AxisMap const axes = map_axes(mesh.state(), S::names);
  for (int x = 0; x < max_axes; ++x) {
    AxisState const before = S::template spec<1>.state(x);
    bool const whole = before == AxisState::replicated || before == AxisState::reduced;
    if (S::template spec<0>.unreduced.contains(x) && whole && axes.coords[x] != 0) return false;
  }
  return true;
}

template <class Out, class A>
Out as_partial(A const& a) {
  Out out = uninitialized<Out>(a.mesh(), a.extents());
  if (!a.mesh().here()) return out;
  using T = typename A::element;
  typename A::execution_space const exec{};
  auto* const to = static_cast<T*>(out.buffer().data());
  kernels::fill(exec, to, out.local_size(), T{});
  if (keeps_value<Out, A>(a.mesh())) {
    std::array<Rows, A::rank> rows = a.rows();
    T const* from = static_cast<T const*>(a.buffer().data());
    Buffer spread;
    if constexpr (A::spec.cyclic_dim() >= 0) {
      for (int d = 0; d < A::spec.rank; ++d) {
        auto const k = static_cast<std::size_t>(d);
        if (rows[k].contiguous() || rows[k] == out.rows()[k]) continue;
        kernels::Layout block = block_layout(rows);
        spread = ops::place_rows<T, typename A::memory_space>(a.mesh().state(), from, block, d,
                                                              out.rows()[k], rows[k]);
        from = static_cast<T const*>(spread.data());
        rows[k] = out.rows()[k];
      }
    }
    kernels::Layout part = block_layout(out.rows());
    std::int64_t at = 0;
    for (int d = 0; d < A::spec.rank; ++d) {
      auto const k = static_cast<std::size_t>(d);
      at += (rows[k].begin - out.rows()[k].begin) * part.stride[d];
      part.extent[d] = rows[k].size();
    }
    kernels::copy_unpacked(exec, from, part, to + at);
    exec.fence();
  }
  exec.fence();
  return out;
}

}  // namespace detail

/// The same value as a sum over `Xs`: where `a` is replicated its first rank keeps it and the others
/// have zeros; where an axis splits it each rank has its block among zeros. `A[I]` -> `to_partial<X>`
/// -> `A[I]{U:X}`; `A[I@X]` -> `A[I]{U:X}`. Communicates nothing. Refused: K02, K05.
template <class... Xs, class A>
auto to_partial(A const& a) {
  if constexpr (any_poisoned<A>) {
    return Poisoned{};
  } else {
    using R = Resolve<ToPartialOver<Xs...>, operand_t<A>>;
    if constexpr (R::verdict) {
      return detail::as_partial<typename R::result>(operand(a));
    } else {
      return Poisoned(refusal<R, operand_t<A>>{});
    }
  }
}

/// The same bytes, reduced over `Xs` instead of replicated: the cotangent of the result stays unreduced
/// over them. `A[I]` -> `reduced<X>` -> `A[I]{R:X}`. Communicates nothing. Refused: K05, K06.
template <class... Xs, class A>
auto reduced(A const& a, std::source_location where = std::source_location::current()) {
  return detail::apply<ReducedOver<Xs...>>(a, where);
}

}  // namespace shardtype
