// A refused gradient of a model, whose members are read: one message.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// MAX-LINES: 11, 24 with echo
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct D : Index<"D", 8> {};
struct V : Index<"V", 4> {};
template <template <class> class As>
struct Model {
  As<Tensor<float, Dim<D>, Dim<V>>> w;
  As<Tensor<float, Dim<V>>> b;
};
using Values = Model<value_t>;
using A = Tensor<float, Dim<B, X>, Dim<D>>;

#ifdef LEGAL
auto const used = [](auto const& w) { return used_as<Reduced<X>>(w); };
#else
auto const used = [](auto const& w) -> auto const& { return w; };
#endif

auto step(Values& m, A const& x) {
  train::AdamW const adam{{.rate = 1e-3}};
  auto state = adam.init(m);
  auto const both = value_and_grad<0>([](auto const& p, auto const& c) {
    return sum<Tensor<float>>(matmul(c, used(p.w)) * used_as<Reduced<X>>(p.b));
  })(m, x);
  m.b = m.b - 0.1F * both.grad.b;
  adam.update(m, both.grad, state);
  return item(both.value) + train::global_norm(both.grad);
}
