#pragma once
/// Definitions of fused_operands.hpp.

#include <new>

#include <shardtype/execute/fused_operands.hpp>
#include <shardtype/execute/run.hpp>
#include <shardtype/runtime/small_blocks.hpp>
#include <shardtype/tensor/block_layout.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE void FusedOperand::keep(std::int64_t const* extents, Rows const* rows) {
  for (int d = 0; d < rank_; ++d) {
    extents_[d] = extents[d];
    rows_[d] = rows[d];
  }
}
SHARDTYPE_INLINE FusedOperand::FusedOperand(HeldBlock const& block, int rank,
                                            std::int64_t const* extents, Rows const* rows)
    : HeldBlock(block), rank_(rank) {
  keep(extents, rows);
}
SHARDTYPE_INLINE FusedOperand::FusedOperand(FusedOperand const& other)
    : HeldBlock(other), rank_(other.rank_) {
  keep(other.extents_, other.rows_);
}
SHARDTYPE_INLINE FusedOperand::FusedOperand(FusedOperand&& other) noexcept
    : HeldBlock(static_cast<HeldBlock&&>(other)), rank_(other.rank_) {
  keep(other.extents_, other.rows_);
}
SHARDTYPE_INLINE std::int64_t FusedOperand::local_size() const {
  std::int64_t n = mesh().here() ? 1 : 0;
  for (int d = 0; d < rank_; ++d) n *= rows_[d].size();
  return n;
}

SHARDTYPE_INLINE FusedOperands::FusedOperands(int most)
    : at_(static_cast<FusedOperand*>(
          runtime::take_small(static_cast<std::size_t>(most) * sizeof(FusedOperand)))),
      most_(most) {}
SHARDTYPE_INLINE FusedOperands::FusedOperands(FusedOperands const& other)
    : FusedOperands(other.most_) {
  for (; size_ < other.size_; ++size_) ::new (at_ + size_) FusedOperand(other.at_[size_]);
}
SHARDTYPE_INLINE FusedOperands::FusedOperands(FusedOperands&& other) noexcept
    : at_(other.at_), size_(other.size_), most_(other.most_) {
  other.at_ = nullptr;
  other.size_ = 0;
}
SHARDTYPE_INLINE void FusedOperands::clear() noexcept {
  if (at_ == nullptr) return;
  for (int k = 0; k < size_; ++k) at_[k].~FusedOperand();
  runtime::give_back_small(at_, static_cast<std::size_t>(most_) * sizeof(FusedOperand));
  at_ = nullptr;
  size_ = 0;
}
SHARDTYPE_INLINE void FusedOperands::add(HeldBlock const& block, int rank,
                                         std::int64_t const* extents, Rows const* rows) {
  ::new (at_ + size_) FusedOperand(block, rank, extents, rows);
  ++size_;
}
SHARDTYPE_INLINE void FusedOperands::add(FusedOperands&& part) {
  if (part.most_ == most_) {  // the only ones
    FusedOperand* const unused = at_;
    at_ = part.at_;
    size_ = part.size_;
    part.at_ = unused;
    part.size_ = 0;
    return;
  }
  for (int k = 0; k < part.size_; ++k)
    ::new (at_ + size_++) FusedOperand(static_cast<FusedOperand&&>(part.at_[k]));
}

SHARDTYPE_INLINE FusedResult::FusedResult(FusedResult const& other)
    : at_(other.at_ == nullptr ? nullptr : other.copy_or_drop_(other.at_, true)),
      copy_or_drop_(other.copy_or_drop_) {}
SHARDTYPE_INLINE FusedResult::FusedResult(FusedResult&& other) noexcept
    : at_(other.at_), copy_or_drop_(other.copy_or_drop_) {
  other.at_ = nullptr;
}
SHARDTYPE_INLINE FusedResult::~FusedResult() {
  if (at_ != nullptr) copy_or_drop_(at_, false);
}

SHARDTYPE_INLINE void fused_extents(FusedOperands const& in, OperandDims const* dims,
                                    Names const& names, Spec const& result, std::int64_t* extents) {
  Extents known = names.extents();
  for (int k = 0; k < in.size(); ++k) {
    if (k > 0) check_one_mesh(in[k - 1].mesh(), in[k].mesh());
    Spec with = result;  // the operand's dims, with the result's labels
    with.rank = static_cast<std::int8_t>(in[k].rank());
    for (int d = 0; d < result.rank; ++d)
      if (dims[k].at[d] >= 0) with.dims[dims[k].at[d]].label = result.dims[d].label;
    execute::note_extents(known, names, with, in[k].extents(), "one operand");
  }
  for (int d = 0; d < result.rank; ++d) extents[d] = known[result.dims[d].label];
}

SHARDTYPE_INLINE bool extents_agree(std::int64_t const* known, std::int64_t const* of_result,
                                    int rank) {
  for (int d = 0; d < rank; ++d)
    if (known[d] != dynamic && known[d] != of_result[d]) return false;
  return true;
}

SHARDTYPE_INLINE FusedBlock::FusedBlock(FusedOperand const& a) : data(a.buffer().data()) {
  for (int d = 0; d < a.rank(); ++d) rows[d] = a.rows()[d];
  layout = block_layout(rows, a.rank());
}
SHARDTYPE_INLINE void FusedBlock::place(OperandDims const& dims, int rank, Rows const* result,
                                        void const*& from, std::int64_t* stride) const {
  std::int64_t offset = 0;
  for (int d = 0; d < rank; ++d) {
    int const at = dims.at[d];
    if (at < 0) continue;
    stride[d] = layout.stride[at];
    offset += (result[d].begin - rows[at].begin) * layout.stride[at];
  }
  from = static_cast<char const*>(data) + offset * dims.element_bytes;
}

SHARDTYPE_INLINE int readers(FusedOperands const& in, bool const* alike, Buffer const& a,
                             char const* name) {
  int n = 0;
  for (int k = 0; k < in.size(); ++k) {
    if (in[k].buffer().data() != a.data()) continue;
    if (!alike[k] && in[k].local_size() > 0)
      throw_shared(name, {},
                   "an in-place operation reads the tensor's memory with other dims; use a.clone() "
                   "for one of them");
    ++n;
  }
  return n;
}

}  // namespace shardtype::detail
