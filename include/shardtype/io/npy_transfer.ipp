#pragma once
/// Definitions of npy_transfer.hpp.

#include <shardtype/io/npy_transfer.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE void NpyOutcome::note(char const* its_code, std::string its_text) {
  if (!fine()) return;
  code = its_code;
  text = std::move(its_text);
}

SHARDTYPE_INLINE void NpyOutcome::note(char const* its_code, std::string const& what, int status) {
  if (status == MPI_SUCCESS) return;
  int kind = status, length = 0;
  char message[MPI_MAX_ERROR_STRING] = "";
  MPI_Error_class(status, &kind);  // a class has a short text, except for "other"
  MPI_Error_string(kind == MPI_ERR_IO ? status : kind, message, &length);
  while (length > 0 && (message[length - 1] == ' ' || message[length - 1] == '\n')) --length;
  std::string const why(message, static_cast<std::size_t>(length));
  auto const line = why.rfind('\n');  // the last line of a long text is the most specific
  note(its_code, what + ": " + (line == why.npos ? why : why.substr(line + 1)));
}

SHARDTYPE_INLINE void npy_agree(MPI_Comm comm, NpyOutcome outcome) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  auto const failed =
      static_cast<int>(detail::reduce_number(comm, outcome.fine() ? size : rank, MPI_MIN));
  if (failed == size) return;
  detail::share_text(comm, outcome.code, failed);
  detail::share_text(comm, outcome.text, failed);
  throw Error(outcome.code, outcome.text, FailedOn::every_rank);
}

SHARDTYPE_INLINE int npy_view(MPI_File file, std::int64_t data_offset, NpySlabs const& slabs,
                              NpySlab const& slab) {
  auto const& shape = slabs.shape();
  std::int64_t stride = slabs.element_bytes(), offset = data_offset, run = stride;
  bool whole = true;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
    offset += slab.begin[d] * stride;
    if (whole) run *= slab.count[d];
    if (whole && slab.count[d] == shape[d] && d > 0) continue;
    MPI_Datatype wider = MPI_DATATYPE_NULL;
    if (whole)
      MPI_Type_contiguous(static_cast<int>(run), MPI_BYTE, &wider);
    else
      MPI_Type_create_hvector(static_cast<int>(slab.count[d]), 1, MPI_Aint(stride), type, &wider);
    whole = false;
    if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
    type = wider;
  }
  MPI_Type_commit(&type);
  int const status =
      MPI_File_set_view(file, MPI_Offset(offset), MPI_BYTE, type, "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
  return status;
}

SHARDTYPE_INLINE void NpyTransfer::open() {
  int const mode = way_ == NpyWay::read ? MPI_MODE_RDONLY : MPI_MODE_WRONLY;
  // Sieved writes read a range, change their part and write it back: ranks that write interleaved
  // elements would overwrite each other.
  MPI_Info hints = MPI_INFO_NULL;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "romio_ds_write", "disable");
  check(MPI_File_open(comm_, name_.c_str(), mode, hints, &file_));
  MPI_Info_free(&hints);
}

SHARDTYPE_INLINE void NpyTransfer::check(int status) {
  int kind = MPI_SUCCESS;
  if (status != MPI_SUCCESS) MPI_Error_class(status, &kind);
  if (way_ == NpyWay::write && kind == MPI_ERR_NO_SUCH_FILE)
    fail("a rank does not see the file that the first one has created in the same folder");
  outcome.note(code(), what_, status);
}

SHARDTYPE_INLINE void NpyTransfer::check_bytes(std::int64_t least) {
  MPI_Offset has = 0;
  check(MPI_File_get_size(file_, &has));
  if (has < least) outcome.note("IO6", detail::npy_too_short(path_, has, least));
}

SHARDTYPE_INLINE void NpyTransfer::require_bytes(MPI_Comm comm, std::int64_t least) {
  check_bytes(least);
  if (detail::reduce_number(comm, outcome.fine() ? 0 : 1, MPI_MAX) == 0) return;
  close();
  detail::npy_agree(comm, outcome);
}

SHARDTYPE_INLINE void NpyTransfer::move(std::int64_t data_offset, NpySlabs const& slabs,
                                        bool take_part, std::byte* block) {
  std::int64_t const mine = take_part ? slabs.size() : 0;
  std::int64_t const calls = detail::reduce_number(comm_, mine, MPI_MAX);
  List<std::byte> packed;
  if (mine > 0 && slabs.reversed()) {
    auto const bytes = static_cast<std::size_t>(slabs.largest() * slabs.element_bytes());
    try {
      packed.resize(bytes);
    } catch (std::bad_alloc const&) {
      fail("no memory for " + std::to_string(bytes) + " bytes");
    }
  }
  for (std::int64_t s = 0; s < calls; ++s) {
    bool const idle = s >= mine || (slabs.reversed() && packed.empty());
    if (idle) {
      check(MPI_File_set_view(file_, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
      check(call(block, 0));
      continue;
    }
    NpySlab const slab = slabs[s];
    std::byte* const data =
        !packed.empty() ? packed.data() : block + slab.at * slabs.element_bytes();
    check(detail::npy_view(file_, data_offset, slabs, slab));
    if (way_ == NpyWay::write && !packed.empty()) slabs.transpose(slab, data, block, false);
    check(call(data, static_cast<int>(slab.elements * slabs.element_bytes())));
    if (way_ == NpyWay::read && !packed.empty()) slabs.transpose(slab, data, block, true);
  }
}

SHARDTYPE_INLINE int NpyTransfer::call(std::byte* data, int bytes) {
  return way_ == NpyWay::read ? MPI_File_read_all(file_, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                              : MPI_File_write_all(file_, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

}  // namespace shardtype::detail
