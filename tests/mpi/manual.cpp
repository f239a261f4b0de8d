// Manual mode: every collective over one and two axes in either order, compared with the values of
// the members of the group; bytes; casts; the arguments and results of shard_map; loops and
// branches; errors.
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <shardtype/from_jax.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using on_ranks::code_of;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Z : Axis<"Z"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct N : Index<"N"> {};
struct N8 : Index<"N8", 8> {};
template <char C>
inline constexpr char letter[] = {C, 0};
template <int N>
struct D : Index<letter<static_cast<char>('P' + N)>> {};

using Int = std::int64_t;
using Grid = Mesh<X, Y>;

// The ranks along `Xs`, in order, from the calling rank's point of view; `size` is -1 for an axis
// not named.
template <class... Xs>
struct Group {
  std::array<Int, 2> size, me;
  Int count = 1;
  explicit Group(Grid const& mesh)
      : size{mesh.size_of<X>(), mesh.size_of<Y>()}, me{mesh.coordinate<X>(), mesh.coordinate<Y>()} {
    ((count *= size[axis<Xs>]), ...);
  }
  template <class A>
  static constexpr std::size_t axis = std::is_same_v<A, X> ? 0 : 1;
  // The rank in the mesh of member `g`.
  Int member(Int g) const {
    std::array<Int, 2> at = me;
    std::array<std::size_t, sizeof...(Xs)> const order{axis<Xs>...};
    for (std::size_t k = order.size(); k-- > 0;) {
      at[order[k]] = g % size[order[k]];
      g /= size[order[k]];
    }
    return at[0] * size[1] + at[1];
  }
  Int place() const {
    Int g = 0;
    ((g = g * size[axis<Xs>] + me[axis<Xs>]), ...);
    return g;
  }
};

Int value(Int rank, Int i, Int j) { return (rank + 1) * 10000 + i * 100 + j; }

// The block of the calling rank: `value` of its rank in the mesh.
auto block_of_rank(Grid const& mesh, Int n, Int m) {
  auto a = raw_local<Int, Dim<I>, Dim<J>>(mesh, {n, m});
  Int const rank = mesh.coordinate<X>() * mesh.size_of<Y>() + mesh.coordinate<Y>();
  harness::write_block(a, [&](auto const& v) {
    for (Int i = 0; i < static_cast<Int>(v.extent(0)); ++i)
      for (Int j = 0; j < static_cast<Int>(v.extent(1)); ++j)
        v(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) = value(rank, i, j);
  });
  return a;
}

template <class A, class F>
int wrong(A const& a, F f) {
  int bad = 0;
  auto const v = harness::host_block(a);
  for (Int i = 0; i < a.extents()[0]; ++i)
    for (Int j = 0; j < a.extents()[1]; ++j)
      bad += v(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) != f(i, j) ? 1 : 0;
  return bad;
}

// The bytes that the calling rank moves in `run`, by the convention of plans.
template <class Run>
Int bytes_of(Run run) {
  shim::reset();
  run();
  return shim::bytes();
}

// Checks that this rank sends what the plan of the operation says, and holds no more.
template <class Op, class A>
void sends_its_plan(Op const& op, A const& a) {
  INFO(explain(op, a));
  auto const run = [&](auto const& x) { return call(op, std::source_location::current(), x); };
  (void)run(a);  // the first call of a group creates it
  measured_plan::check(Op::name.data(), op, run, a);
  CHECK(plan_at(op, a).operand_count == 1);
}

