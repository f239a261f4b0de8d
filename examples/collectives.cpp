// The effect of each collective on the blocks of a vector, on 4 ranks. The functions take blocks;
// the types of the blocks name the mesh axes along which they vary, and the result of shard_map
// names its sharding.
// RANKS: 4
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 4> {};
struct I : Index<"I"> {};

// Prints the vector; throws an Error if its values differ from the expected ones.
template <class A>
void show(char const* what, A const& a, std::vector<float> const& expected) {
  std::vector<float> const values = to_host(a);
  std::string const text = to_text(a);
  if (a.mesh().state().whole().rank() == 0) std::printf("%s: %s\n", what, text.c_str());
  if (values != expected) throw Error("example", std::string(what) + " gave other numbers");
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X> const mesh(env.world());
  std::vector<float> const numbers{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 1, 2};
  auto const a = from_host<float, Dim<I, X>>(mesh, {16}, numbers);
  auto const b = from_host<float, Dim<I, X>>(mesh, {4}, std::vector<float>{3, 9, 5, 2});

  // Each block is `f32[I]{V:X}`, four numbers. Their sum over X is the same on all ranks, so the
  // result may be named without X. Without the all_reduce the code does not compile (V07).
  auto const sums = shard_map<Dim<I>>([](auto block) { return all_reduce<X>(block); }, a);
  show("all_reduce", sums, {22, 20, 12, 17});

  // The same sums, but each rank keeps only its block of them: half the bytes.
  auto const pieces =
      shard_map<Dim<I, X>>([](auto block) { return reduce_scatter<X, I>(block); }, a);
  show("reduce_scatter", pieces, {22, 20, 12, 17});

  auto const whole = shard_map<Dim<I>>([](auto block) { return all_gather<X, I>(block); }, b);
  show("all_gather", whole, {3, 9, 5, 2});

  // Rank r sends its k-th piece to rank k.
  auto const turned =
      shard_map<Dim<I, X>>([](auto block) { return all_to_all<X, I, I>(block); }, a);
  show("all_to_all", turned, {3, 5, 5, 9, 1, 9, 3, 7, 4, 2, 5, 1, 1, 6, 8, 2});

  // `rotate` sends round the ring, `permute` to some ranks only: the other ranks get zeros.
  auto const ring = shard_map<Dim<I, X>>([](auto block) { return rotate<X>(block, 1); }, b);
  show("rotate", ring, {2, 3, 9, 5});
  auto const some =
      shard_map<Dim<I, X>>([](auto block) { return permute<X>(block, {{0, 3}, {3, 1}}); }, b);
  show("permute", some, {0, 2, 0, 3});
}
