// Two programs that JAX users know from jax.jit, in automatic mode: a product with a squared
// operand, and two layers with a sharding constraint between them. The plans are for the usual
// sizes of such layers; the run uses the two large extents divided by 16. On 8 ranks.
// SHOWN: docs
// RANKS: 8
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X2 : Axis<"X", 2> {};
struct X4 : Axis<"X", 4> {};
struct Y : Axis<"Y", 2> {};

// The extents are part of the types, so all planning happens at compile time.
template <int Part>
struct SizesOver {
  struct B : Index<"B", 8> {};
  struct D : Index<"D", 2048 / Part> {};
  struct F : Index<"F", 8192 / Part> {};
};
using Full = SizesOver<1>;
using Small = SizesOver<16>;

// docs: one-layer
// einsum('bd,df->bf', square(In), W) with In at P('X', 'Y'), W at P('Y', None), the result at
// P('X', None).
template <class S>
struct MatmulSquare {
  using In = Tensor<float, Dim<typename S::B, X2>, Dim<typename S::D, Y>>;
  using W = Tensor<float, Dim<typename S::D, Y>, Dim<typename S::F>>;
  using Out = Tensor<float, Dim<typename S::B, X2>, Dim<typename S::F>>;
  auto operator()(auto in, auto w) const { return evaluate<Out>(square(in) * w); }
};
constexpr auto one_layer =
    plan_traced<MatmulSquare<Full>::In, MatmulSquare<Full>::W>(MatmulSquare<Full>{});
// XLA's program for a 2 x 2 mesh: the square and the product in one fusion, then an AllReduce of
// [4, 8192].
static_assert(one_layer.collectives() == 1 && one_layer.count(Collective::all_reduce) == 1);
static_assert(one_layer.bytes_per_rank() == 4 * 8192 * sizeof(float));
// docs: end

// einsum('bf,df->bd', einsum('bd,df->bf', x, Win), Wout), with the weights split along the hidden
// dim F.
template <class S>
struct Free {
  using In = Tensor<float, Dim<typename S::B, X4>, Dim<typename S::D, Y>>;
  using Win = Tensor<float, Dim<typename S::D>, Dim<typename S::F, Y>>;
  using Wout = Tensor<float, Dim<typename S::D>, Dim<typename S::F, Y>>;
  using Hidden = Tensor<float, Dim<typename S::B, X4>, Dim<typename S::F, Y>>;
  using Whole = Tensor<float, Dim<typename S::B, X4>, Dim<typename S::F>>;
  auto operator()(auto in, auto win, auto wout) const { return evaluate<In>(in * win * wout); }
};
// docs: constrained
// The same with with_sharding_constraint(hidden, P('X', 'Y')).
template <class S>
struct Constrained : Free<S> {
  auto operator()(auto in, auto win, auto wout) const {
    auto hidden = constrain<typename Free<S>::Hidden>(in * win);
    return evaluate<typename Free<S>::In>(hidden * wout);
  }
};
// docs: end
// The same with a constraint that costs more: with_sharding_constraint(hidden, P('X', None)).
template <class S>
struct Gathered : Free<S> {
  auto operator()(auto in, auto win, auto wout) const {
    auto hidden = constrain<typename Free<S>::Whole>(in * win);
    return evaluate<typename Free<S>::In>(hidden * wout);
  }
};
template <class P>
constexpr auto two_layers = plan_traced<typename P::In, typename P::Win, typename P::Wout>(P{});
// The first constraint names the sharding that the planner chooses itself; the second needs one
// more collective.
static_assert(two_layers<Free<Full>>.collectives() == 2);
static_assert(two_layers<Constrained<Full>>.collectives() == 2);
static_assert(two_layers<Gathered<Full>>.collectives() == 3);
static_assert(two_layers<Constrained<Full>>.bytes_per_rank() ==
              two_layers<Free<Full>>.bytes_per_rank());
static_assert(two_layers<Gathered<Full>>.bytes_per_rank() ==
              3 * two_layers<Free<Full>>.bytes_per_rank());

// Small integers, so that no sum is rounded: the order of the sums does not matter.
std::int64_t value(std::int64_t i, std::int64_t j) { return (i * i + 2 * j + i * j) % 3 - 1; }

// The product of a and b, or of a and the transpose of b if `turned`.
std::vector<float> dense(std::vector<float> const& a, std::vector<float> const& b,
                         std::size_t inner, bool turned) {
  std::size_t const columns = b.size() / inner;
  std::vector<float> c(a.size() / inner * columns);
  for (std::size_t n = 0; n < c.size(); ++n)
    for (std::size_t k = 0; k < inner; ++k) {
      std::size_t const j = n % columns;
      c[n] += a[n / columns * inner + k] * b[turned ? j * inner + k : k * columns + j];
    }
  return c;
}
void check(char const* what, std::vector<float> const& given, std::vector<float> const& expected) {
  if (given != expected) throw Error("example", std::string(what) + " gave other numbers");
}

void run_one_layer(Environment const& env) {
  using P = MatmulSquare<Small>;
  Mesh<X2, Y> const mesh(env.world());  // the first four ranks
  if (!mesh.here()) return;
  auto const in = from_function<P::In>(mesh, value);
  auto const w = from_function<P::W>(mesh, value);
  auto const out = evaluate<P::Out>(mesh, square(lazy(in)) * w);

  std::vector<float> squared = to_host(in);
  for (float& x : squared) x *= x;
  check("one layer", to_host(out), dense(squared, to_host(w), 2048 / 16, false));
}

void run_two_layers(Environment const& env) {
  using P = Constrained<Small>;
  Mesh<X4, Y> const mesh(env.world());
  auto const in = from_function<P::In>(mesh, value);
  auto const win = from_function<P::Win>(mesh, value);
  auto const wout = from_function<P::Wout>(mesh, value);
  auto const free = evaluate<P::In>(mesh, lazy(in) * win * wout);
  auto const constrained = evaluate<P::In>(mesh, constrain<P::Hidden>(lazy(in) * win) * wout);
  auto const gathered = evaluate<P::In>(mesh, constrain<P::Whole>(lazy(in) * win) * wout);

  auto const hidden = dense(to_host(in), to_host(win), 2048 / 16, false);
  auto const expected = dense(hidden, to_host(wout), 8192 / 16, true);
  check("two layers", to_host(free), expected);
  check("two layers, constrained", to_host(constrained), expected);
  check("two layers, gathered", to_host(gathered), expected);
}

template <class P>
std::string planned_text(P const& program) {
  if constexpr (requires { typename P::W; }) {
    return explain(dry_run<typename P::In, typename P::W>(program).planned());
  } else {
    return explain(dry_run<typename P::In, typename P::Win, typename P::Wout>(program).planned());
  }
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  if (env.rank() == 0) {
    std::printf("== one-layer\n%s\n", planned_text(MatmulSquare<Full>{}).c_str());
    std::printf("== free\n%s\n", planned_text(Free<Full>{}).c_str());
    std::printf("== constrained\n%s\n", planned_text(Constrained<Full>{}).c_str());
    std::printf("== gathered\n%s\n", planned_text(Gathered<Full>{}).c_str());
  }
  run_one_layer(env);
  run_two_layers(env);
}
