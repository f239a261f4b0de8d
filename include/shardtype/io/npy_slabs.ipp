#pragma once
/// Definitions of npy_slabs.hpp.

#include <shardtype/io/npy_slabs.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE NpySlabs::NpySlabs(io::NpyInts const& shape, io::NpyInts const& begin,
                                    io::NpyInts const& count, std::size_t element_bytes,
                                    bool fortran_order, io::NpyAccess const& access)
    : shape_(shape),
      begin_(begin),
      count_(count),
      element_(static_cast<std::int64_t>(element_bytes)),
      reversed_(fortran_order && shape.size() > 1) {
  if (fortran_order)
    for (io::NpyInts* list : {&shape_, &begin_, &count_})
      for (std::size_t k = 0, m = list->size(); k + 1 < m; ++k) std::swap((*list)[k], (*list)[--m]);
  if (shape_.empty()) {
    shape_ = count_ = {1};
    begin_ = {0};
  }
  bool empty = false;
  for (std::int64_t n : count_) empty = empty || n == 0;
  if (!empty) cut(access);
}

SHARDTYPE_INLINE NpySlab NpySlabs::operator[](std::int64_t s) const {
  NpySlab slab{begin_, count_};
  std::int64_t outer = s / per_dim_;
  std::int64_t const first = s % per_dim_ * rows_;
  slab.begin[dim_] += first;
  slab.count[dim_] = std::min(rows_, count_[dim_] - first);
  slab.at = (outer * count_[dim_] + first) * inner_;
  slab.elements = slab.count[dim_] * inner_;
  for (std::size_t d = dim_; d-- > 0; outer /= count_[d]) {
    slab.begin[d] += outer % count_[d];
    slab.count[d] = 1;
  }
  return slab;
}

SHARDTYPE_INLINE void NpySlabs::transpose(NpySlab const& slab, std::byte* packed, std::byte* block,
                                          bool to_block) const {
  switch (element_) {
    case 4:
      return transpose_as<4>(slab, packed, block, to_block);
    case 8:
      return transpose_as<8>(slab, packed, block, to_block);
    case 16:
      return transpose_as<16>(slab, packed, block, to_block);
    default:
      return transpose_as<0>(slab, packed, block, to_block);
  }
}

SHARDTYPE_INLINE void NpySlabs::cut(io::NpyAccess const& access) {
  std::int64_t const bytes = std::clamp(access.bytes, element_, std::int64_t(1) << 30);
  std::int64_t runs = 1;
  bool whole = true;  // all indices of the faster dimensions are present, so that slabs have one
                      // run
  for (dim_ = count_.size() - 1;; --dim_) {
    std::int64_t const room = bytes / (inner_ * element_);
    std::int64_t const fit = whole ? room : std::min(room, access.runs / runs);
    rows_ = std::clamp(fit, std::int64_t(1), count_[dim_]);
    if (dim_ == 0 || rows_ < count_[dim_]) break;
    if (!whole) runs *= rows_;
    whole = whole && rows_ == shape_[dim_];
    inner_ *= rows_;
  }
  per_dim_ = (count_[dim_] + rows_ - 1) / rows_;
  size_ = per_dim_;
  for (std::size_t d = 0; d < dim_; ++d) size_ *= count_[d];
}

}  // namespace shardtype::detail
