// Options of attention beside loops over a matrix of all scores: a window, a soft cap, ALiBi,
// segments, with gradients.
// RANKS: 1 2 4 8
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <shardtype/nn/attention.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct K : Index<"K"> {};
struct H : Index<"H"> {};
struct F : Index<"F"> {};

using Queries = Tensor<double, Dim<B, X>, Dim<S>, Dim<H, Y>, Dim<F>>;
using Keys = Tensor<double, Dim<B, X>, Dim<K>, Dim<H, Y>, Dim<F>>;

using Numbers = std::vector<double>;

struct Sizes {
  std::int64_t b, s, k, h, f;
};

// A number for each element of a tensor, from -1 to 1.
auto drawn(int seed) {
  return [seed](std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t f) {
    std::int64_t const n = (((seed * 31 + b) * 37 + s) * 41 + h) * 43 + f;
    return 2 * std::sin(static_cast<double>(n % 100'003));
  };
}
Numbers numbers_of(int seed, std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t f) {
  Numbers out;
  for (std::int64_t i = 0; i < b * s * h * f; ++i)
    out.push_back(drawn(seed)(i / (s * h * f), i / (h * f) % s, i / f % h, i % f));
  return out;
}

// Of head h of `heads`; where their number is no power of two, the further heads have every other
// slope of twice as many.
double slope_of(double alibi, std::int64_t heads, std::int64_t h) {
  std::int64_t const whole = heads < 2 ? 1 : heads < 4 ? 2 : 4;
  auto const of = [&](std::int64_t all, std::int64_t k) {
    return std::pow(2.0, -alibi * static_cast<double>(k + 1) / static_cast<double>(all));
  };
  return h < whole ? of(whole, h) : of(2 * whole, 2 * (h - whole));
}

// How positions belong to segments: to one, to documents one after the other, to any.
enum class Packing { none, documents, scattered };
std::int64_t segment(Packing packing, std::int64_t b, std::int64_t at) {
  return packing == Packing::none        ? 0
         : packing == Packing::documents ? (at + b) / 4
                                         : (at * at + 2 * b) % 5 - 2;
}

// The result for queries, keys and values of the seeds 1, 2, 3, and its gradients for the
// cotangent of seed 4: row by row, as the formulas have them.
struct Dense {
  Numbers out, q, k, v;
};
Dense dense(Sizes const& n, nn::AttentionOptions const& o, Packing packing = Packing::none) {
  Numbers const q = numbers_of(1, n.b, n.s, n.h, n.f), k = numbers_of(2, n.b, n.k, n.h, n.f),
                v = numbers_of(3, n.b, n.k, n.h, n.f), ct = numbers_of(4, n.b, n.s, n.h, n.f);
  Dense d{Numbers(q.size()), Numbers(q.size()), Numbers(k.size()), Numbers(v.size())};
  double const scale = o.scale != 0 ? o.scale : 1 / std::sqrt(static_cast<double>(n.f));
  auto const of = [&](std::int64_t b, std::int64_t i, std::int64_t h, std::int64_t length) {
    return static_cast<std::size_t>(((b * length + i) * n.h + h) * n.f);
  };
  auto const dot = [&](Numbers const& x, std::size_t at, Numbers const& y, std::size_t to) {
    double sum = 0;
    for (std::size_t f = 0; f < static_cast<std::size_t>(n.f); ++f) sum += x[at + f] * y[to + f];
    return sum;
  };
  auto const add = [&](Numbers& to, std::size_t at, double x, Numbers const& y, std::size_t from) {
    for (std::size_t f = 0; f < static_cast<std::size_t>(n.f); ++f) to[at + f] += x * y[from + f];
  };
  for (std::int64_t b = 0; b < n.b; ++b)
    for (std::int64_t h = 0; h < n.h; ++h)
      for (std::int64_t i = 0; i < n.s; ++i) {
        std::size_t const query = of(b, i, h, n.s);
        double const slope = slope_of(o.alibi, n.h, h);
        struct Seen {
          std::size_t key;
          double weight, slope;
        };
        std::vector<Seen> seen;
        double total = 0;
        for (std::int64_t j = 0; j < n.k; ++j) {
          std::int64_t const distance = o.first + i - j;
          if (o.causal && distance < 0) continue;
          if (segment(packing, b, i) != segment(packing, b, j)) continue;
          if (o.window > 0 && std::abs(distance) > o.window) continue;
          double score = scale * dot(q, query, k, of(b, j, h, n.k));
          double const t = o.soft_cap != 0 ? std::tanh(score / o.soft_cap) : 0;
          if (o.soft_cap != 0) score = o.soft_cap * t;
          if (o.alibi != 0) score -= slope * static_cast<double>(std::abs(distance));
          double const weight = std::exp(score);
          total += weight;
          seen.push_back({of(b, j, h, n.k), weight, 1 - t * t});
        }
        for (Seen& one : seen) {
          one.weight /= total;
          add(d.out, query, one.weight, v, one.key);
        }
        double const mean = dot(d.out, query, ct, query);
        for (Seen const& one : seen) {
          double const ds = one.weight * (dot(ct, query, v, one.key) - mean) * one.slope * scale;
          add(d.q, query, ds, k, one.key);
          add(d.k, one.key, ds, q, query);
          add(d.v, one.key, one.weight, ct, query);
        }
      }
  return d;
}

template <class A>
double distance(A const& a, Numbers const& b) {
  auto const all = to_host(a);
  double out = all.size() == b.size() ? 0 : 1e300;
  for (std::size_t k = 0; k < all.size() && k < b.size(); ++k)
    out = std::isfinite(all[k]) ? std::max(out, std::abs(all[k] - b[k])) : 1e300;
  return out;
}

// Result and gradients of `attend(q, k, v)`.
template <class Q, class Kv, class M, class Attend>
void compare(M const& mesh, Sizes const& n, nn::AttentionOptions const& o, Attend const& attend,
             Packing packing = Packing::none) {
  INFO("sizes " << n.b << " " << n.s << " " << n.k << " " << n.h << " causal " << o.causal
                << " first " << o.first << " window " << o.window << " cap " << o.soft_cap
                << " alibi " << o.alibi << " packing " << static_cast<int>(packing));
  auto const q = from_function<Q>(mesh, {n.b, n.s, n.h, n.f}, drawn(1));
  auto const k = from_function<Kv>(mesh, {n.b, n.k, n.h, n.f}, drawn(2));
  auto const v = from_function<Kv>(mesh, {n.b, n.k, n.h, n.f}, drawn(3));
  auto const ct = from_function<Q>(mesh, {n.b, n.s, n.h, n.f}, drawn(4));
  Dense const expected = dense(n, o, packing);
  CHECK(distance(attend(q, k, v), expected.out) < 1e-10);
  auto const [dq, dk, dv] = grad<0, 1, 2>([&](auto const& a, auto const& b, auto const& c) {
    return sum<Tensor<double>>(ct * attend(a, b, c));
  })(q, k, v);
  CHECK(distance(dq, expected.q) < 1e-10);
  CHECK(distance(dk, expected.k) < 1e-10);
  CHECK(distance(dv, expected.v) < 1e-10);
}

template <class T, class Batch, class Rows, class M>
auto segments(M const& mesh, Packing packing, std::int64_t b, std::int64_t n) {
  return from_function<Tensor<T, Batch, Rows>>(mesh, {b, n}, [=](std::int64_t i, std::int64_t at) {
    return static_cast<T>(segment(packing, i, at));
  });
}

using Options = nn::AttentionOptions;
Options const all_options[] = {
    {.window = 3},
    {.causal = false, .window = 2},
    {.scale = 0.7, .first = -4, .window = 1},
    {.causal = false, .first = 3, .window = 5, .soft_cap = 0.8, .alibi = 8},
    {.soft_cap = 2},
    {.causal = false, .soft_cap = 0.5},
    {.alibi = 8},
    {.causal = false, .first = 2, .alibi = 4},
    {.window = std::numeric_limits<std::int64_t>::max(), .soft_cap = 3}};

}  // namespace

TEST_CASE("a window, a soft cap and ALiBi, beside a matrix of scores") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Options const& o : all_options)
    for (Sizes const& n : {Sizes{3, 9, 9, 4, 3}, Sizes{1, 5, 14, 2, 2}, Sizes{2, 13, 3, 1, 2}})
      compare<Queries, Keys>(mesh, n, o, [&](auto const& q, auto const& k, auto const& v) {
        return nn::attention(q, k, v, o);
      });
  // over blocks of the kernel, some of which no query sees
  for (Options const& o : {Options{.window = 7}, Options{.window = 130, .soft_cap = 1, .alibi = 1},
                           Options{.causal = false, .first = 30, .window = 60}})
    compare<Queries, Keys>(
        mesh, {1, 300, 420, 2, 2}, o,
        [&](auto const& q, auto const& k, auto const& v) { return nn::attention(q, k, v, o); });
}

