// Causal attention over a sequence that an axis splits, in float: block-cyclic rows against blocks,
// and the ring against a gather of keys and values.
#include <cstdint>
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
    "bench_ring_attention [--rounds=21] [--benchmark_filter=CASE]\n"
    "Causal nn::attention of 1024 positions on each rank, 8 heads of 64 features. turns: blocks of "
    "128 "
    "positions in turn, over\n"
    "one block for each rank, both by the ring. ring: blocks by the ring, over a gather of keys "
    "and values.\n"
    "Last lines: ratio ring_attention CASE RANKS MEDIAN Q1 Q3, of times.\n";

struct X : Axis<"X"> {};
struct B : Index<"B", 1> {};
struct S : Index<"S"> {};
struct H : Index<"H", 8> {};
struct F : Index<"F", 64> {};
using InBlocks = Dim<S, X>;
using InTurns = Dim<S, Cyclic<X, 128>>;
template <class L, class... More>
using A = Tensor<float, Dim<B>, L, Dim<H>, Dim<F>, More...>;
using Pair = std::pair<std::function<void()>, std::function<void()>>;

template <class L>
struct Ring {
  constexpr auto operator()(auto const& q, auto const& k, auto const& v) const {
    return nn::attention<Dim<B>, L, Dim<H>, Dim<F>>(q, k, v);
  }
};
struct Gather {
  constexpr auto operator()(auto const& q, auto const& k, auto const& v) const {
    using Whole = A<Dim<S>, Reduced<X>>;
    return nn::attention(q, reshard<Whole>(k), reshard<Whole>(v));
  }
};
template <class Fn>
struct Loss {
  Fn f;
  constexpr auto operator()(auto const&... as) const { return sum<Tensor<float>>(f(as...)); }
};
template <class L>
struct Operands {
  A<L> q, k, v;
  Operands(Mesh<X> const& mesh, std::int64_t s)
      : q(normal<A<L>>(mesh, {1, s, 8, 64}, RandomKey{1})),
        k(normal<A<L>>(mesh, {1, s, 8, 64}, RandomKey{2})),
        v(normal<A<L>>(mesh, {1, s, 8, 64}, RandomKey{3})) {}
};

template <class Ours, class Theirs, class In, class Other>
void add(Suite& suite, std::string const& name, Ours ours, Theirs theirs, In const& a,
         Other const& b) {
  suite.add(name + "_forward", [=] {
    return Pair{[=] { (void)ours(a.q, a.k, a.v); }, [=] { (void)theirs(b.q, b.k, b.v); }};
  });
  suite.add(name + "_both", [=] {
    return Pair{[=] { (void)value_and_grad<0, 1, 2>(Loss<Ours>{ours})(a.q, a.k, a.v); },
                [=] { (void)value_and_grad<0, 1, 2>(Loss<Theirs>{theirs})(b.q, b.k, b.v); }};
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {env.size()});
  Suite suite("ring_attention", option(argc, argv, "rounds", 21));
  Operands<InBlocks> const blocks(mesh, 1024 * env.size());
  Operands<InTurns> const turns(mesh, 1024 * env.size());
  add(suite, "turns", Ring<InTurns>{}, Ring<InBlocks>{}, turns, blocks);
  add(suite, "ring", Ring<InBlocks>{}, Gather{}, blocks, blocks);
  suite.run(argc, argv);
  suite.print();
  return 0;
}
