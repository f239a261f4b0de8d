#pragma once
/// The scope of a shard_map's body, and blocks that are created there.

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/check/manual.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/dim.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/tensor/local.hpp>

namespace shardtype {

namespace detail {

/// While it exists, the calling rank runs the body of a shard_map on `mesh`; if not `manual`, it
/// has left the body of the enclosing one.
template <bool manual>
class ModeScope {
 public:
  explicit ModeScope(MeshRef const& mesh) : mesh_(mesh), before_(run_time.manual_mesh) {
    run_time.manual_mesh = manual ? &mesh_ : nullptr;
    change(manual);
  }
  ModeScope(ModeScope const&) = delete;
  ModeScope& operator=(ModeScope const&) = delete;
  ~ModeScope() {
    change(!manual);
    run_time.manual_mesh = before_;
  }

 private:
  void change(bool enters) {
    enters ? mesh_.state().enter_manual_mode() : mesh_.state().leave_manual_mode();
  }

  MeshRef mesh_;
  MeshRef const* before_;
};
using ManualScope = ModeScope<true>;
using StrictScope = ModeScope<false>;

/// The mesh of the enclosing shard_map, which `what` needs. Error E63 outside of one.
MeshRef const& mesh_around(char const* what);

/// The calling rank's element of a rank-0 block; zero on ranks outside the mesh.
template <class L>
typename L::element own_element(L const& a) {
  typename L::element value{};
  if (!a.mesh().here()) return value;
  Kokkos::View<typename L::element, Kokkos::HostSpace,
               Kokkos::MemoryTraits<Kokkos::Unmanaged>> const to(&value);
  Kokkos::deep_copy(to, a.local());
  return value;
}

/// The element type and parts of a Local, or the Local itself.
template <class T, class... Parts>
struct CreatedLocal {
  using type = Local<T, Parts...>;
};
template <class T, class... Parts>
struct CreatedLocal<Local<T, Parts...>> {
  using type = Local<T, Parts...>;
};
template <class... Parts>
using local_extents = extents_of<typename CreatedLocal<Parts...>::type>;

/// The Local like `L` with the Spec `State::value`, in scope `S`.
template <class S, class State, class T>
using local_from = tensor_from_spec<S, State, T, Local<T>>;

/// A block with these dims that varies over `Xs`.
template <class T, class Dims, class... Xs>
struct VaryingBlock;
template <class T, class... Dims, class... Xs>
struct VaryingBlock<T, Pack<Dims...>, Xs...> {
  using S = Scope<Mentions<Dims..., Reduced<Xs...>>>;
  struct State {
    static constexpr Spec decide() {
      Spec s = S::template spec<0>;
      s.local = true;
      s.varying = s.reduced;
      s.reduced = {};
      return s;
    }
    static constexpr Spec value = decide();
  };
  using type = local_from<S, State, T>;
};

/// The calling rank's index in the group of ranks that differ only along `Xs`, first axis major,
/// and the size of the group.
template <class... Xs>
std::int64_t place_along(MeshState const& mesh, std::int64_t& count) {
  std::int64_t place = 0;
  count = 1;
  auto const along = [&](Identity id, std::string_view name) {
    int const k = mesh.find(id);
    if (k < 0) mesh.refuse_axis(name);
    auto const at = static_cast<std::size_t>(k);
    count *= mesh.axes()[at].size;
    place = place * mesh.axes()[at].size + mesh.coords()[at];
  };
  (along(identity<Xs>, Xs::name), ...);
  return place;
}

}  // namespace detail

namespace api {

/// Inside of shard_map: a block of these extents with the same `value` on all ranks:
/// `full_local<float, Dim<I>>({4}, 1.0f)` -> `f32[I]`. Communicates nothing. Error E63 outside of
/// shard_map.
template <class... Parts, class Extents = detail::local_extents<Parts...>>
  requires(std::is_same_v<Extents, detail::local_extents<Parts...>>)
auto full_local(Extents const& extents,
                core::Taken<typename detail::CreatedLocal<Parts...>::type::element> value) {
  using A = typename detail::CreatedLocal<Parts...>::type;
  A out = detail::uninitialized<A>(detail::mesh_around("full_local"), extents);
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::fill(exec, static_cast<typename A::element*>(out.buffer().data()), out.local_size(),
                value.value);
  runtime::fence(exec);
  return out;
}
/// A block of zeros; as full_local.
template <class... Parts>
auto zeros_local(core::Taken<detail::local_extents<Parts...>> extents) {
  using T = typename detail::CreatedLocal<Parts...>::type::element;
  return api::full_local<Parts...>(extents.value, T{});
}

/// Inside of shard_map: the calling rank's index along `Xs` (first axis major) as a block that
/// varies over them, `i32[]{V:X}`. Not a C++ number, because control flow on it would diverge.
/// Communicates nothing. JAX: axis_index. Errors: E13 an axis the mesh lacks, E63 outside of
/// shard_map.
template <MeshAxis... Xs>
auto axis_index() {
  using A = typename detail::VaryingBlock<std::int32_t, detail::Pack<>, Xs...>::type;
  runtime::MeshRef const& mesh = detail::mesh_around("axis_index");
  std::int64_t count = 1;
  std::int64_t const place = detail::place_along<Xs...>(mesh.state(), count);
  A out = detail::uninitialized<A>(mesh, {});
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::fill(exec, static_cast<std::int32_t*>(out.buffer().data()), out.local_size(),
                static_cast<std::int32_t>(place));
  runtime::fence(exec);
  return out;
}

/// Inside of shard_map: the number of ranks along `Xs` together; equal on all ranks, so a C++
/// number. Errors as axis_index. JAX: axis_size.
template <MeshAxis... Xs>
std::int64_t axis_size() {
  std::int64_t count = 1;
  detail::place_along<Xs...>(detail::mesh_around("axis_size").state(), count);
  return count;
}

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/manual/local.ipp>
#include <shardtype/runtime/instance.hpp>
#endif
