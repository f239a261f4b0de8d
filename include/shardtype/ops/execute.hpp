#pragma once
/// Runs a plan: one switch over its steps, the same code for compile-time and run-time plans.

#include <cstdint>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/product.hpp>
#include <shardtype/kernels/segments.hpp>
#include <shardtype/plan/plan.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::ops {

/// A local block on its way through a plan. It may be a view: slices and transposes move no data.
template <class T>
struct Value {
  T const* data = nullptr;
  kernels::Layout layout{};
  Spec spec{};
  Buffer keep{};
};

/// The local block of a tensor of sharding `spec`, packed at the start of `memory`.
template <class T>
Value<T> whole_value(Spec const& spec, Sizing const& z, Coords const& at, Buffer memory) {
  Value<T> v;
  v.spec = spec;
  v.layout.rank = spec.rank;
  for (int d = 0; d < spec.rank; ++d) v.layout.extent[d] = block_of(spec, d, z, at).size();
  v.layout = v.layout.packed();
  v.data = static_cast<T const*>(memory.data());
  v.keep = std::move(memory);
  return v;
}

/// The name of a collective, for messages.
inline char const* name_of(Collective c) {
  switch (c) {
    case Collective::all_gather:
      return "all_gather";
    case Collective::all_reduce:
      return "all_reduce";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::all_to_all:
      return "all_to_all";
    case Collective::permute:
      return "permute";
    case Collective::broadcast:
      return "broadcast";
    case Collective::none:
      break;
  }
  return "none";
}

/// Executes plans on blocks of `T` in memory `Space`, on the calling rank of one mesh. Collectives
/// take contiguous memory; where MPI cannot reach `Space`, blocks pass through the host.
template <class T, class Space>
class Executor {
  using Exec = typename Space::execution_space;
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;

 public:
  Executor(MeshState& mesh, AxisMap const& axes, Sizing const& sizing,
           std::source_location const& where)
      : mesh_(mesh), axes_(axes), z_(sizing), where_(where) {}

  /// The packed result of `plan` for operands `a` and, for products, `b`.
  Buffer run(Plan const& plan, Value<T> a, Value<T> b = {}) {
    Value<T> slots[3] = {std::move(a), std::move(b), {}};
    int last = 0;
    for (Step const& s : plan) {
      Value<T>& v = slots[static_cast<int>(s.slot)];
      switch (s.action) {
        case Action::slice:
          slice(s, v);
          break;
        case Action::transpose:
          transpose(s, v);
          break;
        case Action::contract:
          v = product(s, slots[0], slots[1]);
          slots[0] = slots[1] = {};
          break;
        case Action::communicate:
          communicate(s, v);
          break;
      }
      last = static_cast<int>(s.slot);
    }
    Value<T>& result = slots[last];
    bool const whole = result.layout.contiguous() && result.data == result.keep.data();
    bool const is_operand = plan.size == 0;
    if (!whole || (!is_operand && result.keep.holders() > 1)) return copy(result).keep;
    exec_.fence();
    return result.keep;
  }

 private:
  Buffer take(std::int64_t elements) {
    return mesh_.pool().template take<Space>(static_cast<std::size_t>(elements) * sizeof(T));
  }
  static T* writable(Buffer const& b) { return static_cast<T*>(b.data()); }

  Value<T> copy(Value<T> const& v) {
    Value<T> out = v;
    out.layout = v.layout.packed();
    out.keep = take(v.layout.elements());
    kernels::copy_packed(exec_, v.data, v.layout, writable(out.keep));
    exec_.fence();
    out.data = writable(out.keep);
    return out;
  }
  void pack(Value<T>& v) {
    if (!v.layout.contiguous()) v = copy(v);
  }
  /// A packed value of sharding `spec` with memory of its own and any contents.
  Value<T> fresh(Spec const& spec) {
    std::int64_t const n = local_elements(spec, z_.extents, z_.sizes, axes_.coords);
    return whole_value<T>(spec, z_, axes_.coords, take(n));
  }

  void slice(Step const& s, Value<T>& v) {
    Range const old_block = block_of(s.before, s.to, z_, axes_.coords);
    Range const new_block = block_of(s.after, s.to, z_, axes_.coords);
    v.data += (new_block.begin - old_block.begin) * v.layout.stride[s.to];
    v.layout.extent[s.to] = new_block.size();
    v.spec = s.after;
  }

