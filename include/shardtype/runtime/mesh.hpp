#pragma once
/// The named grid of ranks.

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mpi.h>

#include <shardtype/core/axis.hpp>
#include <shardtype/core/block.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/core/scope.hpp>
#include <shardtype/runtime/agreement.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/exchange.hpp>
#include <shardtype/runtime/link.hpp>
#include <shardtype/runtime/pool.hpp>
#include <shardtype/runtime/shared_window.hpp>

namespace shardtype::runtime {

/// One axis of a mesh at run time.
struct MeshAxisInfo {
  Identity id = nullptr;
  std::string name;
  std::int64_t size = 1;
};

/// Counts and offsets of the step in progress, kept so that steps do not allocate.
struct StepScratch {
  detail::List<Range> blocks, old_blocks;
  detail::List<std::int64_t> counts, recv_counts, offsets, recv_offsets, begins, cuts, joins;
  detail::List<Rows> rows, old_rows;
  detail::List<std::int64_t> run_at, run_row, run_first, run_order;
  detail::List<int> members;
};

/// State shared by all tensors of one mesh: the communicators, the memory pool, the checks.
class MeshState {
 public:
  /// A mesh of the ranks `ranks` of `comm`, row-major over the axes, first axis major. Collective
  /// over `comm`.
  MeshState(MPI_Comm comm, detail::List<MeshAxisInfo> axes, detail::List<int> ranks)
      : axes_(std::move(axes)), ranks_(std::move(ranks)) {
    std::string shape;
    for (MeshAxisInfo const& x : axes_)
      shape += (shape.empty() ? "" : ", ") + x.name + " = " + std::to_string(x.size);
    StepHash hash;
    for (int r : ranks_) hash.mix(static_cast<std::uint64_t>(r) + 1U);
    Agreement::meet_before_mesh(comm, "the constructor of a mesh of " + shape,
                                hash.mix(shape).value());
    detail::List<int> const job = detail::ranks_in_job(comm);
    for (int r : ranks_) job_ranks_.push_back(job[static_cast<std::size_t>(r)]);
    int me = 0;
    MPI_Comm_rank(comm, &me);
    int place = MPI_UNDEFINED;
    for (std::size_t k = 0; k < ranks_.size(); ++k)
      if (ranks_[k] == me) place = static_cast<int>(k);
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(comm, place == MPI_UNDEFINED ? MPI_UNDEFINED : 0,
                             place == MPI_UNDEFINED ? 0 : place, &made),
              "MPI_Comm_split");
    here_ = made != MPI_COMM_NULL;
    coords_.resize(axes_.size(), 0);
    if (!here_) return;
    whole_ = detail::Owned(new Comm(made));
    window_ = detail::Owned(new SharedWindow(*whole_));
    std::int64_t rest = place;
    for (std::size_t k = axes_.size(); k-- > 0;) {
      coords_[k] = rest % axes_[k].size;
      rest /= axes_[k].size;
    }
    agreement_.start(made);
  }
  MeshState(MeshState const&) = delete;
  MeshState& operator=(MeshState const&) = delete;
  ~MeshState() {
    // leaving by an exception is not a step of the program
    if (here_ && agreement_.on() && std::uncaught_exceptions() == 0) agreement_.meet("end", 0);
  }

