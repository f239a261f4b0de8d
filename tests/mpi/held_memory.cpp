// What the pool of a mesh holds over training steps, in use and cached, is at most what it may hold
// for the plan's peak (docs/reference.md): blocks of one size that are freed are not kept beside
// new ones of another. Steady loops of any shape find their memory in it: they take no pages from
// the system.
// RANKS: 1 2
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

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
  Mesh<X> const mesh(MPI_COMM_SELF);
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
  Mesh<X> const mesh(MPI_COMM_SELF);
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
  Mesh<X> const mesh(MPI_COMM_SELF);
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

// Steady loops. Under the address sanitizer and at other page sizes the system's pages are not
// those of the tensors.
namespace {

struct R : Axis<"R"> {};
struct I : Index<"I"> {};
struct I2 : Index<"I2"> {};
struct K2 : Index<"K2"> {};
struct L2 : Index<"L2"> {};
struct M2 : Index<"M2"> {};
struct S : Index<"S", 1536> {};
struct F : Index<"F", 384> {};
struct G : Index<"G", 700> {};
struct Q : Index<"Q", 1024> {};

std::int64_t page_faults() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return u.ru_minflt;
}
#ifdef SHARDTYPE_UNIT_ADDRESS_SANITIZER
constexpr bool pages_are_counted = false;
#else
constexpr bool pages_are_counted = true;
#endif

// A mesh, and from now on the peak of the memory of its tensors.
Mesh<R> fresh() {
  runtime::run_time.memory.reset();
  return Mesh<R>(MPI_COMM_WORLD);
}
std::size_t held(runtime::Pool const& pool) { return pool.used_bytes() + pool.idle_bytes(); }

// Runs `step` ten times: after the third few pages come from the system, and after each the pool
// holds no more than it may.
template <class Step>
void is_steady(Mesh<R> const& mesh, Step step) {
  auto const& pool = mesh.state().pool();
  for (int k = 0; k < 10; ++k) {
    std::int64_t const before = page_faults();
    std::size_t const allocations = pool.allocations();
    step();
    INFO("step " << k << ": " << pool.allocations() - allocations << " allocations");
    if (k >= 3 && pages_are_counted) CHECK(page_faults() - before <= 64);
    CHECK(held(pool) <= pool.bound(pool.most_asked_bytes()));
  }
  // in each step too; a request is rounded up by less than 64 bytes
  auto const most = static_cast<std::size_t>(runtime::run_time.memory.most());
  CHECK(pool.most_held_bytes() <= pool.bound(most + 64 * 128));
}

template <template <class> class As>
struct Whole {
  As<T<Dim<F>, Dim<G>>> up;
  As<T<Dim<G>>> bias;
  As<T<Dim<G>, Dim<Q>>> middle;
  As<T<Dim<Q>, Dim<F>>> down;
};
template <template <class> class As>
struct Split {  // ZeRO-3: parameters, gradients and state in parts
  As<T<Dim<F, R>, Dim<G>>> up;
  As<T<Dim<G, R>>> bias;
  As<T<Dim<G, R>, Dim<Q>>> middle;
  As<T<Dim<Q, R>, Dim<F>>> down;
};
constexpr auto off = [](auto const& m, auto const& x) {
  auto const up = used_as<T<Dim<F>, Dim<G>, Reduced<R>>>(m.up);
  auto const bias = used_as<T<Dim<G>, Reduced<R>>>(m.bias);
  auto const first = tanh(matmul(x, up) + bias);
  auto const middle = used_as<T<Dim<G>, Dim<Q>, Reduced<R>>>(m.middle);
  auto const second = gelu_tanh(matmul(first, middle));
  auto const down = used_as<T<Dim<Q>, Dim<F>, Reduced<R>>>(m.down);
  auto const out = matmul(second, down) - x;
  return all_reduce<R>(sum(out * out));
};
template <class Values>
void trains_steadily() {
  auto const mesh = fresh();
  train::AdamW const adam{{.rate = 0.001, .clip = 1}};
  auto model = train::initialize<Values>(
      mesh, RandomKey(1), [](std::string_view, auto) { return train::Initial::normal(0.05); });
  auto state = adam.init(model);
  auto const x = normal<T<Dim<S, R>, Dim<F>>>(mesh, RandomKey(2));
  auto const step = train::step(adam, value_and_grad<0>(off));
  is_steady(mesh, [&] { static_cast<void>(step(model, state, x)); });
}

