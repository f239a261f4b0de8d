#pragma once
/// Zip archives of stored files, as numpy writes them (.npz). Source: PKWARE,
/// "APPNOTE.TXT", 6.3.10.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <shardtype/checkpoint/folder.hpp>
#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype::checkpoint::detail {

struct ZipNumber {
  std::uint64_t value;
  int bytes;
};
/// Appends numbers, the lowest bytes of each first.
void put(std::string& out, std::initializer_list<ZipNumber> numbers);

/// A file of an archive.
struct ZipEntry {
  std::string name;
  std::int64_t header = 0;  ///< where its local header is
  std::int64_t begin = 0;   ///< its first byte
  std::int64_t bytes = 0;
  std::uint32_t sum = 0;  ///< CRC-32
};

/// The CRC-32 of bytes that follow those of `sum`.
std::uint32_t crc32(std::uint32_t sum, std::string_view bytes);
/// The CRC-32 of two texts, from those of each and the length of the second.
std::uint32_t crc32_of_both(std::uint32_t first, std::uint32_t second, std::int64_t second_bytes);

/// The local header of an entry, whose sizes are in 64 bits.
std::string zip_local_header(ZipEntry const& entry);
/// The bytes behind the last entry, which end at `at`.
std::string zip_directory(std::vector<ZipEntry> const& entries, std::int64_t at);

/// Computes the checksums of a file whose entries have their headers and bytes, and writes them and
/// the directory. 0 or an errno.
int finish_zip(std::string const& path, std::vector<ZipEntry> entries);

/// Writes a piece of a file that exists. 0 or an errno.
int write_piece(std::string const& path, std::string_view piece, std::int64_t at);

/// The entries of the archive `file` at `path`. E94 in `outcome` if it is none, is cut off, has
/// compressed entries or anything that Python's zipfile does not read, or reads otherwise; IO1 if
/// it cannot be read.
std::vector<ZipEntry> read_zip(runtime::OpenFile const& file, std::string const& path,
                               NpyOutcome& outcome);

/// Ranks share the bytes of these entries, each reads some, and compares the checksum of each entry
/// with that of the directory. Collective: on all ranks the same. Errors E94 by the name in the
/// file, IO1.
void check_zip_sums(runtime::Comm& comm, std::string const& path,
                    std::vector<ZipEntry> const& entries);

}  // namespace shardtype::checkpoint::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/zip.ipp>
#endif