  void transpose(Step const& s, Value<T>& v) {
    kernels::Layout const old = v.layout;
    for (int d = 0; d < s.after.rank; ++d) {
      int const from = s.before.find(s.after.dims[d].label);
      v.layout.extent[d] = old.extent[from];
      v.layout.stride[d] = old.stride[from];
    }
    v.spec = s.after;
  }

  static kernels::Labelled<T> labelled(Value<T> const& v) {
    kernels::Labelled<T> out;
    out.data = v.data;
    out.layout = v.layout;
    out.keep = v.keep;
    for (int d = 0; d < v.spec.rank; ++d) out.label[d] = v.spec.dims[d].label;
    return out;
  }

  Value<T> product(Step const& s, Value<T> const& a, Value<T> const& b) {
    Value<T> c = fresh(s.after);
    Labels out;
    for (int d = 0; d < s.after.rank; ++d) out.push(s.after.dims[d].label);
    kernels::Product<T, Exec>(exec_, mesh_.pool())(labelled(a), labelled(b), out,
                                                   writable(c.keep));
    return c;
  }

  Comm& group(AxisList const& axes) {
    int positions[max_axes];
    for (int k = 0; k < axes.size; ++k) positions[k] = axes_.position[axes[k]];
    return mesh_.group({positions, static_cast<std::size_t>(axes.size)});
  }

  /// The block along `dim` of sharding `spec` at each member of the group, in its order.
  std::vector<Range>& member_blocks(Spec const& spec, int dim, AxisList const& axes,
                                    std::vector<Range>& out) {
    std::int64_t const p = z_.sizes.product(axes);
    out.resize(static_cast<std::size_t>(p));
    for (std::int64_t g = 0; g < p; ++g)
      out[static_cast<std::size_t>(g)] =
          block_of(spec, dim, z_, member(axes, z_.sizes, axes_.coords, g));
    return out;
  }

  void communicate(Step const& s, Value<T>& v) {
    if (z_.sizes.product(s.axes) == 1) {  // one rank: the step changes names only
      v.spec = s.after;
      return;
    }
    if (mesh_.agreement().on()) agree(s);
    exec_.fence();
    pack(v);
    switch (s.collective) {
      case Collective::all_gather:
        v = all_gather(s, v);
        break;
      case Collective::all_reduce:
        v = all_reduce(s, v);
        break;
      case Collective::reduce_scatter:
        v = reduce_scatter(s, v);
        break;
      case Collective::all_to_all:
        v = all_to_all(s, v);
        break;
      case Collective::permute:
        v = permute(s, v);
        break;
      case Collective::none:
      case Collective::broadcast:
        break;
    }
  }

  // Segments along one dim, packed for the wire and back.

  template <kernels::Packing Way>
  void move_segments(T const* from, T* to, std::vector<std::int64_t> const& begin,
                     kernels::Layout const& l, int dim) {
    std::int64_t const* table = begin.data();
    Buffer device_table;
    if constexpr (!on_host) {
      device_table = mesh_.pool().template take<Space>(begin.size() * sizeof(std::int64_t));
      auto* const there = static_cast<std::int64_t*>(device_table.data());
      Kokkos::deep_copy(Flat<std::int64_t, Space>(there, begin.size()),
                        Flat<std::int64_t const, Kokkos::HostSpace>(begin.data(), begin.size()));
      table = there;
    }
    kernels::move_segments<Way>(exec_, from, to, table,
                                static_cast<std::int64_t>(begin.size()) - 1,
                                kernels::outer_length(l, dim), l.extent[dim],
                                kernels::inner_length(l, dim));
    exec_.fence();
  }

  /// Begins of consecutive blocks within the first one's parent, and the end of the last.
  static std::vector<std::int64_t>& begins(std::vector<Range> const& blocks,
                                           std::vector<std::int64_t>& out) {
    out.clear();
    for (Range const& r : blocks) out.push_back(r.begin - blocks.front().begin);
    out.push_back(blocks.back().end - blocks.front().begin);
    return out;
  }

  static std::vector<std::int64_t>& counts(std::vector<Range> const& blocks, std::int64_t each,
                                           std::vector<std::int64_t>& out) {
    out.clear();
    for (Range const& r : blocks) out.push_back(r.size() * each);
    return out;
  }

