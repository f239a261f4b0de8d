// The system's write, fsync and close before those of the C library.
#include "shim/full_disk.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include <dlfcn.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

shim::DiskFault current;
std::atomic<bool> on{false};
std::atomic<int> left{0};
std::atomic<int> failed{0};

bool fails(shim::DiskCall call, int descriptor) {
  if (!on || call != current.call) return false;
  std::array<char, 40> link{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", descriptor);
  std::array<char, 4096> path{};
  ssize_t const length = readlink(link.data(), path.data(), path.size() - 1);
  if (length <= 0 || std::string(path.data()).find(current.part) == std::string::npos) return false;
  if (left-- > 0) return false;
  ++failed;
  errno = current.code;
  return true;
}
template <class F>
F* next(char const* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

namespace shim {

void set_disk_fault(DiskFault const& fault) {
  on = false;
  current = fault;
  left = fault.spared;
  failed = 0;
  on = fault.call != DiskCall::none;
}
int disk_faults() { return failed; }

}  // namespace shim

extern "C" {

ssize_t write(int descriptor, void const* data, size_t bytes) {
  static auto* const real = next<ssize_t(int, void const*, size_t)>("write");
  return fails(shim::DiskCall::write, descriptor) ? -1 : real(descriptor, data, bytes);
}
ssize_t pwrite(int descriptor, void const* data, size_t bytes, off_t at) {
  static auto* const real = next<ssize_t(int, void const*, size_t, off_t)>("pwrite");
  return fails(shim::DiskCall::write, descriptor) ? -1 : real(descriptor, data, bytes, at);
}
ssize_t pwrite64(int descriptor, void const* data, size_t bytes, off64_t at) {
  static auto* const real = next<ssize_t(int, void const*, size_t, off64_t)>("pwrite64");
  return fails(shim::DiskCall::write, descriptor) ? -1 : real(descriptor, data, bytes, at);
}
int fsync(int descriptor) {
  static auto* const real = next<int(int)>("fsync");
  return fails(shim::DiskCall::sync, descriptor) ? -1 : real(descriptor);
}
// As the system's, it closes the file whatever it returns.
int close(int descriptor) {
  static auto* const real = next<int(int)>("close");
  bool const failing = fails(shim::DiskCall::close, descriptor);
  int const code = errno, closed = real(descriptor);
  if (failing) errno = code;
  return failing ? -1 : closed;
}

}  // extern "C"
