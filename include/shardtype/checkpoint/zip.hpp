#pragma once
/// Zip archives of stored files, as numpy writes them (.npz). Source: PKWARE, "APPNOTE.TXT", 6.3.10.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <shardtype/checkpoint/folder.hpp>
#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/core/compiled.hpp>

namespace shardtype::checkpoint::detail {

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

/// The local header of an entry, whose sizes are in 64 bits.
std::string zip_local_header(ZipEntry const& entry);
/// The bytes behind the last entry, which end at `at`.
std::string zip_directory(std::vector<ZipEntry> const& entries, std::int64_t at);

/// Computes the checksums of a file whose entries have their headers and bytes, and writes them and the directory. 0 or
/// an errno.
int finish_zip(std::string const& path, std::vector<ZipEntry> entries);

/// Writes and reads a piece of a file that exists. 0 or an errno.
int write_piece(std::string const& path, std::string_view piece, std::int64_t at);
int read_piece(std::string const& path, std::int64_t at, std::int64_t bytes, std::string& out);

/// The entries of the archive at `path`; E94 in `outcome` if it is none, is cut off, or has compressed entries, IO1 if it
/// cannot be read. `file_bytes`: of all of it.
std::vector<ZipEntry> read_zip(std::string const& path, std::int64_t& file_bytes,
                               NpyOutcome& outcome);

}  // namespace shardtype::checkpoint::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/zip.ipp>
#endif
