// A blocked algorithm whose steps repeat on a shrinking block, compared with loops that count its
// elements one by one; its text; and functions compared with the operations that they call.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <shardtype/plan/explain.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/blocked_update.hpp"
#include "harness/catch.hpp"

using namespace shardtype;
using Long = std::int64_t;

namespace {

template <Long N, Long B, Long P, Long Q>
struct Case {
  struct X : Axis<"X", P> {};
  struct Y : Axis<"Y", Q> {};
  struct I : Index<"I", N> {};
  struct J : Index<"J", N> {};
  using A = Tensor<double, Dim<I, Cyclic<X, B>>, Dim<J, Cyclic<Y, B>>>;
  using Op = blocked::Update<I>;
  static constexpr Plan plan = shardtype::plan(Op{}, type<A>);
};

// The number of indices from `begin` up to `end` (exclusive) on rank `rank` of `p`, block-cyclic
// with block size `b`.
Long mine(Long begin, Long end, Long b, Long p, Long rank) {
  Long n = 0;
  for (Long i = begin; i < end; ++i) n += i / b % p == rank ? 1 : 0;
  return n;
}
Long most(Long begin, Long end, Long b, Long p) {
  Long n = 0;
  for (Long r = 0; r < p; ++r) n = std::max(n, mine(begin, end, b, p, r));
  return n;
}

// The same by hand: n x n doubles in blocks of b on p x q ranks.
struct ByHand {
  Long n, b, p, q;

  template <class Visit>
  void rounds(Visit visit) const {
    for (Long begin = 0; begin + b < n; begin += b) visit(begin + b);
  }
  Long bytes(Long x, Long y) const {
    Long sum = 0;
    rounds([&](Long trailing) {
      if (q > 1) sum += 8 * b * mine(trailing, n, b, p, x);
      if (p > 1) sum += 8 * b * mine(trailing, n, b, q, y);
    });
    return sum;
  }
  Long broadcasts() const {
    Long k = 0;
    rounds([&](Long) { k += 2; });
    return k;
  }
  Long flops() const {
    Long sum = 0;
    rounds([&](Long t) { sum += 2 * b * most(t, n, b, p) * most(t, n, b, q); });
    return sum;
  }
  // The operand, the result, the two panels, and a copy of the panel that is being sent.
  Long peak() const {
    Long const matrix = 8 * most(0, n, b, p) * most(0, n, b, q);
    Long peak = 2 * matrix;
    rounds([&](Long t) {
      Long const columns = 8 * b * most(t, n, b, p);
      Long const rows = 8 * b * most(t, n, b, q);
      peak = std::max({peak, 2 * matrix + 2 * columns, 2 * matrix + columns + 2 * rows});
    });
    return peak;
  }
  // The copy of the matrix, then the panels and the products.
  double seconds() const {
    Machine const m;
    double sum =
        16.0 * static_cast<double>(most(0, n, b, p) * most(0, n, b, q)) / m.memory_bytes_per_second;
    auto const sent = [&](Long bytes, Long ranks) {
      return (ranks > 1 ? static_cast<double>(bytes) / m.bytes_per_second : 0) +
             static_cast<double>(ranks) * m.latency;
    };
    rounds([&](Long t) {
      sum += sent(8 * b * most(t, n, b, p), q) + sent(8 * b * most(t, n, b, q), p);
      sum += static_cast<double>(2 * b * most(t, n, b, p) * most(t, n, b, q)) / m.flops_per_second;
    });
    return sum;
  }
};

template <Long N, Long B, Long P, Long Q>
void compare() {
  INFO(N << " in blocks of " << B << " on " << P << " x " << Q);
  Plan const& plan = Case<N, B, P, Q>::plan;
  ByHand const hand{N, B, P, Q};
  CHECK(plan.count(Collective::broadcast) == hand.broadcasts());
  CHECK(plan.collectives() == hand.broadcasts());
  CHECK(plan.messages() == hand.broadcasts() / 2 * (P - 1 + Q - 1));
  CHECK(plan.flops() == hand.flops());
  CHECK(plan.peak_bytes() == hand.peak());
  CHECK(std::abs(plan.seconds() - hand.seconds()) <= 1e-9 * hand.seconds() + 1e-11 * N);
  CHECK(plan.cost().flops == hand.flops());
  CHECK(plan.cost().messages == plan.messages());
  Long busiest = 0;
  int wrong = 0;
  for (Long x = 0; x < P; ++x)
    for (Long y = 0; y < Q; ++y) {
      Coords at;
      at.at[0] = x;
      at.at[1] = y;
      wrong += plan.bytes(at) == hand.bytes(x, y) ? 0 : 1;
      busiest = std::max(busiest, hand.bytes(x, y));
    }
  CHECK(wrong == 0);
  CHECK(plan.bytes_per_rank() == busiest);
}

template <class F, class P>
void same_numbers(F const& f, P const& p) {
  for (Collective const c : planning::all_collectives) CHECK(f.count(c) == p.count(c));
  for (Long x = 0; x < 3; ++x)
    for (Long y = 0; y < 2; ++y) {
      Coords at;
      at.at[0] = x;
      at.at[1] = y;
      CHECK(f.bytes(at) == p.bytes(at));
    }
  CHECK(f.collectives() == p.collectives());
  CHECK(f.bytes_per_rank() == p.bytes_per_rank());
  CHECK(f.messages() == p.messages());
  CHECK(f.flops() == p.flops());
  CHECK(f.peak_bytes() == p.peak_bytes());
  CHECK(f.seconds() == p.seconds());
}

}  // namespace

