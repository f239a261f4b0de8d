// The program of docs/tutorials/6_overlap.md and 7_experts_and_rings.md: products whose collectives
// run beside them, by hand and by the library, a mixture of experts in several forms, and attention
// around a ring. On 8 ranks.
// SHOWN: docs
// RANKS: 8
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

// docs: names
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct B : Index<"B", 8> {};
struct D : Index<"D", 16> {};
struct F : Index<"F", 32> {};
using Activations = Tensor<float, Dim<B, X>, Dim<D, Y>>;
using Hidden = Tensor<float, Dim<B, X>, Dim<F, Y>>;
using WeightsIn = Tensor<float, Dim<D>, Dim<F, Y>>;
using WeightsOut = Tensor<float, Dim<F, Y>, Dim<D>>;
// docs: end

// docs: shard-names
struct Row : Index<"Row"> {};
struct Column : Index<"Column"> {};
// docs: end

// docs: expert-names
struct S : Index<"S", 64> {};  // tokens
struct E : Index<"E", 4> {};   // experts
using Tokens = Tensor<double, Dim<S, X>, Dim<D, Y>>;
using Router = Tensor<double, Dim<D>, Dim<E>>;
using Into = Tensor<double, Dim<E, X>, Dim<D>, Dim<F, Y>>;
using Back = Tensor<double, Dim<E, X>, Dim<F, Y>, Dim<D>>;
// docs: end

// docs: by-expert
struct Place : Index<"Place", 64> {};
// The rows in the order of their experts, one product for each group, and back. a: [S, D], w: [E,
// D, F].
constexpr auto by_expert = [](auto const& a, auto const& w, auto const& ids) {
  auto const order = argsort<S>(ids);
  auto const sorted = take<S>(a, relabel<S, Place>(order));
  auto const sizes = sum<S>(one_hot<E, std::int64_t>(ids, 4));
  return take<Place>(nn::ragged_dot<D>(sorted, w, sizes), argsort<S>(order));
};
// docs: end

// docs: mixture
constexpr auto mixture = [](auto const& a, auto const& r, auto const& w, auto const& v) {
  auto const x = all_gather<Y>(a);                     // the features of the rank's tokens
  auto const routes = nn::router<E>(matmul(x, r), 2);  // two experts for each token
  // rows travel to their experts, and back; then the parts of F are added up
  return nn::moe<Dim<S, X>, Dim<D, Y>>(x, routes, w, v);
};
constexpr auto of_mixture = plan(mixture, type<Tokens>, type<Router>, type<Into>, type<Back>);
static_assert(of_mixture.count(Collective::all_to_all) == 3);
static_assert(of_mixture.count(Collective::all_gather) == 1);
static_assert(of_mixture.count(Collective::reduce_scatter) == 1);
// docs: end

// docs: ring-names
struct L : Index<"L", 64> {};  // positions
struct H : Index<"H", 2> {};   // heads
struct K : Index<"K", 8> {};   // features of a head
using Heads = Tensor<double, Dim<B, X>, Dim<L, Y>, Dim<H>, Dim<K>>;
constexpr auto of_ring = plan(op::RingAttention{}, type<Heads>, type<Heads>, type<Heads>);
static_assert(of_ring.count(Collective::permute) == 3 && of_ring.collectives() == 3);
// queries, keys, values and the result, two travelling blocks of keys with values, and less than
// one block of scores
constexpr std::int64_t own = 4 * 16 * 2 * 8 * sizeof(double);
static_assert(of_ring.peak_bytes() < (4 + 2 * 2 + 1) * own);
// docs: end

// docs: turns
// Two positions to each rank in turn: the last rank no longer has most of the scores.
using Turns = Tensor<double, Dim<B, X>, Dim<L, Cyclic<Y, 2>>, Dim<H>, Dim<K>>;
constexpr auto of_turns = plan(op::RingAttention{}, type<Turns>, type<Turns>, type<Turns>);
static_assert(of_turns.bytes_per_rank() == of_ring.bytes_per_rank());
static_assert(of_turns.peak_bytes() == of_ring.peak_bytes());
static_assert(10 * of_turns.flops() < 6 * of_ring.flops());
// docs: end

// docs: by-hand
// h: [B, F] and w: [F, D], a rank's blocks. The sums of a block of D travel round the ring of Y and
// arrive at the rank that keeps the block; each rank on the way adds its part.
constexpr auto scattered = [](auto const& h, auto const& w, std::int32_t direction) {
  auto const p = static_cast<std::int32_t>(axis_size<Y>());
  std::int64_t const width = w.template extent<D>() / p;
  auto const part = [&](std::int64_t k) {  // of the block that passes here in round k
    auto const left = direction * (p - 1 - static_cast<std::int32_t>(k));
    auto const owner = (axis_index<Y>() + (left + p)) % p;
    return matmul(h, dynamic_slice<D>(w, owner * static_cast<std::int32_t>(width), width));
  };
  return loop(p - 1, part(0), [&](std::int64_t k, auto const& sum) {
    return (rotate<Y>(sum, direction) + part(k + 1)).tensor();
  });
};
// docs: end

