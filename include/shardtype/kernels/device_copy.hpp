#pragma once
/// Device: copies between strided and packed blocks. Neighbouring calls read, or write,
/// neighbouring elements; a transpose goes through tiles in the memory of a team, so that both are
/// neighbours.

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/launch_name.hpp>
#include <shardtype/kernels/layout.hpp>

namespace shardtype::kernels::detail {

/// One call copies one element: from a packed block to a strided one if `Unpacks`, else the other
/// way.
template <class T, bool Unpacks>
struct CopyElements {
  T const* src;
  T* dst;
  Layout layout;  ///< of the strided block, merged

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number k) const {
    std::int64_t const at = kernels::offset_of(layout, k);
    if constexpr (Unpacks) {
      dst[at] = src[k];
    } else {
      dst[k] = src[at];
    }
  }
};
template <bool Unpacks, class T, class Exec>
void copy_elements(Exec const& exec, char const* name, T const* src, Layout const& layout, T* dst) {
  kernels::launch(exec, name, layout.elements(), CopyElements<T, Unpacks>{src, dst, layout});
}

/// dst (packed, last dim fastest) = src, whose dim `fast` has stride 1 and whose last dim has not.
/// One team copies one tile of these two dims. Correct for any team size.
template <class Exec, class T>
struct TransposeTeam {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = Kokkos::View<T*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  static constexpr int side = 32;
  static constexpr int pitch = side + 1;  ///< so that the columns of a tile are in other banks
  static constexpr int scratch_bytes = side * pitch * static_cast<int>(sizeof(T)) + 128;

  T const* src;
  T* dst;
  Layout from;  ///< merged
  Layout to;    ///< the same extents with packed strides
  int fast;
  std::int64_t tiles_fast, tiles_last, first_tile;

  KOKKOS_FUNCTION void operator()(Member const& team) const {
    Scratch const scratch(team.team_scratch(0), side * pitch);
    T* const tile = scratch.data();
    int const rank = static_cast<int>(team.team_rank());
    int const size = static_cast<int>(team.team_size());
    int const last = from.rank - 1;
    std::int64_t work = first_tile + team.league_rank();
    std::int64_t const j = work % tiles_last * side;
    work /= tiles_last;
    std::int64_t const i = work % tiles_fast * side;
    work /= tiles_fast;
    T const* in = src + i + j * from.stride[last];
    T* out = dst + i * to.stride[fast] + j;
    for (int d = last - 1; d >= 0; --d) {
      if (d == fast) continue;
      std::int64_t const at = work % from.extent[d];
      work /= from.extent[d];
      in += at * from.stride[d];
      out += at * to.stride[d];
    }
    int const rows = part(from.extent[fast] - i);
    int const columns = part(from.extent[last] - j);
    for (int e = rank; e < side * side; e += size) {
      int const c = e / side, r = e % side;
      if (r < rows && c < columns) tile[r * pitch + c] = in[c * from.stride[last] + r];
    }
    team.team_barrier();
    for (int e = rank; e < side * side; e += size) {
      int const r = e / side, c = e % side;
      if (r < rows && c < columns) out[r * to.stride[fast] + c] = tile[r * pitch + c];
    }
  }

 private:
  KOKKOS_FUNCTION static int part(std::int64_t left) {
    return left < side ? static_cast<int>(left) : side;
  }
};

/// As TransposeTeam.
template <class T, class Exec>
void transpose_by_teams(Exec const& exec, T const* src, Layout const& from, int fast, T* dst) {
  using Functor = TransposeTeam<Exec, T>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  constexpr std::int64_t most = std::int64_t{1} << 30;  // the league size is an int
  int const last = from.rank - 1;
  auto const tiles = [&](int d) { return (from.extent[d] + Functor::side - 1) / Functor::side; };
  Functor functor{src, dst, from, from.packed(), fast, tiles(fast), tiles(last), 0};
  std::int64_t all = tiles(fast) * tiles(last);
  for (int d = 0; d < last; ++d) all *= d == fast ? 1 : from.extent[d];
  auto const scratch = Kokkos::PerTeam(Functor::scratch_bytes);
  for (; functor.first_tile < all; functor.first_tile += most) {
    auto const league = static_cast<int>(std::min(most, all - functor.first_tile));
    int const size = Policy(exec, league, 1)
                         .set_scratch_size(0, scratch)
                         .team_size_max(functor, Kokkos::ParallelForTag());
    Kokkos::parallel_for(kernels::launch_name("shardtype::transpose"),
                         Policy(exec, league, std::min(size, 256)).set_scratch_size(0, scratch),
                         functor);
  }
}

}  // namespace shardtype::kernels::detail
