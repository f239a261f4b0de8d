#pragma once
// What the sources of the guarded device share.

#include <cstddef>
#include <cstdint>

#include "guard/guard.hpp"

namespace guard::detail {

inline constexpr std::size_t page = 4096;
constexpr std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}
/// A range of addresses.
struct Range {
  char* begin = nullptr;
  char* end = nullptr;
  bool has(void const* p) const { return begin <= p && p < end; }
  std::size_t bytes() const { return static_cast<std::size_t>(end - begin); }
};
/// Addresses without memory behind them so far, readable and writable, or closed.
char* reserve(std::size_t bytes, bool open);
/// Makes a range accessible, or not.
void set_open(Range const& range, bool open);

// memory.cpp
/// Whether this is an address of the device's memory, allocated or not.
bool is_device(void const* p);
/// Opens the granule of this address to the running kernel; false if nothing is allocated there.
bool touch(void const* p);
/// Bytes that the running kernel has touched.
std::size_t touched_bytes();
/// Closes what the kernel has opened.
void close_touched();
/// After a first run of a kernel: keeps what it wrote, and restores what was there before.
void rewind_touched();
/// After a second run: the first byte that differs from what the first run wrote, or null.
void const* first_difference();
/// Position of an address in its allocation, and the bytes of that.
struct Place {
  std::size_t at, bytes;
};
Place place_of(void const* p);

// heap.cpp
/// The memory of malloc in use.
Range heap();

// kernels.cpp
/// What the running kernel cannot access beside the heap: the stack of who launched it.
Range closed_stack();
/// The thread that runs a kernel, or 0.
int kernel_thread();
/// The kernel that runs or ran last, and the number of its call that did.
Kernel const& last_kernel();
std::int64_t last_call();
/// Opens the host's memory: the running kernel has failed.
void open_host();
/// Leaves the failed kernel for good: `run` stops the program with the place of the launch.
[[noreturn]] void abandon_kernel();

// faults.cpp
/// Handles faults from now on, whatever a library has set.
void handle_faults();
/// Prints "guard: ", what was wrong, the last kernel if it was that, and the calls that led here.
void report(char const* what, void const* address, bool of_kernel = false);
/// Prints the calls that led here.
void report_frames(char const* title);
/// Reports what the running kernel did, and stops.
[[noreturn]] void stop_kernel(char const* what, void const* address);
/// Ends the program; its status says that the guard did.
inline constexpr int fault_status = 91;
[[noreturn]] void stop();

}  // namespace guard::detail