// Checks the plan of every collective on a block that divides into equal pieces.
template <class... Xs>
void check_plans(Grid const& mesh, Int n, Int m) {
  detail::ManualScope const inside(mesh);
  Int const p = axis_size<Xs...>();
  auto const a = block_of_rank(mesh, n * p, m * p);
  auto const one = block_of_rank(mesh, p, m);
  INFO("group of " << p << ", block " << n * p << " x " << m * p);
  sends_its_plan(op::AllReduce<Xs...>{}, a);
  sends_its_plan(op::AllReduce<Max, Xs...>{}, unreduced<Max, Xs...>(a));
  sends_its_plan(op::AllReduce<Mean, Xs...>{}, cast<double>(a).tensor());
  sends_its_plan(op::AllGather<Xs..., I>{}, a);
  sends_its_plan(op::AllGather<Xs..., J, checking::ToVarying>{}, a);
  sends_its_plan(op::AllGather<Xs..., K, checking::ToReduced>{}, a);
  sends_its_plan(op::ReduceScatter<Xs..., I>{}, a);
  sends_its_plan(op::ReduceScatter<Min, Xs..., J>{}, a);
  sends_its_plan(op::AllToAll<Xs..., I, J>{}, a);
  sends_its_plan(op::AllToAll<Xs..., J, I>{}, a);
  sends_its_plan(op::AllToAll<Xs..., J, J>{}, a);
  sends_its_plan(op::AllToAll<Xs..., I, K>{}, one);
  for (Int const by : {Int{1}, Int{-1}, p}) sends_its_plan(op::Rotate<Xs...>{by}, a);
  sends_its_plan(op::Permute<Xs...>{}, a);
  sends_its_plan(op::Shard<Xs..., J>{}, all_reduce<Xs...>(a));
  sends_its_plan(op::ToVarying<Xs...>{}, all_reduce<Xs...>(a));
  sends_its_plan(op::ToReduced<Xs...>{}, all_reduce<Xs...>(a));
  sends_its_plan(op::ToUnreduced<Xs...>{}, a);
  // plans whose bytes differ from the shim's: MPI counts BroadcastFrom differently, RaggedAllToAll
  // has a bound
  Plan const told = plan_at(op::BroadcastFrom<Xs...>{0}, a);
  CHECK(told.bytes_per_rank() == (p > 1 ? static_cast<Int>(sizeof(Int)) * a.local_size() : 0));
  auto const g = static_cast<std::size_t>(p);
  std::vector<Int> const none(g, 0);
  op::RaggedAllToAll<Xs...> const ragged{{none, none, none, none}};
  Plan const rows = plan_at(ragged, a, a);
  CHECK(rows.bytes_per_rank() - told.bytes_per_rank() ==
        2 * static_cast<Int>(sizeof(Int)) * (p - 1));
  CHECK(bytes_of([&] { (void)call(ragged, std::source_location::current(), a, a); }) ==
        2 * static_cast<Int>(sizeof(Int)) * (p - 1));
}

