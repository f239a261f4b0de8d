#pragma once
/// A block of automatic mode that knows where it lies in its tensor.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <shardtype/core/block.hpp>
#include <shardtype/tensor/tensor_base.hpp>

namespace shardtype {

namespace detail {

/// Whether the elements of the result depend on their places along dims that `Op` does not mention,
/// which may be split.
template <class Op>
inline constexpr bool reads_places = requires { requires Op::reads_places; };

}  // namespace detail

namespace execute {

/// The block `L` with the extents and rows of a tensor, as those of strict mode have them.
template <class L>
class LocatedBlock : public L {
 public:
  using placed = L;
  using PerDim = std::array<std::int64_t, L::rank>;
  using PerDimRows = std::array<core::Rows, L::rank>;

  LocatedBlock(L block, PerDim const& extents, PerDimRows const& rows)
      : L(std::move(block)), whole_(extents), in_whole_(rows) {}
  PerDim const& extents() const { return whole_; }
  PerDimRows const& rows() const { return in_whole_; }
  /// Of dims in blocks: those of a block-cyclic dim are not a range.
  std::array<core::Range, L::rank> ranges() const {
    std::array<core::Range, L::rank> out{};
    for (std::size_t d = 0; d < L::rank; ++d) out[d] = in_whole_[d].range();
    return out;
  }

 private:
  PerDim whole_;
  PerDimRows in_whole_;
};

}  // namespace execute

}  // namespace shardtype