  /// Whether the calling rank belongs to the mesh.
  bool here() const { return here_; }
  detail::List<MeshAxisInfo> const& axes() const { return axes_; }
  /// The calling rank's coordinate along each axis.
  detail::List<std::int64_t> const& coords() const { return coords_; }
  /// The mesh's ranks, as ranks of the communicator it was created from.
  detail::List<int> const& ranks() const { return ranks_; }
  /// The mesh's ranks, as ranks of the job.
  detail::List<int> const& job_ranks() const { return job_ranks_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  /// The communicator of all ranks of the mesh.
  Comm& whole() { return *whole_; }
  Pool& pool() { return *pool_; }
  Agreement& agreement() { return agreement_; }
  StepScratch& scratch() { return scratch_; }
  Exchanges& exchanges() { return exchanges_; }
  /// A pending collective that is about to start; empty on ranks outside the mesh.
  Started start() { return here_ ? exchanges_.take() : Started(); }
  /// Whether the body of a shard_map is running on this mesh.
  bool in_manual_mode() const { return manual_depth_ > 0; }
  void enter_manual_mode() { ++manual_depth_; }
  void leave_manual_mode() { --manual_depth_; }

  /// Position of the axis type with this identity, or -1.
  int find(Identity id) const {
    for (std::size_t k = 0; k < axes_.size(); ++k)
      if (axes_[k].id == id) return static_cast<int>(k);
    return -1;
  }

  /// Error E13: an operation names axis `name`, which this mesh lacks.
  [[noreturn]] void refuse_axis(std::string_view name) const {
    std::string has;
    for (MeshAxisInfo const& x : axes_) has += (has.empty() ? "" : ", ") + x.name;
    throw Error("E13",
                "the mesh has no axis " + std::string(name) + "; it has " + has +
                    ": name one of these, or make the mesh with that axis too",
                FailedOn::every_rank);
  }

  /// Number of the calling rank's group, where a group consists of the ranks that differ only along
  /// the `n` axes.
  std::int64_t number_of_group(int const* axes, int n) const {
    std::int64_t number = 0;
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      bool inside = false;
      for (int m = 0; m < n; ++m) inside = inside || axes[m] == static_cast<int>(k);
      if (!inside) number = number * axes_[k].size + coords_[k];
    }
    return number;
  }

  /// The communicator of the ranks that differ from this one only along the `n` axes (positions in
  /// the mesh), ordered by the list of axes, first axis major. Collective over the mesh at the
  /// first call per list.
  Comm& group(int const* axes, int n) {
    std::uint64_t code = 1;
    for (int k = 0; k < n; ++k) code = code * 16 + static_cast<std::uint64_t>(axes[k]);
    for (Group& g : groups_)
      if (g.code == code) return *g.comm;
    std::int64_t key = 0;
    for (int m = 0; m < n; ++m) {
      auto const k = static_cast<std::size_t>(axes[m]);
      key = key * axes_[k].size + coords_[k];
    }
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(whole_->raw(), static_cast<int>(number_of_group(axes, n)),
                             static_cast<int>(key), &made),
              "MPI_Comm_split");
    return *groups_.push_back({code, detail::Owned(new Comm(made))}).comm;
  }

  /// Memory shared by all ranks of the mesh, if they are on one node.
  SharedWindow& window() { return *window_; }

  /// The union of the ranks of this mesh and of `other`. Collective over them at the first call per
  /// set of ranks.
  Link& link(MeshState const& other) {
    detail::List<int> all = job_ranks_;
    for (int r : other.job_ranks_) all.push_back(r);
    all = detail::rising(all);
    for (detail::Owned<Link> const& known : links_)
      if (known->ranks() == all) return *known;
    return *links_.push_back(detail::Owned(new Link(std::move(all))));
  }

 private:
  struct Group {
    std::uint64_t code = 0;  ///< encodes the list of axes
    detail::Owned<Comm> comm;
  };

  detail::List<MeshAxisInfo> axes_;
  detail::List<int> ranks_;
  detail::List<int> job_ranks_;
  detail::List<std::int64_t> coords_;
  bool here_ = false;
  detail::Owned<Comm> whole_;
  detail::Owned<SharedWindow> window_;
  detail::List<Group> groups_;
  detail::List<detail::Owned<Link>> links_;
  Pool::Owner pool_;
  Agreement agreement_;
  StepScratch scratch_;
  Exchanges exchanges_;
  int manual_depth_ = 0;
};

/// A mesh whose axes are known only at run time: the type of `tensor.mesh()`.
class MeshRef {
 public:
  MeshRef() = default;
  explicit MeshRef(std::shared_ptr<MeshState> state) : state_(std::move(state)) {}

  /// Whether the calling rank belongs to the mesh; on other ranks, operations do nothing.
  bool here() const { return state().here(); }
  int size() const { return state().size(); }
  /// Error E26 if the tensor's value was moved away, or the mesh was never created.
  MeshState& state() const {
    if (state_ == nullptr) throw_moved();
    return *state_;
  }
  friend bool operator==(MeshRef const& a, MeshRef const& b) { return a.state_ == b.state_; }