template <class... Xs>
void check_collectives(Grid const& mesh, Int n, Int m) {
  Group<Xs...> const group(mesh);
  Int const p = group.count;
  INFO("group of " << p << ", block " << n << " x " << m);
  detail::ManualScope const inside(mesh);
  auto const a = block_of_rank(mesh, n, m);
  auto const sum_at = [&](Int i, Int j) {
    Int s = 0;
    for (Int g = 0; g < p; ++g) s += value(group.member(g), i, j);
    return s;
  };
  auto const held = static_cast<Int>(sizeof(Int)) * n * m;

  auto const total = all_reduce<Xs...>(a);
  CHECK(wrong(total, sum_at) == 0);
  CHECK(wrong(all_reduce<Xs...>(unreduced<Xs...>(a)), sum_at) == 0);
  CHECK(wrong(all_reduce<Max, Xs...>(a), [&](Int i, Int j) {
          Int most = 0;
          for (Int g = 0; g < p; ++g) most = std::max(most, value(group.member(g), i, j));
          return most;
        }) == 0);
  CHECK(wrong(all_reduce<Min, Xs...>(unreduced<Min, Xs...>(a)), [&](Int i, Int j) {
          Int least = value(group.member(0), i, j);
          for (Int g = 0; g < p; ++g) least = std::min(least, value(group.member(g), i, j));
          return least;
        }) == 0);
  CHECK(wrong(all_reduce<Mean, Xs...>(cast<double>(a)), [&](Int i, Int j) {
          return static_cast<double>(sum_at(i, j)) / static_cast<double>(p);
        }) == 0);

  auto const along_i = all_gather<Xs..., I>(a);
  CHECK(along_i.extents() == std::array<Int, 2>{n * p, m});
  CHECK(wrong(along_i, [&](Int i, Int j) { return value(group.member(i / n), i % n, j); }) == 0);
  CHECK(wrong(all_gather<Xs..., J>(a, to_varying),
              [&](Int i, Int j) { return value(group.member(j / m), i, j % m); }) == 0);
  CHECK(bytes_of([&] { (void)all_gather<Xs..., J>(a, to_reduced); }) == held * (p - 1));
  auto const stacked = all_gather<Xs..., K>(a);
  CHECK(stacked.extents() == std::array<Int, 3>{p, n, m});
  CHECK(wrong(merge_dims<K, I, N>(stacked),
              [&](Int i, Int j) { return value(group.member(i / n), i % n, j); }) == 0);

  // reduce_scatter of the gathered blocks gives the sum; shard gives this rank's block of them
  // again
  auto const wide = all_gather<Xs..., J>(a);
  auto const scattered = reduce_scatter<Xs..., J>(varying<Xs...>(wide));
  CHECK(wrong(scattered,
              [&](Int i, Int j) { return p * value(group.member(group.place()), i, j); }) == 0);
  CHECK(wrong(shard<Xs..., J>(wide),
              [&](Int i, Int j) { return value(group.member(group.place()), i, j); }) == 0);
  CHECK(wrong(shard<Xs..., I>(along_i),
              [&](Int i, Int j) { return value(group.member(group.place()), i, j); }) == 0);
  CHECK(wrong(reduce_scatter<Max, Xs..., I>(unreduced<Max, Xs...>(varying<Xs...>(along_i))),
              [&](Int i, Int j) { return value(group.member(group.place()), i, j); }) == 0);

  // all_to_all of gathered blocks gives the rank's own pieces, p times
  auto const mixed = einsum<I, J>(varying<Xs...>(along_i), full_local<Int>({}, 1));
  auto const exchanged = all_to_all<Xs..., I, J>(mixed);
  CHECK(exchanged.extents() == std::array<Int, 2>{n, m * p});
  CHECK(wrong(exchanged,
              [&](Int i, Int j) { return value(group.member(group.place()), i, j % m); }) == 0);
  // each rank's own block: member g receives its piece g
  if (n % p == 0) {
    Int const k = n / p;
    CHECK(wrong(all_to_all<Xs..., I, J>(a), [&](Int i, Int j) {
            return value(group.member(j / m), group.place() * k + i, j % m);
          }) == 0);
    CHECK(wrong(all_to_all<Xs..., I, I>(a), [&](Int i, Int j) {
            return value(group.member(k == 0 ? 0 : i / k), group.place() * k + (k == 0 ? 0 : i % k),
                         j);
          }) == 0);
    CHECK(bytes_of([&] { (void)all_to_all<Xs..., I, I>(a); }) == held - held / p);
  } else {
    CHECK(code_of([&] { (void)all_to_all<Xs..., I, J>(a); }) == "E61");
    CHECK(code_of([&] { (void)reduce_scatter<Xs..., I>(a); }) == "E61");
  }
  auto const rows = shard<Xs..., I>(zeros_local<Int, Dim<I>, Dim<J>>({p * p, m}));
  auto const untiled = all_to_all<Xs..., I, K>(rows);
  static_assert(decltype(untiled)::rank == 2);
  CHECK(untiled.extents() == std::array<Int, 2>{p, m});

  // permute: backwards among all ranks but the last; the last rank gets zeros
  std::vector<SourceDestination> pairs;
  for (int g = 0; g + 1 < static_cast<int>(p); ++g) pairs.push_back({g + 1, g});
  CHECK(wrong(permute<Xs...>(a, pairs), [&](Int i, Int j) {
          return group.place() == p - 1 ? 0 : value(group.member(group.place() + 1), i, j);
        }) == 0);
  CHECK(wrong(permute<Xs...>(a, {}), [](Int, Int) { return 0; }) == 0);
  for (Int const by : {Int{1}, Int{-1}, p, 3 * p + 2}) {
    Int const from = ((group.place() - by) % p + p) % p;
    CHECK(wrong(rotate<Xs...>(a, by),
                [&](Int i, Int j) { return value(group.member(from), i, j); }) == 0);
  }
  CHECK(code_of([&] { (void)permute<Xs...>(a, {{0, static_cast<int>(p)}}); }) == "E64");
  CHECK(code_of([&] { (void)permute<Xs...>(a, {{0, 0}, {0, 0}}); }) == "E64");
  CHECK(wrong(broadcast_from<Xs...>(a, static_cast<int>(p - 1)),
              [&](Int i, Int j) { return value(group.member(p - 1), i, j); }) == 0);
  CHECK(code_of([&] { (void)broadcast_from<Xs...>(a, static_cast<int>(p)); }) == "E64");
  CHECK(item(all_reduce<Xs...>(axis_index<Xs...>())) == p * (p - 1) / 2);
  auto const index = axis_index<Xs...>();
  CHECK(harness::host_block(index)() == group.place());
  CHECK(axis_size<Xs...>() == p);
}

}  // namespace

