// With an MPI that says that it reads the memory of devices, blocks of the guarded device are moved
// without copies on the host; sums pass through the host still. Here the device's memory is open
// while such an MPI moves blocks.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <mpi.h>

#include <shardtype/shardtype.hpp>

#include "guard/guard.hpp"
#include "harness/host_block.hpp"

namespace {

int moving = 0;  // calls of MPI that have begun and not ended
int given = 0;   // blocks of the device that MPI got

void begin(void const* a, void const* b) {
  given += (guard::is_device_memory(a) ? 1 : 0) + (guard::is_device_memory(b) ? 1 : 0);
  if (moving++ == 0) guard::open_to_mpi(true);
}
int end(int status) {
  if (--moving == 0) guard::open_to_mpi(false);
  return status;
}

}  // namespace

extern "C" {

int MPIX_Query_cuda_support(void) { return 1; }

int MPI_Allgather(void const* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                  MPI_Comm c) {
  begin(s, r);
  return end(PMPI_Allgather(s, sn, st, r, rn, rt, c));
}
int MPI_Allgatherv(void const* s, int sn, MPI_Datatype st, void* r, int const* rn, int const* rd,
                   MPI_Datatype rt, MPI_Comm c) {
  begin(s, r);
  return end(PMPI_Allgatherv(s, sn, st, r, rn, rd, rt, c));
}
int MPI_Alltoall(void const* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                 MPI_Comm c) {
  begin(s, r);
  return end(PMPI_Alltoall(s, sn, st, r, rn, rt, c));
}
int MPI_Alltoallv(void const* s, int const* sn, int const* sd, MPI_Datatype st, void* r,
                  int const* rn, int const* rd, MPI_Datatype rt, MPI_Comm c) {
  begin(s, r);
  return end(PMPI_Alltoallv(s, sn, sd, st, r, rn, rd, rt, c));
}
int MPI_Sendrecv(void const* s, int sn, MPI_Datatype st, int to, int tag, void* r, int rn,
                 MPI_Datatype rt, int from, int other_tag, MPI_Comm c, MPI_Status* status) {
  begin(s, r);
  return end(PMPI_Sendrecv(s, sn, st, to, tag, r, rn, rt, from, other_tag, c, status));
}
int MPI_Isend(void const* s, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* q) {
  begin(s, nullptr);
  return PMPI_Isend(s, n, t, to, tag, c, q);
}
int MPI_Irecv(void* r, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* q) {
  begin(nullptr, r);
  return PMPI_Irecv(r, n, t, from, tag, c, q);
}
int MPI_Wait(MPI_Request* q, MPI_Status* status) {
  int const done = PMPI_Wait(q, status);
  return moving > 0 ? end(done) : done;
}

}  // extern "C"

using namespace shardtype;

namespace {

using Int = std::int64_t;

struct X : Axis<"X"> {};
struct P : Axis<"P"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using Rows = Tensor<float, Dim<I, X>, Dim<J>>;

int failures = 0;
void check(bool holds, char const* what) {
  if (holds) return;
  ++failures;
  std::printf("FAILED: %s\n", what);
}

template <class A>
bool right(A const& a, Int shift = 0) {
  bool all = true;
  auto const block = harness::host_block(a);
  detail::for_each_element(a, [&](Int k, auto const& at) {
    all = all && block.data()[k] == static_cast<float>(((at[0] + shift) % 13) * 100 + at[1]);
  });
  return all;
}

/// Runs a step, which moves blocks of the device without copies on the host where `direct`.
template <class Step>
auto moved(char const* what, bool direct, Step step) {
  auto& staging = runtime::run_time.staging;
  staging.reset();
  given = 0;
  auto out = step();
  check((staging.most() == 0) == direct, what);
  check((given > 0) == direct, what);
  return out;
}

void run(MPI_Comm world, Int ranks, bool direct) {
  Mesh<X> const mesh(world);
  auto const a = from_function<Rows>(mesh, {13, 6},
                                     [](Int i, Int j) { return static_cast<float>(i * 100 + j); });
  auto const whole = moved("all_gather", direct, [&] { return all_gather<X>(a); });
  check(right(whole), "values of all_gather");
  auto const columns = moved("all_to_all", direct, [&] { return reshard<Dim<I>, Dim<J, X>>(a); });
  check(right(columns), "values of all_to_all");
  auto const back =
      moved("all_to_all of columns", direct, [&] { return reshard<Dim<I, X>, Dim<J>>(columns); });
  check(right(back), "values of all_to_all of columns");
  auto const shifted = moved("shift", direct, [&] { return shift<I>(a, 12, op::Edge::wrap); });
  check(right(shifted, 1), "values of shift");
  Mesh<P> const other(world);
  auto const there =
      moved("transfer", direct, [&] { return transfer<Dim<I>, Dim<J, P>>(a, other); });
  check(right(there), "values of transfer");
  auto const total = moved("sum", false, [&] { return all_reduce<X>(sum(a)); });
  check(item(total) == 13 * 6 * 600 + 13 * 15, "value of sum");
  check(ranks > 1, "two ranks");
}

}  // namespace

int main(int argc, char** argv) {
  setenv("SHARDTYPE_WAIT", "spin", 1);  // blocking calls
  Environment env(argc, argv);
  bool const direct = argc < 2;
  check(runtime::run_time.device_messages == direct, "what MPI says");
  run(env.world(), env.size(), direct);
  if (failures == 0 && env.rank() == 0) std::puts("moved as expected");
  return failures == 0 ? 0 : 1;
}
