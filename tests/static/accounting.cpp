// The sums over steps of memory, collectives, bytes of each rank, flops and times: computed by hand
// and by the plans of operations, functions and expressions.
#include <shardtype/types.hpp>

#include "harness/blocked_update.hpp"

using namespace shardtype;
using namespace shardtype::planning;
using planning::Accounting;
using planning::Answer;
using planning::MemoryUse;

namespace {

using Long = std::int64_t;

// memory: the peak, and temporary needs
constexpr bool memory_holds() {
  MemoryUse m;
  m.hold(10);
  m.need(5);
  m.release(4);
  m.hold(7);
  if (m.held() != 13 || m.peak() != 15) return false;
  m.hold(3);
  if (m.peak() != 16) return false;
  m.release(16);
  return m.held() == 0 && m.peak() == 16;
}
static_assert(memory_holds());
// exact again after a saturated sum
constexpr bool memory_saturates() {
  MemoryUse m;
  for (int k = 0; k < 5; ++k) m.hold(saturated - k);
  if (m.held() != saturated || m.peak() != saturated) return false;
  for (int k = 4; k > 0; --k) m.release(saturated - k);
  if (m.held() != saturated) return false;
  m.release(saturated - 3);
  m.need(saturated);
  return m.held() == 3 && m.peak() == saturated;
}
static_assert(memory_saturates());

// a dim of 10 over 4 ranks: blocks of 3, 3, 3, 1
constexpr Sizing sizing(Long n, Long p, Long q = 1) {
  Sizing z;
  z.extents.at[0] = n;
  z.sizes.at[0] = p;
  z.sizes.at[1] = q;
  z.element_bytes = 8;
  return z;
}
constexpr Step gather() {
  Step s;
  s.move = Move::gather;
  s.axes.push(0);
  s.from = 0;
  s.before.add(0, s.axes);
  s.after.add(0);
  return s;
}
constexpr Step broadcast(int axis) {
  Step s;
  s.move = Move::broadcast;
  s.axes.push(axis);
  AxisList other;
  other.push(1 - axis);
  s.before.add(0, other);
  s.after = s.before;
  return s;
}
constexpr Coords at(Long x, Long y = 0) {
  Coords c;
  c.at[0] = x;
  c.at[1] = y;
  return c;
}

constexpr Machine machine{};
constexpr Accounting two_steps(Accounting a) {
  a.hold(24);
  a.hold(80);
  a.move(gather(), sizing(10, 4));
  a.release(24);
  planning::Computation product{1000, 0, 16, false, 1000};
  a.need(product.workspace);
  a.compute(product);
  a.compute({10, 400});
  return a;
}
constexpr bool two_steps_add_up() {
  Accounting const a = two_steps(Accounting(machine));
  Step const s = gather();
  Long const moving = step_cost(s, sizing(10, 4), machine).picoseconds;
  Long const computing = picoseconds(1000, machine.flops_per_second) +
                         picoseconds(400, machine.memory_bytes_per_second);
  return a.count(Collective::all_gather) == 1 && a.count(Collective::none) == 2 &&
         a.count(Collective::permute) == 0 && a.collectives() == 1 && a.messages() == 3 &&
         a.flops() == 1010 && a.peak_bytes() == 104 && a.bytes(at(0)) == 56 &&
         a.bytes(at(3)) == 72 && a.bytes_per_rank() == 72 &&
         a.picoseconds() == moving + computing && a.cost().flops == 1010 &&
         a.cost().peak_bytes == 104 && a.cost().messages == 3;
}
static_assert(two_steps_add_up());
// an Accounting for one answer computes only that answer
static_assert(two_steps(Accounting(Answer::counts)).collectives() == 1);
static_assert(two_steps(Accounting(Answer::bytes)).bytes_per_rank() == 72);
static_assert(two_steps(Accounting(Answer::bytes)).collectives() == 0);
static_assert(two_steps(Accounting(Answer::cost, machine)).picoseconds() ==
              two_steps(Accounting(machine)).picoseconds());
static_assert(two_steps(Accounting()).picoseconds() == 0 &&
              two_steps(Accounting()).flops() == 1010);
static_assert(Accounting().bytes_per_rank() == 0 && Accounting().peak_bytes() == 0);

// the bytes of the busiest rank of two steps are not the sum of those of the busiest ranks: a rank
// with 72 bytes in one step has few in the other
constexpr Accounting crossed() {
  Accounting a;
  a.move(gather(), sizing(10, 4, 2));
  a.move(broadcast(1), sizing(13, 4, 2));
  return a;
}
static_assert(crossed().bytes(at(0, 0)) == 56 + 32 && crossed().bytes(at(3, 1)) == 72 + 8);
static_assert(crossed().bytes_per_rank() == 88);
// if another rank has the first block, another rank is the busiest
constexpr Accounting rotated(Long first) {
  Accounting a;
  a.move(gather(), sizing(10, 4));
  a.move(gather(), sizing(5, 4), at(first));
  return a;
}
static_assert(rotated(0).bytes(at(3)) == 72 + 40 && rotated(0).bytes_per_rank() == 112);
static_assert(rotated(3).bytes(at(3)) == 72 + 24 && rotated(3).bytes(at(2)) == 56 + 40);
static_assert(rotated(3).bytes_per_rank() == 56 + 40);

// `repeat` equals the rounds one after the other
constexpr bool repeats_add_up() {
  Accounting loop;
  loop.repeat(6, [](Long k, Accounting& a) {
    a.hold(8 * k);
    a.move(gather(), sizing(20 - 3 * k, 4));
    a.compute({k, 8 * k});
    a.release(8 * k);
  });
  Long sent = 0;
  for (Long k = 0; k < 6; ++k) sent += step_bytes(gather(), sizing(20 - 3 * k, 4), at(3));
  return loop.collectives() == 6 && loop.messages() == 18 && loop.flops() == 15 &&
         loop.peak_bytes() == 40 && loop.bytes(at(3)) == sent && loop.bytes_per_rank() == sent;
}
static_assert(repeats_add_up());

// the busiest rank, compared with all ranks one after the other
constexpr bool busiest(Plan const& p) {
  AxisList all;
  for (int x = 0; x < max_axes; ++x) all.push(x);
  Long most = 0;
  for (Long r = 0; r < p.sizing.sizes.product(all); ++r)
    most = std::max(most, p.bytes(member(all, p.sizing.sizes, {}, r)));
  return p.bytes_per_rank() == most && (most > 0) == (p.collectives() > 0);
}
struct X : Axis<"X", 3> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I", 11> {};
struct J : Index<"J", 7> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using Split = T<Dim<I, X>, Dim<J, Y>>;
using Turned = T<Dim<I, X, Y>, Dim<J>>;
static_assert(busiest(plan(op::Reshard<Dim<I>, Dim<J>>{}, type<Split>)));
static_assert(busiest(plan(op::Reshard<Dim<I, Y>, Dim<J, X>>{}, type<Split>)));
static_assert(busiest(plan(op::Reshard<Dim<I, Y, X>, Dim<J>>{}, type<Turned>)));
static_assert(busiest(plan(op::Reshard<Dim<I, Cyclic<X, 2>>, Dim<J>>{}, type<Turned>)));
static_assert(busiest(plan(op::Reshard<Dim<I, X>, Dim<J>>{},
                           type<T<Dim<I, Cyclic<X, 2>>, Dim<J>>>)));
static_assert(busiest(plan(op::Shift<I>{2}, type<Split>)));
static_assert(busiest(plan(op::Shift<J>{-3, op::Edge::wrap}, type<Split>)));
static_assert(busiest(plan(op::HaloExchange<I>{1, 2}, type<Split>)));
static_assert(busiest(plan(op::CumSum<I>{}, type<Split>)));

// a plan with a loop: 11 rows in blocks of 2 are 6 rounds; the last round has no trailing block.
// The largest trailing blocks are 4 x 5, 3 x 4, 2 x 3, 2 x 2, 1 x 1
struct N : Index<"N", 11> {};
struct M : Index<"M", 11> {};
constexpr Plan loop =
    plan(blocked::Update<N>{}, type<T<Dim<N, Cyclic<X, 2>>, Dim<M, Cyclic<Y, 2>>>>);
static_assert(loop.size == 4 && loop.repeat_count == 1 && loop.repeats[0].rounds == 6);
static_assert(loop.count(Collective::broadcast) == 10 && loop.collectives() == 10);
static_assert(loop.messages() == 5 * (1 + 2));
static_assert(loop.flops() == 2 * 2 * (20 + 12 + 6 + 4 + 1));
static_assert(busiest(loop));

// The bytes of a loop are summed by series: the same as round by round, with sizes that ranks and
// blocks do not divide, and ranks of two axes that share no factor
template <Long rows, Long p, Long q, Long block, bool closed>
struct Blocked {
  struct P : Axis<"P", p> {};
  struct Q : Axis<"Q", q> {};
  struct R : Index<"R", rows> {};
  struct C : Index<"C", rows> {};
  using A = T<Dim<R, Cyclic<P, block>>, Dim<C, Cyclic<Q, block>>>;
  static constexpr Plan plan = shardtype::plan(blocked::Update<R, closed>{}, type<A>);
};
template <Long rows, Long p, Long q, Long block>
constexpr bool closes() {
  Plan const& series = Blocked<rows, p, q, block, true>::plan;
  Plan const& each = Blocked<rows, p, q, block, false>::plan;
  for (Long x = 0; x < p; ++x)
    for (Long y = 0; y < q; ++y)
      if (series.bytes(at(x, y)) != each.bytes(at(x, y))) return false;
  return series.bytes_per_rank() == each.bytes_per_rank() &&
         series.collectives() == each.collectives();
}
static_assert(closes<8 * 24, 2, 2, 8>() && closes<8 * 24 + 5, 2, 2, 8>());
static_assert(closes<70, 3, 2, 2>() && closes<71, 3, 2, 2>() && closes<41, 1, 3, 1>());
static_assert(closes<3, 2, 2, 8>() && closes<8, 2, 2, 8>() && closes<33, 4, 2, 8>());
// n = 4096 in blocks of 64 on 2 x 2: of both panels of each round, half the ranks receive half of
// the trailing rows
constexpr Long panels(Long n, Long ranks) {  // of doubles, on a square of ranks
  Long most = 0;
  for (Long x = 0; x < ranks; ++x)
    for (Long y = 0; y < ranks; ++y) {
      Long sum = 0;
      for (Long k = 0; k + 1 < n / 64; ++k) {
        if (k % ranks == x && k % ranks == y) continue;
        auto const mine = [&](Long rank) {  // blocks after block k
          return (n / 64 - 1 - rank) / ranks - (k < rank ? -1 : (k - rank) / ranks);
        };
        if (k % ranks != y) sum += 8 * 64 * 64 * mine(x);
        if (k % ranks != x) sum += 8 * 64 * 64 * mine(y);
      }
      most = std::max(most, sum);
    }
  return most;
}
static_assert(Blocked<4096, 2, 2, 64, true>::plan.bytes_per_rank() == panels(4096, 2));
static_assert(panels(4096, 2) > 33'000'000 && panels(4096, 2) < 35'000'000);
// sizes at which all rounds at all ranks are more than compilers evaluate
static_assert(Blocked<16384, 4, 4, 64, true>::plan.bytes_per_rank() == panels(16384, 4));
static_assert(Blocked<16384, 8, 8, 64, true>::plan.bytes_per_rank() > 240'000'000);
static_assert(Blocked<65536, 2, 2, 64, true>::plan.bytes_per_rank() == panels(65536, 2));

// what is no series although the operation says so: summed round by round
struct Squares {
  static constexpr void in_round(Step const&, planning::Round& r) {
    r.sizing.extents.at[0] = (r.number + 1) * (r.number + 1);
  }
};
constexpr Plan loop_of(Long rounds, Long period, void (*in_round)(Step const&, planning::Round&)) {
  Plan p;
  p.name = "loop";
  p.sizing = sizing(10, 4);
  p.push(gather());
  p.push(gather());
  p.repeat(1, rounds, 0, in_round, period);
  return p;
}
static_assert(loop_of(20, 1, Squares::in_round).bytes_per_rank() ==
              loop_of(20, 0, Squares::in_round).bytes_per_rank());
static_assert(loop_of(20, 1, nullptr).bytes_per_rank() == 21 * 72);
static_assert(loop_of(20, 1, nullptr).bytes(at(0)) == 21 * 56);
// the loop of a step by its index, of a plan that is no variable
static_assert(loop_of(5, 0, nullptr).repeat_of(0) == -1 &&
              loop_of(5, 0, nullptr).repeat_of(1) == 0);

// look-ahead: a panel is made and sent beside the update of the round before; every so many rounds
// a rank makes one, for which it needs its time. Updates shrink: at first they take longer than a
// panel, in the end they do not
constexpr std::int64_t panel_time = picoseconds(20'000, machine.flops_per_second);
constexpr std::int64_t update_time(Long number) {
  return picoseconds(static_cast<double>(900'000 - 300'000 * number), machine.flops_per_second);
}
constexpr void panel_and_update(Step const&, Round& r) {
  r.work.product = r.step == 0 ? 20'000 : static_cast<double>(900'000 - 300'000 * r.number);
}
constexpr Plan ahead(LookAhead look, Long rounds = 4) {
  Plan p;
  p.name = "loop";
  p.sizing = sizing(10, 4);
  Step compute;
  compute.move = Move::compute;
  p.push(gather());
  p.push(compute);
  p.push(gather());
  p.push(compute);
  p.repeat(3, rounds, 0, panel_and_update, 0, look);
  return p;
}
constexpr std::int64_t picoseconds_of(Plan const& p) { return p.cost(machine).picoseconds; }
constexpr std::int64_t sent_time = step_cost(gather(), sizing(10, 4), machine).picoseconds;
static_assert(picoseconds_of(ahead({})) ==
              5 * sent_time + 4 * panel_time + update_time(0) + update_time(1) + update_time(2));
constexpr bool look_ahead_hides(Long turns) {
  std::int64_t const early = panel_time - panel_time / turns + sent_time;
  std::int64_t hidden = 0;
  for (Long k = 0; k < 3; ++k) hidden += std::min(early, update_time(k));
  return picoseconds_of(ahead({2, turns})) == picoseconds_of(ahead({})) - hidden;
}
static_assert(look_ahead_hides(1) && look_ahead_hides(2) && look_ahead_hides(3));
static_assert(update_time(2) < sent_time && update_time(0) > sent_time + panel_time);
static_assert(picoseconds_of(ahead({2, 2}, 1)) == picoseconds_of(ahead({}, 1)));
static_assert(picoseconds_of(ahead({2, 2}, 0)) == sent_time);
static_assert(picoseconds_of(ahead({2, 2}, dynamic)) == longest_time);
static_assert(ahead({2, 2}).bytes_per_rank() == ahead({}).bytes_per_rank() &&
              ahead({2, 2}).messages() == ahead({}).messages() &&
              ahead({2, 2}).peak_bytes() == ahead({}).peak_bytes());

// a loop of unknown rounds: no count of it is a bound, and the step before it is counted
constexpr Plan endless = loop_of(dynamic, 0, nullptr);
static_assert(endless.count(Collective::all_gather) == unbounded);
static_assert(endless.collectives() == unbounded && endless.count(Collective::broadcast) == 0);
static_assert(endless.bytes_per_rank() == saturated && endless.bytes(at(3)) == saturated);
static_assert(endless.messages() == saturated && endless.flops() == 0);
static_assert(endless.peak_bytes() == loop_of(1, 0, nullptr).peak_bytes());
static_assert(endless.cost().picoseconds == longest_time && endless.cost().bytes == saturated);
static_assert(loop_of(0, 0, nullptr).count(Collective::all_gather) == 1);

// ... and of sizes that the type does not know
struct OpenN : Index<"N"> {};
struct OpenM : Index<"M"> {};
using OpenA = T<Dim<OpenN, Cyclic<X, 64>>, Dim<OpenM, Cyclic<Y, 64>>>;
constexpr auto open_loop = plan(blocked::Update<OpenN>{}, type<OpenA>);
static_assert(open_loop.count(Collective::broadcast) == unbounded);
static_assert(open_loop.collectives() == unbounded);
static_assert(open_loop.count(Collective::all_gather) == 0);
static_assert(open_loop.at({4096, 4096}).count(Collective::broadcast) == 126);

// a loop of as many rounds as there are ranks, whatever the extents; unknown ranks make it unknown
template <class I>
struct Passes {
  using operation = Passes;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "passes";
  static constexpr bool communicates = true;
  static constexpr Verdict rule(rules::Question const& q) { return accept(q.a()); }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    Step s;
    s.before = s.after = p.operands[0];
    s.axes = s.before.dims[0].axes;
    s.move = Move::reduce;
    p.push(s);
    s.move = Move::send_block;
    p.push(s);
    p.repeat(1, c.common.sizes.product(s.axes) - 1, 0, nullptr);
  }
};
struct OpenX : Axis<"OpenX"> {};
static_assert(plan(Passes<OpenN>{}, type<T<Dim<OpenN, X>>>).count(Collective::permute) == 2);
static_assert(plan(Passes<OpenN>{}, type<T<Dim<OpenN, X>>>).collectives() == 3);
static_assert(plan(Passes<OpenN>{}, type<T<Dim<OpenN, OpenX>>>).count(Collective::permute) ==
              unbounded);
static_assert(plan(Passes<OpenN>{}, type<T<Dim<OpenN, OpenX>>>).count(Collective::all_reduce) == 1);

}  // namespace

// An operation without operands: nothing is sent, one block is created.
struct Made4 : Axis<"Made4", 4> {};
struct Rows10 : Index<"Rows10"> {};
struct Columns6 : Index<"Columns6"> {};
constexpr Plan made = plan(op::Create<Tensor<double, Dim<Rows10, Made4>, Dim<Columns6>>>{{10, 6}});
static_assert(made.operand_count == 0 && made.collectives() == 0 && made.bytes({}) == 0);
static_assert(made.peak_bytes() == 3 * 6 * 8 && made.flops() == 0 && made.size == 1);
