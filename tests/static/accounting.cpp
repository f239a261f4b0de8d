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
  s.action = Action::communicate;
  s.collective = Collective::all_gather;
  s.axes.push(0);
  s.from = 0;
  s.before.add(0, s.axes);
  s.after.add(0);
  return s;
}
constexpr Step broadcast(int axis) {
  Step s;
  s.action = Action::communicate;
  s.collective = Collective::broadcast;
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

}  // namespace

// An operation without operands: nothing is sent, one block is created.
struct Made4 : Axis<"Made4", 4> {};
struct Rows10 : Index<"Rows10"> {};
struct Columns6 : Index<"Columns6"> {};
constexpr Plan made = plan(op::Create<Tensor<double, Dim<Rows10, Made4>, Dim<Columns6>>>{{10, 6}});
static_assert(made.operand_count == 0 && made.collectives() == 0 && made.bytes({}) == 0);
static_assert(made.peak_bytes() == 3 * 6 * 8 && made.flops() == 0 && made.size == 1);