TEST_CASE("a loop on a block that shrinks, against plain loops") {
  compare<16, 4, 2, 2>();
  compare<37, 4, 3, 2>();
  compare<37, 5, 1, 4>();
  compare<101, 2, 4, 3>();
  compare<64, 64, 2, 2>();
  compare<65, 64, 2, 2>();
  compare<3, 8, 2, 3>();
}

TEST_CASE("more rounds than any plan has steps") {
  using Many = Case<20000, 8, 4, 2>;
  using Few = Case<16, 8, 4, 2>;
  CHECK(Many::plan.size == Few::plan.size);
  CHECK(Few::plan.repeats[0].rounds == 2);
  CHECK(Many::plan.repeats[0].rounds == 2500);
  ByHand const hand{20000, 8, 4, 2};
  CHECK(Many::plan.collectives() == hand.broadcasts());
  CHECK(Many::plan.flops() == hand.flops());
}

TEST_CASE("a loop as text: one line per step, with the least and the most of its rounds") {
  using C = Case<37, 4, 3, 2>;
  CHECK("\n" + explain(C::plan, checking::Resolve<C::Op, C::A>::S::names) == R"(
B[I@X%4, J@Y%4] = blocked_update(A[I@X%4, J@Y%4])            18 collectives, 4.48 kB/rank, peak 5.63 kB, 6.06 kFLOP/rank
  1  local            P[I@X%4, J@Y%4] = blocked_update               2.08 kB
  2  Broadcast Y      P[I@X%4, J] -> P[I@X%4, J]                     9 rounds, 32 B to 384 B
  3  Broadcast X      P[I, J@Y%4] -> P[I, J@Y%4]                     9 rounds, 32 B to 544 B
  4  local            B[I@X%4, J@Y%4] = blocked_update               9 rounds, 8 FLOP to 1.63 kFLOP
)");
}

TEST_CASE("a function that calls one operation has the numbers of that operation") {
  using C = Case<37, 4, 3, 2>;
  constexpr auto reshard_to =
      shardtype::plan([](auto a) { return reshard<Dim<C::I, C::Y>, Dim<C::J, C::X>>(a); },
                      type<Tensor<double, Dim<C::I, C::X>, Dim<C::J, C::Y>>>);
  same_numbers(reshard_to, shardtype::plan(op::Reshard<Dim<C::I, C::Y>, Dim<C::J, C::X>>{},
                                           type<Tensor<double, Dim<C::I, C::X>, Dim<C::J, C::Y>>>));
  constexpr auto updates = shardtype::plan(
      [](auto a) { return call(C::Op{}, std::source_location::current(), a); }, type<C::A>);
  static_assert(updates.size == 4);
  same_numbers(updates, C::plan);
}
