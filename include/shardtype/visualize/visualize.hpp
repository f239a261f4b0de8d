#pragma once
/// Pictures of shardings: of a tensor, or of a type and a mesh type.

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <shardtype/ops/run_explain.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/visualize/drawing.hpp>

namespace shardtype {

namespace detail {

/// The parts of a picture that the type determines: all except the mesh.
template <class A>
ShardingPicture picture_of_type(std::array<std::int64_t, A::rank> const& extents,
                                int (*position)(Identity, void const*), void const* mesh) {
  ShardingPicture out;
  Names const names = Scope<A>::names;
  Spec const s = A::spec;
  auto at = [&](int x) { return position(names.axis_id[x], mesh); };
  for (int d = 0; d < s.rank; ++d) {
    out.index_names.push_back(std::string(names.label_name[s.dims[d].label]));
    out.extents.push_back(extents[static_cast<std::size_t>(d)]);
    out.cyclic.push_back(s.dims[d].axes.cyclic);
    List<int>& axes = out.axes.push_back({});
    for (int k = 0; k < s.dims[d].axes.size; ++k) axes.push_back(at(s.dims[d].axes[k]));
  }
  for (int x = 0; x < names.axes; ++x) {
    if (s.unreduced.contains(x)) out.unreduced.push_back(at(x));
    if (s.reduced.contains(x)) out.reduced.push_back(at(x));
  }
  if (s.kind == ReduceKind::max) out.unreduced_kind = "max";
  if (s.kind == ReduceKind::min) out.unreduced_kind = "min";
  return out;
}

inline int position_in_mesh(Identity id, void const* mesh) {
  return static_cast<MeshState const*>(mesh)->find(id);
}
template <class... Xs>
int position_in_axes(Identity id, void const*) {
  Identity const all[] = {identity<Xs>...};
  for (int k = 0; k < static_cast<int>(sizeof...(Xs)); ++k)
    if (all[k] == id) return k;
  return -1;
}

template <class A, class M>
struct PictureOn;
template <class A, class... Xs>
struct PictureOn<A, Mesh<Xs...>> {
  static ShardingPicture make(std::array<std::int64_t, A::rank> const& extents,
                              std::array<std::int64_t, sizeof...(Xs)> const& given) {
    detail::check_mesh_has_axes<A, Xs...>();
    ShardingPicture out = detail::picture_of_type<A>(extents, &position_in_axes<Xs...>, nullptr);
    (out.mesh_names.push_back(std::string(Xs::name)), ...);
    for (std::int64_t const size : given) out.mesh_sizes.push_back(size);
    out.title = api::type_name<A>();
    return out;
  }
  static constexpr std::array<std::int64_t, sizeof...(Xs)> sizes = {Xs::size...};
};

}  // namespace detail

namespace api {

/// The picture of a tensor's sharding. Communicates nothing.
template <class A>
ShardingPicture picture_of(core::Argument<A> const& given, std::string const& name = "") {
  A const& a = given.self();
  runtime::MeshState const& mesh = a.mesh().state();
  ShardingPicture out =
      detail::picture_of_type<detail::operand_t<A>>(a.extents(), &detail::position_in_mesh, &mesh);
  for (runtime::MeshAxisInfo const& x : mesh.axes()) {
    out.mesh_names.push_back(x.name);
    out.mesh_sizes.push_back(x.size);
  }
  out.ranks = mesh.ranks();
  out.title = (name.empty() ? "" : name + " ") + api::type_name(a);
  return out;
}

/// The picture of a type's sharding on a mesh type, without creating either:
/// `picture_of<Tensor<float, Dim<I, X>, Dim<J>>, Mesh<X, Y>>()`. Extents and sizes that the types
/// do not determine are passed; extents may stay `dynamic`, and blocks are then drawn equal.
/// Refused: M01.
template <class A, class M>
ShardingPicture picture_of(
    std::array<std::int64_t, A::rank> const& extents = detail::extents_from_type<A>(),
    decltype(detail::PictureOn<A, M>::sizes) const& sizes = detail::PictureOn<A, M>::sizes) {
  return detail::PictureOn<A, M>::make(extents, sizes);
}

/// Prints a picture of the blocks and the ranks that hold them, on the mesh's first rank: coloured
/// on a terminal, plain in a file.
template <class A>
void visualize(core::Argument<A> const& given, std::string const& name = "") {
  A const& a = given.self();
  if constexpr (detail::is_of_manual_mode<detail::operand_t<A>>())
    static_cast<void>(checking::refused<rules::Code::V01_mixed, false, detail::operand_t<A>>{});
  runtime::MeshState& mesh = a.mesh().state();
  if (!mesh.here() || mesh.whole().rank() != 0) return;
  std::fputs(detail::draw(api::picture_of(a, name), {detail::use_color(stdout)}).c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace api

}  // namespace shardtype
