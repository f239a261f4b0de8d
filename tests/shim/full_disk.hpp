// A disk that fails: calls of the system on files below a folder fail with an errno. Link
// full_disk.cpp.
#pragma once

#include <atomic>
#include <string>

namespace shim {

enum class DiskCall { none, write, sync, close };

// Which calls fail of this process: those of a kind on files whose path holds `part`, after the
// first `spared`.
struct DiskFault {
  DiskCall call = DiskCall::none;
  int spared = 0;
  int code = 0;
  std::string part;
};
void set_disk_fault(DiskFault const& fault);
// How many calls have failed since.
int disk_faults();

}  // namespace shim