  static std::vector<std::int64_t>& offsets(std::vector<std::int64_t> const& lengths,
                                            std::vector<std::int64_t>& out) {
    out.clear();
    std::int64_t sum = 0;
    for (std::int64_t n : lengths) {
      out.push_back(sum);
      sum += n;
    }
    return out;
  }

  /// Elements of all dims but `dim`.
  static std::int64_t cross_section(kernels::Layout const& l, int dim) {
    return kernels::outer_length(l, dim) * kernels::inner_length(l, dim);
  }

  // Where MPI cannot reach the memory, blocks pass through the host.

  template <class U, class Where>
  using Flat = Kokkos::View<U*, Where, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// What MPI sends for `n` elements at `data`.
  T const* outgoing(T const* data, std::int64_t n) {
    if constexpr (on_host) {
      return data;
    } else {
      auto const count = static_cast<std::size_t>(n);
      sent_ = mesh_.pool().template take<Kokkos::HostSpace>(count * sizeof(T));
      Kokkos::deep_copy(Flat<T, Kokkos::HostSpace>(writable(sent_), count),
                        Flat<T const, Space>(data, count));
      return writable(sent_);
    }
  }
  /// Where MPI puts the `n` elements meant for `data`; `arrived` brings them there.
  T* incoming(T* data, std::int64_t n) {
    if constexpr (on_host) {
      return data;
    } else {
      received_ =
          mesh_.pool().template take<Kokkos::HostSpace>(static_cast<std::size_t>(n) * sizeof(T));
      return writable(received_);
    }
  }
  void arrived(T* data, std::int64_t n) {
    if constexpr (!on_host) {
      auto const count = static_cast<std::size_t>(n);
      Kokkos::deep_copy(Flat<T, Space>(data, count),
                        Flat<T const, Kokkos::HostSpace>(writable(received_), count));
      received_ = {};
      sent_ = {};
    }
  }

  Value<T> all_gather(Step const& s, Value<T> const& v) {
    int const d = s.from;
    member_blocks(s.before, d, s.axes, blocks_);
    Value<T> out = fresh(s.after);
    std::int64_t const rest = cross_section(v.layout, d);
    counts(blocks_, rest, counts_);
    bool const direct = kernels::outer_length(out.layout, d) == 1;
    Buffer const wire = direct ? out.keep : take(out.layout.elements());
    std::int64_t const n = out.layout.elements();
    T* const into = incoming(writable(wire), n);
    group(s.axes).all_gather(outgoing(v.data, v.layout.elements()), into, counts_);
    arrived(writable(wire), n);
    if (!direct)
      move_segments<kernels::Packing::join>(writable(wire), writable(out.keep),
                                            begins(blocks_, begins_), out.layout, d);
    return out;
  }

  Value<T> all_reduce(Step const& s, Value<T> const& v) {
    bool const in_place = v.keep.holders() == 1 && v.data == v.keep.data();
    Value<T> out = v;
    if (!in_place) out = fresh(s.after);
    out.spec = s.after;
    std::int64_t const n = v.layout.elements();
    T* const into = incoming(writable(out.keep), n);
    group(s.axes).all_reduce(outgoing(v.data, n), into, n, s.before.kind);
    arrived(writable(out.keep), n);
    return out;
  }

  Value<T> reduce_scatter(Step const& s, Value<T> const& v) {
    int const d = s.to;
    member_blocks(s.after, d, s.axes, blocks_);
    Value<T> out = fresh(s.after);
    counts(blocks_, cross_section(v.layout, d), counts_);
    T const* send = v.data;
    Buffer wire;
    if (kernels::outer_length(v.layout, d) != 1) {
      wire = take(v.layout.elements());
      move_segments<kernels::Packing::split>(v.data, writable(wire), begins(blocks_, begins_),
                                             v.layout, d);
      send = writable(wire);
    }
    std::int64_t const n = out.layout.elements();
    T* const into = incoming(writable(out.keep), n);
    group(s.axes).reduce_scatter(outgoing(send, v.layout.elements()), into, counts_,
                                 s.before.kind);
    arrived(writable(out.keep), n);
    return out;
  }

  /// How the segments of an exchange are sized, the same on every member: `most` is the most
  /// elements any of them sends or receives.
  static Segments sized(bool even, std::int64_t most) {
    if (most > Comm::largest_count) return Segments::huge;
    return even ? Segments::even : Segments::uneven;
  }
  static bool all_equal(std::vector<Range> const& blocks) {
    for (Range const& r : blocks)
      if (r.size() != blocks.front().size()) return false;
    return true;
  }

