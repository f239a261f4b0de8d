// Mixtures of experts by an exchange of rows beside gathering all tokens, in float.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "yield.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_moe [--rounds=21] [--tokens=1024] [--benchmark_filter=CASE]\n"
    "nn::moe with nn::Ragged against nn::Gathered, one and two choices, both passes as well; each "
    "rank has\n"
    "`tokens` tokens of 256 features, and 16 experts of 512 hidden features are split over the "
    "ranks.\n"
    "Last lines: ratio moe CASE RANKS MEDIAN Q1 Q3, ragged over gathered in time, and value moe "
    "CASE\n"
    "most_rows RANKS, the rows of the busiest rank over the mean, and peak_bytes RANKS, memory of "
    "ragged over "
    "gathered, which must be below 1 from 4 ranks on.\n";

struct X : Axis<"X"> {};
struct S : Index<"S"> {};
struct D : Index<"D", 256> {};
struct E : Index<"E", 16> {};
struct F : Index<"F", 512> {};
using Tokens = Tensor<float, Dim<S, X>, Dim<D>>;
using Router = Tensor<float, Dim<D>, Dim<E>>;
using Into = Tensor<float, Dim<E, X>, Dim<D>, Dim<F>>;
using From = Tensor<float, Dim<E, X>, Dim<F>, Dim<D>>;
using Pair = std::pair<std::function<void()>, std::function<void()>>;

template <class Form>
struct Mixture {
  std::int64_t choices;
  constexpr auto operator()(auto const& x, auto const& r, auto const& w, auto const& v) const {
    auto const routes = nn::router<E>(matmul(x, used_as<Reduced<X>>(r)), choices);
    return nn::moe(x, routes, w, v, Form{});
  }
};
template <class Form>
struct Loss {
  std::int64_t choices;
  constexpr auto operator()(auto const&... as) const {
    return sum<Tensor<float>>(Mixture<Form>{choices}(as...));
  }
};

/// What plans of 4 ranks say of memory, per rank.
namespace planned {
struct X : Axis<"X", 4> {};
struct S : Index<"S", 4096> {};
using Tokens = Tensor<float, Dim<S, X>, Dim<D>>;
using Into = Tensor<float, Dim<E, X>, Dim<D>, Dim<F>>;
using From = Tensor<float, Dim<E, X>, Dim<F>, Dim<D>>;
using Logits = Tensor<float, Dim<S, X>, Dim<E>>;
template <class Form>
constexpr std::int64_t peak(std::int64_t choices) {
  return plan(
             [choices](auto const& x, auto const& l, auto const& w, auto const& v) {
               return nn::moe(x, nn::router<E>(l, choices), w, v, Form{});
             },
             type<Tokens>, type<Logits>, type<Into>, type<From>)
      .peak_bytes();
}
static_assert(peak<nn::Ragged>(1) < peak<nn::Gathered>(1));
static_assert(peak<nn::Ragged>(2) < peak<nn::Gathered>(2));
}  // namespace planned

/// The most memory that a call needs on this rank, besides its operands.
template <class Run>
double peak_of(Run const& run) {
  runtime::BytesInUse& memory = runtime::run_time.memory;
  memory.reset();
  std::int64_t const before = memory.now();
  run();
  return static_cast<double>(memory.most() - before);
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {env.size()});
  std::int64_t const tokens = option(argc, argv, "tokens", 1024) * env.size();
  auto const x = normal<Tokens>(mesh, {tokens, 256}, RandomKey{1});
  auto const r = normal<Router>(mesh, RandomKey{2});
  auto const w = normal<Into>(mesh, RandomKey{3}, 0.0, 0.05);
  auto const v = normal<From>(mesh, RandomKey{4}, 0.0, 0.05);
  Suite suite("moe", option(argc, argv, "rounds", 21));
  for (std::int64_t const k : {1, 2}) {
    std::string const name = "top" + std::to_string(k);
    suite.add(name + "_forward", [=] {
      return Pair{[=] { (void)Mixture<nn::Ragged>{k}(x, r, w, v); },
                  [=] { (void)Mixture<nn::Gathered>{k}(x, r, w, v); }};
    });
    suite.add(name + "_both", [=] {
      return Pair{[=] { (void)value_and_grad<0, 1, 2, 3>(Loss<nn::Ragged>{k})(x, r, w, v); },
                  [=] { (void)value_and_grad<0, 1, 2, 3>(Loss<nn::Gathered>{k})(x, r, w, v); }};
    });
  }
  suite.run(argc, argv);
  suite.print();
  bool smaller = true;
  for (std::int64_t const k : {1, 2}) {
    auto const load = to_host(nn::expert_load<E>(nn::router<E>(matmul(x, r), k), 16));
    std::int64_t most = 0;
    std::int64_t const each = (16 + env.size() - 1) / env.size();
    for (std::int64_t e = 0; e < 16; e += each) {
      std::int64_t rows = 0;
      for (std::int64_t i = e; i < e + each && i < 16; ++i)
        rows += load[static_cast<std::size_t>(i)];
      most = std::max(most, rows);
    }
    double const peak = peak_of([&] { (void)Mixture<nn::Ragged>{k}(x, r, w, v); }) /
                        peak_of([&] { (void)Mixture<nn::Gathered>{k}(x, r, w, v); });
    smaller = smaller && (env.size() < 4 || peak < 1);
    if (env.rank() == 0) {
      std::printf("value moe top%lld peak_bytes %d %.3f\n", static_cast<long long>(k), env.size(),
                  peak);
      std::printf("value moe top%lld most_rows %d %.3f\n", static_cast<long long>(k), env.size(),
                  static_cast<double>(most * env.size()) / static_cast<double>(tokens * k));
    }
  }
  if (!smaller) std::fprintf(stderr, "moe: the ragged form holds more than the gathered one\n");
  return smaller ? EXIT_SUCCESS : EXIT_FAILURE;
}