 private:
  [[noreturn, gnu::noinline]] static void throw_moved() {
    throw Error(
        "E26",
        "an operation on a tensor whose value was moved away (std::move gives it to another): "
        "give it a value first, or copy where it was moved");
  }

  std::shared_ptr<MeshState> state_;
};

}  // namespace shardtype::runtime

namespace shardtype {

/// The grid of ranks with axes `Xs`, first axis major.
///
///     Mesh<X, Y> mesh(env.world());                     // sizes from the axis types; one may be
///     dynamic
///     Mesh<X, Y> mesh(env.world(), {2, 4});             // sizes given at run time
///     Mesh<X, Y> mesh(env.world(), {2, 2}, {7, 5, 3, 1});  // these ranks, in this order
///
/// Without sizes, the one axis without a static size takes all ranks that the others leave:
/// `Mesh<X> mesh(comm)`. Uses the communicator's first ranks unless a rank list is given; on the
/// other ranks `here()` is false and operations do nothing. Construction is collective over the
/// communicator. So is destruction (when the last tensor on the mesh is gone) if Overlap::shared
/// has created a window. Errors: E10 more ranks needed than there are, E11 sizes that do not fit
/// the axis types, E12 a rank list that does not fit, E14 a number of ranks that the static sizes
/// do not divide.
template <MeshAxis... Xs>
class Mesh : public runtime::MeshRef {
  static_assert(sizeof...(Xs) >= 1 && sizeof...(Xs) <= 8, "a mesh has 1 to 8 axes");

 public:
  explicit Mesh(MPI_Comm comm) : Mesh(comm, sizes_on(comm)) {
    static_assert(((Xs::size == dynamic) + ...) <= 1,
                  "two axes or more have no static size: give the sizes, as in Mesh<X, Y> "
                  "mesh(comm, {2, 4})");
  }
  Mesh(MPI_Comm comm, std::array<std::int64_t, sizeof...(Xs)> sizes)
      : MeshRef(make(comm, sizes, first_ranks(sizes))) {}
  Mesh(MPI_Comm comm, std::array<std::int64_t, sizeof...(Xs)> sizes, std::vector<int> const& ranks)
      : MeshRef(make(comm, sizes, listed(ranks))) {}

  /// Number of ranks along `X`.
  template <class X>
  std::int64_t size_of() const {
    return state().axes()[static_cast<std::size_t>(position<X>())].size;
  }
  /// The calling rank's coordinate along `X`; 0 outside the mesh.
  template <class X>
  std::int64_t coordinate() const {
    return state().coords()[static_cast<std::size_t>(position<X>())];
  }

 private:
  template <class X>
  static constexpr int position() {
    static_assert((std::is_same_v<X, Xs> || ...), "the mesh has no such axis");
    int k = 0;
    int at = 0;
    ((at = std::is_same_v<X, Xs> ? k : at, ++k), ...);
    return at;
  }

  /// Products of sizes are limited to about this, so that they cannot overflow.
  static constexpr std::int64_t most_ranks = std::int64_t{1} << 24;

  /// The sizes of the axis types; an axis without one takes the ranks that the others leave.
  static std::array<std::int64_t, sizeof...(Xs)> sizes_on(MPI_Comm comm) {
    std::array<std::int64_t, sizeof...(Xs)> sizes{Xs::size...};
    if constexpr (((Xs::size == dynamic) || ...)) {
      int there = 0;
      MPI_Comm_size(comm, &there);
      std::int64_t others = 1;
      std::size_t open = 0;
      std::string_view const names[] = {Xs::name...};
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        if (sizes[k] == dynamic) {
          open = k;
        } else {
          others = std::min(others, most_ranks / sizes[k] + 1) * sizes[k];
        }
      }
      if (there % others != 0 && there > others)
        throw Error("E14",
                    "mesh axis " + std::string(names[open]) +
                        " takes the ranks that the others leave, and these, " +
                        std::to_string(others) + " together, do not divide " +
                        std::to_string(there) + " ranks; start a multiple of " +
                        std::to_string(others) + ", or give the sizes",
                    FailedOn::every_rank);
      sizes[open] = std::max<std::int64_t>(there / others, 1);
    }
    return sizes;
  }
  static detail::List<int> listed(std::vector<int> const& ranks) {
    detail::List<int> out;
    for (int r : ranks) out.push_back(r);
    return out;
  }
  static detail::List<int> first_ranks(std::array<std::int64_t, sizeof...(Xs)> const& sizes) {
    std::int64_t n = 1;
    for (std::int64_t s : sizes) n = s < 1 ? 0 : std::min(n, most_ranks / s + 1) * s;
    // too many ranks are refused by make
    detail::List<int> ranks(static_cast<std::size_t>(n > most_ranks ? 0 : n));
    for (std::size_t k = 0; k < ranks.size(); ++k) ranks[k] = static_cast<int>(k);
    return ranks;
  }

