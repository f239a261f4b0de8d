#pragma once
/// Functions that create tensors. None of them communicates.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/check/callable.hpp>
#include <shardtype/check/create.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/check/on_mesh.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/plan/explain.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype {

namespace detail {

/// Template arguments of a creation function: a `Tensor<...>`, or the element type and parts of
/// one.
template <class... Parts>
struct Created;
template <class T, class... Parts>
struct Created<T, Parts...> {
  using type = Tensor<T, Parts...>;
};
template <class T, class... Parts>
struct Created<Tensor<T, Parts...>> {
  using type = Tensor<T, Parts...>;
};
template <class... Parts>
using created_t = typename Created<Parts...>::type;

template <class... Parts>
using created_element = typename created_t<Parts...>::element;

template <class A>
using extents_of = std::array<std::int64_t, A::rank>;
template <class... Parts>
using created_extents = extents_of<created_t<Parts...>>;

/// The static extents of the labels of `A`; `dynamic` for labels without one.
template <class A>
constexpr extents_of<A> extents_from_type() {
  extents_of<A> out{};
  Names const names = Scope<A>::names;
  for (std::size_t d = 0; d < A::rank; ++d) out[d] = names.label_extent[A::spec.dims[d].label];
  return out;
}
template <class... Parts>
constexpr created_extents<Parts...> label_extents() {
  return detail::extents_from_type<created_t<Parts...>>();
}

/// Refuses a tensor type whose axes the mesh lacks, or that varies over manual axes.
template <class A, class... Xs>
constexpr void check_mesh_has_axes() {
  if constexpr (!Scope<A>::parsed[0].spec.varying.empty())
    checking::refused<rules::Code::V02_wrong_mode, false, A>{};
  constexpr int missing = detail::missing_axis<A>(Type<Mesh<Xs...>>{});
  if constexpr (missing >= 0) {
    not_in_mesh_t<A, Mesh<Xs...>, missing>{};
  }
}

/// A tensor with uninitialized memory.
template <class A>
A uninitialized(MeshRef const& mesh, extents_of<A> const& extents) {
  std::int64_t n = mesh.here() ? 1 : 0;
  for (Rows const& r : A::local_rows(mesh, extents)) n *= r.size();
  core::RunningCall const making(detail::element_name<typename A::element>(), A::spec,
                                 Scope<A>::names);
  return A(mesh, extents,
           mesh.state().pool().template take<typename A::memory_space>(
               static_cast<std::size_t>(n) * sizeof(typename A::element)));
}

/// Whether this rank holds the value of a tensor of type `A`. The value of an unreduced sum is on
/// the first rank of each group; the others hold zeros.
template <class A>
bool holds_value(MeshRef const& mesh) {
  if (A::spec.kind != ReduceKind::sum) return true;
  AxisMap const axes = runtime::map_axes(mesh.state(), Scope<A>::names);
  for (int x = 0; x < max_axes; ++x)
    if (A::spec.unreduced.contains(x) && axes.coords[x] != 0) return false;
  return true;
}

/// Fills a tensor that has just been made.
template <class A>
void fill(A const& a, typename A::element value) {
  if (!detail::holds_value<A>(a.mesh())) value = typename A::element{};
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::fill(exec, static_cast<typename A::element*>(a.buffer().data()), a.local_size(), value);
  runtime::fence(exec);
}

/// Calls `put(local offset, global indices)` for each element of the local block, in order.
template <class A, class Put>
void for_each_element(A const& a, Put put) {
  std::int64_t const n = a.local_size();
  std::array<std::int64_t, A::rank> local{};
  std::array<std::int64_t, A::rank> at{};
  for (std::size_t d = 0; d < A::rank; ++d) at[d] = a.rows()[d].begin;
  for (std::int64_t k = 0; k < n; ++k) {
    put(k, at);
    for (std::size_t d = A::rank; d-- > 0;) {
      if (++local[d] == a.rows()[d].count) local[d] = 0;
      at[d] = a.rows()[d][local[d]];
      if (local[d] != 0) break;
    }
  }
}

/// Fills a new tensor from the host; `value(global indices)` returns each element.
template <class A, class Value>
void fill_from_host(A& a, Value value) {
  using T = typename A::element;
  bool const mine = detail::holds_value<A>(a.mesh());
  auto const n = static_cast<std::size_t>(a.local_size());
  constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename A::memory_space>::accessible;
  List<T> staged(on_host ? 0 : n);
  T* const host = on_host ? static_cast<T*>(a.buffer().data()) : staged.data();
  detail::for_each_element(a, [&](std::int64_t k, std::array<std::int64_t, A::rank> const& at) {
    host[k] = mine ? value(at) : T{};
  });
  if constexpr (!on_host)
    runtime::copy_bytes<typename A::memory_space, Kokkos::HostSpace>(a.buffer().data(), host,
                                                                     n * sizeof(T));
}

/// Whether `F` takes one std::int64_t per dim.
template <std::size_t>
struct PositionOf {
  using type = std::int64_t const&;
};
template <class F, std::size_t... D>
constexpr bool takes_position(std::index_sequence<D...>) {
  return detail::takes<F, typename PositionOf<D>::type...>();
}

}  // namespace detail

