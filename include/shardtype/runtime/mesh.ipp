#pragma once
/// Definitions of mesh.hpp.

#include <shardtype/runtime/mesh.hpp>
#include <shardtype/runtime/node.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE MeshState::MeshState(MPI_Comm comm, detail::List<MeshAxisInfo> axes,
                                      detail::List<int> ranks)
    : axes_(std::move(axes)), ranks_(std::move(ranks)) {
  std::string shape;
  for (MeshAxisInfo const& x : axes_)
    shape += (shape.empty() ? "" : ", ") + x.name + " = " + std::to_string(x.size);
  StepHash hash;
  for (int r : ranks_) hash.mix(static_cast<std::uint64_t>(r) + 1U);
  Agreement::meet_before_mesh(comm, "the constructor of a mesh of " + shape,
                              hash.mix(shape).value());
  detail::List<int> const job = detail::ranks_in_job(comm);
  detail::begin_together(job);
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

SHARDTYPE_INLINE void MeshState::let_go(MeshState* mesh) {
  if (!core::RunningCall::in_other_thread()) {
    delete mesh;
    return;
  }
  mesh->next_ = let_go_.load();
  while (!let_go_.compare_exchange_weak(mesh->next_, mesh)) {
  }
}

SHARDTYPE_INLINE void MeshState::delete_let_go() {
  MeshState* mesh = let_go_.exchange(nullptr);
  while (mesh != nullptr) delete std::exchange(mesh, mesh->next_);
}

SHARDTYPE_INLINE Buffer MeshState::complete(Exchange& e) {
  e.calls.finish();
  if (e.rest != nullptr) e.rest(*this, e);
  Buffer result = std::move(e.result);
  exchanges_.give_back(e);
  return result;
}

SHARDTYPE_INLINE void MeshState::refuse_axis(std::string_view name) const {
  std::string has;
  for (MeshAxisInfo const& x : axes_) has += (has.empty() ? "" : ", ") + x.name;
  throw Error("E13",
              "the mesh has no axis " + std::string(name) + "; it has " + has +
                  ": name one of these, or make the mesh with that axis too",
              FailedOn::every_rank);
}

SHARDTYPE_INLINE std::int64_t MeshState::number_of_group(int const* axes, int n) const {
  std::int64_t number = 0;
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    bool inside = false;
    for (int m = 0; m < n; ++m) inside = inside || axes[m] == static_cast<int>(k);
    if (!inside) number = number * axes_[k].size + coords_[k];
  }
  return number;
}

SHARDTYPE_INLINE Comm& MeshState::group(int const* axes, int n) {
  std::uint64_t code = 1;
  for (int k = 0; k < n; ++k) code = code * 16 + static_cast<std::uint64_t>(axes[k]);
  for (Group& g : groups_)
    if (g.code == code) return *g.comm;
  std::int64_t key = 0;
  for (int m = 0; m < n; ++m) {
    auto const k = static_cast<std::size_t>(axes[m]);
    key = key * axes_[k].size + coords_[k];
  }
  core::RunningCall::check_thread();
  detail::begin_together(job_ranks_);
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(whole_->raw(), static_cast<int>(number_of_group(axes, n)),
                           static_cast<int>(key), &made),
            "MPI_Comm_split");
  return *groups_.push_back({code, detail::Owned(new Comm(made))}).comm;
}

SHARDTYPE_INLINE Link& MeshState::link(MeshState const& other) {
  detail::List<int> all = job_ranks_;
  for (int r : other.job_ranks_) all.push_back(r);
  all = detail::rising(all);
  for (detail::Owned<Link> const& known : links_)
    if (known->ranks() == all) return *known;
  return *links_.push_back(detail::Owned(new Link(std::move(all))));
}

SHARDTYPE_INLINE void MeshRef::throw_moved() {
  throw Error(
      "E26",
      "an operation on a tensor whose value was moved away (std::move gives it to another): "
      "give it a value first, or copy where it was moved");
}

SHARDTYPE_INLINE void throw_outside(MeshState const& mesh, std::string const& what) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::string const n = std::to_string(mesh.size());
  throw Error("E25", what + " was called on a rank outside the tensor's mesh: the mesh has " + n +
                         " of the job's " + std::to_string(ranks) +
                         " ranks; start with mpiexec -n " + n + ", or ask mesh.here() before");
}