namespace {
// The plan of a function of blocks.
using Block = Local<float, Dim<I>, Dim<J>, Varying<X>>;
constexpr auto function_plan = plan(
    [](auto a) {
      for (int k = 0; k < 3; ++k) a = rotate<X>(a, 1);
      return all_reduce<X>(
          reduce_scatter<Mean, X, I>(all_gather<X, I>(a, to_varying) + broadcast_from<X>(a, 0)));
    },
    type<Block>);
static_assert(function_plan.count(Collective::permute) == 3);
static_assert(function_plan.count(Collective::broadcast) == 1);
static_assert(function_plan.count(Collective::all_gather) == 1);
static_assert(function_plan.count(Collective::reduce_scatter) == 1);
static_assert(function_plan.count(Collective::all_reduce) == 1);
static_assert(function_plan.collectives() == 7);
}  // namespace

TEST_CASE("every collective sends what its plan says") {
  for (std::array<Int, 2> const grid : on_ranks::grids()) {
    Grid const mesh(MPI_COMM_WORLD, grid);
    for (auto [n, m] : {std::pair<Int, Int>{3, 2}, {1, 1}, {0, 2}}) {
      check_plans<X>(mesh, n, m);
      check_plans<Y, X>(mesh, n, m);
    }
  }
}

TEST_CASE("every collective over one and two axes in either order") {
  for (std::array<Int, 2> const grid : on_ranks::grids()) {
    Grid const mesh(MPI_COMM_WORLD, grid);
    for (auto [n, m] : {std::pair<Int, Int>{8, 3}, {5, 1}, {1, 7}, {0, 2}, {24, 16}}) {
      check_collectives<X>(mesh, n, m);
      check_collectives<Y>(mesh, n, m);
      check_collectives<X, Y>(mesh, n, m);
      check_collectives<Y, X>(mesh, n, m);
    }
  }
}

// Pieces along dim `Cut` of a block that has as many dims as a block may have: a plan describes its
// step with two dims as one.
template <int Cut, class... Xs>
void check_eight_dims(Grid const& mesh) {
  detail::ManualScope const inside(mesh);
  Group<Xs...> const group(mesh);
  Int const p = group.count;
  Int const rank = mesh.coordinate<X>() * mesh.size_of<Y>() + mesh.coordinate<Y>();
  std::array<Int, 8> extents{2, 1, 3, 1, 1, 2, 1, 2};
  extents[Cut] = 2 * p;
  auto a = raw_local<Int, Dim<D<0>>, Dim<D<1>>, Dim<D<2>>, Dim<D<3>>, Dim<D<4>>, Dim<D<5>>,
                     Dim<D<6>>, Dim<D<7>>>(mesh, extents);
  harness::write_block(a, [&](auto const& v) {
    for (std::size_t k = 0; k < v.size(); ++k) v.data()[k] = rank * 10000 + static_cast<Int>(k);
  });
  Int inner = 1;
  for (std::size_t d = Cut + 1; d < 8; ++d) inner *= extents[d];
  sends_its_plan(op::AllToAll<Xs..., D<Cut>, D<Cut>>{}, a);
  auto const moved = all_to_all<Xs..., D<Cut>, D<Cut>>(a);
  CHECK(moved.extents() == extents);
  auto const v = harness::host_block(moved);
  int bad = 0;
  for (Int k = 0; k < static_cast<Int>(v.size()); ++k) {
    Int const row = k / inner % (2 * p);
    Int const there = k + (group.place() * 2 + row % 2 - row) * inner;
    bad += v.data()[k] != group.member(row / 2) * 10000 + there ? 1 : 0;
  }
  CHECK(bad == 0);
}

TEST_CASE("pieces along one of eight dims") {
  for (std::array<Int, 2> const grid : on_ranks::grids()) {
    Grid const mesh(MPI_COMM_WORLD, grid);
    check_eight_dims<0, X, Y>(mesh);
    check_eight_dims<3, Y, X>(mesh);
    check_eight_dims<6, X>(mesh);
    check_eight_dims<7, X, Y>(mesh);
  }
}

TEST_CASE("one pair of ranks, as the first use of a group") {
  for (std::array<Int, 2> const grid : on_ranks::grids()) {
    Grid const mesh(MPI_COMM_WORLD, grid);
    detail::ManualScope const inside(mesh);
    Group<Y, X> const group(mesh);
    Int const last = group.count - 1;
    auto const a = block_of_rank(mesh, 2, 3);
    auto const moved = permute<Y, X>(a, {{0, static_cast<int>(last)}});
    CHECK(wrong(moved, [&](Int i, Int j) {
            return group.place() == last ? value(group.member(0), i, j) : 0;
          }) == 0);
  }
}

