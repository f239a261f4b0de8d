#pragma once
/// Files that are open while a function uses them.

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <shardtype/checkpoint/namespace.hpp>

namespace shardtype::checkpoint::detail {

/// Opens a file for `use(descriptor)`, which returns 0 or an errno, and closes it. 0 or an errno.
template <class Use>
int with_file(std::string const& path, int flags, Use use) {
  int const descriptor = open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno;
  int fault = use(descriptor);
  if (close(descriptor) != 0 && fault == 0) fault = errno;
  return fault;
}

}  // namespace shardtype::checkpoint::detail
