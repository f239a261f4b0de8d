#pragma once
/// Definitions of zip.hpp.

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <exception>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <shardtype/checkpoint/folder.hpp>
#include <shardtype/checkpoint/header.hpp>
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

SHARDTYPE_INLINE void put(std::string& out, std::initializer_list<ZipNumber> numbers) {
  for (ZipNumber const& n : numbers)
    for (int k = 0; k < n.bytes; ++k) out += static_cast<char>((n.value >> (8 * k)) & 0xff);
}

/// Tables of the CRC-32: [k][b] is that of the byte b and k bytes 0 behind it.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 16>;
inline constexpr std::uint32_t crc_polynomial = 0xedb88320U;

SHARDTYPE_INLINE std::uint32_t crc32(std::uint32_t sum, std::string_view bytes) {
  static CrcTables const tables = [] {
    CrcTables out{};
    for (std::uint32_t n = 0; n < 256; ++n) {
      std::uint32_t c = n;
      for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? crc_polynomial ^ (c >> 1) : c >> 1;
      out[0][n] = c;
    }
    for (std::size_t k = 1; k < out.size(); ++k)
      for (std::size_t n = 0; n < 256; ++n)
        out[k][n] = out[0][out[k - 1][n] & 0xff] ^ (out[k - 1][n] >> 8);
    return out;
  }();
  std::uint32_t c = ~sum;
  // 16 bytes in each step, whose lookups do not wait for each other
  auto const look = [&](std::uint32_t word, std::size_t last) {
    return tables[last][word & 0xff] ^ tables[last - 1][word >> 8 & 0xff] ^
           tables[last - 2][word >> 16 & 0xff] ^ tables[last - 3][word >> 24];
  };
  for (; bytes.size() >= 16; bytes.remove_prefix(16)) {
    std::uint32_t words[4];
    std::memcpy(words, bytes.data(), sizeof words);
    c = look(words[0] ^ c, 15) ^ look(words[1], 11) ^ look(words[2], 7) ^ look(words[3], 3);
  }
  for (char const b : bytes) c = tables[0][(c ^ static_cast<unsigned char>(b)) & 0xff] ^ (c >> 8);
  return ~c;
}

/// The product of two polynomials modulo that of the CRC; bits are coefficients, the highest bit
/// that of 1.
inline std::uint32_t crc_product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t out = 0;
  for (std::uint32_t bit = 1U << 31; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) out ^= b;
    b = (b & 1) != 0 ? crc_polynomial ^ (b >> 1) : b >> 1;
  }
  return out;
}

SHARDTYPE_INLINE std::uint32_t crc32_of_both(std::uint32_t first, std::uint32_t second,
                                             std::int64_t second_bytes) {
  std::uint32_t power = 1U << 23, shift = 1U << 31;  // x^8, and 1
  for (std::int64_t n = second_bytes; n > 0; n >>= 1) {
    if ((n & 1) != 0) shift = crc_product(shift, power);
    power = crc_product(power, power);
  }
  return crc_product(shift, first) ^ second;
}

/// Appends the fields that local and central headers share, from the version that is needed to the
/// length of the name.
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

SHARDTYPE_INLINE int write_piece(std::string const& path, std::string_view piece, std::int64_t at) {
  return with_file(path, O_WRONLY, [&](int descriptor) {
    return write_at(descriptor, piece.data(), piece.size(), at);
  });
}
/// The CRC-32 of bytes of an open file. 0, an errno or file_fault::cut.
inline int sum_of(runtime::OpenFile const& file, std::int64_t at, std::int64_t bytes,
                  std::uint32_t& sum) {
  constexpr std::int64_t piece = std::int64_t{1} << 18;
  std::string text;
  for (std::int64_t n = 0; bytes > 0; at += n, bytes -= n) {
    n = std::min(piece, bytes);
    text.resize(static_cast<std::size_t>(n));
    if (int const fault = file.read(at, n, text.data()); fault != 0) return fault;
    sum = crc32(sum, text);
  }
  return 0;
}

