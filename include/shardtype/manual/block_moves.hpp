#pragma once
/// The collectives of manual mode on plain blocks. Each one is a step of a plan, as in strict mode.

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <source_location>
#include <string>
#include <utility>

#include <shardtype/check/ragged.hpp>
#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/staged.hpp>

namespace shardtype::execute {

/// A block viewed around one dim: [outer, n, inner].
struct BlockShape {
  std::int64_t outer = 1, n = 1, inner = 1;
  std::int64_t elements() const { return outer * n * inner; }
};

/// The group of ranks that differ only along some axes; these are the operation's axes 0, 1, ... in
/// this order.
struct MoveGroup {
  AxisMap map{};
  AxisList axes{};
  std::int64_t size = 1;

  MoveGroup(MeshState const& mesh, Names const& names, AxisList const& over)
      : map(map_axes(mesh, names)), axes(over), size(map.sizes.product(over)) {}
  std::int64_t place() const { return place_in_group(map, axes); }
};

/// Moves blocks of `T` in memory `Space` over one group. Results are packed, in memory of the
/// mesh's pool. Extents are the same on all ranks. With an Exchange `later`, communication is only
/// started: the Exchange will hold the result, and a call returns a result only if nothing had to
/// be sent.
template <class T, class Space>
class BlockMoves {
 public:
  BlockMoves(MeshState& mesh, MoveGroup const& group, std::source_location const& where,
             Exchange* later = nullptr)
      : mesh_(mesh), group_(group), where_(where), later_(later) {}

  /// [outer, n, inner] of each rank -> [outer, p n, inner].
  Buffer all_gather(Buffer const& in, BlockShape const& s) {
    Step step = collective(Collective::all_gather);
    Spec const whole = dims(3);
    step.from = 1;
    step.before = whole;
    step.before.dims[1].axes = group_.axes;
    step.after = whole;
    return run(step, {s.outer, s.n * group_.size, s.inner}, in);
  }
  /// The reduction of the blocks of all ranks.
  Buffer all_reduce(Buffer const& in, std::int64_t elements, ReduceKind kind) {
    Step step = collective(Collective::all_reduce);
    step.before = owed(dims(1), kind);
    step.after = dims(1);
    return run(step, {elements}, in);
  }
  /// [outer, p n, inner] of each rank -> [outer, n, inner]: this rank's piece of their reduction.
  Buffer reduce_scatter(Buffer const& in, BlockShape const& s, ReduceKind kind) {
    Step step = collective(Collective::reduce_scatter);
    step.to = 1;
    step.before = owed(dims(3), kind);
    step.after = dims(3);
    step.after.dims[1].axes = group_.axes;
    return run(step, {s.outer, s.n, s.inner}, in);
  }
  /// [outer, p n, inner] -> [outer, p, n, inner]: exchanges pieces along one dim; the received
  /// pieces are in the order of their source ranks.
  Buffer all_to_all(Buffer const& in, BlockShape const& s) {
    Step step = collective(Collective::all_to_all);
    step.from = 1;
    step.to = 2;
    step.before = dims(4);
    step.after = dims(4);
    step.before.dims[1].axes = group_.axes;
    step.after.dims[2].axes = group_.axes;
    return run(step, {s.outer, group_.size, s.n * group_.size, s.inner}, in);
  }
  /// [outer, p, inner] -> [p, outer, inner]: sends one row to each rank; the received rows are
  /// concatenated.
  Buffer rows_to_all(Buffer const& in, BlockShape const& s) {
    Step step = collective(Collective::all_to_all);
    step.from = 0;
    step.to = 2;
    step.before = dims(4);
    step.after = dims(4);
    step.before.dims[0].axes = group_.axes;
    step.after.dims[2].axes = group_.axes;
    return run(step, {group_.size, s.outer, group_.size, s.inner}, in);
  }
  /// Cuts the block of `extents` along dim `split` and concatenates the received pieces along
  /// `join`.
  Buffer all_to_all(Buffer const& in, std::int64_t const* extents, int rank, int split, int join) {
    Step step = collective(Collective::all_to_all);
    step.from = static_cast<std::int8_t>(join);
    step.to = static_cast<std::int8_t>(split);
    step.before = dims(rank);
    step.after = dims(rank);
    step.before.dims[join].axes = group_.axes;
    step.after.dims[split].axes = group_.axes;
    Sizing z = sizing();
    for (int d = 0; d < rank; ++d) z.extents.at[d] = extents[d] * (d == join ? group_.size : 1);
    return run(step, z, in);
  }

