#pragma once
// The guarded device without Kokkos: its memory, how it runs kernels, and what it reports.
//
// The memory of the device is closed to the host but for copies. While a kernel runs, the host's
// heap and stack are closed, and of the device's memory each granule opens when the kernel touches
// it. A wrong access stops the program with one message that says what was accessed and where.

#include <cstddef>
#include <cstdint>

namespace guard {

/// What the device claims to run at once: that of an H100.
inline constexpr int concurrency = 270'336;
/// Memory opens in pieces of so many bytes.
inline constexpr std::size_t granule = std::size_t{16} << 10;
/// The bytes of a kernel's functor: what CUDA has for arguments in constant memory.
inline constexpr std::size_t argument_bytes = std::size_t{32} << 10;

// --- memory ---

/// New memory of the device, filled with bytes 0xFF: not-a-number in each floating-point type.
void* take(std::size_t bytes);
void give_back(void* data, std::size_t bytes);
/// Copies bytes, to and from any memory.
void copy(void* to, void const* from, std::size_t bytes);
bool is_device_memory(void const* p);
/// Opens all memory of the device, or closes it again, for an MPI that can access it.
void open_to_mpi(bool open);

// --- kernels ---

/// A kernel without its type.
struct Kernel {
  char const* type;                                   ///< of the functor, mangled
  std::int64_t first, count;                          ///< numbers of its calls
  void (*call)(void* argument, std::int64_t number);  ///< makes one
  void (*begin)(void* argument) = nullptr;            ///< before the first call
  void (*end)(void* argument) = nullptr;              ///< after the last one
  std::int64_t threads = 1;                           ///< of a call, which stands for a team
};

/// Where a functor must be while its kernel runs; the device has no other memory for it.
void* argument();

/// Makes the calls of a kernel, whose functor is at `argument()`: from the last to the first, and
/// once more from the first to the last on the same memory. Both must write the same bits.
void run(Kernel const& kernel);

// --- launches ---

/// A launch of a kernel.
struct Launch {
  char const* label;    ///< given to Kokkos; "" if a tool of the test has taken Kokkos' callbacks
  char const* type;     ///< of the functor, mangled
  std::int64_t length;  ///< number of calls, or of the threads of all teams
  std::size_t bytes;    ///< of the granules of device memory that it touched
};
/// Calls `hear` after each launch, until it is given null.
void on_launch(void (*hear)(Launch const&));

/// The label of the kernel that is about to run.
void label_next(char const* label);

}  // namespace guard