SHARDTYPE_INLINE AxisMap map_axes(MeshState const& mesh, Names const& names) {
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

/// Products of sizes are limited to about this, so that they cannot overflow.
inline constexpr std::int64_t most_ranks = std::int64_t{1} << 24;

SHARDTYPE_INLINE void complete_sizes(MPI_Comm comm, std::string_view const* names,
                                     std::int64_t* sizes, int n) {
  core::RunningCall::check_thread("the constructor of Mesh");
  int there = 0;
  MPI_Comm_size(comm, &there);
  std::int64_t others = 1;
  int open = 0;
  for (int k = 0; k < n; ++k) {
    if (sizes[k] == dynamic) {
      open = k;
    } else {
      others = std::min(others, most_ranks / sizes[k] + 1) * sizes[k];
    }
  }
  if (there % others != 0 && there > others)
    throw Error("E14",
                "mesh axis " + std::string(names[open]) +
                    " takes the ranks that the others leave, and these, " + std::to_string(others) +
                    " together, do not divide " + std::to_string(there) +
                    " ranks; start a multiple of " + std::to_string(others) + ", or give the sizes",
                FailedOn::every_rank);
  sizes[open] = std::max<std::int64_t>(there / others, 1);
}

SHARDTYPE_INLINE detail::List<int> ranks_by_node(MPI_Comm comm, DeclaredAxis const* declared,
                                                 std::int64_t* sizes) {
  core::RunningCall::check_thread("the constructor of Mesh");
  detail::List<int> const node = detail::nodes_of(comm);
  detail::List<int> held;  // ranks of each node
  for (int const k : node) {
    if (static_cast<std::size_t>(k) == held.size()) held.push_back(0);
    ++held[static_cast<std::size_t>(k)];
  }
  auto const refuse = [](std::string const& text) {
    throw Error("E15", text, FailedOn::every_rank);
  };
  auto const ranks_text = [](std::int64_t n) {
    return std::to_string(n) + (n == 1 ? " rank" : " ranks");
  };
  for (std::size_t k = 1; k < held.size(); ++k)
    if (held[k] != held[0])
      refuse("a mesh by node needs nodes of equally many ranks; the first has " +
             ranks_text(held[0]) + ", number " + std::to_string(k + 1) + " of " +
             std::to_string(held.size()) + " has " + std::to_string(held[k]) +
             ": start as many on each, or give the ranks as Mesh(comm, sizes, ranks)");
  sizes[0] = static_cast<std::int64_t>(held.size());
  sizes[1] = held[0];
  for (std::size_t m = 0; m < 2; ++m)
    if (declared[m].size != dynamic && declared[m].size != sizes[m])
      refuse("the ranks lie on " + std::to_string(sizes[0]) + (sizes[0] == 1 ? " node" : " nodes") +
             " of " + ranks_text(sizes[1]) + ", and mesh axis " + std::string(declared[m].name) +
             (m == 0 ? ", which lies across nodes, has size "
                     : ", which lies inside of a node, has size ") +
             std::to_string(declared[m].size) +
             " by its type: start it on such nodes, or leave the size out of the type");
  detail::List<int> ranks;
  for (int k = 0; k < static_cast<int>(held.size()); ++k)
    for (std::size_t r = 0; r < node.size(); ++r)
      if (node[r] == k) ranks.push_back(static_cast<int>(r));
  return ranks;
}

SHARDTYPE_INLINE std::shared_ptr<MeshState> make_mesh(MPI_Comm comm, DeclaredAxis const* declared,
                                                      std::int64_t const* sizes, int n,
                                                      std::vector<int> const* ranks_given) {
  core::RunningCall::check_thread("the constructor of Mesh");
  run_time.delete_let_go = &MeshState::delete_let_go;
  MeshState::delete_let_go();
  detail::List<MeshAxisInfo> axes;
  std::int64_t needed = 1;
  std::string shape;
  for (int k = 0; k < n; ++k) {
    std::int64_t const fixed = declared[k].size;
    if (sizes[k] > 0) needed = std::min(needed, most_ranks / sizes[k] + 1) * sizes[k];
    shape += (k == 0 ? "" : " x ") + std::to_string(sizes[k]);
    if (sizes[k] < 1 || (fixed != dynamic && fixed != sizes[k]))
      throw Error("E11",
                  "mesh axis " + std::string(declared[k].name) + " was given size " +
                      std::to_string(sizes[k]) +
                      (sizes[k] < 1 ? "; an axis has at least one rank"
                                    : "; its type says " + std::to_string(fixed)),
                  FailedOn::every_rank);
    axes.push_back({declared[k].id, std::string(declared[k].name), sizes[k]});
  }
  int there = 0;
  MPI_Comm_size(comm, &there);
  if (needed > there)
    throw Error("E10",
                "a mesh of " + shape + " needs " + std::to_string(needed) + " ranks, there " +
                    (there == 1 ? "is 1" : "are " + std::to_string(there)) +
                    "; start the program with mpiexec -n " + std::to_string(needed),
                FailedOn::every_rank);
  detail::List<int> ranks;
  for (int r = 0; ranks_given == nullptr && r < needed; ++r) ranks.push_back(r);
  if (ranks_given != nullptr)
    for (int r : *ranks_given) ranks.push_back(r);
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
  return {new MeshState(comm, std::move(axes), std::move(ranks)), &MeshState::let_go};
}

}  // namespace shardtype::runtime

namespace shardtype::api {

SHARDTYPE_INLINE Machine machine_here(runtime::MeshRef const& mesh) {
  runtime::MeshState const& state = mesh.state();
  Machine out = runtime::run_time.machine;
  detail::List<int> const& nodes = runtime::run_time.nodes;
  if (nodes.empty()) return out;
  std::int64_t stride = state.size();
  for (runtime::MeshAxisInfo const& axis : state.axes()) {
    stride /= axis.size;
    auto const node = [&](std::int64_t place) {
      return nodes[static_cast<std::size_t>(state.job_ranks()[static_cast<std::size_t>(place)])];
    };
    // the most neighbours that share a node, from the first on, in every line along the axis
    std::int64_t most = axis.size;
    for (std::int64_t p = 0; p < state.size(); ++p) {
      std::int64_t const at = p / stride % axis.size;
      if (at < most && node(p) != node(p - at * stride)) most = at;
    }
    bool blocks = true;  // whether the others lie in blocks as long
    for (std::int64_t p = 0; p < state.size(); ++p) {
      std::int64_t const at = p / stride % axis.size;
      blocks = blocks && node(p) == node(p - at % most * stride);
    }
    out = out.node_ranks(axis.id, blocks ? most : 1);
  }
  return out;
}

}  // namespace shardtype::api