TEST_CASE("rows of any number go to each rank") {
  for (std::array<Int, 2> const grid : on_ranks::grids()) {
    Grid const mesh(MPI_COMM_WORLD, grid);
    detail::ManualScope const inside(mesh);
    Group<Y, X> const group(mesh);
    auto const p = static_cast<std::size_t>(group.count);
    auto const me = static_cast<std::size_t>(group.place());
    // rank r sends (r + g) % 3 rows to rank g, at row r * 3 of the output there
    std::vector<Int> at(p), send(p), to(p), receive(p);
    Int rows = 0;
    for (std::size_t g = 0; g < p; ++g) {
      at[g] = rows;
      send[g] = static_cast<Int>((me + g) % 3);
      to[g] = static_cast<Int>(me * 3);
      receive[g] = send[g];
      rows += send[g];
    }
    auto const a = block_of_rank(mesh, rows, 2);
    auto const out = full_local<Int, Dim<I>, Dim<J>>({static_cast<Int>(3 * p), 2}, -1);
    auto const moved = ragged_all_to_all<Y, X>(a, out, {at, send, to, receive});
    static_assert(std::is_same_v<decltype(moved), Local<Int, Dim<I>, Dim<J>, Varying<X, Y>> const>);
    auto const v = harness::host_block(moved);
    for (std::size_t g = 0; g < p; ++g) {
      Int begin = 0;  // of this rank's rows in member g's block
      for (std::size_t k = 0; k < me; ++k) begin += static_cast<Int>((g + k) % 3);
      for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t j = 0; j < 2; ++j) {
          Int const expected = r < (me + g) % 3
                                   ? value(group.member(static_cast<Int>(g)),
                                           begin + static_cast<Int>(r), static_cast<Int>(j))
                                   : -1;
          CHECK(v(g * 3 + r, j) == expected);
        }
    }
    CHECK(harness::host_block(out)(0, 0) == -1);  // the output operand itself is not written
    auto far = send;
    for (Int& s : far) s += 1000;
    CHECK(code_of([&] { (void)ragged_all_to_all<Y, X>(a, out, {at, far, to, receive}); }) == "E64");
    CHECK(code_of([&] {
            (void)ragged_all_to_all<Y, X>(a, out, {at, send, std::span(to).first(p - 1), receive});
          }) == "E64");
  }
}

