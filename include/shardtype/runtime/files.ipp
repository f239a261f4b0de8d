#pragma once
/// Definitions of files.hpp.

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <unistd.h>

#include <shardtype/runtime/files.hpp>

namespace shardtype::detail {

/// The fault of a path that is no regular file.
SHARDTYPE_INLINE int fault_of_kind(mode_t mode) {
  if (S_ISREG(mode)) return 0;
  if (S_ISDIR(mode)) return EISDIR;
  if (S_ISFIFO(mode)) return runtime::file_fault::fifo;
  return S_ISSOCK(mode) ? runtime::file_fault::socket : runtime::file_fault::device;
}

/// An open descriptor's file waits for what it reads or writes again.
SHARDTYPE_INLINE void let_wait(int descriptor) {
  if (int const flags = fcntl(descriptor, F_GETFL); flags >= 0)
    fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK);
}

/// The path with its links followed, if its last part is one; that of the last link need not exist.
SHARDTYPE_INLINE std::string followed(std::string path) {
  for (int links = 0; links < 40; ++links) {
    std::string to(4096, '\0');
    ssize_t const length = readlink(path.c_str(), to.data(), to.size());
    if (length <= 0) break;
    to.resize(static_cast<std::size_t>(length));
    path = to[0] == '/' ? to : path.substr(0, path.rfind('/') + 1) + to;
  }
  return path;
}

}  // namespace shardtype::detail

namespace shardtype::runtime {

SHARDTYPE_INLINE std::string file_fault_text(int fault) {
  switch (fault) {
    case file_fault::fifo:
      return "it is a fifo, not a file";
    case file_fault::socket:
      return "it is a socket, not a file";
    case file_fault::device:
      return "it is a device, not a file";
    default:
      return std::strerror(fault);
  }
}

SHARDTYPE_INLINE std::FILE* open_to_read(std::string const& path, int& fault) {
  int const descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  // a socket cannot be opened
  struct stat status = {};
  bool const known = descriptor >= 0 ? fstat(descriptor, &status) == 0
                                     : errno == ENXIO && stat(path.c_str(), &status) == 0;
  fault = known ? detail::fault_of_kind(status.st_mode) : errno;
  std::FILE* file = nullptr;
  if (fault == 0) {
    detail::let_wait(descriptor);
    file = fdopen(descriptor, "rb");
    if (file == nullptr) fault = errno;
  }
  if (file == nullptr && descriptor >= 0) close(descriptor);
  return file;
}

SHARDTYPE_INLINE int ReplacedFile::create(std::string const& path) {
  discard();
  place_ = written_ = path;
  struct stat status = {};
  replaces_ = stat(path.c_str(), &status) == 0;
  if (!replaces_ && (errno != ENOENT || path.empty())) return errno;
  int const kind = replaces_ ? detail::fault_of_kind(status.st_mode) : 0;
  if (kind == file_fault::device) return open_device(path);
  if (kind != 0) return kind;
  mode_ = status.st_mode & 07777U;
  place_ = written_ = detail::followed(path);
  if (replaces_ && faccessat(AT_FDCWD, place_.c_str(), W_OK, AT_EACCESS) != 0) return errno;
  return create_new(place_);
}

SHARDTYPE_INLINE int ReplacedFile::create_new(std::string const& path) {
  std::size_t const folder = path.rfind('/') + 1;
  if (folder == path.size()) return EISDIR;
  // a name of at most 255 bytes, as systems of files allow
  std::string const start = path.substr(0, folder) + path.substr(folder, 200) + ".";
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  std::uint64_t number = static_cast<std::uint64_t>(getpid());
  for (std::int64_t const part : {std::int64_t{now.tv_sec}, std::int64_t{now.tv_nsec}})
    number = number * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(part);
  for (int attempt = 0; attempt < 100; ++attempt) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "%016llx",
                  static_cast<unsigned long long>(number += 0x9E3779B97F4A7C15U));
    std::string const name = start + digits + ".partial";
    // what is at this name, a link even, is another's
    descriptor_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       replaces_ ? 0600 : 0666);
    if (descriptor_ >= 0) {
      written_ = name;
      return 0;
    }
    if (errno != EEXIST) return errno;
  }
  return EEXIST;
}

SHARDTYPE_INLINE int ReplacedFile::open_device(std::string const& path) {
  descriptor_ = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat status = {};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) return errno;
  if (int const kind = detail::fault_of_kind(status.st_mode); kind != file_fault::device)
    return kind == 0 ? EEXIST : kind;  // it was another a moment ago
  detail::let_wait(descriptor_);
  return 0;
}

SHARDTYPE_INLINE std::FILE* ReplacedFile::stream() {
  if (stream_ == nullptr && descriptor_ >= 0) {
    stream_ = fdopen(descriptor_, "wb");
    if (stream_ == nullptr && fault_ == 0) fault_ = errno;
  }
  return stream_;
}

SHARDTYPE_INLINE void ReplacedFile::write(std::string_view text) {
  std::FILE* const to = stream();
  if (to == nullptr || fault_ != 0) return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), to) != text.size())
    fault_ = errno != 0 ? errno : EIO;
}

SHARDTYPE_INLINE int ReplacedFile::finish() {
  bool const renames = written_ != place_;
  if (renames && replaces_ && fchmod(descriptor_, mode_) != 0)
    errno = 0;  // not all systems have modes
  errno = 0;
  if (stream_ != nullptr && std::ferror(stream_) != 0 && fault_ == 0) fault_ = EIO;
  int const closed =
      stream_ != nullptr ? std::fclose(std::exchange(stream_, nullptr)) : close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 && fault_ == 0) fault_ = errno;
  if (fault_ == 0 && renames && std::rename(written_.c_str(), place_.c_str()) != 0) fault_ = errno;
  if (fault_ == 0) written_ = place_;
  int const fault = fault_;
  discard();
  return fault;
}

SHARDTYPE_INLINE void ReplacedFile::discard() {
  if (stream_ != nullptr)
    std::fclose(std::exchange(stream_, nullptr));
  else if (descriptor_ >= 0)
    close(descriptor_);
  descriptor_ = -1;
  if (written_ != place_) unlink(written_.c_str());
  written_ = place_;
  fault_ = 0;
}

SHARDTYPE_INLINE int replace_file(std::string const& path, std::string_view text) {
  ReplacedFile file;
  if (int const fault = file.create(path); fault != 0) return fault;
  file.write(text);
  return file.finish();
}

}  // namespace shardtype::runtime