auto taken(Mesh<R> const& mesh, std::int64_t bytes) {
  return zeros<float, Dim<N>>(mesh, {bytes / 4});
}
constexpr std::int64_t mebi = std::int64_t{1} << 20;

}  // namespace

TEST_CASE("sums of nine slices take no pages from the system") {
  auto const mesh = fresh();
  std::int64_t const n = 1000;
  auto const a = normal<float, Dim<I>, Dim<N>>(mesh, {n, n}, RandomKey(3));
  is_steady(mesh, [&] {
    auto const p = pad<N, K2>(pad<I, I2>(a, 1, 1), 1, 1);
    auto const at = [&](int i, int j) { return slice<K2, N>(slice<I2, I>(p, i, i + n), j, j + n); };
    static_cast<void>((at(0, 0) * .1F + at(0, 1) * .2F + at(0, 2) * .3F + at(1, 0) * .4F +
                       at(1, 1) * .5F + at(1, 2) * .6F + at(2, 0) * .7F + at(2, 1) * .8F +
                       at(2, 2) * .9F)
                          .tensor());
  });
}

TEST_CASE("pooling takes no pages from the system") {
  auto const mesh = fresh();
  std::int64_t const n = 1000;
  auto const b = normal<float, Dim<I, R>, Dim<N>>(mesh, {4 * n, n}, RandomKey(4));
  is_steady(mesh, [&] {
    static_cast<void>(
        max<L2>(max<I2>(split_dim<N, K2, L2>(split_dim<I, M2, I2>(b, {2 * n, 2}), {n / 2, 2}))));
  });
}

TEST_CASE("training steps take no pages from the system: an MLP") {
  trains_steadily<Whole<value_t>>();
}
TEST_CASE("training steps take no pages from the system: ZeRO-3") {
  trains_steadily<Split<value_t>>();
}

TEST_CASE("blocks of one size serve requests of others") {
  {  // in turn
    auto const mesh = fresh();
    is_steady(mesh, [&] {
      {
        auto const a = taken(mesh, 8 * mebi), b = taken(mesh, 8 * mebi), c = taken(mesh, 8 * mebi);
      }
      static_cast<void>(taken(mesh, 24 * mebi));
    });
  }
  {  // growing, each beside the one before
    auto const mesh = fresh();
    is_steady(mesh, [&] {
      auto a = taken(mesh, mebi);
      for (int k = 2; k <= 12; ++k) a = taken(mesh, k * mebi);
      for (int k = 11; k >= 1; --k) a = taken(mesh, k * mebi);
    });
  }
  {  // many small ones between two large ones
    auto const mesh = fresh();
    is_steady(mesh, [&] {
      static_cast<void>(taken(mesh, 32 * mebi));
      for (int k = 0; k < 20; ++k) static_cast<void>(taken(mesh, 4096));
    });
  }
  {  // and of the least size that counts
    auto const mesh = fresh();
    is_steady(mesh, [&] {
      static_cast<void>(taken(mesh, 32 * mebi));
      for (int k = 0; k < 20; ++k) static_cast<void>(taken(mesh, 4 * mebi));
    });
  }
}

TEST_CASE("a step finds its pages after another that asked for as much, in any order of releases") {
  auto const mesh = fresh();
  {
    auto const a = taken(mesh, 16 * mebi);
    for (int k = 0; k < 4; ++k) static_cast<void>(taken(mesh, 16 * mebi));
  }
  auto const stays = taken(mesh, 16 * mebi);
  for (bool const small_first : {true, false})
    is_steady(mesh, [&] {
      std::optional small = taken(mesh, mebi / 4), large = taken(mesh, 16 * mebi);
      (small_first ? small : large).reset();
    });
}

