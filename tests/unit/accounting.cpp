// A blocked algorithm whose steps repeat on a shrinking block, compared with loops that count its
// elements one by one; its text; and functions compared with the operations that they call.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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
    rounds([&](Long trailing) {  // the root of a panel has it already
      Long const round = trailing / b - 1;
      if (round % q != y) sum += 8 * b * mine(trailing, n, b, p, x);
      if (round % p != x) sum += 8 * b * mine(trailing, n, b, q, y);
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
B[I@X%4, J@Y%4] = blocked_update(A[I@X%4, J@Y%4])            18 collectives, 2.82 kB/rank, peak 5.63 kB, 6.06 kFLOP/rank
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
  // panels that are sent beside the update of the round before
  using Ahead = blocked::Update<C::I, true, planning::LookAhead{2, 1}>;
  constexpr auto ahead = shardtype::plan(
      [](auto a) { return call(Ahead{}, std::source_location::current(), a); }, type<C::A>);
  same_numbers(ahead, shardtype::plan(Ahead{}, type<C::A>));
  CHECK(ahead.seconds() < C::plan.seconds());
}

// Sizes that the types do not know: the loop has as many rounds as they say.
struct OpenI : Index<"I"> {};
struct OpenJ : Index<"J"> {};
struct Row2 : Axis<"Row", 2> {};
struct Column2 : Axis<"Column", 2> {};
using OpenA = Tensor<double, Dim<OpenI, Cyclic<Row2, 64>>, Dim<OpenJ, Cyclic<Column2, 64>>>;
constexpr auto updated = [](auto const& a) {
  return call(blocked::Update<OpenI>{}, std::source_location::current(), a);
};

TEST_CASE("a function with a loop of unknown length") {
  constexpr auto once = shardtype::plan(updated, type<OpenA>);
  static_assert(once.count(Collective::broadcast) == planning::unbounded);
  static_assert(once.collectives() == planning::unbounded);
  static_assert(once.count(Collective::all_gather) == 0);
  // two of them, and what is sent besides
  constexpr auto more = shardtype::plan(
      [](auto a) { return reshard<Dim<OpenI>, Dim<OpenJ>>(updated(updated(a))); }, type<OpenA>);
  static_assert(more.count(Collective::broadcast) == planning::unbounded);
  static_assert(more.collectives() == planning::unbounded);
  static_assert(more.count(Collective::all_gather) == 2);
  CHECK(explain(more) == "at most 2 AllGather, any number of Broadcast\n");
}

TEST_CASE("a loop of unknown rounds as text") {
  using C = Case<37, 4, 3, 2>;
  Plan plan = C::plan;
  plan.repeats[0].rounds = dynamic;
  std::string const text = explain(plan, checking::Resolve<C::Op, C::A>::S::names);
  CHECK(text.find(
            " any number of collectives and bytes/rank, peak 19.8 kB, any number of FLOP/rank\n") !=
        std::string::npos);
  CHECK(text.find("any number of rounds") != std::string::npos);
}

TEST_CASE("a plan with more steps, loops or operands than there is room for") {
  auto const code_of = [](auto const& run) -> std::string {
    try {
      run();
    } catch (Error const& e) {
      return e.what();
    }
    return "none";
  };
  planning::Step step;
  step.move = planning::Move::slice;
  auto const steps = [&](int n) {
    Plan p;
    for (int k = 0; k < n; ++k) p.push(step);
    return p.size;
  };
  CHECK(steps(planning::max_steps) == planning::max_steps);
  CHECK(code_of([&] { steps(planning::max_steps + 1); }) ==
        "[shardtype E84] the plan of one operation has more than 48 steps");
  Plan loops;
  loops.push(step);
  for (int k = 0; k < planning::max_repeats; ++k) loops.repeat(1, 1, 0, nullptr);
  CHECK(code_of([&] { loops.repeat(1, 1, 0, nullptr); }) ==
        "[shardtype E84] the plan of one operation has more than 8 loops");
  Plan operands;
  for (int k = 0; k < planning::max_plan_operands; ++k) operands.push_operand({});
  CHECK(code_of([&] { operands.push_operand({}); }) ==
        "[shardtype E84] the plan of one operation has more than 11 operands");
  Plan own;
  for (int k = 0; k <= planning::max_plan_operands; ++k) own.push_own({});
  CHECK(code_of([&] { own.push_own({}); }) ==
        "[shardtype E84] the plan of one operation has more than 12 values of other sizes");
}

TEST_CASE("the plan of a function with more steps than there is room for") {
  using C = Case<37, 4, 3, 2>;
  core::Names const& names = checking::Resolve<C::Op, C::A>::S::names;
  auto const code_of = [](auto const& run) -> std::string {
    try {
      run();
    } catch (Error const& e) {
      return e.what();
    }
    return "none";
  };
  std::string const too_long =
      "[shardtype E84] the plan of a function has more than 8192 steps; plan its parts one by one";
  {
    // noted as it is, and as a constant that repeats
    planning::FunctionWriter notes({});
    planning::FunctionWriter constants({});
    for (int k = 0; k < planning::max_function_steps / C::plan.size; ++k) {
      notes.note("update", C::plan, names);
      constants.note_constant("update", C::plan, names);
    }
    CHECK(notes.plan().size == planning::max_function_steps);
    CHECK(notes.plan().different == C::plan.size);
    CHECK(constants.plan().size == notes.plan().size);
    CHECK(constants.plan().different == notes.plan().different);
    CHECK(constants.plan().flops() == notes.plan().flops());
    CHECK(code_of([&] { notes.note("update", C::plan, names); }) == too_long);
    CHECK(code_of([&] { constants.note_constant("update", C::plan, names); }) == too_long);
  }
  planning::FunctionWriter notes({});
  std::vector<std::string> operations;
  for (int k = 0; k <= planning::max_different_steps; ++k)
    operations.push_back("update " + std::to_string(k));
  int const room = planning::max_different_steps / C::plan.size;
  for (int k = 0; k < room; ++k)
    notes.note(operations[static_cast<std::size_t>(k)], C::plan, names);
  // the same again needs no room
  for (int k = 0; k < room; ++k)
    notes.note(operations[static_cast<std::size_t>(k)], C::plan, names);
  CHECK(notes.plan().size == 2 * room * C::plan.size);
  CHECK(notes.plan().different == room * C::plan.size);
  CHECK(notes.plan()[C::plan.size].operation == "update 1");
  CHECK(notes.plan()[(room + 1) * C::plan.size].operation == "update 1");
  CHECK(code_of([&] { notes.note(operations.back(), C::plan, names); }) ==
        "[shardtype E84] the plan of a function has more than 256 different steps; plan its parts "
        "one by one");
}

namespace {

struct GB : Index<"B", 24> {};
struct GI : Index<"I", 64> {};
struct GK : Index<"K", 64> {};
struct GX : Axis<"X", 4> {};

/// `Layers` layers whose weight is stored split and used whole.
template <std::size_t Layers>
struct Layered {
  template <template <class> class As>
  struct Model {
    std::array<As<Tensor<float, Dim<GI, GX>, Dim<GK>>>, Layers> weights;
  };
  static constexpr auto loss = [](auto const& m, auto const& x) {
    auto y = tanh(matmul(x, used_as<Tensor<float, Dim<GI>, Dim<GK>, Reduced<GX>>>(m.weights[0])))
                 .tensor();
    for (std::size_t k = 1; k < Layers; ++k) {
      auto const in = relabel<GK, GI>(y);
      y = tanh(matmul(in, used_as<Tensor<float, Dim<GI>, Dim<GK>, Reduced<GX>>>(m.weights[k])))
              .tensor();
    }
    return sum<Tensor<float>>(y);
  };
  static constexpr auto plan_ = plan(value_and_grad<0>(loss), type<Model<value_t>>,
                                     type<Tensor<float, Dim<GB, GX>, Dim<GI>>>);
};

}  // namespace

TEST_CASE("plans of a hundred layers are constants, and layers add alike") {
  constexpr auto const& two = Layered<2>::plan_;
  constexpr auto const& three = Layered<3>::plan_;
  constexpr auto const& many = Layered<102>::plan_;
  static_assert(many.forward.size > 256 && many.backward.size > 256);
  static_assert(many.forward.size ==
                two.forward.size + 100 * (three.forward.size - two.forward.size));
  static_assert(many.forward.different == two.forward.different);
  static_assert(many.collectives() ==
                two.collectives() + 100 * (three.collectives() - two.collectives()));
  static_assert(many.count(planning::Collective::all_gather) >= 102);
  static_assert(many.bytes_per_rank() ==
                two.bytes_per_rank() + 100 * (three.bytes_per_rank() - two.bytes_per_rank()));
  static_assert(many.flops() == two.flops() + 100 * (three.flops() - two.flops()));
  static_assert(many.tape_bytes() ==
                two.tape_bytes() + 100 * (three.tape_bytes() - two.tape_bytes()));
  std::string const text = explain(many);
  CHECK(std::count(text.begin(), text.end(), '\n') > 600);
}

namespace {

// Products of the same flops in elements of different kinds, as strict code and in automatic mode.
template <class T>
struct ProductOf {
  struct AI : Index<"I", 512> {};
  struct AJ : Index<"J", 256> {};
  struct AK : Index<"K", 128> {};
  using A = Tensor<T, Dim<AI>, Dim<AJ>>;
  using B = Tensor<T, Dim<AJ>, Dim<AK>>;
  static constexpr auto strict =
      shardtype::plan([](auto const& a, auto const& b) { return matmul(a, b); }, type<A>, type<B>);
  static double automatic() {
    return dry_run<automatic_mode::Axes<>, A, B>([](auto const& a, auto const& b) {
             return evaluate<Dim<AI>, Dim<AK>>(matmul(a, b));
           })
        .planned()
        .seconds();
  }
};

}  // namespace

TEST_CASE("a multiply-add costs as much in a strict plan as in automatic mode") {
  double const one = ProductOf<float>::strict.seconds();
  auto const costs = [&](double strict, double automatic, double times) {
    CHECK(std::abs(strict - times * one) < 1e-9 * one);
    CHECK(std::abs(automatic - times * one) < 1e-9 * one);
  };
  costs(one, ProductOf<float>::automatic(), 1);
  costs(ProductOf<double>::strict.seconds(), ProductOf<double>::automatic(), 2);
  costs(ProductOf<bfloat16>::strict.seconds(), ProductOf<bfloat16>::automatic(), 1);
  costs(ProductOf<std::int64_t>::strict.seconds(), ProductOf<std::int64_t>::automatic(), 2);
  costs(ProductOf<Kokkos::complex<float>>::strict.seconds(),
        ProductOf<Kokkos::complex<float>>::automatic(), 4);
  costs(ProductOf<Kokkos::complex<double>>::strict.seconds(),
        ProductOf<Kokkos::complex<double>>::automatic(), 8);
  static_assert(ProductOf<double>::strict.flops() == ProductOf<float>::strict.flops());
}