TEST_CASE("options are members of a call, and a window bounds the flops of its plan") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const q = from_function<Queries>(mesh, {2, 6, 3, 2}, drawn(1));
  auto const k = from_function<Queries>(mesh, {2, 6, 3, 2}, drawn(2));
  auto const v = from_function<Queries>(mesh, {2, 6, 3, 2}, drawn(3));
  // docs: options
  auto const near = nn::attention(q, k, v, {.causal = true, .window = 256});
  auto const capped = nn::attention(q, k, v, {.soft_cap = 50});
  auto const falling = nn::attention(q, k, v, {.alibi = 8});
  // docs: end
  auto const documents = segments<std::int64_t, Dim<B, X>, Dim<S>>(mesh, Packing::documents, 2, 6);
  // docs: packed
  auto const packed = nn::attention(q, k, v, documents, documents, {.causal = true});
  // docs: end
  CHECK(distance(packed, dense({2, 6, 6, 3, 2}, {}, Packing::documents).out) < 1e-13);
  auto const of_more = segments<std::int64_t, Dim<B, X>, Dim<S>>(mesh, Packing::documents, 2, 7);
  CHECK(on_ranks::code_of([&] { (void)nn::attention(q, k, v, documents, of_more); }) == "E24");
  auto const plain = nn::attention(q, k, v);
  auto const host = to_host(plain);
  Numbers const numbers(host.begin(), host.end());
  CHECK(distance(near, numbers) < 1e-13);
  CHECK(distance(capped, numbers) < 0.1);
  CHECK(distance(capped, numbers) > 0);
  CHECK(distance(falling, dense({2, 6, 6, 3, 2}, {.alibi = 8}).out) < 1e-13);
  for (Options const& bad : {Options{.window = -1}, Options{.soft_cap = -2}, Options{.alibi = -1}})
    CHECK(on_ranks::code_of([&] { (void)nn::attention(q, k, v, bad); }) == "E41");
  using Long = Tensor<float, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;
  auto const a = zeros<Long>(mesh, {1, 1024 * mesh.size_of<X>(), 1, 2});
  auto const flops = [&](Options const& o) {
    return plan_at(op::RingAttention{{{o}}}, a, a, a).local_flops;
  };
  // two products of 1024 queries and at most 100 + 128 keys
  CHECK(flops({.window = 100}) == 2 * 2 * 2 * 1024 * (100 + 128));
  CHECK(flops({.causal = false, .window = 100}) == 2 * 2 * 2 * 1024 * (200 + 128));
  CHECK(flops({.window = 1 << 20}) == flops({}));
}

