#pragma once
/// The named grid of ranks.

#include <algorithm>
#include <array>
#include <atomic>
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
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/core/scope.hpp>
#include <shardtype/runtime/agreement.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/exchange.hpp>
#include <shardtype/runtime/link.hpp>
#include <shardtype/runtime/linkage.hpp>
#include <shardtype/runtime/pool.hpp>
#include <shardtype/runtime/shared_window.hpp>

namespace shardtype::detail {

class HeldBlock;

}  // namespace shardtype::detail

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
  detail::List<std::int64_t> counts, recv_counts, offsets, recv_offsets, cuts, joins, numbers;
  detail::List<Rows> rows, old_rows;
  detail::List<std::int64_t> run_at, run_row, run_first, run_order;
  detail::List<int> members;
};

/// State shared by all tensors of one mesh: the communicators, the memory pool, the checks.
class MeshState {
 public:
  /// A mesh of the ranks `ranks` of `comm`, row-major over the axes, first axis major. Collective
  /// over `comm`.
  MeshState(MPI_Comm comm, detail::List<MeshAxisInfo> axes, detail::List<int> ranks);
  MeshState(MeshState const&) = delete;
  MeshState& operator=(MeshState const&) = delete;
  ~MeshState() {
    // leaving by an exception is not a step of the program
    if (here_ && agreement_.on() && std::uncaught_exceptions() == 0) agreement_.meet("end", 0);
  }

  /// Deletes the mesh in the Environment's thread: its end calls MPI, and the last tensor may go in
  /// another thread.
  static void let_go(MeshState* mesh);
  /// Deletes the meshes that other threads have let go of.
  static void delete_let_go();

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
  /// Waits for a pending collective; its result.
  Buffer complete(Exchange& e);
  /// Waits until a pending collective needs its memory no more; its result is lost. For the way of
  /// an Error: what all ranks have started ends without them.
  void abandon(Exchange& e) {
    e.calls.requests.finish();
    exchanges_.give_back(e);
  }
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
  [[noreturn]] void refuse_axis(std::string_view name) const;

  /// Number of the calling rank's group, where a group consists of the ranks that differ only along
  /// the `n` axes.
  std::int64_t number_of_group(int const* axes, int n) const;

  /// The communicator of the ranks that differ from this one only along the `n` axes (positions in
  /// the mesh), ordered by the list of axes, first axis major. Collective over the mesh at the
  /// first call per list.
  Comm& group(int const* axes, int n);

  /// Memory shared by all ranks of the mesh, if they are on one node.
  SharedWindow& window() { return *window_; }

  /// The union of the ranks of this mesh and of `other`. Collective over them at the first call per
  /// set of ranks.
  Link& link(MeshState const& other);

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
  MeshState* next_ = nullptr;                              ///< of those that were let go of
  static inline std::atomic<MeshState*> let_go_{nullptr};  // NOLINT(readability-identifier-naming)
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
  friend class shardtype::detail::HeldBlock;
  [[noreturn, gnu::cold]] static void throw_moved();
  std::shared_ptr<MeshState> state_;
};

/// A mesh axis as its type declares it.
struct DeclaredAxis {
  Identity id;
  std::string_view name;
  std::int64_t size;  ///< `dynamic` if it has none
};

/// Gives the one of `n` axes without a size the ranks that the others leave. Error E14.
void complete_sizes(MPI_Comm comm, std::string_view const* names, std::int64_t* sizes, int n);

/// A mesh with `n` axes of these sizes, on `ranks` or on the first ranks if that is null. Errors:
/// E10, E11, E12.
std::shared_ptr<MeshState> make_mesh(MPI_Comm comm, DeclaredAxis const* declared,
                                     std::int64_t const* sizes, int n,
                                     std::vector<int> const* ranks);

/// The ranks of `comm`, node by node, and the sizes of a mesh of two axes whose second one lies
/// inside of a node. Collective. Error E15.
detail::List<int> ranks_by_node(MPI_Comm comm, DeclaredAxis const* declared, std::int64_t* sizes);