SHARDTYPE_INLINE int finish_zip(std::string const& path, std::vector<ZipEntry> entries) {
  runtime::OpenFile const written(path);
  return with_file(path, O_WRONLY, [&](int descriptor) {
    int fault = written.fault();
    std::string text;
    std::int64_t last = 0;
    for (ZipEntry& e : entries) {
      if (fault == 0) fault = sum_of(written, e.begin, e.bytes, e.sum);
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
  std::int64_t begin = 0, bytes = 0, entries = -1;
};
/// From the last bytes of a file; `entries` is negative if there is none that ends where the
/// records of its end begin.
inline ZipDirectory find_directory(std::string_view tail, std::int64_t file_bytes) {
  constexpr std::size_t end_bytes = 22, locator_bytes = 20, end64_bytes = 56;
  if (tail.size() < end_bytes) return {};
  auto const reader_at = [&](std::size_t from_end) {
    return io::ByteReader(tail.substr(tail.size() - from_end));
  };
  io::ByteReader in = reader_at(end_bytes);
  if (in.number(4) != zip_end || in.number(4) != 0) return {};
  std::int64_t const here = in.count(2), all = in.count(2);
  ZipDirectory out;
  out.bytes = in.count(4);
  out.begin = in.count(4);
  out.entries =
      here == all && in.number(2) == 0 ? all : -1;  // no comment, which may look like an end
  std::int64_t behind = static_cast<std::int64_t>(end_bytes);
  if (tail.size() >= end_bytes + locator_bytes + end64_bytes &&
      reader_at(end_bytes + locator_bytes).number(4) == zip_locator) {
    behind = static_cast<std::int64_t>(end_bytes + locator_bytes + end64_bytes);
    io::ByteReader locator = reader_at(end_bytes + locator_bytes);
    bool good = locator.number(4) == zip_locator && locator.number(4) == 0 &&
                locator.count(8) == file_bytes - behind && locator.number(4) == 1;
    io::ByteReader large = reader_at(static_cast<std::size_t>(behind));
    good = good && large.number(4) == zip_end64 && large.number(8) == end64_bytes - 12;
    large.bytes(4);
    good = good && large.number(8) == 0;  // one disk
    std::int64_t const here64 = large.count(8), all64 = large.count(8);
    ZipDirectory const small = out;
    out.bytes = large.count(8);
    out.begin = large.count(8);
    // the short record has the same numbers, or says that they are here
    auto const same = [](std::int64_t n, std::int64_t short_one, std::uint64_t most) {
      return short_one == n || short_one == static_cast<std::int64_t>(most);
    };
    good = good && large.good() && locator.good() && here64 == all64 &&
           same(all64, small.entries, 0xffff) && same(out.bytes, small.bytes, zip_large) &&
           same(out.begin, small.begin, zip_large);
    out.entries = good ? all64 : -1;
  }
  if (out.bytes > file_bytes - behind || out.begin != file_bytes - behind - out.bytes)
    out.entries = -1;
  return out;
}

/// Reads the further fields of an entry of the directory: numbers of 64 bits in place of those that
/// are `zip_large`.
inline void read_large(io::ByteReader& in, std::string_view extra, ZipEntry& e,
                       std::int64_t& packed) {
  io::ByteReader fields(extra, in.place() - extra.size());
  bool found = false;
  while (fields.good() && !fields.rest().empty()) {
    std::uint64_t const kind = fields.number(2);
    std::string_view const field = fields.bytes(fields.number(2));
    if (kind == 0x7075) fields.fail("has a second name");
    if (kind != 1) continue;
    if (std::exchange(found, true)) fields.fail("has its large numbers twice");
    io::ByteReader numbers(field, fields.place() - field.size());
    for (std::int64_t* const n : {&e.bytes, &packed, &e.header})
      if (*n == static_cast<std::int64_t>(zip_large)) *n = numbers.count(8);
    if (!numbers.good()) fields.fail("lacks a large number");
  }
  if (!found && (e.bytes == static_cast<std::int64_t>(zip_large) ||
                 packed == static_cast<std::int64_t>(zip_large) ||
                 e.header == static_cast<std::int64_t>(zip_large)))
    fields.fail("lacks its large numbers");
  if (!fields.good()) in.fail(fields.problem());
}

/// The next entry of a directory. `kept_as_is`: whether it is not compressed.
inline ZipEntry read_entry(io::ByteReader& in, bool& kept_as_is) {
  constexpr std::uint64_t newest = 63, known_flags = zip_utf8 | 0x8;  // sizes behind the bytes
  ZipEntry e;
  if (in.number(4) != zip_central) in.fail("has no entry where one is expected");
  in.bytes(2);
  std::uint64_t const version = in.number(2), flags = in.number(2), method = in.number(2);
  in.bytes(4);
  e.sum = static_cast<std::uint32_t>(in.number(4));
  std::int64_t packed = in.count(4);
  e.bytes = in.count(4);
  std::uint64_t const name = in.number(2), extra = in.number(2), comment = in.number(2),
                      disk = in.number(2);
  in.bytes(6);
  e.header = in.count(4);
  e.name = std::string(in.bytes(name));
  std::string_view const fields = in.bytes(extra);
  if (in.good()) read_large(in, fields, e, packed);
  in.bytes(comment);
  std::size_t ascii = 0;
  while (ascii < e.name.size() && e.name[ascii] > 0) ++ascii;
  if (version > newest || disk != 0) in.fail("has an entry of another kind");
  kept_as_is = in.good() && method == 0;
  if (method == 0 && (flags & ~known_flags) != 0) in.fail("has an encrypted or unknown entry");
  if (e.name.find('\0') != e.name.npos || !io::is_utf8(e.name) ||
      ((flags & zip_utf8) == 0 && ascii < e.name.size()))
    in.fail("has a name that is no UTF-8");
  if (method == 0 && e.bytes != packed) in.fail("has an entry with two sizes");
  return e;
}

SHARDTYPE_INLINE std::vector<ZipEntry> read_zip(runtime::OpenFile const& file,
                                                std::string const& path, NpyOutcome& outcome) {
  std::vector<ZipEntry> out;
  auto const damaged = [&](std::string const& what) { outcome.note("E94", path + what); };
  std::int64_t const bytes = file.bytes(), tail = std::min<std::int64_t>(bytes, 22 + 20 + 56);
  std::string text, local;
  int fault = file.read(bytes - tail, tail, text);
  ZipDirectory const directory = fault == 0 ? find_directory(text, bytes) : ZipDirectory{};
  if (fault == 0) fault = file.read(0, std::min<std::int64_t>(bytes, 4), local);
  bool const begun =
      local == std::string_view("PK\3\4", 4) || (directory.entries == 0 && directory.begin == 0);
  if (fault == 0 && (directory.entries < 0 || !begun)) {
    damaged(" is no .npz file, or is cut off: it has no directory at its end");
    return out;
  }
  if (fault == 0) fault = file.read(directory.begin, directory.bytes, text);
  io::ByteReader in(text, static_cast<std::uint64_t>(directory.begin));
  out.reserve(text.size() / 46);
  while (fault == 0 && outcome.fine() && !in.rest().empty()) {
    bool kept_as_is = false;
    ZipEntry e = read_entry(in, kept_as_is);
    std::string const name = "\"" + io::shortened(e.name) + "\"";
    if (!in.good()) {
      damaged(": its directory is damaged: it " + in.problem());
    } else if (!kept_as_is) {
      damaged(": " + name + " is compressed; np.savez writes arrays as they are");
    } else {
      // its header there, whose name is the same
      auto const length = static_cast<std::int64_t>(e.name.size());
      fault = file.read(e.header, 30 + length, local);
      io::ByteReader start(local);
      bool good = fault == 0 && start.number(4) == zip_local;
      start.bytes(22);
      good = good && start.count(2) == length;
      std::int64_t const fields = start.count(2);
      if (fault == 0) e.begin = e.header + 30 + length + fields;
      good = good && start.bytes(e.name.size()) == e.name && e.begin <= bytes - e.bytes;
      if (fault == runtime::file_fault::cut) fault = 0;
      if (fault == 0 && !good) damaged(": tensor " + name + " is damaged or cut off");
      out.push_back(std::move(e));
    }
  }
  if (fault == 0 && outcome.fine() && static_cast<std::int64_t>(out.size()) != directory.entries)
    damaged(": its directory has " + std::to_string(out.size()) + " entries, and says " +
            std::to_string(directory.entries));
  std::vector<ZipEntry const*> sorted;
  for (ZipEntry const& e : out) sorted.push_back(&e);
  std::sort(sorted.begin(), sorted.end(),
            [](ZipEntry const* a, ZipEntry const* b) { return a->header < b->header; });
  for (std::size_t k = 0; k < sorted.size() && outcome.fine(); ++k) {
    bool const last = k + 1 == sorted.size();
    if (sorted[k]->begin + sorted[k]->bytes > (last ? directory.begin : sorted[k + 1]->header))
      damaged(": \"" + io::shortened(sorted[k]->name) + "\" ends behind the begin of another");
  }
  if (fault != 0)
    outcome.note("IO1", "cannot read " + path + ": " + runtime::file_fault_text(fault));
  return out;
}

SHARDTYPE_INLINE void check_zip_sums(runtime::Comm& comm, std::string const& path,
                                     std::vector<ZipEntry> const& entries) {
  std::int64_t all = 0;
  for (ZipEntry const& e : entries) all += e.bytes;
  // rank r reads the bytes from all * r / ranks on, of all entries one after the other; a piece is
  // those of one entry
  struct Piece {
    std::size_t entry;
    std::int64_t from, bytes;
    int rank;
  };
  std::vector<Piece> pieces;
  std::int64_t const share = all / comm.size() + 1;
  std::int64_t at = 0;
  for (std::size_t k = 0; k < entries.size(); ++k)
    for (std::int64_t from = 0; from < entries[k].bytes;) {
      std::int64_t const n = std::min(entries[k].bytes - from, share - at % share);
      pieces.push_back({k, from, n, static_cast<int>(at / share)});
      from += n;
      at += n;
    }
  std::vector<std::int64_t> sums(pieces.size(), 0);
  NpyOutcome outcome;
  try {
    runtime::OpenFile const file(path);
    int fault = file.fault();
    for (std::size_t k = 0; k < pieces.size() && fault == 0; ++k) {
      if (pieces[k].rank != comm.rank()) continue;
      std::uint32_t sum = 0;
      fault = sum_of(file, entries[pieces[k].entry].begin + pieces[k].from, pieces[k].bytes, sum);
      sums[k] = static_cast<std::int64_t>(sum);
    }
    if (fault != 0)
      outcome.note("IO1", "cannot read " + path + ": " + runtime::file_fault_text(fault));
  } catch (std::exception const& failure) {
    outcome.note("IO1", "cannot read " + path + ": " + failure.what());
  }
  shardtype::detail::npy_agree(comm.raw(), outcome);
  if (!pieces.empty())
    comm.all_reduce(sums.data(), sums.data(), static_cast<std::int64_t>(sums.size()),
                    ReduceKind::sum);
  std::vector<std::uint32_t> whole(entries.size(), 0);
  for (std::size_t k = 0; k < pieces.size(); ++k)
    whole[pieces[k].entry] =
        crc32_of_both(whole[pieces[k].entry], static_cast<std::uint32_t>(sums[k]), pieces[k].bytes);
  for (std::size_t k = 0; k < entries.size(); ++k)
    if (whole[k] != entries[k].sum)
      throw Error("E94",
                  tensor_of_file(entries[k].name, path) + " is damaged: the checksum of its " +
                      std::to_string(entries[k].bytes) + " bytes differs",
                  FailedOn::every_rank);
}

}  // namespace shardtype::checkpoint::detail
