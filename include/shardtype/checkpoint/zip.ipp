#pragma once
/// Definitions of zip.hpp.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <initializer_list>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shardtype/checkpoint/folder.hpp>
#include <shardtype/checkpoint/open_file.hpp>
#include <shardtype/checkpoint/zip.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype::checkpoint::detail {

inline constexpr std::uint32_t zip_local = 0x04034b50, zip_central = 0x02014b50,
                               zip_end = 0x06054b50, zip_end64 = 0x06064b50,
                               zip_locator = 0x07064b50;
inline constexpr std::uint64_t zip_large = 0xffffffff;  ///< the number is in the extra field
inline constexpr std::uint64_t zip_utf8 = 0x800;
inline constexpr std::int64_t zip_sum_at = 14;  ///< of a local header

struct ZipNumber {
  std::uint64_t value;
  int bytes;
};
/// Appends numbers, the lowest bytes of each first.
inline void put(std::string& out, std::initializer_list<ZipNumber> numbers) {
  for (ZipNumber const& n : numbers)
    for (int k = 0; k < n.bytes; ++k) out += static_cast<char>((n.value >> (8 * k)) & 0xff);
}
/// A number of `bytes` bytes at `at`; 0 behind the end.
inline std::uint64_t number_at(std::string_view text, std::size_t at, int bytes) {
  std::uint64_t out = 0;
  for (int k = bytes - 1; k >= 0; --k) {
    std::size_t const place = at + static_cast<std::size_t>(k);
    out = out << 8 | (place < text.size() ? static_cast<unsigned char>(text[place]) : 0U);
  }
  return out;
}

SHARDTYPE_INLINE std::uint32_t crc32(std::uint32_t sum, std::string_view bytes) {
  static std::array<std::uint32_t, 256> const table = [] {
    std::array<std::uint32_t, 256> out{};
    for (std::uint32_t n = 0; n < 256; ++n) {
      std::uint32_t c = n;
      for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xedb88320U ^ (c >> 1) : c >> 1;
      out[n] = c;
    }
    return out;
  }();
  std::uint32_t c = ~sum;
  for (char const b : bytes) c = table[(c ^ static_cast<unsigned char>(b)) & 0xff] ^ (c >> 8);
  return ~c;
}

/// What local and central headers have alike, from the version that is needed to the length of the name.
inline void put_common(std::string& out, ZipEntry const& e) {
  bool const ascii =
      std::all_of(e.name.begin(), e.name.end(), [](char c) { return c > 0 && c < 127; });
  put(out, {{45, 2}, {ascii ? 0 : zip_utf8, 2}});
  put(out, {{0, 2}, {0, 2}, {0x21, 2}});  // stored, no time, 1980-01-01
  put(out, {{e.sum, 4}, {zip_large, 4}, {zip_large, 4}, {e.name.size(), 2}});
}

SHARDTYPE_INLINE std::string zip_local_header(ZipEntry const& e) {
  auto const bytes = static_cast<std::uint64_t>(e.bytes);
  std::string out;
  put(out, {{zip_local, 4}});
  put_common(out, e);
  put(out, {{20, 2}});
  out += e.name;
  put(out, {{1, 2}, {16, 2}, {bytes, 8}, {bytes, 8}});
  return out;
}

SHARDTYPE_INLINE std::string zip_directory(std::vector<ZipEntry> const& entries, std::int64_t at) {
  std::string out;
  for (ZipEntry const& e : entries) {
    auto const of_file = static_cast<std::uint64_t>(e.bytes);
    put(out, {{zip_central, 4}, {45, 2}});
    put_common(out, e);
    put(out, {{28, 2}, {0, 2}, {0, 2}, {0, 2}, {0, 4}, {zip_large, 4}});  // no comment, disk 0
    out += e.name;
    put(out,
        {{1, 2}, {24, 2}, {of_file, 8}, {of_file, 8}, {static_cast<std::uint64_t>(e.header), 8}});
  }
  std::uint64_t const n = entries.size(), bytes = out.size(),
                      begin = static_cast<std::uint64_t>(at);
  std::uint64_t const few = std::min<std::uint64_t>(n, 0xffff);
  put(out, {{zip_end64, 4},
            {44, 8},
            {45, 2},
            {45, 2},
            {0, 4},
            {0, 4},
            {n, 8},
            {n, 8},
            {bytes, 8},
            {begin, 8}});
  put(out, {{zip_locator, 4}, {0, 4}, {begin + bytes, 8}, {1, 4}});
  put(out, {{zip_end, 4}, {0, 2}, {0, 2}, {few, 2}, {few, 2}});
  put(out, {{std::min(bytes, zip_large), 4}, {std::min(begin, zip_large), 4}, {0, 2}});
  return out;
}

