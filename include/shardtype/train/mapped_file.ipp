#pragma once
/// Definitions of mapped_file.hpp.

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shardtype/io/npy_file.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/files.hpp>
#include <shardtype/train/mapped_file.hpp>

namespace shardtype::train::detail {

SHARDTYPE_INLINE void MappedFile::map(runtime::MeshState& mesh) {
  MPI_Comm const comm = mesh.whole().raw();
  shardtype::detail::NpyOutcome outcome;
  struct stat status = {};
  int fault = 0;
  file_ = runtime::open_regular(path_, O_RDONLY, fault);
  if (fault == 0 && ::fstat(file_, &status) != 0) fault = errno;
  if (fault != 0) {
    outcome.note("IO1", "cannot open " + path_ + ": " + runtime::file_fault_text(fault));
  } else if (status.st_size > 0) {
    length_ = static_cast<std::int64_t>(status.st_size);
    void* const at =
        ::mmap(nullptr, static_cast<std::size_t>(length_), PROT_READ, MAP_SHARED, file_, 0);
    if (at == MAP_FAILED) {
      outcome.note("IO1", "cannot map " + path_ + ": " + runtime::file_fault_text(errno));
    } else {
      bytes_ = static_cast<std::byte const*>(at);
    }
  }
  shardtype::detail::npy_agree(comm, outcome);
  std::int64_t const least = shardtype::detail::reduce_number(comm, length_, MPI_MIN);
  std::int64_t const most = shardtype::detail::reduce_number(comm, length_, MPI_MAX);
  if (least != most)
    throw Error("E22",
                path_ + " has " + std::to_string(least) + " bytes for one rank and " +
                    std::to_string(most) + " for another",
                FailedOn::every_rank);
}

SHARDTYPE_INLINE MappedFile::~MappedFile() {
  if (bytes_ != nullptr)
    ::munmap(const_cast<std::byte*>(bytes_), static_cast<std::size_t>(length_));
  if (file_ >= 0) ::close(file_);
}

SHARDTYPE_INLINE void MappedFile::check_length() const {
  struct stat status = {};
  if (file_ < 0) return;
  if (::fstat(file_, &status) != 0 || static_cast<std::int64_t>(status.st_size) < length_)
    throw Error("IO6",
                path_ + " has become shorter while it is read: " + std::to_string(status.st_size) +
                    " bytes of " + std::to_string(length_),
                FailedOn::this_rank);
}

SHARDTYPE_INLINE void MappedFile::require(runtime::MeshState& mesh, std::int64_t end) const {
  shardtype::detail::NpyOutcome outcome;
  if (end > length_) outcome.note("IO6", shardtype::detail::npy_too_short(path_, length_, end));
  shardtype::detail::npy_agree(mesh.whole().raw(), outcome);
}

SHARDTYPE_INLINE void MappedFile::expect(std::int64_t first, std::int64_t count) const {
  if (bytes_ == nullptr || count <= 0) return;
  std::int64_t const page = ::sysconf(_SC_PAGESIZE);
  std::int64_t const begin = first / page * page;
  std::int64_t const end = std::min(length_, first + count);
  // advice: a failure changes nothing
  (void)::posix_madvise(const_cast<std::byte*>(bytes_ + begin),
                        static_cast<std::size_t>(end - begin), POSIX_MADV_WILLNEED);
}

}  // namespace shardtype::train::detail