TEST_CASE("the same around a ring, in blocks and in turns") {
  for (auto const& shape : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, shape);
    auto const ring = [&]<class Ss, class Ks>(Type<Ss>, Type<Ks>, Sizes const& n,
                                              Options const& o) {
      using Q = Tensor<double, Dim<B>, Ss, Dim<H, Y>, Dim<F>>;
      using Kv = Tensor<double, Dim<B>, Ks, Dim<H, Y>, Dim<F>>;
      compare<Q, Kv>(mesh, n, o, [&](auto const& q, auto const& k, auto const& v) {
        return nn::attention<Dim<B>, Ss, Dim<H, Y>, Dim<F>>(q, k, v, o);
      });
    };
    for (Options const& o : all_options)
      for (Sizes const& n : {Sizes{2, 13, 13, 3, 2}, Sizes{1, 3, 11, 2, 2}})
        ring(type<Dim<S, X>>, type<Dim<K, X>>, n, o);
    ring(type<Dim<S, Cyclic<X, 2>>>, type<Dim<K, Cyclic<X, 2>>>, Sizes{1, 23, 23, 2, 2},
         {.window = 4, .soft_cap = 1, .alibi = 8});
  }
}

namespace {

Options const of_segments[] = {{},
                               {.causal = false},
                               {.causal = false, .window = 3, .soft_cap = 1, .alibi = 8},
                               {.first = 2, .window = 4}};

// Blocks of scores that are computed for one sequence of `n` positions.
int blocks_of(std::int64_t n, Options const& o, std::vector<std::int64_t> const& ids = {}) {
  core::Rows const rows{0, n, 0, 0};
  nn::kernels::AttentionShape s{1, n, n, 1, 1, 1, 0, 0, 1, o, rows, rows};
  if (!ids.empty()) s.segments = s.on_host = {ids.data(), ids.data()};
  int blocks = 0;
  nn::kernels::each_block_of_queries(
      s, [&](std::int64_t b, std::int64_t, std::int64_t i0, std::int64_t rows_here) {
        nn::kernels::each_block_of_keys(s, b, i0, rows_here,
                                        [&](auto const&, std::int64_t, std::int64_t) { ++blocks; });
      });
  return blocks;
}

}  // namespace

