#include "pmpi.hpp"

#include <mpi.h>

namespace {

std::int64_t counted = 0;
std::int64_t in_messages[shim::most_ranks]{};

int in_job(MPI_Comm comm, int rank) {
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Group job = MPI_GROUP_NULL;
  int out = 0;
  PMPI_Comm_group(comm, &members);
  PMPI_Comm_group(MPI_COMM_WORLD, &job);
  PMPI_Group_translate_ranks(members, 1, &rank, job, &out);
  PMPI_Group_free(&members);
  PMPI_Group_free(&job);
  return out;
}

struct Group {
  int rank = 0;
  int size = 1;
  explicit Group(MPI_Comm comm) {
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
  }
};

std::int64_t width(MPI_Datatype type) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  return bytes;
}

std::int64_t others(int const* counts, Group const& g) {
  std::int64_t sum = 0;
  for (int k = 0; k < g.size; ++k)
    if (k != g.rank) sum += counts[k];
  return sum;
}

void gather(int n, MPI_Datatype t, MPI_Comm comm) {
  counted += std::int64_t{n} * (Group(comm).size - 1) * width(t);
}
void gatherv(int const* counts, MPI_Datatype t, MPI_Comm comm) {
  counted += others(counts, Group(comm)) * width(t);
}
void reduce(int n, MPI_Datatype t, MPI_Comm comm) {
  std::int64_t const p = Group(comm).size;
  counted += 2 * (n * width(t)) * (p - 1) / p;
}

// To one root, as a part of a reduce_scatter in pieces.
void reduce_to(int root, int n, MPI_Datatype t, MPI_Comm comm) {
  if (Group(comm).rank != root) counted += n * width(t);
}

}  // namespace

namespace shim {
std::int64_t bytes() { return counted; }
std::int64_t bytes_to(int rank) { return in_messages[rank]; }
void reset() {
  counted = 0;
  for (std::int64_t& n : in_messages) n = 0;
}
}  // namespace shim

extern "C" {

int MPI_Allgather(void const* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                  MPI_Comm c) {
  gather(rn, rt, c);
  return PMPI_Allgather(s, sn, st, r, rn, rt, c);
}
int MPI_Iallgather(void const* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                   MPI_Comm c, MPI_Request* q) {
  gather(rn, rt, c);
  return PMPI_Iallgather(s, sn, st, r, rn, rt, c, q);
}
int MPI_Allgatherv(void const* s, int sn, MPI_Datatype st, void* r, int const* rn, int const* rd,
                   MPI_Datatype rt, MPI_Comm c) {
  gatherv(rn, rt, c);
  return PMPI_Allgatherv(s, sn, st, r, rn, rd, rt, c);
}
int MPI_Iallgatherv(void const* s, int sn, MPI_Datatype st, void* r, int const* rn, int const* rd,
                    MPI_Datatype rt, MPI_Comm c, MPI_Request* q) {
  gatherv(rn, rt, c);
  return PMPI_Iallgatherv(s, sn, st, r, rn, rd, rt, c, q);
}
int MPI_Allreduce(void const* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  reduce(n, t, c);
  return PMPI_Allreduce(s, r, n, t, op, c);
}
int MPI_Iallreduce(void const* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c,
                   MPI_Request* q) {
  reduce(n, t, c);
  return PMPI_Iallreduce(s, r, n, t, op, c, q);
}
int MPI_Reduce(void const* s, void* r, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c) {
  reduce_to(root, n, t, c);
  return PMPI_Reduce(s, r, n, t, op, root, c);
}
int MPI_Ireduce(void const* s, void* r, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c,
                MPI_Request* q) {
  reduce_to(root, n, t, c);
  return PMPI_Ireduce(s, r, n, t, op, root, c, q);
}
int MPI_Reduce_scatter_block(void const* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
  gather(n, t, c);
  return PMPI_Reduce_scatter_block(s, r, n, t, op, c);
}
int MPI_Ireduce_scatter_block(void const* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c,
                              MPI_Request* q) {
  gather(n, t, c);
  return PMPI_Ireduce_scatter_block(s, r, n, t, op, c, q);
}
int MPI_Reduce_scatter(void const* s, void* r, int const* n, MPI_Datatype t, MPI_Op op,
                       MPI_Comm c) {
  gatherv(n, t, c);
  return PMPI_Reduce_scatter(s, r, n, t, op, c);
}
int MPI_Ireduce_scatter(void const* s, void* r, int const* n, MPI_Datatype t, MPI_Op op, MPI_Comm c,
                        MPI_Request* q) {
  gatherv(n, t, c);
  return PMPI_Ireduce_scatter(s, r, n, t, op, c, q);
}
int MPI_Alltoall(void const* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                 MPI_Comm c) {
  gather(sn, st, c);
  return PMPI_Alltoall(s, sn, st, r, rn, rt, c);
}
int MPI_Ialltoall(void const* s, int sn, MPI_Datatype st, void* r, int rn, MPI_Datatype rt,
                  MPI_Comm c, MPI_Request* q) {
  gather(sn, st, c);
  return PMPI_Ialltoall(s, sn, st, r, rn, rt, c, q);
}
int MPI_Alltoallv(void const* s, int const* sn, int const* sd, MPI_Datatype st, void* r,
                  int const* rn, int const* rd, MPI_Datatype rt, MPI_Comm c) {
  gatherv(sn, st, c);
  return PMPI_Alltoallv(s, sn, sd, st, r, rn, rd, rt, c);
}
int MPI_Ialltoallv(void const* s, int const* sn, int const* sd, MPI_Datatype st, void* r,
                   int const* rn, int const* rd, MPI_Datatype rt, MPI_Comm c, MPI_Request* q) {
  gatherv(sn, st, c);
  return PMPI_Ialltoallv(s, sn, sd, st, r, rn, rd, rt, c, q);
}
int MPI_Isend(void const* s, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* q) {
  if (to != Group(c).rank) {
    counted += n * width(t);
    if (int const r = in_job(c, to); r < shim::most_ranks) in_messages[r] += n * width(t);
  }
  return PMPI_Isend(s, n, t, to, tag, c, q);
}

}  // extern "C"
