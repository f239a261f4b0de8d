#pragma once
/// Pictures of tensors as PNG files.

#include <cstdint>
#include <string>
#include <type_traits>

#include <shardtype/check/call_site.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/io/npy.hpp>
#include <shardtype/visualize/pixels.hpp>

namespace shardtype::checking {
struct PngHeader {};  // check/elsewhere.hpp
}  // namespace shardtype::checking

namespace shardtype {

namespace detail {

/// The verdict on a picture of `A`: it has two dims, or three, and real numbers.
template <class A>
struct NotAPicture : StillUnreduced<A> {};
template <class A>
  requires(is_tensor<A> &&
           (A::rank < 2 || A::rank > 3 || !std::is_convertible_v<typename A::element, double>))
struct NotAPicture<A> : Plainly<Code::A20_no_picture> {};

/// Adds the sums of all ranks, and writes the file on the mesh's first rank. Errors E87 and IO8 on
/// every rank.
void write_png(MeshState& mesh, visualizing::Pixels& pixels, PngOptions const& options,
               bool integers, std::string const& path);

}  // namespace detail

namespace api {

/// Writes a picture of a tensor to the PNG file at `path`. Of a matrix `f32[I, J]` it has a color
/// for each number, rows downwards; a longer side than `options.most` is shown by means. `f32[I, J,
/// C]` with 1, 3 or 4 channels is an image: numbers of 0 to 1, integers of 0 to 255. Collective
/// over the mesh; split dims are not gathered. Communicates one all_reduce of the pixels, 8 bytes
/// each, and one of a number; for a block-cyclic dim, one all_to_all creates nested blocks first.
/// Refused: A02 while unreduced, A20 other dims and complex numbers. Errors, the same on every
/// rank: E87 no elements, another number of channels, an option out of its range, no libpng; IO8
/// the file cannot be written.
template <class A>
auto save_png(core::Argument<A> const& given, std::string const& path,
              PngOptions const& options = {}, [[maybe_unused]] checking::CallSite where = {}) {
  A const& a = given.self();
  using Operand = detail::operand_t<A>;
  using Judged = detail::judged_t<detail::NotAPicture<Operand>, Operand>;
  if constexpr (!detail::accepts<Judged>) {
    static_cast<void>(checking::Poisoned(Judged{}));
  } else if constexpr (Operand::spec.cyclic_dim() >= 0) {
    api::save_png(api::reshard<typename detail::InBlocks<Operand>::type>(detail::operand(a), where),
                  path, options, where);
  } else {
    core::RunningCall const running("save_png", where);
    runtime::MeshState& mesh = a.mesh().state();
    if (!mesh.here()) return;
    auto const& shown = detail::operand(a);
    detail::NpyBlock const part(shown);
    detail::agree_on_file(mesh, "save_png", path, api::type_name<Operand>(), part.shape);
    visualizing::Pixels pixels(part.shape, options);
    auto const host = detail::readable_block(shown);
    if (detail::first_holder(shown)) pixels.add(host.data(), part.begin, part.count);
    detail::write_png(mesh, pixels, options, std::is_integral_v<typename A::element>, path);
  }
}

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/png.ipp>
#endif
