#pragma once
/// Launches of kernels whose calls have numbers.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/compiled.hpp>
#include <shardtype/kernels/launch_name.hpp>
#include <shardtype/kernels/vector_loop.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::kernels {

namespace detail {

/// A kernel without its type: `make` makes its calls from `begin` to `end`.
struct AnyKernel {
  void (*make)(void const* kernel, std::int64_t begin, std::int64_t end);
  void const* kernel;
};
// clang warns here of an inlined loop that it cannot vectorise as told, because of a call that is
// no vector instruction.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
template <class Kernel>
SHARDTYPE_VECTOR_LOOP void make_calls(void const* kernel, std::int64_t begin, std::int64_t end) {
  // a copy, so that compilers know that no store of the kernel changes it
  Kernel const mine = *static_cast<Kernel const*>(kernel);
  for (std::int64_t work = begin; work < end; ++work) mine(work);
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
/// One call makes those of one thread.
struct CallsOfThreads {
  AnyKernel kernel;
  std::int64_t calls, threads;

  void operator()(std::int64_t thread) const {
    std::int64_t const each = calls / threads;
    std::int64_t const more = calls % threads;  // the first ones make one more
    std::int64_t const begin = thread * each + (thread < more ? thread : more);
    kernel.make(kernel.kernel, begin, begin + each + (thread < more ? 1 : 0));
  }
};

/// Gives each thread neighbouring calls, and returns when all are made.
void launch_any(char const* name, std::int64_t calls, AnyKernel kernel);

/// Whether kernels are launched without their types: HPX returns before they are made.
template <class Exec>
inline constexpr bool launches_any = runtime::done_on_return<Exec>;

/// Whether `n` fits 32 bits with a sign.
constexpr bool fits_32(std::int64_t n) { return n <= std::int64_t{0x7fffffff}; }

/// Whether the calls of a kernel may have numbers of 32 bits: its call operator is a template over
/// the type of the number, in which it divides.
template <class Kernel>
concept DividesIn32 =
    requires(Kernel const& kernel) { kernel.template operator()<std::uint32_t>(std::uint32_t{}); };
/// The largest number that a kernel divides: that of a call, or `Kernel::largest()`.
template <class Kernel>
std::int64_t largest_number(std::int64_t calls, Kernel const& kernel) {
  if constexpr (requires { kernel.largest(); }) {
    std::int64_t const own = kernel.largest();
    return own > calls ? own : calls;
  } else {
    return calls;
  }
}
/// Calls with numbers of type `Number`.
template <class Number, class Exec>
auto numbered(Exec const& exec, std::int64_t calls) {
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<Number>>(exec, Number{0},
                                                              static_cast<Number>(calls));
}

}  // namespace detail

/// Calls `kernel(work)` for each `work` from 0 to `calls`, on `exec`; tools see it as `name`, a
/// literal. On the host one function launches all kernels, because Kokkos's own launch costs
/// compilers 15 functions and classes per kernel. A device divides numbers of 32 bits several times
/// faster, so kernels that can (DividesIn32) get such numbers there if all of them fit.
template <class Exec, class Kernel>
void launch([[maybe_unused]] Exec const& exec, char const* name, std::int64_t calls,
            Kernel const& kernel) {
  if constexpr (detail::launches_any<Exec>) {
    detail::launch_any(name, calls, {&detail::make_calls<Kernel>, &kernel});
  } else {
    if constexpr (detail::DividesIn32<Kernel> && !runtime::host_reads<Exec>) {
      if (detail::fits_32(detail::largest_number(calls, kernel))) {
        Kokkos::parallel_for(launch_name(name), detail::numbered<std::uint32_t>(exec, calls),
                             kernel);
        return;
      }
    }
    Kokkos::parallel_for(launch_name(name), detail::numbered<std::int64_t>(exec, calls), kernel);
  }
}

}  // namespace shardtype::kernels

#ifndef SHARDTYPE_COMPILED
#include <shardtype/kernels/launch.ipp>
#endif
