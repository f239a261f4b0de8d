// Products of matrices with several shardings, written by hand as functions of blocks. Each is
// compared with the strict product of the same operands: their types and values are equal. On 8
// ranks.
// SHOWN: docs
// RANKS: 8
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
// docs: cube-names
struct P : Axis<"P", 2> {};
struct Q : Axis<"Q", 2> {};
struct R : Axis<"R", 2> {};
// docs: end

// Checks that the product by hand has the type and the values of the strict one.
template <class ByHand, class Strict>
void agree(char const* what, ByHand const& c, Strict const& expected) {
  static_assert(std::is_same_v<ByHand, Strict>);
  auto const gathered = to_host(c);
  auto const right = to_host(expected);
  for (std::size_t k = 0; k < right.size(); ++k)
    if (std::abs(gathered[k] - right[k]) > 1e-9)
      throw Error("example", std::string(what) + " differs from the strict product");
  if (c.mesh().state().whole().rank() == 0) std::printf("%-28s %s\n", what, type_name(c).c_str());
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X, Y> const mesh(env.world());
  auto const f = [](std::int64_t i, std::int64_t j) { return std::sin(double(i * 31 + j)); };
  auto const a_rows = from_function<double, Dim<I, X>, Dim<J>>(mesh, {8, 16}, f);
  auto const a_whole = from_function<double, Dim<I>, Dim<J>>(mesh, {8, 16}, f);
  auto const a_blocks = from_function<double, Dim<I, X>, Dim<J, Y>>(mesh, {8, 16}, f);
  auto const b_columns = from_function<double, Dim<J>, Dim<K, Y>>(mesh, {16, 12}, f);
  auto const b_whole = from_function<double, Dim<J>, Dim<K>>(mesh, {16, 12}, f);
  auto const b_rows = from_function<double, Dim<J, Y>, Dim<K>>(mesh, {16, 12}, f);

  if (env.rank() == 0) std::printf("== products\n");
  // docs: rows-and-columns
  // One function serves the first four cases: where no contracted dim is split, nothing is sent,
  // and the types carry the shardings to the result.
  auto const product = [](auto a, auto b) { return matmul(a, b); };
  agree("rows x columns", shard_map<Dim<I, X>, Dim<K, Y>>(product, a_rows, b_columns),
        matmul(a_rows, b_columns));
  agree("rows x replicated", shard_map<Dim<I, X>, Dim<K>>(product, a_rows, b_whole),
        matmul(a_rows, b_whole));
  agree("replicated x columns", shard_map<Dim<I>, Dim<K, Y>>(product, a_whole, b_columns),
        matmul(a_whole, b_columns));
  agree("replicated x replicated", shard_map<Dim<I>, Dim<K>>(product, a_whole, b_whole),
        matmul(a_whole, b_whole));
  // docs: end

  // docs: blocks-rows
  // Blocks x rows: each rank has a summand of its block of the result. Without the all_reduce the
  // code does not compile unless the output names Y.
  auto const summed = [](auto a, auto b) { return all_reduce<Y>(matmul(a, b)); };
  agree("blocks x rows", shard_map<Dim<I, X>, Dim<K>>(summed, a_blocks, b_rows),
        matmul<Dim<I, X>, Dim<K>>(a_blocks, b_rows));
  // Blocks x replicated: a slice of B is free, and makes it the case before.
  auto const sliced = [](auto a, auto b) { return all_reduce<Y>(matmul(a, shard<Y, J>(b))); };
  agree("blocks x replicated", shard_map<Dim<I, X>, Dim<K>>(sliced, a_blocks, b_whole),
        matmul<Dim<I, X>, Dim<K>>(a_blocks, b_whole));
  // docs: end

  // docs: blocks-columns
  // Blocks x columns: only A splits the contracted dim, so A is gathered first.
  auto const gathered = [](auto a, auto b) { return matmul(all_gather<Y, J>(a), b); };
  agree("blocks x columns", shard_map<Dim<I, X>, Dim<K, Y>>(gathered, a_blocks, b_columns),
        matmul<Dim<I, X>, Dim<K, Y>>(a_blocks, b_columns));
  // docs: end

  // docs: ring
  // The same product without the gathered copy: the blocks of A pass round the ring of the ranks
  // along Y, and each rank multiplies its current block by the matching rows of B.
  auto const in_a_ring = [](auto a, auto b) {
    std::int64_t const p = axis_size<Y>();
    std::int64_t const width = a.template extent<J>();
    auto const start = varying<X>(
        zeros_local<double, Dim<I>, Dim<K>>({a.template extent<I>(), b.template extent<K>()}));
    auto const [c, last] =
        loop(p, std::tuple(varying<Y>(start), a), [&](std::int64_t k, auto const& carry) {
          auto const& [sum, block] = carry;
          auto const owner =
              (axis_index<Y>() + static_cast<std::int32_t>(p - k)) % static_cast<std::int32_t>(p);
          auto const rows = dynamic_slice<J>(b, owner * static_cast<std::int32_t>(width), width);
          return std::tuple((sum + matmul(block, rows)).tensor(), rotate<Y>(block, 1));
        });
    return c;
  };
  // docs: end
  agree("blocks x columns, in a ring",
        shard_map<Dim<I, X>, Dim<K, Y>>(in_a_ring, a_blocks, b_columns),
        matmul<Dim<I, X>, Dim<K, Y>>(a_blocks, b_columns));

  // docs: cube
  // Blocks x blocks on 2 x 2 x 2 ranks: each index has an axis, and Q adds up the parts.
  Mesh<P, Q, R> const cube(env.world());
  auto const a_cube = from_function<double, Dim<I, P>, Dim<J, Q>>(cube, {8, 16}, f);
  auto const b_cube = from_function<double, Dim<J, Q>, Dim<K, R>>(cube, {16, 12}, f);
  auto const over_q = [](auto a, auto b) { return all_reduce<Q>(matmul(a, b)); };
  agree("blocks x blocks, three axes", shard_map<Dim<I, P>, Dim<K, R>>(over_q, a_cube, b_cube),
        matmul<Dim<I, P>, Dim<K, R>>(a_cube, b_cube));
  // docs: end
}