  Value<T> all_to_all(Step const& s, Value<T> const& v) {
    member_blocks(s.before, s.from, s.axes, old_blocks_);
    member_blocks(s.after, s.to, s.axes, blocks_);
    Value<T> out = fresh(s.after);
    bool const even = all_equal(old_blocks_) && all_equal(blocks_);
    // elements of all dims but the two that change
    std::int64_t rest = 1;
    for (int d = 0; d < v.layout.rank; ++d)
      if (d != s.from && d != s.to) rest *= v.layout.extent[d];
    std::int64_t const my_from = v.layout.extent[s.from];
    std::int64_t const my_to = out.layout.extent[s.to];
    std::int64_t const most = old_blocks_.front().size() * v.layout.extent[s.to] * rest;
    std::int64_t const most_in = out.layout.extent[s.from] * blocks_.front().size() * rest;

    T const* send = v.data;
    Buffer send_wire;
    if (kernels::outer_length(v.layout, s.to) != 1) {
      send_wire = take(v.layout.elements());
      move_segments<kernels::Packing::split>(v.data, writable(send_wire),
                                             begins(blocks_, begins_), v.layout, s.to);
      send = writable(send_wire);
    }
    bool const direct = kernels::outer_length(out.layout, s.from) == 1;
    Buffer const recv_wire = direct ? out.keep : take(out.layout.elements());
    counts(blocks_, my_from * rest, counts_);
    counts(old_blocks_, my_to * rest, recv_counts_);
    std::int64_t const n = out.layout.elements();
    T* const into = incoming(writable(recv_wire), n);
    group(s.axes).all_to_all(outgoing(send, v.layout.elements()), counts_,
                             offsets(counts_, offsets_), into, recv_counts_,
                             offsets(recv_counts_, recv_offsets_),
                             sized(even, std::max(most, most_in)));
    arrived(writable(recv_wire), n);
    if (!direct)
      move_segments<kernels::Packing::join>(writable(recv_wire), writable(out.keep),
                                            begins(old_blocks_, begins_), out.layout, s.from);
    return out;
  }

