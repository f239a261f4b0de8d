#pragma once
/// Definitions of comm.hpp.

#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/node.hpp>
#include <shardtype/runtime/shared_window.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE List<int> nodes_of(MPI_Comm comm) {
  int first = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &first);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm node = detail::ranks_of_node(comm);
  MPI_Bcast(&first, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  List<int> nodes(static_cast<std::size_t>(ranks));
  MPI_Allgather(&first, 1, MPI_INT, nodes.data(), 1, MPI_INT, comm);
  int count = 0;
  // a node's first rank has its number before the others of the node
  for (std::size_t r = 0; r < nodes.size(); ++r) {
    auto const of = static_cast<std::size_t>(nodes[r]);
    nodes[r] = of == r ? count++ : nodes[of];
  }
  return nodes;
}

SHARDTYPE_INLINE void copy_own(void* to, void const* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (!run_time.device_messages) {
    std::memmove(to, from, bytes);  // of an exchange in place both are one
    return;
  }
  detail::for_pieces(static_cast<std::int64_t>(bytes), [&](std::int64_t at, int count) {
    runtime::check_mpi(MPI_Sendrecv(static_cast<char const*>(from) + at, count, MPI_BYTE, 0, 0,
                                    static_cast<char*>(to) + at, count, MPI_BYTE, 0, 0,
                                    MPI_COMM_SELF, MPI_STATUS_IGNORE),
                       "MPI_Sendrecv");
  });
}

SHARDTYPE_INLINE void look_at_node() {
  run_time.nodes = detail::nodes_of(MPI_COMM_WORLD);
  run_time.on_one_node = true;
  for (int const node : run_time.nodes) run_time.on_one_node = run_time.on_one_node && node == 0;
  MPI_Comm host = detail::ranks_of_host(MPI_COMM_WORLD);
  int ranks = 1;
  MPI_Comm_size(host, &ranks);
  cpu_set_t mine;
  cpu_set_t all;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  std::memcpy(&all, &mine, sizeof all);
  MPI_Allreduce(&mine, &all, static_cast<int>(sizeof mine), MPI_BYTE, MPI_BOR, host);
  MPI_Comm_free(&host);
  run_time.yield_while_waiting = ranks > CPU_COUNT(&all);
  if (run_time.settings.waiting != runtime::Waiting::by_cores)
    run_time.yield_while_waiting = run_time.settings.waiting == runtime::Waiting::yield;
}

SHARDTYPE_INLINE List<int> ranks_in_job(MPI_Comm comm) {
  core::RunningCall::check_thread();
  int size = 0;
  MPI_Comm_size(comm, &size);
  List<int> places(static_cast<std::size_t>(size));
  for (int k = 0; k < size; ++k) places[static_cast<std::size_t>(k)] = k;
  List<int> ranks(places.size());
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Group job = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &members);
  MPI_Comm_group(MPI_COMM_WORLD, &job);
  MPI_Group_translate_ranks(members, size, places.data(), job, ranks.data());
  MPI_Group_free(&members);
  MPI_Group_free(&job);
  return ranks;
}

inline void broadcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  core::RunningCall::check_thread();
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(data, n, type, root, comm, &request), "MPI_Ibcast");
  runtime::wait_for(request);
}

SHARDTYPE_INLINE void share_text(MPI_Comm comm, std::string& text, int root) {
  int length = static_cast<int>(text.size());
  detail::broadcast(&length, 1, MPI_INT, root, comm);
  text.resize(static_cast<std::size_t>(length));
  detail::broadcast(text.data(), length, MPI_CHAR, root, comm);
}

SHARDTYPE_INLINE void share_number(MPI_Comm comm, std::int64_t& number) {
  detail::broadcast(&number, 1, MPI_INT64_T, 0, comm);
}

SHARDTYPE_INLINE void meet(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(comm, &request), "MPI_Ibarrier");
  runtime::wait_for(request);
}

