// The gain of a layer norm is used by rows that X splits, and nothing names the sum of its
// gradient.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: used_as
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/nn/norm.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
using A = Tensor<float, Dim<B, X>, Dim<D>>;
using Vec = Tensor<float, Dim<D>>;

void train(A const& x, Vec const& gain) {
  (void)grad<1>([](auto const& a, auto const& g) {
#ifdef LEGAL
    return sum<Tensor<float>>(nn::rms_norm<D>(a, used_as<Reduced<X>>(g)));
#else
    return sum<Tensor<float>>(nn::rms_norm<D>(a, g));
#endif
  })(x, gain);
}
