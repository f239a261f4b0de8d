#pragma once
/// Whether a mesh has the axes of a tensor type.

#include <type_traits>

#include <shardtype/check/resolve.hpp>

namespace shardtype {

template <MeshAxis... Xs>
class Mesh;

namespace detail {

/// A mesh that has all axes.
struct AnyMesh {};
template <class A>
constexpr int missing_axis(Type<AnyMesh>) {
  return -1;
}
/// Number of the first axis of `A` that the mesh lacks, or -1.
template <class A, class... Xs>
constexpr int missing_axis(Type<Mesh<Xs...>>) {
  Names const& names = Scope<A>::names;
  for (int x = 0; x < names.axes; ++x)
    if (((names.axis_id[x] != identity<Xs>) && ...)) return x;
  return -1;
}
template <class A, class M, class X>
refused<Code::M01_axis_not_in_mesh, false, A, M, X>* not_in_mesh(Pack<X>);
/// The refusal of `A`, whose axis of number `Axis` the mesh lacks.
template <class A, class M, int Axis>
using not_in_mesh_t =
    std::remove_pointer_t<decltype(detail::not_in_mesh<A, M>(detail::axis_type<Scope<A>, Axis>()))>;

}  // namespace detail

}  // namespace shardtype