TEST_CASE("tensors go in as blocks and come out whole") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const px = mesh.size_of<X>();
  Int const py = mesh.size_of<Y>();
  auto const f = [](Int i, Int j) { return i * 100 + j; };
  auto const a = from_function<Int, Dim<I, X>, Dim<J, Y>>(mesh, {px * 4, py * 3}, f);
  SECTION("identity shares memory; an invariant output may be split") {
    auto const same = shard_map<Dim<I, X>, Dim<J, Y>>([](auto b) { return b; }, a);
    static_assert(std::is_same_v<decltype(same), decltype(a)>);
    CHECK(same.local().data() == a.local().data());
    auto const ones =
        shard_map<Dim<I, X>>([](auto) { return full_local<double, Dim<I>>({3}, 2.0); }, a);
    CHECK(ones.extent<I>() == 3 * px);
    CHECK(item(sum<Tensor<double>>(ones)) == 6.0 * static_cast<double>(px));
  }
  SECTION("several in, several out") {
    auto const b = from_function<Int, Dim<J, Y>>(mesh, {py * 3}, [](Int j) { return j; });
    auto const [s, t] = shard_map<Outs<Tensor<Int, Dim<I, X>>, Tensor<Int, Dim<J, Y>, Dim<I, X>>>>(
        [](auto x, auto y) {
          return std::tuple(all_reduce<Y>(einsum<I>(x, y)), transpose<J, I>(x + y));
        },
        a, b);
    CHECK(on_ranks::wrong(s, [&](Int i) {
            Int sum = 0;
            for (Int j = 0; j < py * 3; ++j) sum += f(i, j) * j;
            return sum;
          }) == 0);
    CHECK(on_ranks::wrong(t, [&](Int j, Int i) { return f(i, j) + j; }) == 0);
  }
  SECTION("unreduced goes through") {
    auto const unreduced =
        einsum<I>(a, from_function<Int, Dim<J, Y>>(mesh, {py * 3}, [](Int) { return 1; }));
    auto const still = shard_map<Dim<I, X>, Unreduced<Y>>([](auto b) { return b + b; }, unreduced);
    CHECK(on_ranks::wrong(all_reduce<Y>(still), [&](Int i) {
            Int sum = 0;
            for (Int j = 0; j < py * 3; ++j) sum += 2 * f(i, j);
            return sum;
          }) == 0);
  }
  SECTION("without arguments, and strict inside of manual") {
    auto const index =
        shard_map<Dim<I, Y, X>>(mesh, [] { return expand<I>(cast<double>(axis_index<Y, X>())); });
    CHECK(index.extent<I>() == px * py);
    CHECK(on_ranks::wrong(index, [](Int i) { return static_cast<double>(i); }) == 0);
    auto const turned = shard_map<Dim<I>, Dim<J>>(
        [](auto b) {
          auto const whole = strict<Tensor<Int, Dim<I, X>, Dim<J, Y>>>(
              [](auto t) { return reshard<Dim<I>, Dim<J>>(t + t); }, b);
          static_assert(std::is_same_v<decltype(whole), Local<Int, Dim<I>, Dim<J>> const>);
          return whole;
        },
        a);
    CHECK(on_ranks::wrong(turned, [&](Int i, Int j) { return 2 * f(i, j); }) == 0);
  }
  SECTION("errors name what is wrong, before anything is sent") {
    auto const uneven = zeros<float, Dim<I, X>>(mesh, {px * 2 + 1});
    bool ran = false;
    auto const go = [&] {
      (void)shard_map<Dim<I, X>>(
          [&](auto b) {
            ran = true;
            return b;
          },
          uneven);
    };
    CHECK(code_of(go) == (px > 1 ? "E61" : "none"));
    CHECK(ran == (px == 1));
    // the fix that the message advises
    auto const whole = pad<I>(reshard<Dim<I>>(uneven), 0, px - 1);
    CHECK(shard_map<Dim<I, X>>([](auto b) { return b; }, reshard<Dim<I, X>>(whole))
              .template extent<I>() == px * 3);
    CHECK(code_of([&] {
            (void)shard_map<Dim<I, X>, Dim<J, Y>>(
                [&](auto b) {
                  (void)(a + a).tensor();
                  return b;
                },
                a);
          }) == "E60");
    CHECK(on_ranks::wrong((a + a).tensor(), [&](Int i, Int j) { return 2 * f(i, j); }) == 0);
    CHECK(code_of([&] { (void)axis_index<X>(); }) == "E63");
    CHECK(code_of([&] {
            (void)shard_map<Tensor<std::int32_t>>(mesh,
                                                  [] { return all_reduce<Z>(axis_index<Z>()); });
          }) == "E13");
    CHECK(code_of([&] {
            (void)shard_map<Dim<I>>(mesh, [] {
              auto b = zeros_local<float, Dim<I>>({4});
              (void)b.mutable_local();
              return b;
            });
          }) == (px * py > 1 ? "E62" : "none"));
  }
  SECTION("a static extent is the whole dim's") {
    if (8 % px == 0) {
      auto const whole = from_function<Int, Dim<N8, X>>(mesh, {8}, [](Int i) { return i; });
      auto const up = shard_map<Dim<N8, X>>(
          [&](auto b) {
            CHECK(b.template extent<N8>() == 8 / px);
            return b + b;
          },
          whole);
      CHECK(on_ranks::wrong(up, [](Int i) { return 2 * i; }) == 0);
    }
  }
}

