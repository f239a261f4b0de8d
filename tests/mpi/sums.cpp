// Sums within one node by the library's own messages: the values, in place and not, for even and
// uneven segments, in one piece and in many, of pretended nodes too, and the bytes by the
// convention of plans.
// SOURCES: tests/shim/pmpi.cpp
#include <cstdint>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/pretended_nodes.hpp"
#include "harness/sending.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using namespace shardtype::runtime;

namespace {

struct X : Axis<"X"> {};

// Small integers: sums are exact in every order.
template <class T>
T term(std::int64_t k, int rank) {
  return T(static_cast<float>((k * 7 + rank * 5) % 23 - 11));
}
template <class T>
T total(std::int64_t k, int ranks) {
  T sum{};
  for (int r = 0; r < ranks; ++r) sum += term<T>(k, r);
  return sum;
}
template <class T>
std::vector<T> terms(std::int64_t n, int rank) {
  std::vector<T> out(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) out[static_cast<std::size_t>(k)] = term<T>(k, rank);
  return out;
}

/// The number of wrong sums among the `n` from element `first` on.
template <class T>
int wrong(std::vector<T> const& sums, std::int64_t first, std::int64_t n, int ranks) {
  int bad = static_cast<std::int64_t>(sums.size()) == n ? 0 : 1;
  for (std::int64_t k = 0; bad == 0 && k < n; ++k)
    if (sums[static_cast<std::size_t>(k)] != total<T>(first + k, ranks)) ++bad;
  return bad;
}

template <class T>
int wrong_all_reduce(Comm& comm, std::int64_t n) {
  int const p = comm.size();
  std::int64_t const predicted = 2 * n * static_cast<std::int64_t>(sizeof(T)) * (p - 1) / p;
  std::vector<T> const send = terms<T>(n, comm.rank());
  std::vector<T> apart(send.size());
  shim::reset();
  comm.all_reduce(send.data(), apart.data(), n, ReduceKind::sum);
  int bad = shim::bytes() == predicted ? 0 : 1;
  std::vector<T> in_place = send;
  comm.all_reduce(in_place.data(), in_place.data(), n, ReduceKind::sum);
  return bad + wrong(apart, 0, n, p) + wrong(in_place, 0, n, p);
}

template <class T>
int wrong_reduce_scatter(Comm& comm, Counts const& counts) {
  std::int64_t n = 0;
  std::int64_t first = 0;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    if (static_cast<int>(g) == comm.rank()) first = n;
    n += counts[g];
  }
  std::int64_t const mine = counts[static_cast<std::size_t>(comm.rank())];
  std::vector<T> const send = terms<T>(n, comm.rank());
  std::vector<T> recv(static_cast<std::size_t>(mine));
  shim::reset();
  comm.reduce_scatter(send.data(), recv.data(), counts, ReduceKind::sum);
  int const bad = shim::bytes() == (n - mine) * static_cast<std::int64_t>(sizeof(T)) ? 0 : 1;
  return bad + wrong(recv, first, mine, comm.size());
}

// Pieces of three elements.
void sums_in_pieces(Comm& comm) {
  harness::Sending const cut({.largest_count = 3, .least_segment = 0});
  for (std::int64_t n : {1, 2, 3, 8, 50}) {
    INFO(n);
    Counts counts(static_cast<std::size_t>(comm.size()), n);
    counts.back() = n - 1;
    CHECK(wrong_reduce_scatter<float>(comm, counts) == 0);
    std::vector<float> sums = terms<float>(n, comm.rank());
    comm.all_reduce(sums.data(), sums.data(), n, ReduceKind::sum);
    CHECK(wrong(sums, 0, n, comm.size()) == 0);
  }
}

}  // namespace

TEST_CASE("sums of every size and way") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Mesh<X> mesh(MPI_COMM_WORLD, {ranks});
  Comm& comm = mesh.state().whole();

  SECTION("messages of MPI's own choice and of ours") {
    for (std::int64_t n : {0, 1, 7, 1024, 4096, 16384, 65537, 300001}) {
      INFO(n);
      CHECK(wrong_all_reduce<float>(comm, n) == 0);
      CHECK(wrong_all_reduce<Kokkos::complex<double>>(comm, n) == 0);
      CHECK(wrong_all_reduce<std::int64_t>(comm, n) == 0);
      CHECK(wrong_all_reduce<bfloat16>(comm, n) == 0);
      Counts counts(static_cast<std::size_t>(ranks), n);
      CHECK(wrong_reduce_scatter<float>(comm, counts) == 0);
      counts.back() = n / 3;
      CHECK(wrong_reduce_scatter<double>(comm, counts) == 0);
      counts.front() = 0;
      CHECK(wrong_reduce_scatter<std::int32_t>(comm, counts) == 0);
      CHECK(wrong_reduce_scatter<bfloat16>(comm, counts) == 0);
    }
  }
  SECTION("several pieces per segment") {
    CHECK(wrong_all_reduce<double>(comm, 3 * 131072 * ranks + 5) == 0);
    Counts counts(static_cast<std::size_t>(ranks), 400000);
    CHECK(wrong_reduce_scatter<double>(comm, counts) == 0);
    counts.front() = 10;
    CHECK(wrong_reduce_scatter<double>(comm, counts) == 0);
  }
  SECTION("pieces of three elements") {
    sums_in_pieces(comm);
    // between nodes MPI adds the pieces
    harness::PretendedNodes const pretended(2);
    Mesh<X> on_nodes(MPI_COMM_WORLD, {ranks});
    sums_in_pieces(on_nodes.state().whole());
  }
}

TEST_CASE("the largest of large blocks") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Mesh<X> mesh(MPI_COMM_WORLD, {ranks});
  std::vector<double> a(50000, static_cast<double>(mesh.coordinate<X>()));
  mesh.state().whole().all_reduce(a.data(), a.data(), 50000, ReduceKind::max);
  CHECK(a == std::vector<double>(50000, static_cast<double>(ranks - 1)));
}
