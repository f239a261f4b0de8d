// A transformer block whose activations are split along the sequence and whose heads and hidden
// features are split over the same ranks: gathered and scattered while the products run, forward
// and backward. Prints what it sends, a few steps of training, and the plan of the same block on
// 100,000 ranks, which is a constant of the program. On 4 ranks.
// SHOWN: docs
// RANKS: 4
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <type_traits>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

// docs: names
// A block on a mesh of X (sequences) and Y (positions, heads, hidden features); `I` are its
// indices.
template <class X, class Y, class I>
struct Model {
  using Rows = Tensor<float, Dim<typename I::B, X>, Dim<typename I::S, Y>, Dim<typename I::D>>;
  using Vector = Tensor<float, Dim<typename I::D>>;
  using Heads = Tensor<float, Dim<typename I::D>, Dim<typename I::H, Y>, Dim<typename I::F>>;
  using Out = Tensor<float, Dim<typename I::H, Y>, Dim<typename I::F>, Dim<typename I::D>>;
  using Up = Tensor<float, Dim<typename I::D>, Dim<typename I::M, Y>>;
  using Hidden = Tensor<float, Dim<typename I::M, Y>>;
  using Down = Tensor<float, Dim<typename I::M, Y>, Dim<typename I::D>>;
  template <template <class> class As>
  struct Block {
    nn::Norm<As, Vector> norm1;
    nn::Attention<As, Heads, Heads, Out> attention;
    nn::Norm<As, Vector> norm2;
    nn::Mlp<As, Up, Hidden, Down, Vector> mlp;
  };
};
// docs: end

// docs: loss
// The gradients of parameters are summed over the axes of `Sums`.
template <class Sums>
constexpr auto loss(Overlap how) {
  return [how](auto const& p, auto const& x) {
    auto const y = nn::transformer_block(x, p, nn::Overlapped<Sums>{how}, {.causal = true});
    return sum<Tensor<float>>(square(y));
  };
}
// docs: end

// docs: small
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct Small {
  struct B : Index<"B", 4> {};
  struct S : Index<"S", 16> {};
  struct D : Index<"D", 32> {};
  struct H : Index<"H", 4> {};
  struct F : Index<"F", 8> {};
  struct M : Index<"M", 128> {};
};
using Here = Model<X, Y, Small>;
using Sums = Reduced<X, Y>;
constexpr auto plan_here = plan(value_and_grad<0, 1>(loss<Sums>(Overlap::automatic)),
                                type<Here::Block<value_t>>, type<Here::Rows>);
static_assert(plan_here.forward.count(Collective::all_gather) == 2);
static_assert(plan_here.forward.count(Collective::reduce_scatter) == 2);
static_assert(plan_here.backward.count(Collective::all_gather) == 4);
static_assert(plan_here.backward.count(Collective::reduce_scatter) == 2);
// docs: end

// docs: large
struct Nodes : Axis<"nodes", 12500> {};
struct Cores : Axis<"cores", 8> {};
struct Large {
  struct B : Index<"B", 12500> {};
  struct S : Index<"S", 8192> {};
  struct D : Index<"D", 8192> {};
  struct H : Index<"H", 64> {};
  struct F : Index<"F", 128> {};
  struct M : Index<"M", 32768> {};
};
using There = Model<Nodes, Cores, Large>;
constexpr auto plan_there =
    plan(value_and_grad<0, 1>(loss<Reduced<Nodes, Cores>>(Overlap::automatic)),
         type<There::Block<value_t>>, type<There::Rows>);
// docs: end

// The lines of a plan without its local steps.
std::string what_is_sent(std::string const& plan) {
  std::istringstream lines(plan);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    if (line.find(" local ") == std::string::npos) out += line + '\n';
  return out;
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  bool const first = env.rank() == 0;
  Mesh<X, Y> const mesh(env.world());
  auto const section = [&](char const* name) {
    if (first) std::printf("== %s\n", name);
  };
  auto const draw = [&]<class A>(Type<A>, std::uint64_t key, float scale) {
    return normal<A>(mesh, RandomKey{key}, 0.0F, scale);
  };
  auto const x = draw(type<Here::Rows>, 1, 1.0F);
  Here::Block<value_t> p{{full<Here::Vector>(mesh, 1.0F), full<Here::Vector>(mesh, 0.0F)},
                         {draw(type<Here::Heads>, 2, 0.1F), draw(type<Here::Heads>, 3, 0.1F),
                          draw(type<Here::Heads>, 4, 0.1F), draw(type<Here::Out>, 5, 0.1F)},
                         {full<Here::Vector>(mesh, 1.0F), full<Here::Vector>(mesh, 0.0F)},
                         {draw(type<Here::Up>, 6, 0.1F), full<Here::Hidden>(mesh, 0.0F),
                          draw(type<Here::Down>, 7, 0.1F), full<Here::Vector>(mesh, 0.0F)}};

  section("values");
  // docs: values
  auto const blocking =
      nn::transformer_block(x, p, nn::Overlapped<>{Overlap::none}, {.causal = true});
  auto const ring = nn::transformer_block(x, p, nn::Overlapped<>{Overlap::ring}, {.causal = true});
  auto const chosen = nn::transformer_block(x, p, nn::Overlapped<>{}, {.causal = true});
  bool const same =
      allclose(ring, blocking, 1e-4F, 1e-4F) && allclose(chosen, blocking, 1e-4F, 1e-4F);
  // docs: end
  if (first) std::printf("%s: %s\n", type_name(ring).c_str(), same ? "the same" : "not the same");

  section("plan");
  if (first) std::printf("%s", explain(plan_here.forward).c_str());

  section("steps");
  // docs: steps
  bool falls = true;
  float last = INFINITY;
  for (int step = 0; step < 4; ++step) {
    auto const [value, gradients] = value_and_grad<0>(loss<Sums>(Overlap::automatic))(p, x);
    float const now = item(value);
    if (first) std::printf("step %d  loss %.2f\n", step, static_cast<double>(now));
    falls = falls && now < last;
    last = now;
    p.mlp.w2 = (p.mlp.w2 - 1e-4F * gradients.mlp.w2).tensor();
    p.attention.out = (p.attention.out - 1e-4F * gradients.attention.out).tensor();
  }
  // docs: end

  section("large");
  if (first) std::printf("%s", what_is_sent(explain(plan_there)).c_str());
  return same && falls ? 0 : 1;
}