/// Reads `bytes` bytes at `at`, fewer at the end of the file. 0 or an errno.
inline int read_at(int descriptor, std::int64_t at, std::int64_t bytes, std::string& out) {
  out.resize(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)));
  std::size_t done = 0;
  while (done < out.size()) {
    ssize_t const n = pread(descriptor, out.data() + done, out.size() - done,
                            static_cast<off_t>(at + static_cast<std::int64_t>(done)));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  out.resize(done);
  return 0;
}

SHARDTYPE_INLINE int write_piece(std::string const& path, std::string_view piece, std::int64_t at) {
  return with_file(path, O_WRONLY, [&](int descriptor) {
    return write_at(descriptor, piece.data(), piece.size(), at);
  });
}
SHARDTYPE_INLINE int read_piece(std::string const& path, std::int64_t at, std::int64_t bytes,
                                std::string& out) {
  return with_file(path, O_RDONLY,
                   [&](int descriptor) { return read_at(descriptor, at, bytes, out); });
}

SHARDTYPE_INLINE int finish_zip(std::string const& path, std::vector<ZipEntry> entries) {
  return with_file(path, O_RDWR, [&](int descriptor) {
    constexpr std::int64_t piece = std::int64_t{1} << 20;
    int fault = 0;
    std::string text;
    std::int64_t last = 0;
    for (ZipEntry& e : entries) {
      for (std::int64_t k = 0; k < e.bytes && fault == 0; k += piece) {
        std::int64_t const n = std::min(piece, e.bytes - k);
        fault = read_at(descriptor, e.begin + k, n, text);
        if (fault == 0 && static_cast<std::int64_t>(text.size()) != n) fault = EIO;
        e.sum = crc32(e.sum, text);
      }
      text.clear();
      put(text, {{e.sum, 4}});
      if (fault == 0) fault = write_at(descriptor, text.data(), 4, e.header + zip_sum_at);
      last = e.begin + e.bytes;
    }
    text = zip_directory(entries, last);
    if (fault == 0) fault = write_at(descriptor, text.data(), text.size(), last);
    return fault == 0 && fsync(descriptor) != 0 ? errno : fault;
  });
}

/// Where the directory of an archive is, and how many entries it has.
struct ZipDirectory {
  std::int64_t begin = -1, bytes = 0, entries = 0;
};
/// From the last bytes of a file, which begin at `at`; `begin` is negative if there is none.
inline ZipDirectory find_directory(std::string_view tail, std::int64_t at) {
  auto const signed_at = [&](std::size_t place, int bytes) {
    return static_cast<std::int64_t>(number_at(tail, place, bytes));
  };
  if (tail.size() < 22) return {};
  std::size_t end = tail.size() - 22;
  while (number_at(tail, end, 4) != zip_end)
    if (end-- == 0) return {};
  ZipDirectory out{signed_at(end + 16, 4), signed_at(end + 12, 4), signed_at(end + 10, 2)};
  if (end < 20 || number_at(tail, end - 20, 4) != zip_locator) return out;
  std::int64_t const far = signed_at(end - 12, 8) - at;
  if (far < 0 || far + 56 > static_cast<std::int64_t>(tail.size())) return {};
  auto const place = static_cast<std::size_t>(far);
  if (number_at(tail, place, 4) != zip_end64) return {};
  return {signed_at(place + 48, 8), signed_at(place + 40, 8), signed_at(place + 32, 8)};
}

