#pragma once
/// Which rank sends which part of a tensor to which, when it moves to another mesh.

#include <cstddef>
#include <cstdint>

#include <shardtype/core/block.hpp>
#include <shardtype/core/layout.hpp>
#include <shardtype/core/list.hpp>

namespace shardtype::planning {

/// The placement of a tensor's blocks: its sharding, and for each rank of its mesh its number in
/// the job and its coordinates along the sharding's axes.
struct Placement {
  Spec spec{};
  Sizes sizes{};
  detail::List<int> ranks;
  detail::List<Coords> coords;
};

/// A part of a tensor: a range of global indices for each dim.
struct Box {
  Range at[max_dims]{};
};

/// A part that rank `from` holds and rank `to` needs; they may be the same rank. Ranks are those of
/// the job; the dims of `box` are in the order of the destination.
struct Parcel {
  int from = 0;
  int to = 0;
  Box box{};
  std::int64_t elements = 0;
};

/// The range of dim `dim` of `p` at these coordinates.
inline Range part_of(Placement const& p, int dim, std::int64_t extent, Coords const& at) {
  return block({0, extent}, p.spec.dims[dim].axes, p.sizes, at);
}

/// One rank's block of a tensor: its ranges of global indices, row-major.
struct PlacedBlock {
  Spec spec{};
  Range at[max_dims]{};
  core::Layout layout{};
  bool here = false;

  /// The block of rank `rank` of the job; empty if the rank is not in the placement.
  PlacedBlock(Placement const& p, Extents const& extents, int rank) : spec(p.spec) {
    layout.rank = spec.rank;
    for (std::size_t k = 0; k < p.ranks.size(); ++k) {
      if (p.ranks[k] != rank) continue;
      here = true;
      for (int d = 0; d < spec.rank; ++d) {
        at[d] = part_of(p, d, extents[spec.dims[d].label], p.coords[k]);
        layout.extent[d] = at[d].size();
      }
    }
    layout = layout.packed();
  }
  /// 0 on a rank that is not in the placement.
  std::int64_t elements() const { return here ? layout.elements() : 0; }
  /// The layout in this block of `box`, whose dims are in the order of `like`, and its offset
  /// `begin`.
  core::Layout part(Box const& box, Spec const& like, std::int64_t& begin) const {
    core::Layout out;
    out.rank = like.rank;
    begin = 0;
    for (int d = 0; d < like.rank; ++d) {
      int const e = spec.find(like.dims[d].label);
      out.extent[d] = box.at[d].size();
      out.stride[d] = layout.stride[e];
      begin += (box.at[d].begin - at[e].begin) * layout.stride[e];
    }
    return out;
  }
};

/// Whether a parcel with this layout in a block is sent from there, or received there, without
/// packing.
inline bool lies_in_place(core::Layout const& part, bool stays) {
  return !stays && part.contiguous();
}

/// The parcels of one transfer. Each rank receives each element that it needs once: from itself if
/// it holds it, else from one rank that holds it. Ranks that hold the same block send in rotation.
struct TransferPlan {
  detail::List<Parcel> parcels;
  std::int64_t element_bytes = 1;
  Placement from, to;
  Extents extents{};

  /// Payload bytes that rank `rank` of the job sends to others.
  std::int64_t bytes(int rank) const {
    std::int64_t n = 0;
    for (Parcel const& p : parcels)
      if (p.from == rank && p.to != rank) n = add_sat(n, p.elements);
    return mul_sat(n, element_bytes);
  }
  /// Payload bytes of all ranks together.
  std::int64_t total_bytes() const {
    std::int64_t n = 0;
    for (Parcel const& p : parcels)
      if (p.from != p.to) n = add_sat(n, p.elements);
    return mul_sat(n, element_bytes);
  }
  /// Peak of the bytes on rank `rank` of the job: the blocks of operand and result, and the packed
  /// parcels. If MPI cannot access the memory, the host holds `staging_bytes` in addition.
  std::int64_t peak_bytes(int rank) const {
    PlacedBlock const given(from, extents, rank);
    PlacedBlock const made(to, extents, rank);
    std::int64_t n = add_sat(given.elements(), made.elements());
    for (Parcel const& p : parcels) {
      std::int64_t begin = 0;
      bool const stays = p.from == p.to;
      if (p.from == rank && !lies_in_place(given.part(p.box, made.spec, begin), stays))
        n = add_sat(n, p.elements);
      if (p.to == rank && !lies_in_place(made.part(p.box, made.spec, begin), stays))
        n = add_sat(n, p.elements);
    }
    return mul_sat(n, element_bytes);
  }
  /// The bytes that rank `rank` of the job sends from and receives in the host's memory, if MPI
  /// cannot access that of the blocks.
  std::int64_t staging_bytes(int rank) const {
    std::int64_t n = 0;
    for (Parcel const& p : parcels)
      if (p.from != p.to && (p.from == rank || p.to == rank)) n = add_sat(n, p.elements);
    return mul_sat(n, element_bytes);
  }
  /// Number of messages between ranks.
  std::int64_t messages() const {
    std::int64_t n = 0;
    for (Parcel const& p : parcels) n += p.from != p.to ? 1 : 0;
    return n;
  }
};

}  // namespace shardtype::planning

