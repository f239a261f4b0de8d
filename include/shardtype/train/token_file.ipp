#pragma once
/// Definitions of token_file.hpp.

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include <shardtype/io/npy_file.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/train/token_file.hpp>

namespace shardtype::train {

SHARDTYPE_INLINE std::int64_t TokenFile::item() const {
  switch (type_) {
    case TokenType::bytes:
      return 1;
    case TokenType::u16:
      return 2;
    case TokenType::i32:
      return 4;
    case TokenType::i64:
      break;
  }
  return 8;
}

SHARDTYPE_INLINE std::int64_t TokenFile::value(std::int64_t at) const {
  std::byte const* const from = file_.bytes() + offset_ + at * item();
  // the header of a .npy file, and so its elements, are aligned; other files begin a page
  auto const read = [&]<class T>(T out) {
    std::memcpy(&out, from, sizeof out);
    return static_cast<std::int64_t>(out);
  };
  switch (type_) {
    case TokenType::bytes:
      return read(std::uint8_t{});
    case TokenType::u16:
      return read(std::uint16_t{});
    case TokenType::i32:
      return read(std::int32_t{});
    case TokenType::i64:
      break;
  }
  return read(std::int64_t{});
}

SHARDTYPE_INLINE void TokenFile::find_vocabulary(runtime::MeshState& mesh) {
  if (type_ == TokenType::bytes) return;
  std::int64_t const ranks = mesh.size();
  std::int64_t const share = (size_ + ranks - 1) / ranks;
  std::int64_t const first = std::min(size_, share * mesh.whole().rank());
  std::int64_t const last = std::min(size_, first + share);
  std::int64_t most = -1;
  std::int64_t negative = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t k = first; k < last; ++k) {
    most = std::max(most, value(k));
    if (value(k) < 0) negative = std::min(negative, k);
  }
  MPI_Comm const comm = mesh.whole().raw();
  most = shardtype::detail::reduce_number(comm, most, MPI_MAX);
  if (most == std::numeric_limits<std::int64_t>::max())
    throw Error("IO4", path() + " has a token of 2^63 - 1, the largest number",
                FailedOn::every_rank);
  vocabulary_ = most + 1;
  negative = shardtype::detail::reduce_number(comm, negative, MPI_MIN);
  if (negative != std::numeric_limits<std::int64_t>::max())
    throw Error("IO4", path() + ": token " + std::to_string(negative) + " is negative",
                FailedOn::every_rank);
}

SHARDTYPE_INLINE TokenFile::TokenFile(runtime::MeshRef const& mesh, std::string path,
                                      TokenType type)
    : file_(std::move(path)), type_(type) {
  if (!mesh.here()) return;
  runtime::MeshState& state = mesh.state();
  state.agreement().agree("train::Tokens", {});
  file_.map(state);
  std::int64_t bytes = file_.length();
  auto const* const letters = reinterpret_cast<char const*>(file_.bytes());
  std::string_view const begin(letters, static_cast<std::size_t>(std::min<std::int64_t>(6, bytes)));
  // the first rank's header counts, also where another rank sees a file that begins otherwise
  MPI_Comm const comm = state.whole().raw();
  if (shardtype::detail::reduce_number(comm, begin == shardtype::detail::npy_magic ? 1 : 0,
                                       MPI_MAX) != 0) {
    io::NpyHeader const header = io::read_npy_header(comm, file_.path());
    constexpr std::pair<std::string_view, TokenType> types[] = {{"|u1", TokenType::bytes},
                                                                {"<u2", TokenType::u16},
                                                                {"<i4", TokenType::i32},
                                                                {"<i8", TokenType::i64}};
    auto const* const found = std::find_if(std::begin(types), std::end(types),
                                           [&](auto const& t) { return t.first == header.dtype; });
    if (found == std::end(types))
      throw Error("IO4",
                  file_.path() + " has elements of type " + header.dtype +
                      "; tokens are of type |u1, <u2, <i4 or <i8",
                  FailedOn::every_rank);
    if (header.shape.size() != 1)
      throw Error("IO5",
                  file_.path() + " has an array of " + std::to_string(header.shape.size()) +
                      " dimensions; tokens are an array of one",
                  FailedOn::every_rank);
    type_ = found->second;
    offset_ = header.data_offset;
    bytes = header.shape[0] * item();
    // another file may have come to the path since this one was mapped
    file_.require(state, offset_ + bytes);
  } else if (bytes % item() != 0) {
    throw Error("IO6",
                file_.path() + " has " + std::to_string(bytes) + " bytes, no multiple of the " +
                    std::to_string(item()) + " bytes of a token",
                FailedOn::every_rank);
  }
  size_ = bytes / item();
  find_vocabulary(state);
}

SHARDTYPE_INLINE void TokenFile::expect(std::int64_t first, std::int64_t count) const {
  file_.expect(offset_ + first * item(), count * item());
}

}  // namespace shardtype::train
