// Functions of each rank's own block, and the cases that need a collective. On 8 ranks.
// SHOWN: docs
// RANKS: 8
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct Head : Index<"Head"> {};

template <class A, class T>
void show(char const* what, A const& a, std::vector<T> const& expected) {
  std::vector<T> const values = to_host(a);
  std::string const text = to_text(a);
  if (a.mesh().state().whole().rank() == 0) std::printf("%s: %s\n", what, text.c_str());
  if (values != expected) throw Error("example", std::string(what) + " gave other numbers");
}

// The type of the blocks of a vector that is split over both axes. Operations on blocks send
// nothing.
using Block = local_t<Tensor<double, Dim<I, X, Y>>>;
static_assert(std::is_same_v<Block, Local<double, Dim<I>, Varying<X, Y>>>);
static_assert(plan(op::Mean<>{}, type<Block>).collectives() == 0);
static_assert(plan(op::Roll<I>{}, type<Block>).collectives() == 0);

// docs: gradient
// A gradient goes through a function of blocks, and sends what the transposes of its collectives
// send: that of the all_reduce is a cast, and free.
constexpr auto squares = [](auto const& a) {
  return shard_map<>([](auto const& b) { return all_reduce<X, Y>(sum(b * b)); }, a);
};
constexpr auto passes = plan(value_and_grad<0>(squares), type<Tensor<double, Dim<I, X, Y>>>);
static_assert(passes.forward.count(Collective::all_reduce) == 1);
static_assert(passes.backward.collectives() == 0);
// docs: end

// docs: plans
// Collectives are objects too. The extents of a block are passed, or taken from one.
using Matrix = Local<float, Dim<I>, Dim<J>, Varying<X>>;
static_assert(plan(op::ReduceScatter<X, I>{}, type<Matrix>).at({8, 12}).bytes_per_rank() ==
              8 * 12 * 4 / 2);  // 2 ranks
// docs: end

// docs: tensor-parallel
// Megatron: w1: f64[D, H@Y], w2: f64[H@Y, K], x: f64[B, D]. One all_reduce forward, one backward:
// of varying<Y>.
struct H : Index<"H", 8> {};
struct K : Index<"K", 3> {};
struct B : Index<"B", 4> {};
struct D : Index<"D", 6> {};
constexpr auto megatron = [](auto const& w1, auto const& w2, auto const& x) {
  return shard_map<>(
      [](auto const& v1, auto const& v2, auto const& u) {
        auto const hidden = tanh(matmul(varying<Y>(u), v1));
        return sum(square(all_reduce<Y>(matmul(hidden, v2))));
      },
      w1, w2, x);
};
constexpr auto of_megatron =
    plan(value_and_grad<0, 1, 2>(megatron), type<Tensor<double, Dim<D>, Dim<H, Y>>>,
         type<Tensor<double, Dim<H, Y>, Dim<K>>>, type<Tensor<double, Dim<B>, Dim<D>>>);
static_assert(of_megatron.forward.collectives() == 1);
static_assert(of_megatron.backward.collectives() == 1);
// docs: end

// docs: some-axes
// X is manual: sums of rows go round a ring. Y stays strict: a product, and the sum that it leaves.
constexpr auto ring_of_sums = [](auto const& x, auto const& w) {
  return shard_map<Dim<B, X>, Dim<K>>(
      manual_axes<X>,
      [](auto const& v, auto const& u) {  // f64[B, H@Y]{V:X}, f64[H@Y, K]
        auto const sums = all_reduce<Y>(matmul(v, u));
        return sums + rotate<X>(sums, 1);
      },
      x, w);
};
constexpr auto of_ring = plan(ring_of_sums, type<Tensor<double, Dim<B, X>, Dim<H, Y>>>,
                              type<Tensor<double, Dim<H, Y>, Dim<K>>>);
