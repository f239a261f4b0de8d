#pragma once
/// Definitions of step_write.hpp.

#include <cerrno>
#include <exception>
#include <string_view>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <unistd.h>

#include <shardtype/checkpoint/open_file.hpp>
#include <shardtype/checkpoint/step_write.hpp>
#include <shardtype/io/npy.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype::checkpoint::detail {

SHARDTYPE_INLINE void write_tensor(shardtype::detail::NpyTransfer& out, io::NpyAccess const& access,
                                   SavedTensor const& tensor, std::int64_t at,
                                   std::uint64_t* sums) {
  SavedTensor::OnHost host;
  bool good = true;
  try {
    host = tensor.read();
  } catch (std::exception const& failure) {
    out.fail(failure.what());
    good = false;
  }
  BlockOfArray const& b = tensor.block;
  shardtype::detail::NpySlabs const slabs(b.shape, b.begin, b.count,
                                          static_cast<std::size_t>(b.element_bytes),
                                          tensor.transposed, access);
  // A write call only reads this memory.
  out.move(at, slabs, good && tensor.first_holder, const_cast<std::byte*>(host.data));
  if (good && tensor.first_holder && sums != nullptr) add_sums(b, host.data, sums);
}

#ifdef SHARDTYPE_HAVE_JSON

/// Error E95 in `outcome`: a name or a text of these values would be another one in the file, which
/// is UTF-8.
inline void note_unreadable(Extra const& extra, NpyOutcome& outcome) {
  for (auto const& [name, value] : extra.values()) {
    auto const* const text = std::get_if<std::string>(&value.kinds());
    if (!io::is_utf8(name) || (text != nullptr && !io::is_utf8(*text)))
      outcome.note("E95", "the value \"" + io::shortened(name) + "\" is no UTF-8");
  }
}

SHARDTYPE_INLINE StepWrite::StepWrite(runtime::Comm& comm, std::string const& run,
                                      std::int64_t step, std::vector<SavedTensor> tensors,
                                      Extra extra, Extra counts, Options options)
    : comm_(comm),
      step_(step),
      tensors_(std::move(tensors)),
      extra_(std::move(extra)),
      counts_(std::move(counts)),
      options_(options) {
  for (SavedTensor const& t : tensors_) sums_.emplace_back(t.block.chunks(), 0U);
  group_tensors();
  for (Part const& part : parts_) {
    std::vector<std::string_view> names;
    for (std::size_t const k : part.tensors) names.push_back(tensors_[k].name);
    check_names(std::move(names), joined(run, step_name(step) + "/" + part.name), "__metadata__");
  }
  if (comm_.rank() == 0) {
    note_unreadable(extra_, folder_.outcome);
    if (folder_.outcome.fine()) folder_.create(run, step);
  }
  for (Part& part : parts_) {
    std::vector<Entry const*> entries;
    for (std::size_t const k : part.tensors) entries.push_back(&tensors_[k]);
    part.header = arrange(entries, {{"format", "pt"}});
    std::string const start = format(part.header);
    part.header_hash = hash_of_text(start);
    if (comm_.rank() == 0) folder_.add_file(part.name, start, part.header.file_bytes());
  }
  shardtype::detail::npy_agree(comm_.raw(), folder_.outcome);
  written_ = folder_.written();
  place_ = folder_.place();
  shardtype::detail::share_text(comm_.raw(), written_, 0);
  shardtype::detail::share_text(comm_.raw(), place_, 0);
}

SHARDTYPE_INLINE void StepWrite::group_tensors() {
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    std::string const file = tensors_[k].part + ".safetensors";
    std::size_t p = 0;
    while (p < parts_.size() && parts_[p].name != file) ++p;
    if (p == parts_.size()) parts_.push_back({file, {}, 0, {}});
    parts_[p].tensors.push_back(k);
  }
}