namespace shardtype {
using planning::TransferPlan;

namespace planning {

/// Builds the parcels of one transfer. `from` and `to` number labels alike and have no unreduced
/// axes.
class Transfers {
 public:
  Transfers(Placement const& from, Placement const& to, Extents const& extents)
      : from_(from), to_(to), extents_(extents), cuts_(static_cast<std::size_t>(to.spec.rank)) {
    std::int64_t blocks = 1;
    for (int d = 0; d < from_.spec.rank; ++d) blocks *= from_.sizes.product(axes_of(d));
    holders_.resize(static_cast<std::size_t>(blocks));
    turn_.resize(holders_.size(), 0);
    for (std::size_t k = 0; k < from_.ranks.size(); ++k)
      holders_[block_number(from_.coords[k])].push_back(from_.ranks[k]);
  }

  TransferPlan run(std::int64_t element_bytes) {
    TransferPlan plan;
    plan.element_bytes = element_bytes;
    plan.from = from_;
    plan.to = to_;
    plan.extents = extents_;
    for (std::size_t k = 0; k < to_.ranks.size(); ++k) {
      for (int d = 0; d < to_.spec.rank; ++d) {
        std::int64_t const extent = extents_[to_.spec.dims[d].label];
        cut(d, extent, part_of(to_, d, extent, to_.coords[k]));
      }
      Parcel parcel;
      parcel.to = to_.ranks[k];
      parcel.elements = 1;
      collect(plan, parcel, 0, Coords{});
    }
    return plan;
  }

 private:
  struct Cut {
    Coords at;
    Range range;
  };

  shardtype::detail::List<Cut>& cuts(int dim) { return cuts_[static_cast<std::size_t>(dim)]; }
  AxisList const& axes_of(int dim) const { return from_.spec.dims[dim].axes; }

  /// Index of a block, counted over the axes that split a dim.
  std::size_t block_number(Coords const& at) const {
    std::int64_t n = 0;
    for (int d = 0; d < from_.spec.rank; ++d)
      for (int k = 0; k < axes_of(d).size; ++k)
        n = n * from_.sizes[axes_of(d)[k]] + at[axes_of(d)[k]];
    return static_cast<std::size_t>(n);
  }

  /// Finds the parts of the source's blocks along dim `d` of the destination that are in `wanted`.
  void cut(int d, std::int64_t extent, Range wanted) {
    int const e = from_.spec.find(to_.spec.dims[d].label);
    cuts(d).clear();
    for (std::int64_t g = 0; g < from_.sizes.product(axes_of(e)); ++g) {
      Coords const at = member(axes_of(e), from_.sizes, {}, g);
      Range const common = intersect(wanted, part_of(from_, e, extent, at));
      if (common.size() > 0) cuts(d).push_back({at, common});
    }
  }

  /// Enumerates all combinations of the cuts of the dims from `d` on.
  void collect(TransferPlan& plan, Parcel parcel, int d, Coords const& at) {
    if (d == to_.spec.rank) {
      parcel.from = sender(at, parcel.to);
      plan.parcels.push_back(parcel);
      return;
    }
    int const e = from_.spec.find(to_.spec.dims[d].label);
    std::int64_t const so_far = parcel.elements;
    for (Cut const& c : cuts(d)) {
      Coords next = at;
      for (int k = 0; k < axes_of(e).size; ++k) next.at[axes_of(e)[k]] = c.at[axes_of(e)[k]];
      parcel.box.at[d] = c.range;
      parcel.elements = so_far * c.range.size();
      collect(plan, parcel, d + 1, next);
    }
  }

  int sender(Coords const& at, int to) {
    std::size_t const number = block_number(at);
    shardtype::detail::List<int> const& holders = holders_[number];
    for (int r : holders)
      if (r == to) return r;
    return holders[turn_[number]++ % holders.size()];
  }

  Placement const& from_;
  Placement const& to_;
  Extents const& extents_;
  shardtype::detail::List<shardtype::detail::List<int>> holders_;  ///< by block
  shardtype::detail::List<std::size_t> turn_;
  shardtype::detail::List<shardtype::detail::List<Cut>> cuts_;  ///< by dim of the destination
};

/// The parcels that move a tensor from one placement to another.
inline TransferPlan transfer_plan(Placement const& from, Placement const& to,
                                  Extents const& extents, std::int64_t element_bytes) {
  return Transfers(from, to, extents).run(element_bytes);
}

}  // namespace planning

}  // namespace shardtype