// docs: layers
constexpr auto layers(Overlap how) {
  return [how](auto const& x, auto const& w, auto const& v) {
    auto const h = matmul<Dim<B, X>, Dim<F, Y>>(x, w, how);
    return matmul<Dim<B, X>, Dim<D, Y>>(relu(h), v, how);
  };
}
constexpr auto of_layers =
    plan(layers(Overlap::none), type<Activations>, type<WeightsIn>, type<WeightsOut>);
// docs: end

// docs: strict-in-manual
// In a shard_map, of blocks of a sequence that is split: strict mode knows which positions they
// have.
constexpr auto of_blocks = [](auto const&... blocks) {
  return strict<Heads, Heads, Heads>(
      [](auto const&... whole) {
        return nn::attention<Dim<B, X>, Dim<L, Y>, Dim<H>, Dim<K>>(whole..., {.causal = true});
      },
      blocks...);
};
// docs: end

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  bool const first = env.rank() == 0;
  int wrong = 0;
  auto const section = [&](char const* name) {
    if (first) std::printf("== %s\n", name);
  };
  auto const say = [&](std::string const& text) {
    if (first) std::printf("%s\n", text.c_str());
  };
  auto const holds = [&](bool fact, char const* what) {
    if (fact) return;
    ++wrong;
    std::printf("does not hold: %s\n", what);
  };
  auto const same = [](auto const& a, auto const& b) {
    return std::string(array_equal(a, b) ? "the same bits" : "other bits");
  };
  Mesh<X, Y> const mesh(env.world());
  // Whole numbers, so that every order of a sum gives the same bits.
  auto const number = [](std::int64_t i, std::int64_t j) {
    return static_cast<float>((7 * i + 5 * j + i * j) % 9 - 4);
  };

  section("means");
  // docs: means
  auto const table = from_function<double, Dim<Row, X>, Dim<Column, Y>>(
      mesh, {8, 8}, [](std::int64_t i, std::int64_t j) { return static_cast<double>(8 * i + j); });
  auto const means = shard_map<Dim<Row, X>, Dim<Column, Y>>(
      [](auto const& b) { return expand<Row, Column>(mean(b)); }, table);
  print(means);
  // docs: end

  section("means-strict");
  // docs: means-strict
  struct I : Index<"I"> {};  // which block
  struct J : Index<"J"> {};
  struct P : Index<"P"> {};  // where in it
  struct Q : Index<"Q"> {};
  auto const blocks_of = [](auto const& t) {
    return split_dim<Column, Dim<J, Y>, Dim<Q>>(split_dim<Row, Dim<I, X>, Dim<P>>(t, {2, 4}),
                                                {4, 2});
  };
  auto const strict = mean<P, Q>(blocks_of(table));  // compiles: nothing is sent
  auto const expression = mean<P, Q>(blocks_of(lazy(table)));
  auto const planned = evaluate<Dim<I, X>, Dim<J, Y>>(mesh, expression);
  say(explain(evaluate_to<Dim<I, X>, Dim<J, Y>>, mesh, expression));
  // docs: end
  holds(array_equal(relabel<I, Row, J, Column>(strict), means), "the means in strict mode");
  holds(array_equal(planned, strict), "the means in automatic mode");

  section("rolled");
  // docs: rolled
  auto const rolled = shard_map<Dim<Row, X>, Dim<Column, Y>>(
      [](auto const& b) { return roll<Row>(b, 1) - b; }, table);
  print(rolled);
  // docs: end
  auto const expected_rolls = from_function<double, Dim<Row, X>, Dim<Column, Y>>(
      mesh, {8, 8}, [](std::int64_t i, std::int64_t) { return i % 4 == 0 ? 24.0 : -8.0; });
  holds(array_equal(rolled, expected_rolls), "rolled in each block");
  // docs: rolled-strict
  auto const parts = split_dim<Row, Dim<I, X>, Dim<P>>(table, {2, 4});  // [block, row in it]
  auto const rolled_strict = merge_dims<I, P, Row>((roll<P>(parts, 1) - parts).tensor());
  // docs: end
  holds(array_equal(rolled_strict, rolled), "rolled in strict mode");

  auto const in = from_function<Activations>(mesh, number);
  auto const w_in = from_function<WeightsIn>(mesh, number);
  auto const hidden = from_function<Hidden>(mesh, number);
  auto const w_out = from_function<WeightsOut>(mesh, number);

  section("scatter");
  // docs: scatter
  auto const plain = matmul<Dim<B, X>, Dim<D, Y>>(hidden, w_out);
  auto const ring = matmul<Dim<B, X>, Dim<D, Y>>(hidden, w_out, Overlap::ring);
  auto const by_hand = shard_map<Dim<B, X>, Dim<D, Y>>(
      [](auto const& h, auto const& w) { return scattered(h, w, 1); }, hidden, w_out);
  say(explain(op::Matmul<Dim<B, X>, Dim<D, Y>>{}, hidden, w_out));
  say("in a ring " + same(ring, plain) + ", by hand " + same(by_hand, plain));
  // docs: end
  holds(array_equal(ring, plain), "in a ring");
  holds(array_equal(by_hand, plain), "in a ring by hand");

  section("both-ways");
  // docs: both-ways
  auto const both_ways = shard_map<Dim<B, X>, Dim<D, Y>>(
      [](auto const& h, auto const& w) {
        // half of the rows of h go one way, half the other
        std::int64_t const rows = h.template extent<B>();
        auto const up = slice<B>(h, 0, rows / 2);
        auto const down = slice<B>(h, rows / 2, rows);
        return concat<B>(scattered(up, w, 1), scattered(down, w, -1));
      },
      hidden, w_out);
  auto const bidirectional = matmul<Dim<B, X>, Dim<D, Y>>(hidden, w_out, Overlap::bidirectional);
  auto const reduced_so = matmul<Dim<B, X>, Dim<D>>(hidden, w_out, Overlap::bidirectional);
  auto const whole = reshard<Dim<B, X>, Dim<D>>(plain);
  say(same(bidirectional, plain) + ", by hand " + same(both_ways, plain));
  say("AllReduce " + same(reduced_so, whole));
  // docs: end
  holds(array_equal(reduced_so, whole), "an AllReduce both ways");
  holds(array_equal(bidirectional, plain), "both ways");
  holds(array_equal(both_ways, plain), "both ways by hand");

  section("reduce");
  // docs: reduce
  struct Tile : Index<"Tile"> {};
  auto const left = matmul(hidden, slice<D, Tile>(w_out, 0, 8));    // the first tile, {U:Y}
  auto of_left = start(op::AllReduce<Y>{}, left);                   // sends from here on
  auto const right = matmul(hidden, slice<D, Tile>(w_out, 8, 16));  // meanwhile
  auto of_right = start(op::AllReduce<Y>{}, right);
  auto const tiled = concat<Tile, D>(std::move(of_left).wait(), std::move(of_right).wait());
  auto const reduced = matmul<Dim<B, X>, Dim<D>>(hidden, w_out, Overlap::ring);
  say(same(tiled, reduced));
  // docs: end
  holds(array_equal(reduced, reshard<Dim<B, X>, Dim<D>>(plain)), "an AllReduce in a ring");
  holds(array_equal(tiled, reduced), "an AllReduce of tiles");

  section("block");
  // docs: block
  auto const out = layers(Overlap::bidirectional)(in, w_in, w_out);
  say(explain(of_layers) + same(out, layers(Overlap::none)(in, w_in, w_out)));
  // docs: end
  holds(array_equal(out, layers(Overlap::none)(in, w_in, w_out)), "the block");

  section("local-experts");
  // docs: local-experts
  auto const a = normal<double, Dim<S>, Dim<D>>(mesh, RandomKey{1});
  auto const w = normal<double, Dim<E>, Dim<D>, Dim<F>>(mesh, RandomKey{2});
  auto const ids = integers<std::int64_t, Dim<S>>(mesh, RandomKey{3}, 0, 4);
  auto const mixed = by_expert(a, w, ids);
  say(type_name(mixed));
  // docs: end
  auto const dense = einsum<S, F>(one_hot<E, double>(ids, 4), einsum<S, E, F>(a, w));
  holds(allclose(mixed, dense, 1e-9, 1e-9), "the sum over all experts, of which one counts");

  section("experts-automatic");
  // docs: experts-automatic
  auto const split_a = reshard<Dim<S, X>, Dim<D, Y>>(a);
  auto const split_w = reshard<Dim<E, X>, Dim<D>, Dim<F, Y>>(w);
  auto const split_ids = reshard<Dim<S, X>>(ids);
  auto const by_planner =
      evaluate<Dim<S, X>, Dim<F, Y>>(mesh, by_expert, split_a, split_w, split_ids);
  say(explain(evaluate_to<Dim<S, X>, Dim<F, Y>>, mesh,
              by_expert(lazy(split_a), lazy(split_w), lazy(split_ids))));
  // docs: end
  holds(allclose(reshard<Dim<S>, Dim<F>>(by_planner), mixed, 1e-9, 1e-9), "by the planner");

  section("assigned");
  // docs: assigned
  // Each expert has one matrix: the second product of moe is with the identity.
  struct G : Index<"G", 32> {};
  auto const eye = from_function<double, Dim<E, X>, Dim<F, Y>, Dim<G>>(
      mesh, [](std::int64_t, std::int64_t f, std::int64_t g) { return f == g ? 1.0 : 0.0; });
  auto const all_features = all_gather<Y>(split_a);
  auto const assigned = [&](auto const& experts, double weight, auto form) {
    auto const weights =
        full<double, Dim<S, X>, Dim<nn::Choice>>(mesh, {64, experts.extents()[1]}, weight);
    auto const itself = [](auto const& h) { return h; };
    return nn::moe<Dim<S, X>, Dim<G, Y>>(all_features, nn::Routes{experts, weights}, split_w, eye,
                                         form, itself);
  };
  auto const one_each = transpose<S, nn::Choice>(expand<nn::Choice>(split_ids));  // B[S]
  auto const two_each = integers<std::int64_t, Dim<S, X>, Dim<nn::Choice>>(
      mesh, {64, 2}, RandomKey{9}, 0, 4);  // B[S, k]
  auto const of_gathered = assigned(one_each, 1.0, nn::Gathered{});
  auto const of_ragged = assigned(one_each, 1.0, nn::Ragged{});
  auto const averaged = assigned(two_each, 0.5, nn::Ragged{});
  // docs: end
  auto const as_mixed = [](auto const& rows) {
    return relabel<G, F>(reshard<Dim<S>, Dim<G>>(rows));
  };
  auto const shares = (0.5 * sum<nn::Choice>(one_hot<E, double>(two_each, 4))).tensor();
  auto const dense_average = einsum<S, F>(reshard<Dim<S>, Dim<E>>(shares), einsum<S, E, F>(a, w));
  bool const assigned_right = allclose(as_mixed(of_gathered), mixed, 1e-9, 1e-9) &&
                              allclose(as_mixed(of_ragged), mixed, 1e-9, 1e-9) &&
                              allclose(as_mixed(averaged), dense_average, 1e-9, 1e-9);
  say(type_name(of_ragged) + (assigned_right ? ", the same sums" : ", other sums"));
  holds(assigned_right, "assigned experts");

  section("experts");
  // docs: experts
  auto const router = normal<Router>(mesh, RandomKey{4});
  auto const back = normal<Back>(mesh, RandomKey{5});
  auto const ragged = mixture(split_a, router, split_w, back);
  auto const x = all_gather<Y>(split_a);
  auto const routes = nn::router<E>(matmul(x, router), 2);
  auto const gathered = nn::moe<Dim<S, X>, Dim<D, Y>>(x, routes, split_w, back, nn::Gathered{});
  say(explain(of_mixture));
  say("rows of each expert: " + to_text(nn::expert_load<E>(routes, 4)));
  // docs: end
  auto const local = nn::moe(x, routes, w, reshard<Dim<E>, Dim<F>, Dim<D>>(back));
  auto const expected_rows = reshard<Tokens>(local);
  holds(allclose(ragged, expected_rows, 1e-9, 1e-9), "rows that travel");
  holds(allclose(gathered, expected_rows, 1e-9, 1e-9), "rows that are gathered");

  section("ring");
  // docs: ring
  auto const q = normal<Heads>(mesh, RandomKey{6});
  auto const k = normal<Heads>(mesh, RandomKey{7});
  auto const v = normal<Heads>(mesh, RandomKey{8});
  auto const seen = nn::attention<Dim<B, X>, Dim<L, Y>, Dim<H>, Dim<K>>(q, k, v, {.causal = true});
  say(explain(op::RingAttention{}, q, k, v));
  // docs: end
  using Whole = Tensor<double, Dim<B, X>, Dim<L>, Dim<H>, Dim<K>>;
  auto const expected =
      nn::attention(reshard<Whole>(q), reshard<Whole>(k), reshard<Whole>(v), {.causal = true});
  holds(allclose(reshard<Whole>(seen), expected, 1e-9, 1e-9), "the ring");
  auto const turns = nn::attention<Dim<B, X>, Dim<L, Cyclic<Y, 2>>, Dim<H>, Dim<K>>(
      reshard<Turns>(q), reshard<Turns>(k), reshard<Turns>(v), {.causal = true});
  holds(allclose(reshard<Whole>(turns), expected, 1e-9, 1e-9), "the ring in turns");
  auto const by_blocks =
      shard_map<Heads>([](auto const&... blocks) { return of_blocks(blocks...); }, q, k, v);
  holds(array_equal(by_blocks, seen), "the ring from blocks");
  return wrong == 0 ? 0 : 1;
}
