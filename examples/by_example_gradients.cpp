// The programs of docs/by_example/gradients.md, one for each function. On 2 ranks.
// SHOWN: docs
// ALONE: it calls all functions of a family, which checks of all examples would read again
// RANKS: 2
// NEEDS: Random123
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

// docs: names
struct X : Axis<"X", 2> {};  // two ranks
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct V : Index<"V"> {};
// docs: end

bool first = true;  // of the ranks
void say(std::string const& line) {
  if (first) std::printf("%s\n", line.c_str());
}
void part(char const* name) { say(std::string("== ") + name); }

void derivatives(Mesh<X> const& mesh) {
  {
    part("grad");
    // docs: grad
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    auto const loss = [](auto const& v) { return sum<Tensor<double>>(square(v)); };
    print(grad<0>(loss)(a));  // 2 a
    // docs: end
  }
  {
    part("value_and_grad");
    // docs: value_and_grad
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    auto const loss = [](auto const& v) { return sum<Tensor<double>>(square(v)); };
    auto const [value, slope] = value_and_grad<0>(loss)(a);
    print(value);
    print(slope);
    // docs: end
  }
  {
    part("vjp");
    // docs: vjp
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    auto const b =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{10.0, 20.0, 30.0, 40.0});
    auto const [product, pullback] = vjp([](auto const& v, auto const& w) { return v * w; }, a, b);
    auto const [of_a, of_b] = pullback(ones_like(a));
    print(of_a);  // the slope by v is w
    print(of_b);
    // docs: end
  }
  {
    part("remat");
    // docs: remat
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{0.0, 0.5, 1.0, 1.5});
    auto const layer = [](auto const& v) { return tanh(exp(v) * 0.1).tensor(); };
    // The backward pass computes the layer again: nothing in it is saved.
    auto const loss = [&](auto const& v) { return sum<Tensor<double>>(remat(layer)(v)); };
    print(grad<0>(loss)(a));
    // docs: end
  }
  {
    part("prefetch_layers");
    // docs: prefetch_layers
    auto const rows =
        from_host<double, Dim<J, X>, Dim<I>>(mesh, {2, 2}, std::vector<double>{0.0, 0.5, 1.0, 1.5});
    auto const gain = from_host<double, Dim<I, X>>(mesh, {2}, std::vector<double>{1.0, 2.0});
    std::array const gains{gain, gain, gain};
    auto const layer = [](auto const& v, auto const& whole) { return tanh(v * whole).tensor(); };
    // Each layer gets its gain whole; the next one's is gathered meanwhile, forward and backward.
    auto const loss = [&](auto const& ps) {
      return sum<Tensor<double>>(prefetch_layers<Reduced<X>>(layer)(rows, ps));
    };
    print(grad<0>(loss)(gains)[2]);
    // docs: end
  }
  {
    part("custom_vjp");
    // docs: custom_vjp
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, -2.0, 3.0, -4.0});
    // The square, whose gradient is clipped to [-3, 3].
    auto const limited =
        custom_vjp([](auto const& v) { return square(v).tensor(); },
                   [](auto const& v) { return std::pair(square(v).tensor(), v); },
                   [](auto const& v, auto const& ct) { return clip(2.0 * v * ct, -3.0, 3.0); });
    print(grad<0>([&](auto const& v) { return sum<Tensor<double>>(limited(v)); })(a));
    // docs: end
  }
  {
    part("check_grads");
    // docs: check_grads
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    check_grads([](auto const& v) { return sin(v) * v; }, a);  // throws where a gradient differs
    say("equal to differences");
    // docs: end
  }
  {
    part("stop_gradient");
    // docs: stop_gradient
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    auto const loss = [](auto const& v) { return sum<Tensor<double>>(v * stop_gradient(v)); };
    print(grad<0>(loss)(a));  // of the first factor alone
    // docs: end
  }
}

void random_numbers(Mesh<X> const& mesh) {
  {
    part("uniform");
    // docs: uniform
    print(uniform<double, Dim<I, X>>(mesh, {4}, RandomKey{7}));  // the same on any number of ranks
    // docs: end
  }
  {
    part("normal");
    // docs: normal
    print(normal<double, Dim<I, X>>(mesh, {4}, RandomKey{7}));
    print(normal<double, Dim<I, X>>(mesh, {4}, RandomKey{7}, 100.0, 0.1));
    // docs: end
  }
  {
    part("truncated_normal");
    // docs: truncated_normal
    print(truncated_normal<double, Dim<I, X>>(mesh, {4}, RandomKey{7}, -1.0, 1.0));
    // docs: end
  }
  {
    part("exponential");
    // docs: exponential
    print(exponential<double, Dim<I, X>>(mesh, {4}, RandomKey{7}));
    // docs: end
  }
  {
    part("gumbel");
    // docs: gumbel
    print(gumbel<double, Dim<I, X>>(mesh, {4}, RandomKey{7}));
    // docs: end
  }
  {
    part("gamma");
    // docs: gamma
    print(gamma<double, Dim<I, X>>(mesh, {4}, RandomKey{7}, 2.0));
    // docs: end
  }
  {
    part("bernoulli");
    // docs: bernoulli
    print(bernoulli<bool, Dim<I, X>>(mesh, {4}, RandomKey{7}, 0.5));
    // docs: end
  }
  {
    part("integers");
    // docs: integers
    print(integers<std::int64_t, Dim<I, X>>(mesh, {8}, RandomKey{7}, 0, 10));
    // docs: end
  }
  {
    part("permutation");
    // docs: permutation
    print(permutation<std::int64_t, Dim<I, X>>(mesh, {8}, RandomKey{7}));
    // docs: end
  }
  {
    part("choice");
    // docs: choice
    print(choice<std::int64_t, Dim<I, X>>(mesh, {4}, RandomKey{7}, 100));  // 4 of 0 to 99
    // docs: end
  }
  {
    part("categorical");
    // docs: categorical
    auto const logits = from_host<double, Dim<I, X>, Dim<V>>(
        mesh, {4, 3}, std::vector<double>{0, 0, 9, 9, 0, 0, 0, 9, 0, 1, 1, 1});
    print(categorical<V>(logits, RandomKey{7}));  // one position for each row
    // docs: end
  }
}

}  // namespace

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  first = env.rank() == 0;
  // docs: mesh
  Mesh<X> const mesh(env.world());
  // docs: end
  derivatives(mesh);
  random_numbers(mesh);
  return 0;
}
