#pragma once
/// Definitions of npy_file.hpp.

#include <shardtype/io/npy_file.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE NpyOutcome npy_check_block(std::string const& path, io::NpyInts const& shape,
                                            io::NpyInts const& begin, io::NpyInts const& count) {
  NpyOutcome outcome;
  bool inside = begin.size() == shape.size() && count.size() == shape.size();
  for (std::size_t d = 0; inside && d < shape.size(); ++d)
    inside = begin[d] >= 0 && count[d] >= 0 && count[d] <= shape[d] &&
             (count[d] == 0 || begin[d] <= shape[d] - count[d]);
  if (!inside) outcome.note("IO9", path + ": a rank asks for a block outside the file's array");
  return outcome;
}

SHARDTYPE_INLINE std::string npy_header_text(std::string const& path, std::int64_t& file_bytes,
                                             NpyOutcome& outcome) {
  runtime::OpenFile const in(path);
  if (int const fault = in.fault(); fault != 0) {
    outcome.note("IO1", "cannot open " + path + ": " +
                            (fault == ENOENT || fault == ENOTDIR ? "no such file"
                             : fault == EISDIR                   ? "it is a directory"
                             : fault == EACCES                   ? "no permission to read it"
                                               : runtime::file_fault_text(fault)));
    return {};
  }
  file_bytes = in.bytes();
  std::string text;
  int fault = in.read(0, std::min<std::int64_t>(12, file_bytes), text);
  std::int64_t const size = std::min(io::npy_header_bytes(text), npy_longest_header);
  if (fault == 0 && size > 12 && text.size() == 12)
    fault = in.read(0, std::min(size, file_bytes), text);
  if (fault != 0)
    outcome.note("IO1", "cannot read " + path + ": " + runtime::file_fault_text(fault));
  return text;
}

}  // namespace shardtype::detail

namespace shardtype::io {

SHARDTYPE_INLINE NpyHeader read_npy_header(MPI_Comm comm, std::string const& path) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::int64_t file_bytes = 0;
  std::string text;
  detail::NpyOutcome outcome;
  try {
    if (rank == 0) text = detail::npy_header_text(path, file_bytes, outcome);
  } catch (std::exception const& failure) {
    outcome.note("IO1", "cannot read " + path + ": " + failure.what());
  }
  detail::npy_agree(comm, outcome);
  detail::share_text(comm, text, 0);
  file_bytes = detail::reduce_number(comm, file_bytes, MPI_MAX);  // the other ranks have 0

  // From here on all ranks process the same bytes, so they fail together.
  NpyHeader header = parse_npy_header(text, path, FailedOn::every_rank);
  if (std::string const why = npy_unreadable(header); !why.empty())
    throw Error("IO3", path + " " + why, FailedOn::every_rank);
  std::int64_t const wants =
      header.data_offset + npy_data_bytes(header.shape, npy_item_bytes(header.dtype));
  if (file_bytes < wants)
    throw Error("IO6", detail::npy_too_short(path, file_bytes, wants), FailedOn::every_rank);
  return header;
}

SHARDTYPE_INLINE void read_npy_block(MPI_Comm comm, std::string const& path,
                                     NpyHeader const& header, NpyInts const& begin,
                                     NpyInts const& count, std::size_t element_bytes, void* out,
                                     NpyAccess access) {
  detail::npy_agree(comm, detail::npy_check_block(path, header.shape, begin, count));
  detail::NpySlabs const slabs(header.shape, begin, count, element_bytes, header.fortran_order,
                               access);
  detail::NpyTransfer in(access.collective ? comm : MPI_COMM_SELF, detail::NpyWay::read, path,
                         path);
  in.open();
  detail::npy_agree(comm, in.outcome);
  auto const wants =
      header.data_offset + npy_data_bytes(header.shape, static_cast<std::int64_t>(element_bytes));
  in.check_bytes(wants);
  in.move(header.data_offset, slabs, in.outcome.fine(), static_cast<std::byte*>(out));
  in.check_bytes(wants);
  in.close();
  detail::npy_agree(comm, in.outcome);
}

SHARDTYPE_INLINE void write_npy(MPI_Comm comm, std::string const& path, std::string const& dtype,
                                NpyInts const& shape, NpyInts const& begin, NpyInts const& count,
                                std::size_t element_bytes, void const* in, bool i_write,
                                bool fortran_order, NpyAccess access) try {
  detail::npy_agree(comm, detail::npy_check_block(path, shape, begin, count));
  std::string const header = format_npy_header(dtype, shape, fortran_order);
  auto const offset = static_cast<std::int64_t>(header.size());
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  detail::NpyReplacement file(comm, path);
  detail::npy_agree(comm, file.outcome);
  detail::NpyTransfer start(MPI_COMM_SELF, detail::NpyWay::write, path, file.written());
  if (rank == 0) {
    start.open();
    if (start.outcome.fine()) {
      auto const bytes = npy_data_bytes(shape, static_cast<std::int64_t>(element_bytes));
      start.check(MPI_File_set_size(start.file(), MPI_Offset(offset + bytes)));
      start.check(MPI_File_write_at(start.file(), 0, header.data(), static_cast<int>(offset),
                                    MPI_BYTE, MPI_STATUS_IGNORE));
      start.close();
    }
  }
  detail::npy_agree(comm, start.outcome);

  detail::NpySlabs const slabs(shape, begin, count, element_bytes, fortran_order, access);
  detail::NpyTransfer out(access.collective ? comm : MPI_COMM_SELF, detail::NpyWay::write, path,
                          file.written());
  out.open();
  detail::npy_agree(comm, out.outcome);
  // A write call only reads this memory.
  auto* const block = const_cast<std::byte*>(static_cast<std::byte const*>(in));
  out.move(offset, slabs, i_write, block);
  out.close();
  detail::npy_agree(comm, out.outcome);
  file.finish();
  detail::npy_agree(comm, file.outcome);
} catch (...) {
  throw;  // an exception that nobody catches would not destroy `file`, which removes what it wrote
}

}  // namespace shardtype::io