TEST_CASE("queries see the keys of their segment") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Packing const packing : {Packing::documents, Packing::scattered})
    for (Options const& o : of_segments)
      for (Sizes const& n : {Sizes{3, 9, 9, 2, 3}, Sizes{1, 5, 14, 1, 2}, Sizes{2, 13, 3, 2, 1},
                             Sizes{1, 140, 270, 1, 2}}) {
        auto const of_queries = segments<std::int64_t, Dim<B, X>, Dim<S>>(mesh, packing, n.b, n.s);
        auto const of_keys = segments<std::int32_t, Dim<B, X>, Dim<K>>(mesh, packing, n.b, n.k);
        compare<Queries, Keys>(
            mesh, n, o,
            [&](auto const& q, auto const& k, auto const& v) {
              return nn::attention(q, k, v, of_queries, of_keys, o);
            },
            packing);
      }
}

TEST_CASE("segments around a ring, in blocks and in turns") {
  for (auto const& shape : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, shape);
    auto const ring = [&]<class Ss, class Ks>(Type<Ss>, Type<Ks>, Sizes const& n, Options const& o,
                                              Packing packing) {
      using Q = Tensor<double, Dim<B>, Ss, Dim<H, Y>, Dim<F>>;
      using Kv = Tensor<double, Dim<B>, Ks, Dim<H, Y>, Dim<F>>;
      auto const of_queries = segments<std::int64_t, Dim<B>, Ss>(mesh, packing, n.b, n.s);
      auto const of_keys = segments<std::int64_t, Dim<B>, Dim<K>>(mesh, packing, n.b, n.k);
      compare<Q, Kv>(
          mesh, n, o,
          [&](auto const& q, auto const& k, auto const& v) {
            return nn::attention<Dim<B>, Ss, Dim<H, Y>, Dim<F>>(q, k, v, of_queries, of_keys, o);
          },
          packing);
    };
    for (Packing const packing : {Packing::documents, Packing::scattered})
      for (Options const& o : of_segments) {
        ring(type<Dim<S, X>>, type<Dim<K, X>>, Sizes{2, 13, 13, 3, 2}, o, packing);
        ring(type<Dim<S, X>>, type<Dim<K, X>>, Sizes{1, 3, 11, 2, 2}, o, packing);
      }
    ring(type<Dim<S, Cyclic<X, 2>>>, type<Dim<K, Cyclic<X, 2>>>, Sizes{2, 23, 23, 2, 2},
         {.window = 6}, Packing::documents);
  }
}

TEST_CASE("blocks of scores that no query sees are not computed") {
  CHECK(blocks_of(1024, {}) == 36);
  CHECK(blocks_of(1024, {.window = 128}) == 1 + 7 * 2);
  CHECK(blocks_of(1024, {.causal = false, .window = 128}) == 2 + 6 * 3 + 2);
  std::vector<std::int64_t> documents;
  for (std::int64_t at = 0; at < 1024; ++at) documents.push_back(at / 256);
  CHECK(blocks_of(1024, {}, documents) == 4 * 3);
  CHECK(blocks_of(1024, {.causal = false}, documents) == 4 * 4);
  CHECK(blocks_of(8192, {.window = 256}) == 1 + 2 + 62 * 3);
}