  static std::shared_ptr<runtime::MeshState> make(
      MPI_Comm comm, std::array<std::int64_t, sizeof...(Xs)> const& sizes,
      detail::List<int> ranks) {
    detail::List<runtime::MeshAxisInfo> axes = {{core::identity<Xs>, std::string(Xs::name), 1}...};
    std::int64_t const fixed[] = {Xs::size...};
    std::int64_t needed = 1;
    std::string shape;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      axes[k].size = sizes[k];
      if (sizes[k] > 0) needed = std::min(needed, most_ranks / sizes[k] + 1) * sizes[k];
      shape += (k == 0 ? "" : " x ") + std::to_string(sizes[k]);
      if (sizes[k] < 1 || (fixed[k] != dynamic && fixed[k] != sizes[k]))
        throw Error("E11",
                    "mesh axis " + axes[k].name + " was given size " + std::to_string(sizes[k]) +
                        (sizes[k] < 1 ? "; an axis has at least one rank"
                                      : "; its type says " + std::to_string(fixed[k])),
                    FailedOn::every_rank);
    }
    int there = 0;
    MPI_Comm_size(comm, &there);
    if (needed > there)
      throw Error("E10",
                  "a mesh of " + shape + " needs " + std::to_string(needed) + " ranks, there " +
                      (there == 1 ? "is 1" : "are " + std::to_string(there)) +
                      "; start the program with mpiexec -n " + std::to_string(needed),
                  FailedOn::every_rank);
    detail::List<char> used(static_cast<std::size_t>(there), 0);
    bool fits = static_cast<std::int64_t>(ranks.size()) == needed;
    for (int r : ranks) {
      fits = fits && r >= 0 && r < there && used[static_cast<std::size_t>(r)] == 0;
      if (fits) used[static_cast<std::size_t>(r)] = 1;
    }
    if (!fits)
      throw Error("E12",
                  "the rank list of a mesh of " + shape + " must name " + std::to_string(needed) +
                      " different ranks from 0 to " + std::to_string(there - 1),
                  FailedOn::every_rank);
    return std::make_shared<runtime::MeshState>(comm, std::move(axes), std::move(ranks));
  }
};

}  // namespace shardtype

namespace shardtype::runtime {

/// Error E25: this rank of the job is not in `mesh`, and requested a value that only ranks of the
/// mesh have.
[[noreturn]] inline void throw_outside(MeshState const& mesh, std::string const& what) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::string const n = std::to_string(mesh.size());
  throw Error("E25", what + " was called on a rank outside the tensor's mesh: the mesh has " + n +
                         " of the job's " + std::to_string(ranks) +
                         " ranks; start with mpiexec -n " + n + ", or ask mesh.here() before");
}

/// Position in a mesh of each axis of one operation: plans number axes by first appearance, the
/// mesh in its own order.
struct AxisMap {
  int position[max_axes];  ///< -1 after the operation's last axis
  Sizes sizes{};
  Coords coords{};

  AxisMap() {
    for (int& p : position) p = -1;
  }
};

/// The map for the names of an operation. The mesh has every axis: the tensors' constructors
/// checked it.
inline AxisMap map_axes(MeshState const& mesh, Names const& names) {
  AxisMap out;
  for (int x = 0; x < names.axes; ++x) {
    out.position[x] = mesh.find(names.axis_id[x]);
    auto const k = static_cast<std::size_t>(out.position[x]);
    if (out.position[x] < 0) mesh.refuse_axis(names.axis_name[x]);
    out.sizes.at[x] = mesh.axes()[k].size;
    out.coords.at[x] = mesh.coords()[k];
  }
  return out;
}

}  // namespace shardtype::runtime
