#pragma once
/// The templates of the engine that the compiled part has for the usual element types: `SHARDTYPE_INSTANCES(extern, T)`
/// declares them, in src/ `SHARDTYPE_INSTANCES(, T)` compiles them.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/core/bfloat16.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/run.hpp>

#ifdef SHARDTYPE_COMPILED
#define SHARDTYPE_INSTANCES(Extern, T)                                                      \
  Extern template class shardtype::execute::Executor<T, Kokkos::HostSpace>;                 \
  Extern template shardtype::runtime::Buffer                                                \
  shardtype::execute::run_call<T, Kokkos::HostSpace>(shardtype::execute::Call const& call,  \
                                                     std::int64_t* extents,                 \
                                                     shardtype::runtime::Exchange* later);

SHARDTYPE_INSTANCES(extern, float)
SHARDTYPE_INSTANCES(extern, double)
SHARDTYPE_INSTANCES(extern, bool)
SHARDTYPE_INSTANCES(extern, std::int32_t)
SHARDTYPE_INSTANCES(extern, std::int64_t)
SHARDTYPE_INSTANCES(extern, shardtype::bfloat16)
SHARDTYPE_INSTANCES(extern, Kokkos::complex<float>)
SHARDTYPE_INSTANCES(extern, Kokkos::complex<double>)
#endif
