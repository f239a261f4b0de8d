#pragma once
/// Tensors whose local blocks are the user's own memory.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include <shardtype/tensor/create.hpp>

namespace shardtype {

namespace detail {

/// Error E22: the user's memory, `given` elements at `data`, cannot hold the block of a tensor,
/// `needed` elements.
[[noreturn]] void throw_not_a_block(MeshState const& mesh, Names const& names, Spec const& spec,
                                    Rows const* rows, std::int64_t needed, std::size_t given);
/// Error E22: its elements do not begin at a multiple of `alignment`.
[[noreturn]] void throw_unaligned(MeshState const& mesh, void const* data, std::size_t alignment);

}  // namespace detail

namespace api {

/// A tensor whose local block is the user's own memory, which is not copied, and not freed:
/// `wrap<double, Dim<J, Cyclic<X, 64>>, Dim<I>>(mesh, {n, n}, std::span(mine, count))` ->
/// `f64[J@X%64, I]`. The block lies from the begin of the span on, row-major in the order of the
/// dims, without gaps; the span may be longer. A `Tensor` in another memory space than the host's
/// has a span of addresses there. Null is legal where the rank holds no elements. Extents may be
/// left out if the labels have static ones. Communicates nothing.
///
/// The tensor is a value as any other, only that its memory is the user's: it must live, and not be
/// written by others, as long as any tensor or operation under way has it, copies and results that
/// share memory (`relabel`) among them. What writes to a tensor's own memory writes to the user's:
/// `mutable_local`, `a += b`, optimizers, and operations to which it is given by `std::move`, such
/// as `linalg::lu_factor<I, J>(std::move(a))`, whose result then lies in the user's memory. A span
/// of const elements is never written: there the first two are Error E21, and the last ones copy.
/// Wrap a memory once: tensors that wrap the same one do not know of each other. The mesh's pool
/// and the statistics of memory do not count it.
///
/// Refused: M01, T12 elements of another type. Errors: E20; E22 a span that is too short or null,
/// or not aligned as an element.
template <class... Parts, class... Xs, class E>
  requires std::is_same_v<std::remove_const_t<E>, detail::created_element<Parts...>>
auto wrap(runtime::MeshOf<Xs...> const& mesh, detail::created_extents<Parts...> const& extents,
          std::span<E> memory) {
  using A = detail::created_t<Parts...>;
  detail::check_mesh_has_axes<A, Xs...>();
  auto const rows = A::local_rows(mesh, extents);
  std::int64_t n = mesh.here() ? 1 : 0;
  for (core::Rows const& r : rows) n *= r.size();
  auto const needed = static_cast<std::size_t>(n);
  if (memory.size() < needed || (memory.data() == nullptr && n > 0))
    detail::throw_not_a_block(mesh.state(), core::Scope<A>::names, A::spec, rows.data(), n,
                              memory.data() == nullptr ? 0 : memory.size());
  auto* const data = const_cast<std::remove_const_t<E>*>(memory.data());
  if (n > 0 && reinterpret_cast<std::uintptr_t>(data) % alignof(E) != 0)
    detail::throw_unaligned(mesh.state(), data, alignof(E));
  return A(mesh, extents,
           mesh.state().pool().template borrow<typename A::memory_space>(data, needed * sizeof(E),
                                                                         std::is_const_v<E>));
}
template <class... Parts, class... Xs, class E>
  requires std::is_same_v<std::remove_const_t<E>, detail::created_element<Parts...>>
auto wrap(runtime::MeshOf<Xs...> const& mesh, std::span<E> memory) {
  return api::wrap<Parts...>(mesh, detail::label_extents<Parts...>(), memory);
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_CREATED(wrap)

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/tensor/wrap.ipp>
#endif
