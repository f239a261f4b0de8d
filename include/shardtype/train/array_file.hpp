#pragma once
/// Batches of rows of an array in a .npy file, which may be larger than memory.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/core/running_call.hpp>
#include <shardtype/io/npy.hpp>
#include <shardtype/io/npy_file.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/train/epochs.hpp>
#include <shardtype/train/mapped_file.hpp>

namespace shardtype::train {

/// An array in a .npy file that each rank maps into memory: it reads the rows of its own block, and
/// no others. A batch is a function of its number and the key, as of Tokens. Two files with the
/// same number of rows, as images and their labels, give the same rows for the same step and key.
///
///     train::ArrayFile const images(mesh, "images.npy"), labels(mesh, "labels.npy");
///     auto const x = images.batch<Images>(step, key);   // Images: f32[B@X, H, W]
///     auto const y = labels.batch<Labels>(step, key);   // Labels: i64[B@X]
template <class M>
class ArrayFile {
 public:
  /// Collective over the mesh; ranks outside of it read the header. Errors, the same on every rank:
  /// IO1 the file is none or cannot be read or mapped, IO2, IO3 and IO6 as load_npy, IO5 an array
  /// without dims; E22 ranks see files of different lengths.
  ArrayFile(M const& mesh, std::string path) : mesh_(mesh), file_(std::move(path)) {
    core::RunningCall const running("train::ArrayFile", std::source_location::current());
    if (!mesh_.here()) {
      header_ = io::read_npy_header(MPI_COMM_SELF, file_.path());
    } else {
      runtime::MeshState& state = mesh_.state();
      state.agreement().agree("train::ArrayFile", {});
      file_.map(state);
      header_ = io::read_npy_header(state.whole().raw(), file_.path());
      // another file may have come to the path since this one was mapped
      file_.require(state, header_.data_offset + io::npy_data_bytes(header_.shape, item()));
    }
    if (header_.shape.empty())
      throw Error("IO5", file_.path() + " has an array of 0 dimensions, and so no rows",
                  FailedOn::every_rank);
  }

  /// Number of rows: the first extent of the array.
  std::int64_t size() const { return header_.shape[0]; }
  /// The extents of the array.
  std::vector<std::int64_t> extents() const { return {header_.shape.begin(), header_.shape.end()}; }

  /// Batch `step` of training: rows shuffled by the key anew in each epoch, in which each comes
  /// once. `A` is a tensor `[B, ...]` of the element type of the file, or of any type if the file
  /// has bytes (`|u1`); it is split in any way. `rows` may be left out if B has a static extent.
  /// Communicates nothing. Errors: IO4 another element type, IO5 another number of dims, IO6 a file
  /// without rows or one that has become shorter, E20 extents, E85 a number that is negative or too
  /// large.
  template <class A>
  A batch(std::int64_t step, RandomKey const& key, std::int64_t rows = rows_of<A>()) const {
    check<A>(step, rows);
    if (size() == 0) throw Error("IO6", file_.path() + " has no rows", FailedOn::every_rank);
    A out = read<A>(detail::rows_of_batch(step, key, rows, size()));
    if (mesh_.here() && !header_.fortran_order) {
      // the next batch while this one is computed with; rows that the rank holds are the same ones
      auto const next = detail::rows_of_batch(step + 1, key, rows, size());
      auto const own = out.rows()[0];
      std::int64_t const bytes = size() == 0 ? 0 : strides()[0] * item();
      for (std::int64_t k = 0; k < own.size(); ++k)
        file_.expect(header_.data_offset + next[static_cast<std::size_t>(own[k])] * bytes, bytes);
    }
    return out;
  }

  /// The rows from `first` on, in the order of the file, for evaluation. Errors as batch; IO6 there
  /// are fewer rows.
  template <class A>
  A rows(std::int64_t first, std::int64_t rows = rows_of<A>()) const {
    check<A>(first, rows);
    if (first > size() - rows)
      throw Error("IO6",
                  file_.path() + " has " + std::to_string(size()) + " rows; " +
                      std::to_string(rows) + " from row " + std::to_string(first) + " on are more",
                  FailedOn::every_rank);
    std::vector<std::int64_t> at;
    for (std::int64_t r = 0; r < rows; ++r) at.push_back(first + r);
    return read<A>(at);
  }

 private:
  template <class A>
  static constexpr std::int64_t rows_of() {
    static_assert(A::rank > 0, "a batch has rows: Tensor<float, Dim<B, X>, Dim<D>>");
    return core::Scope<A>::names.extents()[0] == dynamic ? 0 : core::Scope<A>::names.extents()[0];
  }
  template <class A>
  void check(std::int64_t step, std::int64_t rows) const {
    bool const bytes = header_.dtype == "|u1";
    io::check_npy(header_, file_.path(),
                  bytes ? header_.dtype : io::npy_dtype<typename A::element>(), A::rank);
    if (rows < 1)
      throw Error("E85",
                  "a batch of " + file_.path() + " has " + std::to_string(rows) +
                      " rows: give B a static extent, or the number",
                  FailedOn::every_rank);
    if (std::int64_t const most = std::numeric_limits<std::int64_t>::max() / rows - 2;
        step < 0 || step > most)
      throw Error("E85",
                  "batch " + std::to_string(step) + " of " + file_.path() +
                      " is none: they are numbered from 0 to " + std::to_string(most),
                  FailedOn::every_rank);
  }
  std::int64_t item() const { return io::npy_item_bytes(header_.dtype); }
  /// Elements from one index to the next, of each dim.
  std::vector<std::int64_t> strides() const {
    std::size_t const n = header_.shape.size();
    std::vector<std::int64_t> out(n, 1);
    for (std::size_t k = 1; k < n; ++k) {
      std::size_t const d = header_.fortran_order ? k : n - 1 - k;
      std::size_t const before = header_.fortran_order ? d - 1 : d + 1;
      out[d] = out[before] * header_.shape[before];
    }
    return out;
  }

  template <class A>
  A read(std::vector<std::int64_t> const& at) const {
    using T = typename A::element;
    file_.check_length();
    std::array<std::int64_t, A::rank> extents{};
    for (std::size_t d = 0; d < A::rank; ++d) extents[d] = header_.shape[d];
    extents[0] = static_cast<std::int64_t>(at.size());
    std::vector<std::int64_t> const step = strides();
    bool const bytes = header_.dtype == "|u1";
    std::byte const* const data = file_.bytes() + header_.data_offset;
    return api::from_function<A>(mesh_, extents, [&](auto row, auto... others) {
      std::int64_t element = at[static_cast<std::size_t>(row)] * step[0];
      [[maybe_unused]] std::size_t d = 1;
      ((element += others * step[d++]), ...);
      if (bytes) return static_cast<T>(std::to_integer<int>(data[element]));
      T out{};
      std::memcpy(&out, data + element * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
      return out;
    });
  }

  M mesh_;
  detail::MappedFile file_;
  io::NpyHeader header_;
};

}  // namespace shardtype::train