TEST_CASE("loops, branches and promises") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const px = mesh.size_of<X>();
  auto const a = from_function<double, Dim<I, X>>(mesh, {px * 2}, [](Int i) { return double(i); });
  auto const looped = shard_map<Dim<I, X>>(
      [&](auto b) { return loop(px, b, [](Int, auto c) { return rotate<X>(c, 1); }); }, a);
  CHECK(on_ranks::wrong(looped, [](Int i) { return double(i); }) == 0);
  auto const doubled = shard_map<Tensor<double>>(
      [](auto b) {
        return loop_while([](auto c) { return c < 1000.0; }, all_reduce<X>(sum(b)) + 1.0,
                          [](auto c) { return c * 2.0; });
      },
      a);
  double expected = static_cast<double>(px * 2 * (px * 2 - 1) / 2) + 1.0;
  while (expected < 1000.0) expected *= 2.0;
  CHECK(item(doubled) == expected);
  auto const chosen = shard_map<Dim<I, X>>(
      [](auto b) {
        return branch(
            all_reduce<X>(sum(b)) > 0.5, [](auto c) { return c * 2.0; },
            [](auto c) { return c * 3.0; }, b);
      },
      a);
  double const factor = px * 2 * (px * 2 - 1) / 2 > 0 ? 2.0 : 3.0;
  CHECK(on_ranks::wrong(chosen, [&](Int i) { return factor * double(i); }) == 0);
  auto const promised = shard_map<Dim<I>>(
      [](auto b) { return assume_invariant<X>(all_gather<X, I>(b, to_varying)); }, a);
  CHECK(on_ranks::wrong(promised, [](Int i) { return double(i); }) == 0);
  auto const mean_per_shard = shard_map<Dim<I, X>>([](auto b) { return expand<I>(mean(b)); }, a);
  CHECK(on_ranks::wrong(mean_per_shard, [](Int i) { return 2.0 * double(i) + 0.5; }) == 0);
}

TEST_CASE("half of the ranks") {
  int const n = on_ranks::rank_total();
  if (n < 2) return;
  Mesh<X> const mesh(MPI_COMM_WORLD, {n / 2});
  auto const a = from_function<Int, Dim<I, X>>(mesh, {n / 2 * 3}, [](Int i) { return i; });
  auto const b = shard_map<Dim<I>>(
      [](auto block) { return all_gather<X, I>(block) * full_local<Int>({}, 2); }, a);
  CHECK(b.extent<I>() == n / 2 * 3);
  if (mesh.here()) CHECK(on_ranks::wrong(b, [](Int i) { return 2 * i; }) == 0);
  CHECK(b.local_size() == (mesh.here() ? n / 2 * 3 : 0));
}

// A functor with a name, launched outside of a lambda: nvcc requires both.
template <class To, class From>
struct Square {
  To to;
  From from;
  KOKKOS_INLINE_FUNCTION void operator()(int i) const { to(i) = from(i) * from(i); }
};
template <class A>
void squares_of(A const& a, A& out) {
  auto const to = out.mutable_local();
  auto const from = a.local();
  Kokkos::parallel_for("squares", static_cast<int>(from.extent(0)),
                       Square<decltype(out.mutable_local()), decltype(a.local())>{to, from});
  Kokkos::fence();
}

TEST_CASE("a Kokkos kernel on the raw blocks") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const p = mesh.size_of<X>() * mesh.size_of<Y>();
  auto const a = from_function<Int, Dim<I, X, Y>>(mesh, {p * 5}, [](Int i) { return i; });
  auto const squares = shard_map<Dim<I, X, Y>>(
      [](auto b) {
        auto out = b.clone();
        squares_of(b, out);
        return out;
      },
      a);
  CHECK(on_ranks::wrong(squares, [](Int i) { return i * i; }) == 0);
}

// axis_index varies over the named axes and no other; axis_size is a number.
static_assert(std::is_same_v<decltype(axis_index<X>()), Local<std::int32_t, Varying<X>>>);
static_assert(std::is_same_v<decltype(axis_index<Y, X>()), Local<std::int32_t, Varying<X, Y>>> ||
              std::is_same_v<decltype(axis_index<Y, X>()), Local<std::int32_t, Varying<Y, X>>>);
static_assert(std::is_same_v<decltype(axis_size<X, Y>()), std::int64_t>);

TEST_CASE("JAX's permutation of a whole group, and an axis for a dim") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const py = mesh.size_of<Y>();
  detail::ManualScope const inside(mesh);
  auto const a = block_of_rank(mesh, py, 2);
  Int const x = mesh.coordinate<X>();
  Int const y = mesh.coordinate<Y>();
  std::vector<int> from;
  for (Int g = 0; g < py; ++g) from.push_back(static_cast<int>((g * 3 + 1) % py));
  bool const whole = py % 3 != 0;  // else some ranks appear twice
  if (whole) {
    auto const shuffled = jax::pshuffle<Y>(a, from);
    static_assert(
        std::is_same_v<std::remove_const_t<decltype(shuffled)>, std::remove_const_t<decltype(a)>>);
    CHECK(wrong(shuffled, [&](Int i, Int j) {
            return value(x * py + from[static_cast<std::size_t>(y)], i, j);
          }) == 0);
  } else {
    CHECK(code_of([&] { (void)jax::pshuffle<Y>(a, from); }) == "E64");
  }
  from.push_back(0);
  CHECK(code_of([&] { (void)jax::pshuffle<Y>(a, from); }) == "E64");
  CHECK(wrong(jax::pswapaxes<Y, I>(a), [&](Int i, Int j) { return value(x * py + i, y, j); }) == 0);
}