namespace api {

/// A tensor whose every element is `value`: `full<float, Dim<I, X>, Dim<J>>(mesh, {1500, 1100},
/// 1.0f)` -> `f32[I@X, J]`. Extents may be left out if the labels have static ones. Communicates
/// nothing. Refused: M01 an axis the mesh lacks. Error E20: an extent that does not fit.
template <class... Parts, class... Xs>
auto full(runtime::MeshOf<Xs...> const& mesh, detail::created_extents<Parts...> const& extents,
          detail::created_element<Parts...> value) {
  using A = detail::created_t<Parts...>;
  detail::check_mesh_has_axes<A, Xs...>();
  A out = detail::uninitialized<A>(mesh, extents);
  detail::fill(out, value);
  return out;
}
template <class... Parts, class... Xs>
auto full(runtime::MeshOf<Xs...> const& mesh, detail::created_element<Parts...> value) {
  return api::full<Parts...>(mesh, detail::label_extents<Parts...>(), value);
}

/// A tensor of zeros: `zeros<float, Dim<I, X>, Dim<J>>(mesh, {1500, 1100})`. As `full`.
template <class... Parts, class... Xs>
auto zeros(runtime::MeshOf<Xs...> const& mesh,
           detail::created_extents<Parts...> const& extents = detail::label_extents<Parts...>()) {
  return api::full<Parts...>(mesh, extents, detail::created_element<Parts...>{});
}

/// A tensor of ones: `ones<float, Dim<I, X>, Dim<J>>(mesh, {1500, 1100})`. As `full`.
template <class... Parts, class... Xs>
auto ones(runtime::MeshOf<Xs...> const& mesh,
          detail::created_extents<Parts...> const& extents = detail::label_extents<Parts...>()) {
  using T = detail::created_element<Parts...>;
  return api::full<Parts...>(mesh, extents, T(1));
}

/// A tensor whose element at global indices (i, j, ...) is `f(i, j, ...)`; `f` runs on the host.
/// Extents may be left out if the labels have static ones. Communicates nothing. Refusals and
/// errors as `full`; T11 a function with another number of parameters.
template <class... Parts, class... Xs, class F>
auto from_function(runtime::MeshOf<Xs...> const& mesh,
                   detail::created_extents<Parts...> const& extents, F f) {
  using A = detail::created_t<Parts...>;
  detail::check_mesh_has_axes<A, Xs...>();
  if constexpr (!detail::takes_position<F&>(std::make_index_sequence<A::rank>{})) {
    checking::refused<rules::Code::T11_not_callable, false, A>{};
    return detail::uninitialized<A>(mesh, extents);
  } else {
    A out = detail::uninitialized<A>(mesh, extents);
    detail::fill_from_host(out, [&](std::array<std::int64_t, A::rank> const& at) {
      return static_cast<typename A::element>(std::apply(f, at));
    });
    return out;
  }
}
template <class... Parts, class... Xs, class F>
auto from_function(runtime::MeshOf<Xs...> const& mesh, F f) {
  return api::from_function<Parts...>(mesh, detail::label_extents<Parts...>(), std::move(f));
}

/// A tensor from the global array, row-major, which every rank passes; each rank copies its block.
/// Communicates nothing. Refusals and errors as `full`; E22 if the array has another number of
/// elements.
template <class... Parts, class... Xs>
auto from_host(runtime::MeshOf<Xs...> const& mesh, detail::created_extents<Parts...> const& extents,
               std::span<detail::created_element<Parts...> const> whole) {
  using A = detail::created_t<Parts...>;
  detail::check_mesh_has_axes<A, Xs...>();
  (void)A::local_rows(mesh, extents);  // checks that the number of elements can be counted
  std::int64_t n = 1;
  for (std::int64_t e : extents) n *= e;
  if (static_cast<std::int64_t>(whole.size()) != n)
    throw Error("E22",
                "from_host was given " + std::to_string(whole.size()) +
                    " elements for a tensor of " + std::to_string(n),
                FailedOn::every_rank);
  A out = detail::uninitialized<A>(mesh, extents);
  detail::fill_from_host(out, [&](std::array<std::int64_t, A::rank> const& at) {
    std::int64_t k = 0;
    for (std::size_t d = 0; d < A::rank; ++d) k = k * extents[d] + at[d];
    return whole[static_cast<std::size_t>(k)];
  });
  return out;
}

/// `plan_at(op::Create<A>{{1500, 1100}}, mesh)`: the plan of creating such a tensor on this mesh,
/// with its memory. Communicates nothing.
template <class A, class... Xs>
Plan plan_at(op::Create<A> const& op, runtime::MeshOf<Xs...> const& mesh) {
  detail::check_mesh_has_axes<A, Xs...>();
  return op.plan_on(runtime::map_axes(mesh.state(), core::Scope<A>::names).sizes);
}

/// The same as text.
template <class A, class... Xs>
std::string explain(op::Create<A> const& op, runtime::MeshOf<Xs...> const& mesh) {
  return api::explain(api::plan_at(op, mesh), core::Scope<A>::names);
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_CREATED(full)
SHARDTYPE_NOT_CREATED(zeros)
SHARDTYPE_NOT_CREATED(ones)
SHARDTYPE_NOT_CREATED(from_function)
SHARDTYPE_NOT_CREATED(from_host)

}  // namespace api

}  // namespace shardtype