  /// This rank's piece of [outer, n, inner] along the middle dim.
  Buffer shard(Buffer const& in, BlockShape const& s) {
    std::int64_t const n = s.n / group_.size;
    kernels::Layout part;
    part.rank = 3;
    std::int64_t const extent[] = {s.outer, n, s.inner};
    std::int64_t const stride[] = {s.n * s.inner, s.inner, 1};
    for (int d = 0; d < 3; ++d) part.extent[d] = extent[d], part.stride[d] = stride[d];
    Buffer out = take(part.elements());
    typename Space::execution_space const exec{};
    kernels::copy_packed(exec, data(in) + group_.place() * n * s.inner, part, write(out));
    exec.fence();
    return out;
  }

  /// Sends the block to rank `to` of the group and receives that of rank `from`; -1: no
  /// destination, or no source, which gives zeros.
  Buffer permute(Buffer const& in, std::int64_t elements, int to, int from) {
    meet(Collective::permute, elements);
    Buffer out = take(elements);
    typename Space::execution_space const exec{};
    exec.fence();
    int const me = static_cast<int>(group_.place());
    if (from < 0) {
      kernels::fill(exec, write(out), elements, T{});
      exec.fence();
    }
    if (to == me) {
      Kokkos::deep_copy(exec, Flat<T, Space>(write(out), size(elements)),
                        Flat<T const, Space>(data(in), size(elements)));
      exec.fence();
    }
    if (to == me || (to < 0 && from < 0)) return out;
    Staged<T, Space> staged(mesh_);
    T* const into = from < 0 ? nullptr : staged.incoming(write(out), elements);
    comm().permute(to < 0 ? nullptr : staged.outgoing(data(in), elements), elements, to, into,
                   elements, from, calls());
    return settle(in, out, staged, from < 0 ? 0 : elements);
  }

  /// The block of rank `root` of the group, on all ranks.
  Buffer broadcast(Buffer const& in, std::int64_t elements, int root) {
    meet(Collective::broadcast, elements);
    Buffer out = take(elements);
    typename Space::execution_space const exec{};
    exec.fence();
    bool const mine = group_.place() == root;
    if (mine || group_.size == 1) {
      Kokkos::deep_copy(exec, Flat<T, Space>(write(out), size(elements)),
                        Flat<T const, Space>(data(in), size(elements)));
      exec.fence();
    }
    if (group_.size == 1) return out;
    Staged<T, Space> staged(mesh_);
    T* const into = staged.incoming(write(out), elements);
    if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible) {
      if (mine)
        Kokkos::deep_copy(Flat<T, Kokkos::HostSpace>(into, size(elements)),
                          Flat<T const, Space>(data(in), size(elements)));
    }
    comm().broadcast(into, elements, root, calls());
    return settle(in, out, staged, elements);
  }

