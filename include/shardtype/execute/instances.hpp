#pragma once
/// The templates of the engine that the compiled part has for the usual element types:
/// `SHARDTYPE_MOVES(extern, T)` declares them, in src/ `SHARDTYPE_MOVES(, T)` compiles them.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/core/bfloat16.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/run.hpp>

#ifdef SHARDTYPE_COMPILED

/// Calls `Each(Extern, T)` for the usual types of numbers.
#define SHARDTYPE_NUMBERS(Each, Extern) \
  Each(Extern, float);                  \
  Each(Extern, double);                 \
  Each(Extern, std::int32_t);           \
  Each(Extern, std::int64_t);           \
  Each(Extern, bfloat16);               \
  Each(Extern, Kokkos::complex<float>); \
  Each(Extern, Kokkos::complex<double>)

/// Moves of a value.
#define SHARDTYPE_MOVES(Extern, T)                                                                 \
  Extern template Buffer Executor<T, Kokkos::HostSpace>::run(Plan const&, Value<T>, Exchange*);    \
  Extern template Buffer Executor<T, Kokkos::HostSpace>::run(Step const&, Value<T>, Exchange*,     \
                                                             Partners const*);                     \
  Extern template Buffer Executor<T, Kokkos::HostSpace>::run_slot(Plan const&, Slot, Value<T>);    \
  Extern template Value<T> Executor<T, Kokkos::HostSpace>::step(Step const&, Value<T>);            \
  Extern template Buffer Executor<T, Kokkos::HostSpace>::run_all_reduce(Step const&, Value<T>,     \
                                                                        Exchange*);                \
  Extern template Buffer Executor<T, Kokkos::HostSpace>::run_rows(Step const&, Value<T>, Value<T>, \
                                                                  Exchange*);                      \
  Extern template Buffer run_all_reduce<T, Kokkos::HostSpace>(Call const&, std::int64_t*,          \
                                                              Exchange*);                          \
  Extern template void Executor<T, Kokkos::HostSpace>::agree_on(Step const&);                      \
  Extern template void Executor<T, Kokkos::HostSpace>::agree(Step const&);                         \
  Extern template Buffer run_call<T, Kokkos::HostSpace>(Call const&, std::int64_t*, Exchange*)
/// Products; bool has none.
#define SHARDTYPE_PRODUCTS(Extern, T)                                                        \
  Extern template Buffer run_product<T, Kokkos::HostSpace>(Call const&, std::int64_t*);      \
  Extern template bool run_product_keeping<T, Kokkos::HostSpace>(Call const&, std::int64_t*, \
                                                                 Buffer&, Buffer&);          \
  Extern template Buffer run_strict_product<T, Kokkos::HostSpace>(Call const&, std::int64_t*)

namespace shardtype::execute {
SHARDTYPE_MOVES(extern, bool);
SHARDTYPE_NUMBERS(SHARDTYPE_MOVES, extern);
SHARDTYPE_NUMBERS(SHARDTYPE_PRODUCTS, extern);
}  // namespace shardtype::execute

#endif