static_assert(of_ring.count(Collective::all_reduce) == 1);
static_assert(of_ring.count(Collective::permute) == 1);
// docs: end

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X, Y> const mesh(env.world());
  auto const count = [](std::int64_t i) { return i; };
  auto const a = from_function<std::int64_t, Dim<I, X, Y>>(mesh, {32}, count);

  if (env.rank() == 0) std::printf("== sums\n");
  // docs: sums
  // `sum` of a block adds the elements of that block only: eight sums. An all_reduce gives the sum
  // of all elements.
  auto const of_each = shard_map<Dim<I, X, Y>>([](auto b) { return expand<I>(sum(b)); }, a);
  show<decltype(of_each), std::int64_t>("sums of the shards", of_each,
                                        {6, 22, 38, 54, 70, 86, 102, 118});
  auto const of_all =
      shard_map<Tensor<std::int64_t>>([](auto b) { return all_reduce<X, Y>(sum(b)); }, a);
  show<decltype(of_all), std::int64_t>("sum of all", of_all, {496});
  // docs: end

  if (env.rank() == 0) std::printf("== outer\n");
  // docs: outer
  // No dim of the result is in both operands: map, whose result is named. `u + v` is refused, P01.
  auto const u = from_function<std::int64_t, Dim<I, X>>(mesh, {4}, count);
  auto const v = from_function<std::int64_t, Dim<J, Y>>(mesh, {8}, count);
  auto const sums_of_pairs = map<Dim<I, X>, Dim<J, Y>>(functions::Add{}, u, v);
  print(sums_of_pairs);
  // docs: end

  if (env.rank() == 0) std::printf("== contract\n");
  // docs: contract
  auto const table = from_function<float, Dim<I, X>, Dim<J, Y>>(
      mesh, {4, 8}, [](std::int64_t i, std::int64_t j) { return static_cast<float>(8 * i + j); });
  auto const waves = (2.0F * sin(table) + 1.0F).tensor();
  static_assert(same_spec<decltype(waves), decltype(table)>);  // elements stay where they are
  auto const columns = evaluate<Dim<J, Y>>(mesh, sum<I>(lazy(table)));
  visualize(columns, "sums of columns");
  show<decltype(columns), float>("sums of columns", columns, {48, 52, 56, 60, 64, 68, 72, 76});
  // docs: end

  if (env.rank() == 0) std::printf("== elements\n");
  // docs: elements
  std::int64_t seen = 0;  // how many of the 32 numbers the function gets
  auto const of_elements = shard_map<Dim<I, X, Y>>(
      [&](auto b) {
        seen = b.template extent<I>();
        return 2.0 * sin(b) + 1.0;
      },
      cast<double>(a));
  print(of_elements);
  if (env.rank() == 0) std::printf("a block of %d\n", static_cast<int>(seen));
  // docs: end
  std::vector<double> const elements = to_host(of_elements);
  for (std::size_t k = 0; k < elements.size(); ++k)
    if (std::abs(elements[k] - (2 * std::sin(static_cast<double>(k)) + 1)) > 1e-12)
      throw Error("example", "the function of elements gave other numbers");
  if (seen != 4) throw Error("example", "a block has four numbers");

  if (env.rank() == 0) std::printf("== heads\n");
  // docs: heads
  // The first four numbers of every block of 64, averaged over all ranks. This is hard to express
  // for the global array.
  auto const wide = from_function<double, Dim<I, X, Y>>(
      mesh, {512}, [](std::int64_t i) { return static_cast<double>(i); });
  auto const heads = shard_map<Dim<Head>>(
      [](auto b) { return all_reduce<Mean, X, Y>(slice<I, Head>(b, 0, 4)); }, wide);
  show<decltype(heads), double>("mean of the heads", heads, {224, 225, 226, 227});
  // docs: end

  if (env.rank() == 0) std::printf("== local\n");
  // docs: local
  // Operations on blocks send nothing, as the plans above show.
  auto const means = shard_map<Dim<I, X, Y>>([](auto b) { return expand<I>(mean(b)); }, wide);
  show<decltype(means), double>("means of the shards", means,
                                {31.5, 95.5, 159.5, 223.5, 287.5, 351.5, 415.5, 479.5});
  auto const rolled = shard_map<Dim<I, X, Y>>([](auto b) { return roll<I>(b, 1); }, a);
  show<decltype(rolled), std::int64_t>(
      "rolled in each shard", rolled,
      {3,  0,  1,  2,  7,  4,  5,  6,  11, 8,  9,  10, 15, 12, 13, 14,
       19, 16, 17, 18, 23, 20, 21, 22, 27, 24, 25, 26, 31, 28, 29, 30});
  // docs: end

  auto const few = from_function<double, Dim<I, X, Y>>(
      mesh, {8}, [](std::int64_t i) { return static_cast<double>(i); });
  auto const slopes = grad<0>(squares)(few);
  show<decltype(slopes), double>("gradient of the sum of squares", slopes,
                                 {0, 2, 4, 6, 8, 10, 12, 14});
}