  /// Sends rows of `in`, of `row` elements each, to the ranks of the group, and receives into
  /// `out`, as `rows` says. Rows of `out` that receive nothing keep their values. `in_rows`,
  /// `out_rows`: the numbers of rows of `in` and `out`. With `returns` the other way: rows of `in` go
  /// back into `out`, where they were taken from. Errors: E64 rows beyond these, or sizes on which
  /// two ranks disagree.
  Buffer ragged(Buffer const& in, std::int64_t in_rows, Buffer const& out, std::int64_t out_rows,
                std::int64_t row, op::RaggedRows const& rows, bool returns) {
    auto const p = size(group_.size);
    for (std::size_t n : {rows.input_offsets.size(), rows.send_sizes.size(),
                          rows.output_offsets.size(), rows.recv_sizes.size()})
      if (n != p)
        throw Error("E64", "ragged_all_to_all was given " + std::to_string(n) +
                               " offsets or sizes for a group of " + std::to_string(p) + " ranks");
    meet(Collective::all_to_all, in_rows * row);
    StepScratch& scratch = mesh_.scratch();
    std::int64_t const taken_from = returns ? out_rows : in_rows;
    std::int64_t const put_into = returns ? in_rows : out_rows;
    for (std::size_t g = 0; g < p; ++g)
      check_within(rows.input_offsets[g], rows.send_sizes[g], taken_from, "for", g);
    Counts const& theirs = told(rows);
    Counts& send_counts = scratch.counts;
    Counts& send_at = scratch.offsets;
    Counts& recv_counts = scratch.recv_counts;
    Counts& recv_at = scratch.recv_offsets;
    for (Counts* list : {&send_counts, &send_at, &recv_counts, &recv_at}) list->resize(p);
    for (std::size_t g = 0; g < p; ++g) {
      if (theirs[2 * g + 1] != rows.recv_sizes[g])
        throw Error("E64", "ragged_all_to_all: rank " + std::to_string(g) + " of the group sends " +
                               std::to_string(theirs[2 * g + 1]) + " rows, and " +
                               std::to_string(rows.recv_sizes[g]) + " are expected");
      check_within(theirs[2 * g], rows.recv_sizes[g], put_into, "from", g);
      send_counts[g] = rows.send_sizes[g] * row;
      send_at[g] = rows.input_offsets[g] * row;
      recv_counts[g] = rows.recv_sizes[g] * row;
      recv_at[g] = theirs[2 * g] * row;
    }
    if (returns) {
      std::swap(send_counts, recv_counts);
      std::swap(send_at, recv_at);
    }
    Staged<T, Space> staged(mesh_);
    std::int64_t const n = out_rows * row;
    T* const to = write(out);
    T* const into = staged.incoming(to, n);
    if (into != to)
      Kokkos::deep_copy(Flat<T, Kokkos::HostSpace>(into, size(n)),
                        Flat<T const, Space>(to, size(n)));
    comm().all_to_all(staged.outgoing(data(in), in_rows * row), send_counts, send_at, into,
                      recv_counts, recv_at, Segments::sparse, calls());
    return settle(in, out, staged, n);
  }

  /// Error E65, on the ranks that differ, unless all ranks of the group hold the same bytes.
  void check_equal(Buffer const& in, std::int64_t elements, std::string const& axes) {
    std::int64_t const least = detail::reduce_number(comm().raw(), elements, MPI_MIN);
    std::int64_t const most = detail::reduce_number(comm().raw(), elements, MPI_MAX);
    if (least != most)
      throw Error("E65", "a block that is promised to be the same along axis " + axes + " has " +
                             std::to_string(elements) + " elements on this rank, and from " +
                             std::to_string(least) + " to " + std::to_string(most) +
                             " on those of the group");
    Buffer const theirs = broadcast(in, elements, 0);  // never with `later`
    auto const bytes = size(elements) * sizeof(T);
    Buffer mine = mesh_.pool().template take<Kokkos::HostSpace>(bytes);
    Buffer first = mesh_.pool().template take<Kokkos::HostSpace>(bytes);
    auto const to_host = [&](Buffer const& to, Buffer const& from) {
      Kokkos::deep_copy(Flat<T, Kokkos::HostSpace>(write(to), size(elements)),
                        Flat<T const, Space>(data(from), size(elements)));
    };
    to_host(mine, in);
    to_host(first, theirs);
    if (std::memcmp(mine.data(), first.data(), bytes) != 0)
      throw Error("E65", "a block that is promised to be the same along axis " + axes +
                             " differs from that of the first rank of the group");
  }