  /// Another order of the axes on one dim. Where all blocks are equal they change hands whole;
  /// otherwise ranks exchange the overlaps of old and new blocks.
  Value<T> permute(Step const& s, Value<T> const& v) {
    int const d = s.from;
    AxisList const new_order =
        s.after.dims[d].axes.suffix(s.after.dims[d].axes.size - s.axes.size);
    // members are numbered in the old order; new_place[g] is where g stands in the new one
    member_blocks(s.before, d, s.axes, old_blocks_);
    member_blocks(s.after, d, s.axes, blocks_);
    std::int64_t const p = z_.sizes.product(s.axes);
    auto place_in = [&](AxisList const& order, std::int64_t g) {
      Coords const at = member(s.axes, z_.sizes, axes_.coords, g);
      std::int64_t place = 0;
      for (int k = 0; k < order.size; ++k)
        place = place * z_.sizes[order[k]] + at[order[k]];
      return place;
    };
    std::int64_t me = 0;
    for (int k = 0; k < s.axes.size; ++k)
      me = me * z_.sizes[s.axes[k]] + axes_.coords[s.axes[k]];
    std::vector<std::int64_t>& by_place = begins_;  // who holds the k-th new block
    by_place.assign(static_cast<std::size_t>(p), 0);
    for (std::int64_t g = 0; g < p; ++g)
      by_place[static_cast<std::size_t>(place_in(new_order, g))] = g;

    Value<T> out = fresh(s.after);
    Comm& comm = group(s.axes);
    std::int64_t const rest = cross_section(v.layout, d);
    if (all_equal(old_blocks_)) {
      int const to = static_cast<int>(by_place[static_cast<std::size_t>(me)]);
      int const from = static_cast<int>(place_in(new_order, me));
      std::int64_t const n = out.layout.elements();
      T* const into = incoming(writable(out.keep), n);
      comm.permute(outgoing(v.data, n), n, to, into, n, from);
      arrived(writable(out.keep), n);
      return out;
    }
    Range const mine_old = old_blocks_[static_cast<std::size_t>(me)];
    Range const mine_new = blocks_[static_cast<std::size_t>(me)];
    // what I send lies in the order of the new blocks, what I get in that of the old
    counts_.assign(static_cast<std::size_t>(p), 0);
    offsets_.assign(static_cast<std::size_t>(p), 0);
    std::vector<std::int64_t>& cuts = cuts_;
    cuts.assign(1, 0);
    for (std::int64_t k = 0; k < p; ++k) {
      auto const g = static_cast<std::size_t>(by_place[static_cast<std::size_t>(k)]);
      std::int64_t const n = intersect(mine_old, blocks_[g]).size();
      counts_[g] = n * rest;
      offsets_[g] = cuts.back() * rest;
      cuts.push_back(cuts.back() + n);
    }
    std::vector<std::int64_t>& joins = joins_;
    joins.assign(1, 0);
    recv_counts_.clear();
    for (Range const& old_block : old_blocks_) {
      std::int64_t const n = intersect(mine_new, old_block).size();
      recv_counts_.push_back(n * rest);
      joins.push_back(joins.back() + n);
    }
    offsets(recv_counts_, recv_offsets_);
    T const* send = v.data;
    Buffer send_wire;
    if (kernels::outer_length(v.layout, d) != 1) {
      send_wire = take(v.layout.elements());
      move_segments<kernels::Packing::split>(v.data, writable(send_wire), cuts, v.layout, d);
      send = writable(send_wire);
    }
    bool const direct = kernels::outer_length(out.layout, d) == 1;
    Buffer const recv_wire = direct ? out.keep : take(out.layout.elements());
    std::int64_t const most = std::max(old_blocks_.front().size(), blocks_.front().size()) * rest;
    std::int64_t const n = out.layout.elements();
    T* const into = incoming(writable(recv_wire), n);
    comm.all_to_all(outgoing(send, v.layout.elements()), counts_, offsets_, into, recv_counts_,
                    recv_offsets_, sized(false, most));
    arrived(writable(recv_wire), n);
    if (!direct)
      move_segments<kernels::Packing::join>(writable(recv_wire), writable(out.keep), joins,
                                            out.layout, d);
    return out;
  }

  /// SHARDTYPE_CHECK=agree: all ranks of the mesh are about to run this very step.
  void agree(Step const& s) {
    std::uint64_t hash = 14695981039346656037U;
    auto mix = [&](std::uint64_t x) { hash = (hash ^ x) * 1099511628211U; };
    std::string text = std::string(name_of(s.collective)) + " over ";
    mix(static_cast<std::uint64_t>(s.collective));
    for (int k = 0; k < s.axes.size; ++k) {
      int const x = axes_.position[s.axes[k]];
      text += (k == 0 ? "" : ",") + mesh_.axes()[static_cast<std::size_t>(x)].name;
      mix(static_cast<std::uint64_t>(x) + 1);
    }
    for (int d = 0; d < s.before.rank; ++d)
      mix(static_cast<std::uint64_t>(z_.extents[s.before.dims[d].label]));
    mix(static_cast<std::uint64_t>(s.from + 2));
    mix(static_cast<std::uint64_t>(s.to + 2));
    mix(where_.line());
    std::string const file = where_.file_name();
    text += " (" + file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(where_.line()) +
            ")";
    mesh_.agreement().meet(text, hash);
  }

  MeshState& mesh_;
  AxisMap const& axes_;
  Sizing const& z_;
  std::source_location where_;
  Exec exec_{};
  Buffer sent_, received_;
  // the mesh's, so that no operation allocates after the first of its size
  std::vector<Range>& blocks_ = mesh_.scratch().blocks;
  std::vector<Range>& old_blocks_ = mesh_.scratch().old_blocks;
  std::vector<std::int64_t>& counts_ = mesh_.scratch().counts;
  std::vector<std::int64_t>& recv_counts_ = mesh_.scratch().recv_counts;
  std::vector<std::int64_t>& offsets_ = mesh_.scratch().offsets;
  std::vector<std::int64_t>& recv_offsets_ = mesh_.scratch().recv_offsets;
  std::vector<std::int64_t>& begins_ = mesh_.scratch().begins;
  std::vector<std::int64_t>& cuts_ = mesh_.scratch().cuts;
  std::vector<std::int64_t>& joins_ = mesh_.scratch().joins;
};

}  // namespace shardtype::ops
