#pragma once
/// Definitions of files.hpp.

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
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

/// Removes the files in `folder` that killed programs left: `start`, 16 digits, ".partial". Only a
/// file that nobody has locked is removed, and while it is locked here: see ReplacedFile::lock_new.
SHARDTYPE_INLINE void remove_left(std::string const& folder, std::string_view start) {
  std::string_view const end = ".partial";
  DIR* const list = opendir(folder.empty() ? "." : folder.c_str());
  if (list == nullptr) return;
  while (dirent const* const entry = readdir(list)) {
    std::string_view const name = entry->d_name;
    if (name.size() != start.size() + 16 + end.size() || !name.starts_with(start) ||
        !name.ends_with(end) ||
        name.substr(start.size(), 16).find_first_not_of("0123456789abcdef") != name.npos)
      continue;
    std::string const path = folder + std::string(name);
    int fault = 0;
    int const descriptor = runtime::open_regular(path, O_RDWR | O_NOFOLLOW, fault);
    if (descriptor < 0) continue;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
    close(descriptor);
  }
  closedir(list);
}

}  // namespace shardtype::detail

namespace shardtype::runtime {

SHARDTYPE_INLINE std::string file_fault_text(int fault) {
  switch (fault) {
    case EISDIR:
      return "it is a directory, not a file";
    case file_fault::fifo:
      return "it is a fifo, not a file";
    case file_fault::socket:
      return "it is a socket, not a file";
    case file_fault::device:
      return "it is a device, not a file";
    case file_fault::cut:
      return "it ends too early";
    default:
      return std::strerror(fault);
  }
}

SHARDTYPE_INLINE int open_regular(std::string const& path, int flags, int& fault) {
  if (path.find('\0') != path.npos) {
    fault = EINVAL;
    return -1;
  }
  int const descriptor = open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  // a socket cannot be opened
  struct stat status = {};
  bool const known = descriptor >= 0 ? fstat(descriptor, &status) == 0
                                     : errno == ENXIO && stat(path.c_str(), &status) == 0;
  fault = known ? detail::fault_of_kind(status.st_mode) : errno;
  if (descriptor < 0 && fault == 0) fault = ENXIO;
  if (fault == 0) {
    detail::let_wait(descriptor);
    return descriptor;
  }
  if (descriptor >= 0) close(descriptor);
  return -1;
}

SHARDTYPE_INLINE std::FILE* open_to_read(std::string const& path, int& fault) {
  int const descriptor = open_regular(path, O_RDONLY, fault);
  if (descriptor < 0) return nullptr;
  std::FILE* const file = fdopen(descriptor, "rb");
  if (file == nullptr) {
    fault = errno;
    close(descriptor);
  }
  return file;
}

SHARDTYPE_INLINE OpenFile::OpenFile(std::string const& path)
    : descriptor_(open_regular(path, O_RDONLY, fault_)) {
  struct stat status = {};
  if (descriptor_ >= 0 && fstat(descriptor_, &status) != 0) fault_ = errno;
  bytes_ = static_cast<std::int64_t>(status.st_size);
}
SHARDTYPE_INLINE OpenFile::~OpenFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

SHARDTYPE_INLINE int OpenFile::read(std::int64_t at, std::int64_t count, char* to) const {
  if (fault_ != 0) return fault_;
  if (at < 0 || count < 0 || count > bytes_ || at > bytes_ - count) return file_fault::cut;
  while (count > 0) {
    ssize_t const n =
        pread(descriptor_, to, static_cast<std::size_t>(count), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return file_fault::cut;  // it has become shorter
    to += n;
    at += n;
    count -= n;
  }
  return 0;
}
SHARDTYPE_INLINE int OpenFile::read(std::int64_t at, std::int64_t count, std::string& out) const {
  out.clear();
  if (fault_ != 0) return fault_;
  if (at < 0 || count < 0 || count > bytes_ || at > bytes_ - count) return file_fault::cut;
  out.resize(static_cast<std::size_t>(count));
  return read(at, count, out.data());
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
  detail::remove_left(path.substr(0, folder), std::string_view(start).substr(folder));
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
    if (descriptor_ >= 0 && lock_new()) {
      written_ = name;
      return 0;
    }
    if (descriptor_ < 0 && errno != EEXIST) return errno;
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  }
  return EEXIST;
}

/// Locks the new file, which is locked until it is closed. False: another program took it for one
/// that is left, and has removed it or will.
SHARDTYPE_INLINE bool ReplacedFile::lock_new() const {
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat status = {};  // without locks, which not all systems of files have, nobody removes
  return fstat(descriptor_, &status) != 0 || status.st_nlink > 0;
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
  int const locked = renames ? fcntl(descriptor_, F_DUPFD_CLOEXEC, 0)
                             : -1;  // the lock stays until the file is in place
  int const closed =
      stream_ != nullptr ? std::fclose(std::exchange(stream_, nullptr)) : close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 && fault_ == 0) fault_ = errno;
  if (fault_ == 0 && renames && std::rename(written_.c_str(), place_.c_str()) != 0) fault_ = errno;
  if (locked >= 0) close(locked);
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
