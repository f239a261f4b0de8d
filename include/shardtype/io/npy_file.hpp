#pragma once
/// Parallel reading and writing of NumPy files (.npy): each rank its own block, through MPI-IO.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include <mpi.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/io/npy_header.hpp>
#include <shardtype/io/npy_replacement.hpp>
#include <shardtype/io/npy_slabs.hpp>
#include <shardtype/io/npy_transfer.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype {

namespace detail {

NpyOutcome npy_check_block(std::string const& path, io::NpyInts const& shape,
                           io::NpyInts const& begin, io::NpyInts const& count);

/// Rank 0's part of read_npy_header: the file's size, and the bytes of its header.
std::string npy_header_text(std::string const& path, std::int64_t& file_bytes, NpyOutcome& outcome);

}  // namespace detail

}  // namespace shardtype

namespace shardtype::io {

/// Reads the header of a .npy file, on all ranks of `comm`. Collective: rank 0 reads it and
/// broadcasts its bytes. Either all ranks return or all throw the same Error: IO1 missing or
/// unreadable, IO2 and IO3 as parse_npy_header, IO6 if the file is shorter than its header says.
NpyHeader read_npy_header(MPI_Comm comm, std::string const& path);

/// Reads this rank's block, [begin, begin + count) per dimension, into host memory `out`, row-major
/// for any order of the file. Blocks may overlap or be empty, and have any size. Collective over
/// `comm`; `header` and `access` must be the same on all ranks. Throws on every rank or on none:
/// IO1 unreadable, IO6 a file that has become too short, IO9 a block outside the array.
void read_npy_block(MPI_Comm comm, std::string const& path, NpyHeader const& header,
                    NpyInts const& begin, NpyInts const& count, std::size_t element_bytes,
                    void* out, NpyAccess access = {});

/// Writes a .npy file of the global array `shape`. The bytes are first written to a file of
/// a new name, `path`.(16 digits).partial; only when all are written does it replace the one at
/// `path`, which stays as it was if writing fails; then the new file is removed. Rank 0 writes the
/// header, and each rank with `i_write` its block, [begin, begin + count) per dimension, from
/// row-major host memory `in`. Ranks that hold copies pass i_write = false; the written blocks must
/// cover the array and not overlap. Collective over `comm`; all arguments except the block must be
/// the same on all ranks. Throws on every rank or on none: IO8 cannot write, IO9 a block outside
/// the array.
void write_npy(MPI_Comm comm, std::string const& path, std::string const& dtype,
               NpyInts const& shape, NpyInts const& begin, NpyInts const& count,
               std::size_t element_bytes, void const* in, bool i_write, bool fortran_order = false,
               NpyAccess access = {});

}  // namespace shardtype::io

#ifndef SHARDTYPE_COMPILED
#include <shardtype/io/npy_file.ipp>
#endif
