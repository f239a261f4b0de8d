// The memory of the guarded device.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/mman.h>

#include "guard/parts.hpp"

namespace guard {
namespace detail {

char* reserve(std::size_t bytes, bool open) {
  void* const at = mmap(nullptr, bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) std::abort();
  return static_cast<char*>(at);
}

void set_open(Range const& range, bool open) {
  if (range.begin == range.end) return;
  if (mprotect(range.begin, range.bytes(), open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
    static constexpr char text[] = "guard: mprotect failed (too many mappings?)\n";
    std::fwrite(text, 1, sizeof text - 1, stderr);
    std::abort();
  }
}

namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 30;
constexpr std::size_t granules = most_bytes / granule;

/// The device's addresses, and as many of the host for what kernels touched: what was there before
/// them, and what their first run wrote.
struct Memory {
  char* device = reserve(most_bytes, false);
  char* before = reserve(most_bytes, true);
  char* first = reserve(most_bytes, true);
};
Memory const& memory() {
  static Memory const all;
  return all;
}

// Arrays of the program, because the heap is closed where they are read.
enum class State : char { free, begin, more, gap };
State state[granules];
std::uint32_t touched[granules];
std::size_t touched_count = 0;
bool second_run = false;

std::size_t number_of(void const* p) {
  return static_cast<std::size_t>(static_cast<char const*>(p) - memory().device) / granule;
}
Range range_of(std::size_t first, std::size_t count) {
  char* const begin = memory().device + first * granule;
  return {begin, begin + count * granule};
}
bool is_allocated(std::size_t k) { return state[k] == State::begin || state[k] == State::more; }

/// The granules of `bytes` bytes, and a gap, so that no kernel runs into the next ones.
std::size_t granules_of(std::size_t bytes) {
  return std::max<std::size_t>(1, rounded(bytes, granule) / granule) + 1;
}

/// Where the first run of `count` free granules begins.
std::size_t first_free(std::size_t count) {
  std::size_t run = 0;
  for (std::size_t k = 0; k < granules; ++k) {
    run = state[k] == State::free ? run + 1 : 0;
    if (run == count) return k + 1 - count;
  }
  throw std::bad_alloc();
}

/// The device's part of a copy, which must lie in one allocation; no range if it has none.
Range part_of_copy(void const* p, std::size_t bytes) {
  if (!is_device(p)) return {};
  std::size_t const first = number_of(p);
  std::size_t const last = number_of(static_cast<char const*>(p) + bytes - 1);
  for (std::size_t k = first; k <= last; ++k)
    if (!is_allocated(k) || (k > first && state[k] == State::begin)) {
      report("a copy leaves its allocation of device memory", p);
      stop();
    }
  return range_of(first, last - first + 1);
}

}  // namespace

bool is_device(void const* p) {
  return Range{memory().device, memory().device + most_bytes}.has(p);
}

bool touch(void const* p) {
  std::size_t const k = number_of(p);
  if (!is_allocated(k)) return false;
  set_open(range_of(k, 1), true);
  std::memcpy(memory().before + k * granule, memory().device + k * granule, granule);
  if (second_run) std::memcpy(memory().first + k * granule, memory().device + k * granule, granule);
  touched[touched_count++] = static_cast<std::uint32_t>(k);
  return true;
}

std::size_t touched_bytes() { return touched_count * granule; }

void close_touched() {
  std::sort(touched, touched + touched_count);
  for (std::size_t n = 0; n < touched_count;) {
    std::size_t const begin = n++;
    while (n < touched_count && touched[n] == touched[n - 1] + 1) ++n;
    set_open(range_of(touched[begin], n - begin), false);
  }
  touched_count = 0;
  second_run = false;
}

void rewind_touched() {
  for (std::size_t n = 0; n < touched_count; ++n) {
    std::size_t const at = touched[n] * granule;
    std::memcpy(memory().first + at, memory().device + at, granule);
    std::memcpy(memory().device + at, memory().before + at, granule);
  }
  second_run = true;
}

void const* first_difference() {
  for (std::size_t n = 0; n < touched_count; ++n) {
    char const* const now = memory().device + touched[n] * granule;
    char const* const then = memory().first + touched[n] * granule;
    if (std::memcmp(now, then, granule) != 0) return std::mismatch(now, now + granule, then).first;
  }
  return nullptr;
}

Place place_of(void const* p) {
  std::size_t first = number_of(p);
  while (first > 0 && state[first] == State::more) --first;
  std::size_t last = first;
  while (last + 1 < granules && state[last + 1] == State::more) ++last;
  return {static_cast<std::size_t>(static_cast<char const*>(p) - range_of(first, 1).begin),
          (last + 1 - first) * granule};
}

}  // namespace detail

using namespace detail;

void* take(std::size_t bytes) {
  handle_faults();
  std::size_t const count = granules_of(bytes);
  std::size_t const first = first_free(count);
  std::fill(state + first, state + first + count, State::more);
  state[first] = State::begin;
  state[first + count - 1] = State::gap;
  Range const all = range_of(first, count - 1);
  set_open(all, true);
  std::memset(all.begin, 0xFF, bytes);
  set_open(all, false);
  return all.begin;
}

void give_back(void* data, std::size_t bytes) {
  std::size_t const first = number_of(data), count = granules_of(bytes);
  std::fill(state + first, state + first + count, State::free);
  Range const all = range_of(first, count);
  madvise(all.begin, all.bytes(), MADV_DONTNEED);
}

bool is_device_memory(void const* p) { return is_device(p); }
void open_to_mpi(bool open) { set_open({memory().device, memory().device + most_bytes}, open); }

void copy(void* to, void const* from, std::size_t bytes) {
  if (bytes == 0) return;
  Range const read = part_of_copy(from, bytes), written = part_of_copy(to, bytes);
  set_open(read, true);
  set_open(written, true);
  std::memmove(to, from, bytes);
  set_open(read, false);
  set_open(written, false);
}

}  // namespace guard