TEST_CASE("memory is given back within three repetitions of other calls") {
  auto const mesh = fresh();
  auto const& pool = mesh.state().pool();
  auto const call = [&](std::int64_t size) {
    auto const a = taken(mesh, size), b = taken(mesh, size), c = taken(mesh, 2 * size);
  };
  for (int k = 0; k < 5; ++k) call(16 * mebi);
  CHECK(held(pool) >= 64 * mebi);
  for (int k = 0; k < 3; ++k) {
    CHECK(pool.most_asked_bytes() >= 64 * mebi);
    call(2 * mebi);
  }
  CHECK(pool.most_asked_bytes() < 9 * mebi);
  CHECK(held(pool) <= pool.bound(pool.most_asked_bytes()));
}

TEST_CASE("a part that stays in use keeps no more than itself from being given back") {
  auto const mesh = fresh();
  auto const& pool = mesh.state().pool();
  std::optional large = taken(mesh, 64 * mebi);
  large.reset();
  auto const stays = taken(mesh, mebi);
  CHECK(held(pool) == 64 * mebi);
  for (int k = 0; k < 3; ++k) static_cast<void>(taken(mesh, 8 * mebi));
  CHECK(held(pool) <= pool.bound(9 * mebi));
  std::size_t const allocations = pool.allocations();
  std::int64_t const before = page_faults();
  large = taken(mesh, 63 * mebi);
  CHECK(pool.allocations() == allocations);
  CHECK(held(pool) == 64 * mebi);
  if (pages_are_counted) CHECK(page_faults() > before);  // the pages had gone
}

TEST_CASE("memory is given back when most of what is in use stays") {
  auto const mesh = fresh();
  auto const& pool = mesh.state().pool();
  auto const stays = taken(mesh, 32 * mebi);
  static_cast<void>(taken(mesh, 32 * mebi));
  for (int k = 0; k < 60; ++k) static_cast<void>(taken(mesh, 4 * mebi));
  CHECK(held(pool) <= pool.bound(36 * mebi));
}

TEST_CASE("no byte has two holders, and no more is held than may be, in any order of requests") {
  Mesh<R> const mesh(MPI_COMM_SELF);
  auto& pool = mesh.state().pool();
  std::uint64_t state = 1;
  auto const below = [&](std::uint64_t n) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>((state >> 33) % n);
  };
  struct Block {
    runtime::Buffer memory;
    std::size_t bytes;
    unsigned char with;
  };
  std::vector<Block> blocks;
  std::size_t asked = pool.used_bytes(), most = asked;
  int bad = 0;
  auto const release = [&](std::size_t k) {
    auto const* const data = static_cast<unsigned char const*>(blocks[k].memory.data());
    for (std::size_t i = 0; i < blocks[k].bytes; i += 61) bad += data[i] != blocks[k].with;
    bad += blocks[k].bytes > 0 && data[blocks[k].bytes - 1] != blocks[k].with;
    asked -= blocks[k].bytes;
    std::swap(blocks[k], blocks.back());
    blocks.pop_back();
  };
  for (int k = 0; k < 4000; ++k) {
    std::size_t const target = k % 1000 < 500 ? 40 : 5;  // peaks that come and go
    if (blocks.size() < 2 * target && (blocks.empty() || below(2 * target) >= blocks.size())) {
      std::size_t const bytes = below(4) == 0 ? below(3000) : below(std::uint64_t{1} << 18) * 3;
      asked += bytes;
      most = std::max(most, asked);
      auto const with = static_cast<unsigned char>(below(256));
      blocks.push_back({pool.take<Kokkos::HostSpace>(bytes), bytes, with});
      if (bytes > 0) std::memset(blocks.back().memory.data(), with, bytes);
    } else {
      release(below(blocks.size()));
    }
    // as much as a request is rounded up
    if (held(pool) > pool.bound(pool.most_asked_bytes())) ++bad;
  }
  CHECK(pool.most_held_bytes() <= pool.bound(most + 64 * blocks.capacity()));
  while (!blocks.empty()) release(0);
  CHECK(bad == 0);
  pool.trim();
  CHECK(pool.idle_bytes() == 0);
}
