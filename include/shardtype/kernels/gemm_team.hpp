#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "shardtype/kernels/launch_name.hpp"
#include "shardtype/kernels/matrix.hpp"

/// The product for devices: one team per tile of C, with tiles of A and B in scratch memory.
namespace shardtype::kernels::detail {

/// Computes tile number first_tile + league_rank. Correct for any team size: each element of the
/// tile belongs to one member of the team, which keeps its sum in scratch memory.
template <class Exec, class T>
struct GemmTeam {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = Kokkos::View<T*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  static constexpr int side = 16;           ///< Tiles are squares of this many elements.
  static constexpr int tile = side * side;  ///< Elements of a tile.

  /// Scratch memory of a team: a tile of A, of B and of sums, and slack for alignment. A constant,
  /// because the parameter's type (int or std::size_t) depends on the Kokkos version.
  static constexpr int scratch_bytes = 3 * tile * static_cast<int>(sizeof(T)) + 128;

  Matrix<T const> a, b;
  Matrix<T> c;
  std::int64_t tiles_m, tiles_n, first_tile;
  bool accumulate;

  KOKKOS_INLINE_FUNCTION void operator()(Member const& team) const {
    Scratch const scratch(team.team_scratch(0), 3 * tile);
    T* const tile_a = scratch.data();
    T* const tile_b = tile_a + tile;
    T* const sums = tile_b + tile;
    int const rank = static_cast<int>(team.team_rank());
    int const size = static_cast<int>(team.team_size());
    std::int64_t const id = first_tile + team.league_rank();
    std::int64_t const i = id / tiles_n % tiles_m * side;
    std::int64_t const j = id % tiles_n * side;
    std::int64_t const t = id / tiles_n / tiles_m;

    for (int e = rank; e < tile; e += size) sums[e] = T(0);
    for (std::int64_t p = 0; p < a.cols; p += side) {
      load(a.data + t * a.batch_stride, i, p, a.rows, a.cols, a.row_stride, a.col_stride, tile_a,
           rank, size);
      load(b.data + t * b.batch_stride, p, j, b.rows, b.cols, b.row_stride, b.col_stride, tile_b,
           rank, size);
      team.team_barrier();
      for (int e = rank; e < tile; e += size) {
        T sum = sums[e];
        for (int q = 0; q < side; ++q) {
          sum += tile_a[e / side * side + q] * tile_b[q * side + e % side];
        }
        sums[e] = sum;
      }
      team.team_barrier();
    }
    for (int e = rank; e < tile; e += size) {
      std::int64_t const row = i + e / side;
      std::int64_t const col = j + e % side;
      if (row < c.rows && col < c.cols) {
        T& to = c.data[t * c.batch_stride + row * c.row_stride + col * c.col_stride];
        to = accumulate ? to + sums[e] : sums[e];
      }
    }
  }

 private:
  /// Copies the tile at (row, col) to scratch memory, with zeros outside. Neighbouring members of
  /// the team read along the direction with unit stride, so that their reads coalesce.
  KOKKOS_INLINE_FUNCTION static void load(T const* x, std::int64_t row, std::int64_t col,
                                          std::int64_t rows, std::int64_t cols,
                                          std::int64_t row_stride, std::int64_t col_stride, T* to,
                                          int rank, int size) {
    for (int e = rank; e < tile; e += size) {
      int const r = row_stride == 1 ? e % side : e / side;
      int const s = row_stride == 1 ? e / side : e % side;
      bool const inside = row + r < rows && col + s < cols;
      to[r * side + s] = inside ? x[(row + r) * row_stride + (col + s) * col_stride] : T(0);
    }
  }
};

/// The tiled product on any execution space. team_size 0: chosen here.
template <class Exec, class T>
void gemm_team(Exec const& exec, std::int64_t batch, Matrix<T const> const& a,
               Matrix<T const> const& b, Matrix<T> const& c, bool accumulate, int team_size = 0) {
  using Functor = GemmTeam<Exec, T>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  // The league size is an int.
  constexpr std::int64_t most = std::int64_t{1} << 30;
  Functor functor{a,
                  b,
                  c,
                  (c.rows + Functor::side - 1) / Functor::side,
                  (c.cols + Functor::side - 1) / Functor::side,
                  0,
                  accumulate};
  std::int64_t const tiles = batch * functor.tiles_m * functor.tiles_n;
  auto const scratch = Kokkos::PerTeam(Functor::scratch_bytes);
  for (; functor.first_tile < tiles; functor.first_tile += most) {
    auto const league = static_cast<int>(std::min(most, tiles - functor.first_tile));
    int size = team_size;
    if (size <= 0) {
      size = Policy(exec, league, 1)
                 .set_scratch_size(0, scratch)
                 .team_size_max(functor, Kokkos::ParallelForTag());
      size = std::min(size, Functor::tile);
    }
    Kokkos::parallel_for(kernels::launch_name("shardtype::gemm_team"),
                         Policy(exec, league, size).set_scratch_size(0, scratch), functor);
  }
}

}  // namespace shardtype::kernels::detail