/// The entry at `at` of a directory, and where the next one is; 0 if there is none. `stored`: whether it is as it was.
inline std::size_t read_entry(std::string_view text, std::size_t at, ZipEntry& e, bool& stored) {
  if (at + 46 > text.size() || number_at(text, at, 4) != zip_central) return 0;
  std::size_t const name = number_at(text, at + 28, 2), extra = number_at(text, at + 30, 2),
                    comment = number_at(text, at + 32, 2);
  std::size_t const next = at + 46 + name + extra + comment;
  if (next > text.size()) return 0;
  e.name = std::string(text.substr(at + 46, name));
  e.sum = static_cast<std::uint32_t>(number_at(text, at + 16, 4));
  std::uint64_t numbers[] = {number_at(text, at + 24, 4), number_at(text, at + 20, 4),
                             number_at(text, at + 42, 4)};
  std::string_view more = text.substr(at + 46 + name, extra);
  while (more.size() >= 4) {
    std::size_t const bytes = std::min<std::size_t>(number_at(more, 2, 2), more.size() - 4);
    std::size_t from = 4;
    if (number_at(more, 0, 2) == 1)
      for (std::uint64_t& n : numbers)
        if (n == zip_large && from + 8 <= 4 + bytes) {
          n = number_at(more, from, 8);
          from += 8;
        }
    more.remove_prefix(4 + bytes);
  }
  e.bytes = static_cast<std::int64_t>(numbers[0]);
  e.header = static_cast<std::int64_t>(numbers[2]);
  stored = number_at(text, at + 10, 2) == 0 && numbers[0] == numbers[1];
  return next;
}

SHARDTYPE_INLINE std::vector<ZipEntry> read_zip(std::string const& path, std::int64_t& file_bytes,
                                                NpyOutcome& outcome) {
  std::vector<ZipEntry> out;
  int const descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  int fault = descriptor < 0 || fstat(descriptor, &status) != 0 ? errno : 0;
  auto const damaged = [&](std::string const& what) { outcome.note("E94", path + what); };
  std::string text, local;
  ZipDirectory directory;
  if (fault == 0) {
    file_bytes = static_cast<std::int64_t>(status.st_size);
    std::int64_t const tail = std::min<std::int64_t>(file_bytes, 22 + 0xffff + 76);
    fault = read_at(descriptor, file_bytes - tail, tail, text);
    directory = find_directory(text, file_bytes - tail);
  }
  bool const there = directory.begin >= 0 && directory.bytes >= 0 &&
                     directory.begin <= file_bytes - directory.bytes;
  if (fault == 0 && !there) damaged(" is no .npz file, or is cut off: it has no directory");
  if (fault == 0 && there) fault = read_at(descriptor, directory.begin, directory.bytes, text);
  std::size_t at = 0;
  for (std::int64_t k = 0; fault == 0 && outcome.fine() && k < directory.entries; ++k) {
    ZipEntry e;
    bool stored = false;
    at = read_entry(text, at, e, stored);
    if (at == 0) {
      damaged(": its directory is damaged");
    } else if (!stored) {
      damaged(": \"" + e.name + "\" is compressed; np.savez writes arrays as they are");
    } else {
      fault = read_at(descriptor, e.header, 30, local);
      e.begin = e.header + 30 + static_cast<std::int64_t>(number_at(local, 26, 2)) +
                static_cast<std::int64_t>(number_at(local, 28, 2));
      if (e.header < 0 || number_at(local, 0, 4) != zip_local || e.bytes < 0 ||
          e.begin > file_bytes - e.bytes)
        damaged(": tensor \"" + e.name + "\" is damaged or cut off");
      out.push_back(std::move(e));
    }
  }
  if (descriptor >= 0) close(descriptor);
  if (fault != 0)
    outcome.note("IO1", "cannot read " + path + ": " +
                            (fault == ENOENT ? "no such file" : runtime::file_fault_text(fault)));
  return out;
}

}  // namespace shardtype::checkpoint::detail
