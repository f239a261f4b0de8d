// What the pool of a mesh holds over training steps, in use and cached, is at most what it may hold
// for the plan's peak (docs/reference.md): blocks of one size that are freed are not kept beside
// new ones of another.
// RANKS: 1
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X", 1> {};
struct B : Index<"B", 2048> {};
struct D : Index<"D", 512> {};
struct H : Index<"H", 1024> {};
struct J : Index<"J", 640> {};
struct N : Index<"N"> {};
template <class... Parts>
using T = Tensor<float, Parts...>;
using W1 = T<Dim<D>, Dim<H>>;
using W2 = T<Dim<H>, Dim<J>>;
using In = T<Dim<B, X>, Dim<D>>;
using Target = T<Dim<B, X>, Dim<J>>;

constexpr auto loss = [](auto const& w1, auto const& w2, auto const& x, auto const& y) {
  auto const hidden = tanh(matmul(x, reduced<X>(w1)));
  auto const out = matmul(hidden, reduced<X>(w2));
  return all_reduce<X>(sum(square(out - y)));
};

auto wave(float height) {
  return [=](auto... at) {
    std::int64_t sum = 1;
    ((sum = sum * 3 + at), ...);
    return height * std::sin(static_cast<float>(sum));
  };
}

}  // namespace

TEST_CASE("a pool holds little more than the plan's peak") {
  static constexpr auto step = value_and_grad<0, 1>(loss);
  static constexpr auto planned = plan(step, type<W1>, type<W2>, type<In>, type<Target>);
  static_assert(planned.peak_bytes() > 40'000'000);
  Mesh<X> const mesh(MPI_COMM_WORLD);
  auto const w1 = from_function<W1>(mesh, wave(0.05F));
  auto const w2 = from_function<W2>(mesh, wave(0.05F));
  auto const x = from_function<In>(mesh, wave(1));
  auto const y = from_function<Target>(mesh, wave(1));
  for (int k = 0; k < 4; ++k) static_cast<void>(step(w1, w2, x, y));
  auto const& pool = mesh.state().pool();
  auto const peak = static_cast<std::size_t>(planned.peak_bytes());
  INFO("held " << pool.most_held_bytes() << ", planned " << peak);
  CHECK(pool.most_held_bytes() >= peak - peak / 10);
  CHECK(pool.most_held_bytes() <= pool.bound(peak));
}

TEST_CASE("cached blocks are given back before a block that none of them serves") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  auto const take = [&](std::int64_t bytes) { return zeros<float, Dim<N>>(mesh, {bytes / 4}); };
  {
    auto const a = take(8 << 20);
    auto const b = take(8 << 20);
    auto const c = take(8 << 20);
  }
  static_cast<void>(take(24 << 20));
  auto const& pool = mesh.state().pool();
  CHECK(pool.most_held_bytes() >= 24 << 20);
  CHECK(pool.most_held_bytes() <= pool.bound(24 << 20));
}

// The comparisons of a training step of `n` recorded operations, per operation.
double comparisons_of(Mesh<X> const& mesh, int n) {
  auto const x = full<double, Dim<N>>(mesh, {8}, 1.0);
  std::int64_t const before = runtime::Pool::comparisons();
  static_cast<void>(grad<0>([n](auto const& a) {
    auto s = a;
    for (int k = 0; k < n; ++k) s = sin(s).tensor();
    return sum<Tensor<double>>(s);
  })(x));
  return static_cast<double>(runtime::Pool::comparisons() - before) / n;
}

TEST_CASE("a cached block is found by its size, however many there are") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  static_cast<void>(comparisons_of(mesh, 4000));
  double const few = comparisons_of(mesh, 400);
  CHECK(few > 0);
  CHECK(comparisons_of(mesh, 4000) <= 1.4 * few);
  // and however many sizes: each rank of a binary search compares one
  using Block = Tensor<double, Dim<N>>;
  std::vector<Block> blocks;
  auto const take_all = [&] {
    for (std::int64_t k = 0; k < 2000; ++k)
      blocks.push_back(zeros<double, Dim<N>>(mesh, {8 + (k * 7919) % 2000}));
  };
  take_all();
  blocks.clear();
  std::int64_t const before = runtime::Pool::comparisons();
  std::size_t const allocations = mesh.state().pool().allocations();
  take_all();
  CHECK(mesh.state().pool().allocations() == allocations);
  CHECK(runtime::Pool::comparisons() - before <= std::int64_t{2000} * 40);
}
