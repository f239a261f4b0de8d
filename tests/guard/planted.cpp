// Faults that the guarded device must find, one for each argument; without one the program ends
// well. tests/guard/CMakeLists.txt says what each of them prints.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <mpi.h>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace planted {

using Int = std::int64_t;

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

/// Reads through a pointer; to the host's memory in faulty launches.
struct Add {
  float const* from;
  float* to;
  void operator()(Int k) const { to[k] += from[k]; }
};
/// Leaves its block at the last call.
struct Beyond {
  float* to;
  Int step;
  void operator()(Int k) const { to[k * step] = 1; }
};
/// Each call needs memory of the host.
struct Allocates {
  float* to;
  void operator()(Int k) const { to[k] = std::vector<float>(10, 1.0F)[3]; }
};
/// Each call reads what the one before it has written.
struct Accumulates {
  float* to;
  void operator()(Int k) const {
    if (k > 0) to[k] += to[k - 1];
  }
};
/// Each inner call adds up its neighbours' marks: one, from the last call to the first and from the
/// first to the last, but not in other orders.
struct Marks {
  float* mark;
  float* to;
  void operator()(Int k) const {
    if (k > 0 && k < 63) to[k] = mark[k - 1] + mark[k + 1];
    mark[k] = 1;
  }
};
/// A reduction that follows a pointer.
struct Counts {
  float const* from;
  void operator()(Int k, Int& sum) const { sum += from[k] > 0 ? 1 : 0; }
};
struct OfTeam {
  using Team = Kokkos::TeamPolicy<Kokkos::DefaultExecutionSpace>::member_type;
  float const* from;
  float* to;
  void operator()(Team const& team) const { to[team.league_rank()] += from[team.league_rank()]; }
};
struct OfTile {
  float const* from;
  float* to;
  void operator()(Int i, Int j) const { to[i * 4 + j] += from[i * 4 + j]; }
};

float host_reads(float const* block) { return block[3]; }
void host_writes(float* block) { block[3] = 1; }
void mpi_sends(float* block) {
  float to[64];
  MPI_Sendrecv(block, 64, MPI_FLOAT, 0, 0, to, 64, MPI_FLOAT, 0, 0, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
}
void copy_leaves(float* block) {
  using Device = Kokkos::DefaultExecutionSpace::memory_space;
  std::vector<float> to(100'000);
  runtime::copy_bytes<Kokkos::HostSpace, Device>(to.data(), block, 400'000);
}

void add(float const* from, float* block) {
  kernels::launch(Kokkos::DefaultExecutionSpace(), "planted", 64, Add{from, block});
}
void accumulate(float* block) {
  kernels::launch(Kokkos::DefaultExecutionSpace(), "planted", 64, Accumulates{block});
}

void run(std::string const& fault, A& a) {
  using Exec = Kokkos::DefaultExecutionSpace;
  using Space = Exec::memory_space;
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<Int>>;
  Exec const exec;
  auto* const block = static_cast<float*>(a.buffer().data());
  std::vector<float> const heap(64, 1.0F);
  float stack[4096] = {};
  if (fault == "host_reads") std::printf("%g\n", static_cast<double>(host_reads(block)));
  if (fault == "host_writes") host_writes(block);
  if (fault == "mpi_sends") mpi_sends(block);
  if (fault == "copy_leaves") copy_leaves(block);
  if (fault == "kernel_heap") add(heap.data(), block);
  if (fault == "kernel_stack") add(stack + 2048, block);
  if (fault == "kernel_null") add(nullptr, block);
  if (fault == "kernel_beyond") kernels::launch(exec, "planted", 64, Beyond{block, 4096});
  if (fault == "kernel_allocates") kernels::launch(exec, "planted", 64, Allocates{block});
  if (fault == "kernel_order") accumulate(block);
  if (fault == "kernel_shuffled") {
    runtime::copy_bytes<Space, Kokkos::HostSpace>(block, std::vector<float>(64).data(), 256);
    kernels::launch(exec, "planted", 64, Marks{block, block + 64});
  }
  if (fault == "reduce_heap") {
    Int sum = 0;
    Kokkos::parallel_reduce("planted", Range(exec, 0, 64), Counts{heap.data()}, sum);
  }
  if (fault == "team_heap")
    Kokkos::parallel_for("planted", Kokkos::TeamPolicy<Exec>(exec, 64, 1),
                         OfTeam{heap.data(), block});
  if (fault == "tile_heap")
    Kokkos::parallel_for("planted",
                         Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>>(exec, {0, 0}, {8, 4}),
                         OfTile{heap.data(), block});
  if (fault == "freed") {
    auto* const gone = static_cast<float*>(Kokkos::kokkos_malloc<Space>("planted", 1000));
    Kokkos::kokkos_free<Space>(gone);
    add(gone, block);
  }
  if (fault == "nothing") {
    kernels::launch(exec, "planted", 128, Add{block + 128, block});
    Int sum = 0;
    Kokkos::parallel_reduce("planted", Range(exec, 0, 65), Counts{block}, sum);
    Kokkos::parallel_for("planted", Kokkos::TeamPolicy<Exec>(exec, 64, 1),
                         OfTeam{block + 64, block});
    Kokkos::parallel_for("planted",
                         Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>>(exec, {0, 0}, {8, 4}),
                         OfTile{block + 64, block});
    std::printf("counted %d, sum %g\n", static_cast<int>(sum),
                static_cast<double>(item(all_reduce<X>(shardtype::sum(a)))));
  }
}

}  // namespace planted

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<planted::X> const mesh(env.world());
  auto a = full<float, Dim<planted::I, planted::X>>(mesh, {4096}, 1.0F);
  planted::run(argc > 1 ? argv[1] : "nothing", a);
  std::puts("came to its end");
}