  /// Completes an exchange of `in` that receives `n` elements for `out`, or registers the
  /// completion with the Exchange.
  Buffer settle(Buffer const& in, Buffer const& out, Staged<T, Space>& staged, std::int64_t n) {
    if (later_ == nullptr) {
      if (n > 0) staged.arrived(write(out), n);
      return out;
    }
    staged.put_off(*later_, in, out, n);
    later_->rest = [](MeshState&, Exchange& e) {
      if (e.arriving > 0) Staged<T, Space>::arrived(e.host, write(e.result), e.arriving);
    };
    return {};
  }
  UnderWay* calls() { return later_ == nullptr ? nullptr : &later_->calls; }

  Comm& comm() { return group_of(mesh_, group_.map, group_.axes); }
  Buffer take(std::int64_t elements) {
    return mesh_.pool().template take<Space>(size(elements) * sizeof(T));
  }
  static T const* data(Buffer const& b) { return static_cast<T const*>(b.data()); }
  static T* write(Buffer const& b) { return static_cast<T*>(b.data()); }

  /// SHARDTYPE_CHECK=agree, for calls that are not a step of a plan.
  void meet(Collective what, std::int64_t elements) {
    if (!mesh_.agreement().begin_step()) return;
    Step step = collective(what);
    step.before = step.after = dims(1);
    Sizing z = sizing();
    z.extents.at[0] = elements;
    Executor<T, Space>(mesh_, group_.map, z, where_).agree(step);
  }

 private:
  /// For each rank of the group, the position of its rows in this rank's block and the number of
  /// rows that it sends: two numbers each.
  Counts const& told(op::RaggedRows const& rows) {
    StepScratch& scratch = mesh_.scratch();
    auto const p = size(group_.size);
    Counts& mine = scratch.begins;
    Counts& theirs = scratch.cuts;
    Counts& two = scratch.joins;
    Counts& at = scratch.run_at;
    for (Counts* list : {&mine, &theirs}) list->resize(2 * p);
    two.assign(p, 2);
    at.resize(p);
    for (std::size_t g = 0; g < p; ++g) {
      mine[2 * g] = rows.output_offsets[g];
      mine[2 * g + 1] = rows.send_sizes[g];
      at[g] = static_cast<std::int64_t>(2 * g);
    }
    comm().all_to_all(mine.data(), two, at, theirs.data(), two, at, Segments::even);
    return theirs;
  }
  /// Error E64 unless rows [at, at + n) are within [0, extent).
  static void check_within(std::int64_t at, std::int64_t n, std::int64_t extent, char const* what,
                           std::size_t rank) {
    if (at >= 0 && n >= 0 && at <= extent && n <= extent - at) return;
    throw Error("E64", "ragged_all_to_all: " + std::to_string(n) + " rows from " +
                           std::to_string(at) + " on, " + what + " rank " + std::to_string(rank) +
                           " of the group, do not lie within the " + std::to_string(extent) +
                           " rows there are");
  }
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
  static Spec dims(int rank) {
    Spec s;
    for (int d = 0; d < rank; ++d) s.add(d);
    return s;
  }
  Spec owed(Spec s, ReduceKind kind) const {
    for (int k = 0; k < group_.axes.size; ++k) s.unreduced.insert(group_.axes[k]);
    s.kind = kind;
    return s;
  }
  Step collective(Collective what) const {
    Step s;
    s.action = Action::communicate;
    s.collective = what;
    s.axes = group_.axes;
    return s;
  }
  Sizing sizing() const {
    Sizing z;
    z.sizes = group_.map.sizes;
    z.element_bytes = sizeof(T);
    for (std::int64_t& e : z.extents.at) e = 1;
    return z;
  }
  Buffer run(Step const& step, std::initializer_list<std::int64_t> extents, Buffer const& in) {
    Sizing z = sizing();
    int d = 0;
    for (std::int64_t e : extents) z.extents.at[d++] = e;
    return run(step, z, in);
  }
  Buffer run(Step const& step, Sizing const& z, Buffer const& in) {
    return Executor<T, Space>(mesh_, group_.map, z, where_)
        .run(step, whole_value<T>(step.before, z, group_.map.coords, in), later_);
  }

  MeshState& mesh_;
  MoveGroup const& group_;
  std::source_location const& where_;
  Exchange* later_;
};

}  // namespace shardtype::execute
