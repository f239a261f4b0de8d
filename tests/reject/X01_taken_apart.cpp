// A refused gradient of two arguments, taken apart in every way: one message.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// MAX-LINES: 11, 24 with echo
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <tuple>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
using A = Tensor<float, Dim<B, X>, Dim<D>>;
using W = Tensor<float, Dim<D>>;

#ifdef LEGAL
auto const used = [](auto const& w) { return used_as<Reduced<X>>(w); };
#else
auto const used = [](auto const& w) -> auto const& { return w; };
#endif

auto step(W const& v, W const& w, A const& x) {
  auto const both = value_and_grad<0, 1>([](auto const& a, auto const& b, auto const& c) {
    return sum<Tensor<float>>(c * used(a) * used_as<Reduced<X>>(b));
  })(v, w, x);
  auto const& [value, gradients] = both;
  auto const& [to_v, to_w] = gradients;
  auto const norm = sum(to_v * std::get<0>(both.grad)) + sum(std::get<1>(gradients) * to_w);
  return item(value) + item(norm.tensor());
}
