#pragma once
/// Loads tensors from NumPy files, and saves them.

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/misused.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/io/npy_file.hpp>
#include <shardtype/ops/run_explain.hpp>
#include <shardtype/ops/run_to_host.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype::io {

/// The dtype that NumPy writes for bfloat16 of the package ml_dtypes: two bytes, and no name.
template <>
struct NpyDtype<bfloat16> {
  static constexpr char const* text = "<V2";
};
template <class T>
struct NpyDtype<Kokkos::complex<T>> : NpyDtype<std::complex<T>> {};

}  // namespace shardtype::io

namespace shardtype {

namespace detail {

/// SHARDTYPE_CHECK=agree: checks that all ranks of the mesh are about to do the same with the same
/// file, for tensors of the same type (as text) and, if it is saved, the same extents.
void agree_on_file(MeshState& mesh, std::string const& what, std::string const& path,
                   std::string const& type, io::NpyInts const& shape);

/// MPI's collective file calls spin while they wait, so with more ranks than cores each rank reads
/// and writes independently.
io::NpyAccess file_access();

/// The extents of a tensor, and the begin and length of the calling rank's block.
struct NpyBlock {
  io::NpyInts shape, begin, count;

  template <std::size_t rank>
  explicit NpyBlock(HeldRows<rank> const& a)
      : NpyBlock(a.extents().data(), a.rows().data(), rank) {}

 private:
  NpyBlock(std::int64_t const* extents, Rows const* rows, std::size_t rank);
};

/// Reads the header of the array for a tensor of the type `type`, whose Spec and names these are,
/// and writes its extents. Errors: IO1 to IO5, IO7.
io::NpyHeader read_header_for(MeshRef const& mesh, std::string const& path, std::string const& type,
                              std::string const& dtype, Names const& names, Spec const& spec,
                              std::int64_t* extents);
/// Reads the calling rank's block to `to`, in host memory; zeros unless it `holds_value`. Error
/// IO6.
void read_block(MeshState& mesh, std::string const& path, io::NpyHeader const& header,
                NpyBlock const& block, std::size_t element_bytes, bool holds_value, void* to);

/// The calling rank's block where the host can read it: in its place, or copied from a device.
template <class A>
auto readable_block(A const& a) {
  using Space = typename A::memory_space;
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible) {
    using T = typename A::element;
    return std::span<T const>(static_cast<T const*>(a.buffer().data()),
                              static_cast<std::size_t>(a.local_size()));
  } else {
    return detail::block_on_host(a);
  }
}

}  // namespace detail

namespace api {

/// Loads the array of a .npy file as a tensor: `load_npy<float, Dim<I, X>, Dim<J>>(mesh, "a.npy")`
/// -> `f32[I@X, J]`. Each rank reads its own block through MPI-IO; no elements are sent between
/// ranks, except for a block-cyclic dim, `Dim<I, Cyclic<X, 64>>`: then ranks read nested blocks,
/// and one all_to_all redistributes them. C and Fortran order; float32/64, bfloat16,
/// int32/64, complex64/128.
/// Collective over the mesh.
///
/// Refused: M01. Errors, the same on every rank: IO1 missing file, IO2 not a .npy file, IO3 invalid
/// header, IO4 another element type, IO5 another number of dims, IO6 file too short, IO7 an extent
/// that does not fit its label.
template <class... Parts, class... Xs>
detail::created_t<Parts...> load_npy(runtime::MeshOf<Xs...> const& mesh, std::string const& path,
                                     [[maybe_unused]] checking::CallSite where = {}) {
  using A = detail::created_t<Parts...>;
  using T = typename A::element;
  detail::check_mesh_has_axes<A, Xs...>();
  if constexpr (A::spec.cyclic_dim() >= 0)
    return api::reshard<A>(api::load_npy<typename detail::InBlocks<A>::type>(mesh, path, where),
                           where);
  core::RunningCall const running("load_npy", where);
  detail::extents_of<A> extents{};
  io::NpyHeader const header =
      detail::read_header_for(mesh, path, api::type_name<A>(), io::npy_dtype<T>(),
                              core::Scope<A>::names, A::spec, extents.data());
  A out = detail::uninitialized<A>(mesh, extents);
  if (!mesh.here()) return out;
  detail::NpyBlock const part(out);
  bool const holds = detail::holds_value<A>(mesh);
  using Space = typename A::memory_space;
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible) {
    detail::read_block(mesh.state(), path, header, part, sizeof(T), holds, out.buffer().data());
  } else {
    using Block = Kokkos::View<T*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    Block const block(out.mutable_local().data(), static_cast<std::size_t>(out.local_size()));
    auto const host = Kokkos::create_mirror_view(block);
    detail::read_block(mesh.state(), path, header, part, sizeof(T), holds, host.data());
    Kokkos::deep_copy(block, host);
  }
  return out;
}

/// Saves a tensor to a .npy file (C order). Each block is written through MPI-IO by the first rank
/// that holds it; for a block-cyclic dim, one all_to_all creates nested blocks first. Collective
/// over the mesh. Refused: A02 while unreduced. Error IO8, the same on every rank, if the file
/// cannot be written.
template <class A>
auto save_npy(core::Argument<A> const& given, std::string const& path,
              [[maybe_unused]] checking::CallSite where = {}) {
  A const& a = given.self();
  using Operand = detail::operand_t<A>;
  using Judged = detail::judged_t<detail::StillUnreduced<Operand>, Operand>;
  if constexpr (!detail::accepts<Judged>) {
    static_cast<void>(checking::Poisoned(Judged{}));
  } else if constexpr (Operand::spec.cyclic_dim() >= 0) {
    api::save_npy(api::reshard<typename detail::InBlocks<Operand>::type>(detail::operand(a), where),
                  path, where);
  } else {
    core::RunningCall const running("save_npy", where);
    runtime::MeshState& mesh = a.mesh().state();
    if (!mesh.here()) return;
    auto const& written = detail::operand(a);
    detail::NpyBlock const part(written);
    detail::agree_on_file(mesh, "save_npy", path, api::type_name<Operand>(), part.shape);
    auto const host = detail::readable_block(written);
    io::write_npy(mesh.whole().raw(), path, io::npy_dtype<typename A::element>(), part.shape,
                  part.begin, part.count, sizeof(typename A::element), host.data(),
                  detail::first_holder(written), false, detail::file_access());
  }
}

/// Refused, A13: the path first.
template <int... None>
auto save_npy(checking::Word const&, checking::Anything const&) {
  checking::refused<rules::Code::A13_argument_order, false, checking::NumberedDim<None>...>{};
}

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/io/npy.ipp>
#endif
