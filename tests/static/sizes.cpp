// Sizes up to and beyond 63 bits: saturating arithmetic, and plans with such sizes.
#include <shardtype/types.hpp>

using namespace shardtype;
using namespace shardtype::planning;

namespace {

constexpr std::int64_t power(int n) { return std::int64_t{1} << n; }
constexpr std::int64_t largest = 0x7fffffffffffffff;

// saturating sums and products: exact up to the bound, never above it
static_assert(add_sat(0, 0) == 0 && add_sat(3, 4) == 7 && mul_sat(3, 4) == 12);
static_assert(add_sat(saturated - 1, 1) == saturated && add_sat(saturated, 0) == saturated);
static_assert(add_sat(saturated, 1) == saturated && add_sat(saturated, saturated) == saturated);
static_assert(add_sat(largest, largest) == saturated && add_sat(0, largest) == saturated);
static_assert(mul_sat(0, largest) == 0 && mul_sat(largest, 0) == 0);
static_assert(mul_sat(power(31), power(30)) == power(61));
static_assert(mul_sat(power(31), power(31)) == saturated);
static_assert(mul_sat(saturated, 1) == saturated && mul_sat(1, saturated) == saturated);
static_assert(mul_sat(saturated, 2) == saturated && mul_sat(largest, largest) == saturated);
static_assert(mul_sat(saturated / 3, 3) == saturated / 3 * 3);
static_assert(mul_sat(saturated / 3 + 1, 3) == saturated);

// extents: the product is at most 2^58, also if a dim has extent 0; open extents are ignored
template <class... N>
constexpr bool counted(N... n) {
  std::int64_t const extents[] = {n..., 1};
  return countable(extents, static_cast<int>(sizeof...(N)));
}
static_assert(counted() && counted(power(58)) && counted(power(29), power(29)));
static_assert(!counted(power(58) + 1) && !counted(power(29), power(29) + 1));
static_assert(counted(std::int64_t{0}, power(58)) && !counted(power(62), std::int64_t{0}));
static_assert(!counted(power(40), std::int64_t{0}, power(40)));
static_assert(counted(power(58), dynamic) && !counted(power(59), dynamic));

// payloads: the formulas' values for ordinary sizes, never negative for any size
constexpr bool payloads_hold() {
  for (std::int64_t p = 1; p < 9; ++p)
    for (std::int64_t n = 0; n < 40; ++n) {
      if (step_payload(Collective::all_reduce, n, n, p) != 2 * n * (p - 1) / p) return false;
      if (step_payload(Collective::all_gather, n, n * p, p) != n * (p - 1)) return false;
      if (step_payload(Collective::broadcast, n, n, p) != (p > 1 ? n : 0)) return false;
    }
  for (Collective const c : all_collectives)
    for (std::int64_t const p : {std::int64_t{2}, std::int64_t{3}, power(31)})
      for (std::int64_t const n : {power(40), power(61), saturated}) {
        Cost const cost = step_cost(c, n, n, p, {});
        if (step_payload(c, n, n, p) <= 0 || cost.picoseconds <= 0 || cost.bytes <= 0) return false;
        if (cost.peak_bytes < n || (cost + cost).bytes < cost.bytes) return false;
      }
  return true;
}
static_assert(payloads_hold());

// every collective has a row of its own; `none` has the first
constexpr bool rows_hold() {
  bool seen[collective_rows]{};
  seen[static_cast<int>(Collective::none)] = true;
  for (Collective const c : all_collectives) {
    int const row = static_cast<int>(c);
    if (row < 1 || row >= collective_rows || seen[row]) return false;
    seen[row] = true;
  }
  return true;
}
static_assert(rows_hold());
// and every kind of step has one; only collectives send, and each is that of some kind
constexpr bool kinds_hold() {
  int k = 0;
  bool used[collective_rows]{};
  for (MoveKind const& kind : move_rows::all) {
    if (static_cast<int>(kind.move) != k++) return false;
    if ((kind.collective == Collective::none) != (kind.bytes == &sent::nothing)) return false;
    used[static_cast<int>(kind.collective)] = true;
  }
  for (bool const some : used)
    if (!some) return false;
  return k == static_cast<int>(Move::window) + 1;
}
static_assert(kinds_hold());
// A reshard's steps by their collectives: those without block-cyclic dims, without choices of each
// rank.
static_assert(move_of(Collective::none) == Move::slice &&
              move_of(Collective::all_gather) == Move::gather);
static_assert(move_of(Collective::all_to_all) == Move::exchange &&
              move_of(Collective::permute) == Move::reorder);

// a broadcast, which no plan of the library has, counts and has a cost
constexpr Plan broadcast() {
  Plan p;
  p.sizing.extents.at[0] = 100;
  p.sizing.sizes.at[0] = 4;
  p.sizing.element_bytes = 4;
  Step s;
  s.move = Move::broadcast;
  s.axes.push(0);
  s.before.add(0);
  s.after.add(0);
  p.push(s);
  return p;
}
static_assert(broadcast().collectives() == 1 && broadcast().bytes_per_rank() == 400);
static_assert(broadcast().cost().bytes == 400 && broadcast().cost().picoseconds > 0);
// sums of many steps saturate as each step does
constexpr Plan enormous() {
  Plan p = broadcast();
  p.sizing.extents.at[0] = power(60);
  for (int k = 0; k < 3; ++k) p.push(p.steps[0]);
  p.push_operand(p.steps[0].before);
  return p;
}
static_assert(enormous().bytes_per_rank() == saturated && enormous().peak_bytes() == saturated);
static_assert(enormous().cost().bytes == saturated && enormous().cost().peak_bytes == saturated);
static_assert(enormous().cost().picoseconds == longest_time);
static_assert(!detail::within(broadcast(), Plan{}) && detail::within(Plan{}, broadcast()));

// plans of products whose result is just small enough
struct X : Axis<"X", 8> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I", (std::int64_t{1} << 29)> {};
struct J : Index<"J", 1> {};
struct K : Index<"K", (std::int64_t{1} << 29)> {};
struct Huge : Index<"Huge", (std::int64_t{1} << 58)> {};
struct M : Index<"M"> {};
struct N : Index<"N"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

constexpr bool finite(Plan const& p) {
  Cost const c = p.cost();
  return p.bytes_per_rank() >= 0 && p.peak_bytes() > 0 && p.flops() >= 0 && c.picoseconds > 0 &&
         c.bytes >= 0 && c.flops >= 0 && p.seconds() > 0;
}
using A = T<Dim<I, X>, Dim<J>>;
using B = T<Dim<J, Y>, Dim<K>>;
using C = T<Dim<J>, Dim<K, Y>>;
constexpr Plan strict = plan(op::Matmul<>{}, type<A>, type<C>);
static_assert(finite(strict) && strict.collectives() == 0 && strict.flops() == power(54));
constexpr Plan named = plan(op::Matmul<Dim<I, X>, Dim<K, Y>>{}, type<A>, type<B>);
static_assert(finite(named) && named.bytes_per_rank() < power(33));
constexpr Plan whole = plan(op::Matmul<Dim<I>, Dim<K>>{}, type<A>, type<B>);
static_assert(finite(whole) && whole.peak_bytes() >= power(61));
// the larger dims of the result are not sent, the small operand is
constexpr Plan turned = plan(op::Matmul<Dim<K>, Dim<I, X>>{}, type<C>, type<A>);
static_assert(finite(turned));
// the largest legal tensor
constexpr Plan moved = plan(op::Reshard<Dim<Huge, Y>>{}, type<T<Dim<Huge, X>>>);
static_assert(finite(moved) && moved.collectives() > 0);
constexpr Plan reduced =
    plan(op::Reshard<Dim<Huge>>{}, type<Tensor<float, Dim<Huge, Y>, Unreduced<X>>>);
static_assert(finite(reduced) && reduced.collectives() > 0);

// sizes known at run time: also beyond the legal sizes there is a plan whose result has the named
// sharding
constexpr auto open = plan(op::Matmul<Dim<M, X>, Dim<N, Y>>{}, type<T<Dim<M, X>, Dim<J, Y>>>,
                           type<T<Dim<J, X>, Dim<N>>>);
constexpr bool arrives(Plan const& p) {
  return p.size > 0 && p.steps[p.size - 1].after == p.result && finite(p);
}
static_assert(arrives(open.at({1000, 1, 1000})) && arrives(open.at({power(29), 1, power(29)})));
static_assert(arrives(open.at({power(31), 1, power(31)})));
static_assert(arrives(open.at({power(62), 1, power(62)})));
constexpr auto open_reshard =
    plan(op::Reshard<Dim<M>, Dim<N, X, Y>, Dim<Huge>>{}, type<T<Dim<M, X>, Dim<N, Y>, Dim<Huge>>>);
static_assert(arrives(open_reshard.at({power(31), power(31)})));
static_assert(open_reshard.at({power(62), 0}).cost().picoseconds >= 0);

// blocks of uneven size, bytes that saturate
static_assert(largest_elements(Spec{}, {}, {}) == 1);
static_assert(finite(open.at({power(62) + 1, 1, power(62) - 1})));

}  // namespace
