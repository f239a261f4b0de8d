#pragma once
/// Instances as in execute/instances.hpp, for reductions of floating-point elements and softmax.

#include <cstdint>

#include <shardtype/core/compiled.hpp>
#include <shardtype/execute/instances.hpp>
#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/norms.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/kernels/softmax.hpp>

#ifdef SHARDTYPE_COMPILED

/// A reducer that gives each rank's partial result, and one that needs its totals from all ranks.
#define SHARDTYPE_REDUCED(Extern, Finish, T, ...)                                        \
  Extern template Buffer reduce_block<__VA_ARGS__, Finish, Kokkos::HostSpace, T const*>( \
      MeshState&, T const* const&, kernels::Layout const&, int)
#define SHARDTYPE_CARRIED(Extern, T, ...)           \
  SHARDTYPE_REDUCED(Extern, true, T, __VA_ARGS__);  \
  SHARDTYPE_REDUCED(Extern, false, T, __VA_ARGS__); \
  SHARDTYPE_MOVES(Extern, Carried<__VA_ARGS__>)

#define SHARDTYPE_REDUCTIONS(Extern, T)                                  \
  SHARDTYPE_REDUCED(Extern, true, T, kernels::SumReducer<T>);            \
  SHARDTYPE_REDUCED(Extern, true, T, kernels::ExtremeReducer<T, true>);  \
  SHARDTYPE_REDUCED(Extern, true, T, kernels::ExtremeReducer<T, false>); \
  SHARDTYPE_CARRIED(Extern, T, kernels::LogSumExpReducer<T>);            \
  SHARDTYPE_CARRIED(Extern, T, kernels::NormReducer<T>);                 \
  Extern template void divide_block<Kokkos::HostSpace, T>(T*, std::int64_t, double)
#define SHARDTYPE_NORMALIZED(Extern, T, Log)                                                   \
  Extern template void normalize<Log>(Kokkos::HostSpace::execution_space const&, T const*, T*, \
                                      Peak<T>*, Layout)

namespace shardtype::kernels {
SHARDTYPE_NORMALIZED(extern, float, false);
SHARDTYPE_NORMALIZED(extern, float, true);
SHARDTYPE_NORMALIZED(extern, double, false);
SHARDTYPE_NORMALIZED(extern, double, true);
}  // namespace shardtype::kernels

namespace shardtype::execute {
SHARDTYPE_REDUCTIONS(extern, float);
SHARDTYPE_REDUCTIONS(extern, double);
}  // namespace shardtype::execute

#endif