/// The members of `Mesh<Xs...>`, which is what functions that take a mesh declare: the conversion
/// to a base makes a user's function of the same name, for `Mesh<Xs...> const&` or for any type,
/// the better match.
template <MeshAxis... Xs>
class MeshOf : public MeshRef {
  static_assert(sizeof...(Xs) >= 1 && sizeof...(Xs) <= 8, "a mesh has 1 to 8 axes");

 public:
  explicit MeshOf(MPI_Comm comm) : MeshOf(comm, sizes_on(comm)) {
    static_assert(((Xs::size == dynamic) + ...) <= 1,
                  "two axes or more have no static size: give the sizes, as in Mesh<X, Y> "
                  "mesh(comm, {2, 4})");
  }
  MeshOf(MPI_Comm comm, std::array<std::int64_t, sizeof...(Xs)> sizes)
      : MeshRef(make(comm, sizes, nullptr)) {}
  MeshOf(MPI_Comm comm, std::array<std::int64_t, sizeof...(Xs)> sizes,
         std::vector<int> const& ranks)
      : MeshRef(make(comm, sizes, &ranks)) {}

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

  static std::array<std::int64_t, sizeof...(Xs)> sizes_on(MPI_Comm comm) {
    std::array<std::int64_t, sizeof...(Xs)> sizes{Xs::size...};
    std::string_view const names[] = {Xs::name...};
    if constexpr (((Xs::size == dynamic) || ...))
      runtime::complete_sizes(comm, names, sizes.data(), static_cast<int>(sizeof...(Xs)));
    return sizes;
  }
  /// On the ranks `ranks`, or on the first ones if that is null.
  static std::shared_ptr<MeshState> make(MPI_Comm comm,
                                         std::array<std::int64_t, sizeof...(Xs)> const& sizes,
                                         std::vector<int> const* ranks) {
    DeclaredAxis const axes[] = {{core::identity<Xs>, Xs::name, Xs::size}...};
    return runtime::make_mesh(comm, axes, sizes.data(), static_cast<int>(sizeof...(Xs)), ranks);
  }
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
/// communicator; destruction (when the last tensor on the mesh is gone) waits for nobody. Errors:
/// E10 more ranks needed than there are, E11 sizes that do not fit the axis types, E12 a rank list
/// that does not fit, E14 a number of ranks that the static sizes do not divide, E08 another thread
/// than that of the Environment.
template <MeshAxis... Xs>
class Mesh : public runtime::MeshOf<Xs...> {
 public:
  using runtime::MeshOf<Xs...>::MeshOf;

  /// `Mesh<X, Y>::by_node(env.world())`: all ranks of the communicator, Y over those of a node and
  /// X across nodes, wherever the launcher put them. Collective over the communicator. Error E15:
  /// the nodes have different numbers of ranks, or others than the axes' types say.
  static Mesh by_node(MPI_Comm comm) {
    static_assert(
        sizeof...(Xs) == 2,
        "a mesh by node has two axes: the first across nodes, the second inside of a node");
    runtime::DeclaredAxis const axes[] = {{core::identity<Xs>, Xs::name, Xs::size}...};
    std::array<std::int64_t, 2> sizes{};
    detail::List<int> const ranks = runtime::ranks_by_node(comm, axes, sizes.data());
    return Mesh(comm, sizes, {ranks.begin(), ranks.end()});
  }
};

}  // namespace shardtype

namespace shardtype::runtime {

/// Error E25: this rank of the job is not in `mesh`, and requested a value that only ranks of the
/// mesh have.
[[noreturn]] void throw_outside(MeshState const& mesh, std::string const& what);

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
AxisMap map_axes(MeshState const& mesh, Names const& names);

}  // namespace shardtype::runtime

namespace shardtype::api {

/// `machine_here()` with what of this mesh's axes shares a node: `Machine::node_ranks` of each.
Machine machine_here(runtime::MeshRef const& mesh);

}  // namespace shardtype::api

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/mesh.ipp>
#endif