SHARDTYPE_INLINE std::int64_t reduce_number(MPI_Comm comm, std::int64_t mine, MPI_Op op) {
  core::RunningCall::check_thread();
  std::int64_t all = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(&mine, &all, 1, MPI_INT64_T, op, comm, &request), "MPI_Iallreduce");
  runtime::wait_for(request);
  return all;
}

}  // namespace shardtype::detail

namespace shardtype::detail {

struct NodeWindow::State {
  explicit State(MPI_Comm comm) : node(comm), window(node) {
    for (int g = 0; g < node.size(); ++g) all.push_back(g);
  }
  runtime::Comm node;
  runtime::SharedWindow window;
  List<int> all;
};

inline MPI_Comm ranks_with(MPI_Comm comm, int number) {
  MPI_Comm out = MPI_COMM_NULL;
  runtime::check_mpi(MPI_Comm_split(comm, number, 0, &out), "MPI_Comm_split");
  return out;
}

SHARDTYPE_INLINE NodeWindow::NodeWindow(MPI_Comm comm, int node)
    : state_(new State(detail::ranks_with(comm, node))) {}
SHARDTYPE_INLINE NodeWindow::~NodeWindow() { delete state_; }
SHARDTYPE_INLINE bool NodeWindow::ready() {
  bool const there = state_->window.reserve(area * state_->node.size());
  base_ = static_cast<std::byte*>(state_->window.data());
  return there;
}
SHARDTYPE_INLINE void NodeWindow::enter() { state_->window.enter(); }
SHARDTYPE_INLINE void NodeWindow::meet() { state_->window.meet(state_->all); }
SHARDTYPE_INLINE void NodeWindow::leave() { state_->window.leave(); }

}  // namespace shardtype::detail

namespace shardtype::runtime {

SHARDTYPE_INLINE Comm::Comm(MPI_Comm comm) : comm_(comm) {
  if (comm_ == MPI_COMM_NULL) return;
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  if (size_ == 1 || run_time.on_one_node || run_time.nodes.empty()) return;
  detail::List<int> nodes = detail::ranks_in_job(comm_);
  inside_ = true;
  for (int& k : nodes) {
    k = run_time.nodes[static_cast<std::size_t>(k)];
    inside_ = inside_ && k == nodes.front();
  }
  if (!inside_) places_ = detail::places_on(nodes);
}

SHARDTYPE_INLINE bool Comm::in_two_stages(planning::Collective c, std::int64_t bytes) const {
  bool const exchange = c == planning::Collective::all_to_all;
  if (places_.nodes() == 0 || (!exchange && bytes < run_time.sending().least_segment)) return false;
  Machine m = run_time.machine;
  m.nodes = places_.nodes();
  m.in_node = places_.most;
  return exchange ? planning::exchange_in_two_stages(bytes, m) : planning::in_two_stages(c, m);
}

SHARDTYPE_INLINE Comm::~Comm() {
  delete window_;
  int ended = 0;
  MPI_Finalized(&ended);
  if (comm_ != MPI_COMM_NULL && ended == 0) MPI_Comm_free(&comm_);
}

SHARDTYPE_INLINE detail::NodeWindow* Comm::node_window() {
  if (!run_time.sending().node_windows) return nullptr;
  if (window_ == nullptr) {
    detail::begin_together(detail::ranks_in_job(comm_));
    window_ = new detail::NodeWindow(comm_, places_.node_of(rank_));
  }
  return window_->ready() ? window_ : nullptr;
}

SHARDTYPE_INLINE void Comm::barrier() { run("MPI_Barrier", &MPI_Barrier, &MPI_Ibarrier, nullptr); }

SHARDTYPE_INLINE void Comm::offsets(Counts const& counts, Counts& at) {
  at.clear();
  std::int64_t sum = 0;
  for (std::int64_t c : counts) {
    at.push_back(sum);
    sum += c;
  }
}

SHARDTYPE_INLINE int const* Comm::ints(Counts const& counts, detail::List<int>& to) {
  to.clear();
  for (std::int64_t c : counts) to.push_back(static_cast<int>(c));
  return to.data();
}

}  // namespace shardtype::runtime
