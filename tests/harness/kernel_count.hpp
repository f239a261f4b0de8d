// The number of kernels that Kokkos started on this rank.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace kernel_count {

inline int started = 0;

// Starts counting kernels, from zero.
inline void reset() {
  auto const count = [](char const*, std::uint32_t, std::uint64_t*) { ++started; };
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(count);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(count);
  Kokkos::Tools::Experimental::set_begin_parallel_scan_callback(count);
  started = 0;
}

}  // namespace kernel_count