SHARDTYPE_INLINE void StepWrite::write_together() {
  io::NpyAccess const access = shardtype::detail::file_access();
  for (Part const& part : parts_) {
    shardtype::detail::NpyTransfer out(access.collective ? comm_.raw() : MPI_COMM_SELF,
                                       shardtype::detail::NpyWay::write, joined(place_, part.name),
                                       joined(written_, part.name));
    out.open();
    shardtype::detail::npy_agree(comm_.raw(), out.outcome);
    for (std::size_t const k : part.tensors)
      write_tensor(out, access, tensors_[k], place_in(part, tensors_[k]), sums_[k].data());
    out.sync();
    out.close();
    shardtype::detail::npy_agree(comm_.raw(), out.outcome);
  }
}

SHARDTYPE_INLINE void StepWrite::copy_blocks() {
  NpyOutcome outcome;
  copies_.resize(tensors_.size());
  for (std::size_t k = 0; k < tensors_.size(); ++k) {
    SavedTensor& t = tensors_[k];
    try {
      SavedTensor::OnHost const host = t.read();
      auto const bytes = static_cast<std::size_t>(t.block.elements() * t.block.element_bytes);
      if (t.first_holder) copies_[k].assign(host.data, host.data + bytes);
    } catch (std::exception const& failure) {
      outcome.note("IO8", "cannot write " + place_ + ": " + failure.what());
    }
    t.read = nullptr;  // the tensor may be gone before the copy is written
  }
  shardtype::detail::npy_agree(comm_.raw(), outcome);
}

SHARDTYPE_INLINE void StepWrite::write_alone() noexcept {
  try {
    for (Part const& part : parts_) write_copies(part);
  } catch (std::exception const& failure) {
    alone_.note("IO8", "cannot write " + place_ + ": " + failure.what());
  }
}

SHARDTYPE_INLINE void StepWrite::write_copies(Part const& part) {
  int const fault = with_file(joined(written_, part.name), O_WRONLY, [&](int descriptor) {
    int failed = 0;
    for (std::size_t const k : part.tensors) {
      SavedTensor const& t = tensors_[k];
      if (failed != 0 || !t.first_holder) continue;
      std::byte const* const data = copies_[k].data();
      std::int64_t const place = place_in(part, t), bytes = t.block.element_bytes;
      for_each_run(t.block, [&](std::int64_t at, std::int64_t from, std::int64_t n) {
        if (failed == 0)
          failed = write_at(descriptor, reinterpret_cast<char const*>(data + from * bytes),
                            static_cast<std::size_t>(n * bytes), place + at * bytes);
      });
      add_sums(t.block, data, sums_[k].data());
      copies_[k] = {};
    }
    return failed == 0 && fsync(descriptor) != 0 ? errno : failed;
  });
  if (fault != 0)
    alone_.note("IO8", "cannot write " + joined(place_, part.name) + ": " +
                           runtime::file_fault_text(fault));
}

SHARDTYPE_INLINE Manifest StepWrite::manifest() const {
  Manifest out;
  out.step = step_;
  out.extra = extra_;
  out.counts = counts_;
  for (Part const& part : parts_) {
    ListedFile f;
    f.name = part.name;
    f.bytes = part.header.file_bytes();
    f.data_offset = part.header.data_offset;
    f.header_hash = part.header_hash;
    for (std::size_t const k : part.tensors) {
      Listed t;
      static_cast<InFile&>(t) = *part.header.find(tensors_[k].name);
      t.sums = sums_[k];
      f.tensors.push_back(std::move(t));
    }
    out.files.push_back(std::move(f));
  }
  return out;
}

SHARDTYPE_INLINE void StepWrite::finish() {
  shardtype::detail::npy_agree(comm_.raw(), alone_);
  add_up(comm_, sums_);
  if (comm_.rank() == 0) {
    try {
      folder_.publish(format(manifest()));
    } catch (std::exception const& failure) {
      folder_.outcome.note("IO8", "cannot write " + place_ + ": " + failure.what());
    }
  }
  shardtype::detail::npy_agree(comm_.raw(), folder_.outcome);
  if (comm_.rank() != 0) return;
  if (options_.keep > 0) folder_.remove_others(options_.keep);
  folder_.discard();
}

#endif

}  // namespace shardtype::checkpoint::detail
