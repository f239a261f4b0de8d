#pragma once
/// The templates of the engine that the compiled part has for the usual element types:
/// `SHARDTYPE_INSTANCES(extern, T)` declares them, in src/ `SHARDTYPE_INSTANCES(, T)` compiles them.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/core/bfloat16.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/run.hpp>

#ifdef SHARDTYPE_COMPILED

/// Calls `Each(Extern, T)` for the usual element types.
#define SHARDTYPE_ELEMENTS(Each, Extern) \
  Each(Extern, float);                   \
  Each(Extern, double);                  \
  Each(Extern, bool);                    \
  Each(Extern, std::int32_t);            \
  Each(Extern, std::int64_t);            \
  Each(Extern, bfloat16);                \
  Each(Extern, Kokkos::complex<float>);  \
  Each(Extern, Kokkos::complex<double>)

#define SHARDTYPE_INSTANCES(Extern, T)                                                          \
  Extern template Buffer Executor<T, Kokkos::HostSpace>::run(Plan const&, Value<T>, Value<T>,   \
                                                             Overlap);                          \
  Extern template Buffer Executor<T, Kokkos::HostSpace>::run(Step const&, Value<T>, Exchange*); \
  Extern template void Executor<T, Kokkos::HostSpace>::start(Plan const&, Value<T>, Exchange&); \
  Extern template Buffer Executor<T, Kokkos::HostSpace>::run_slot(Plan const&, Slot, Value<T>); \
  Extern template Value<T> Executor<T, Kokkos::HostSpace>::step(Step const&, Value<T>);         \
  Extern template void Executor<T, Kokkos::HostSpace>::agree_on(Step const&);                   \
  Extern template void Executor<T, Kokkos::HostSpace>::agree(Step const&);                      \
  Extern template Buffer run_call<T, Kokkos::HostSpace>(Call const&, std::int64_t*, Exchange*)

namespace shardtype::execute {
SHARDTYPE_ELEMENTS(SHARDTYPE_INSTANCES, extern);
}  // namespace shardtype::execute

#endif