TEST_CASE("JAX's names") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const px = mesh.size_of<X>();
  auto const a = from_function<double, Dim<I, X>>(mesh, {px * 2}, [](Int i) { return double(i); });
  auto const out = shard_map<Outs<Tensor<double, Dim<I>>, Tensor<double, Dim<I, X>>,
                                  Tensor<double, Dim<I, X>>, Tensor<double>>>(
      [&](auto b) {
        auto const back =
            jax::fori_loop(0, px, [](Int, auto c) { return jax::ppermute<X>(c, {}); }, b);
        auto const one =
            jax::while_loop([](auto c) { return c < 0.0; }, [](auto c) { return c + 1.0; },
                            jax::psum<X>(sum(b)) * 0.0);
        return std::tuple(
            jax::pmax<X>(b) - jax::pmin<X>(b),
            jax::psum_scatter<X, I>(jax::all_gather<X, I>(b)) + back,
            jax::dynamic_slice_in_dim<I>(jax::all_gather<X, I>(b), jax::axis_index<X>() * 2, 2),
            jax::cond(
                one < 0.5, [](auto c) { return c + 1.0; }, [](auto c) { return c; }, one) +
                jax::pmean<X>(sum(jax::pbroadcast<X>(b, 0) * 0.0)));
      },
      a);
  double const spread = static_cast<double>((px - 1) * 2);
  CHECK(on_ranks::wrong(std::get<0>(out), [&](Int) { return spread; }) == 0);
  CHECK(on_ranks::wrong(std::get<1>(out), [&](Int i) { return double(px) * double(i); }) == 0);
  CHECK(on_ranks::wrong(std::get<2>(out), [](Int i) { return double(i); }) == 0);
  CHECK(item(std::get<3>(out)) == 1.0);
}

// As tensors are: made of an expression, assigned from one, also to members, in loops, and what
// they hold before is part of it.
TEST_CASE("blocks are made and assigned from elementwise expressions") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const n = mesh.size_of<X>() * 2;
  auto const a = from_function<double, Dim<I, X>>(mesh, {n}, [](Int i) { return double(i); });
  auto const body = [](auto const& x) {
    using B = std::remove_cvref_t<decltype(x)>;
    struct Two {
      B first;
      B second;
    };
    B s = x + x;  // 2 x
    s = s + x;    // 3 x
    s = s * 2.0;  // 6 x
    Two two{s, x};
    two.first = two.first - two.second;  // 5 x
    two.second = two.first * x;          // 5 x x
    auto looped = loop(2, two.second, [&](auto, auto const& c) {
      auto next = c;
      next = next + x;
      return next;
    });  // 5 x x + 2 x
    s = looped * 1.0;
    s += x;
    return s;
  };
  auto const out = shard_map<Dim<I, X>>(body, a);
  CHECK(on_ranks::wrong(out, [](Int i) { return 5.0 * double(i * i) + 3.0 * double(i); }) == 0);
  auto const slope =
      grad<0>([&](auto const& x) { return all_reduce<X>(sum(shard_map<Dim<I, X>>(body, x))); })(a);
  CHECK(on_ranks::wrong(slope, [](Int i) { return 10.0 * double(i) + 3.0; }) == 0);
  // of blocks that do not vary, and of summands
  auto const same = shard_map<Dim<I>>(
      [](auto x) {
        auto y = x;
        y = x * 2.0 + y;
        return y;
      },
      full<double, Dim<I>>(mesh, {3}, 1.0));
  CHECK(on_ranks::wrong(same, [](Int) { return 3.0; }) == 0);
  auto const summed = shard_map<Dim<I>>(
      [](auto x) {
        auto u = x;
        u = u + x;
        return all_reduce<X>(u);
      },
      full<double, Dim<I>, Unreduced<X>>(mesh, {3}, 1.0));
  CHECK(on_ranks::wrong(summed, [](Int) { return 2.0; }) == 0);
}
