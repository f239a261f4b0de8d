#pragma once
// The guarded device: an execution space and a memory space of Kokkos that behave on the CPU as
// those of a GPU, and stop the program where a GPU would fail. Kokkos_Core.hpp includes this before
// Kokkos itself, so what it needs of Kokkos is declared only.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "guard/guard.hpp"

namespace Kokkos {
struct LayoutRight;
template <class Exec>
class ScratchMemorySpace;
}  // namespace Kokkos

namespace guard {

class Device;

/// Memory that the host cannot access; copies and kernels can.
class Space {
 public:
  using memory_space = Space;
  using execution_space = Device;
  using device_type = Kokkos::Device<Device, Space>;
  using size_type = std::size_t;

  static constexpr char const* name() { return "Guard"; }

  void* allocate(std::size_t bytes) const { return guard::take(bytes); }
  void* allocate(char const*, std::size_t bytes, std::size_t = 0) const {
    return guard::take(bytes);
  }
  void deallocate(void* data, std::size_t bytes) const { guard::give_back(data, bytes); }
  void deallocate(char const*, void* data, std::size_t bytes, std::size_t = 0) const {
    guard::give_back(data, bytes);
  }
};

/// Makes the calls of a kernel one after another, from the last to the first, with the host's
/// memory closed.
class Device {
 public:
  using execution_space = Device;
  using memory_space = Space;
  using size_type = std::size_t;
  using device_type = Kokkos::Device<Device, Space>;
  using array_layout = Kokkos::LayoutRight;
  using scratch_memory_space = Kokkos::ScratchMemorySpace<Device>;

  static char const* name() { return "Guard"; }
  static int concurrency() { return guard::concurrency; }
  void fence() const {}
  void fence(std::string const&) const {}
  static void impl_static_fence() {}
  static bool impl_is_initialized() { return true; }
  std::uint32_t impl_instance_id() const noexcept { return 0; }
  void print_configuration(std::ostream&, bool = false) const {}

  friend bool operator==(Device const&, Device const&) { return true; }
  friend bool operator!=(Device const&, Device const&) { return false; }
};

}  // namespace guard
