// A layer in tensor and sequence parallelism: nobody says that the gradients of its parameters are
// summed over X.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: shardtype::Tensor<float, shardtype::Dim<D>, shardtype::Dim<M, Y> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// MAX-LINES: 12, 28 with echo
// NEEDS: full
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct B : Index<"B", 4> {};
struct S : Index<"S", 4> {};
struct D : Index<"D", 4> {};
struct M : Index<"M", 8> {};
using Rows = Tensor<float, Dim<B, X>, Dim<S, Y>, Dim<D>>;
using Up = Tensor<float, Dim<D>, Dim<M, Y>>;

#ifdef LEGAL
using How = nn::Overlapped<Reduced<X>>;
#else
using How = nn::Overlapped<>;
#endif

auto train(Up const& w, Rows const& x) {
  return grad<0>([](auto v, auto rows) {
    return sum<Tensor<float>>(square(nn::linear(rows, v, How{Overlap::ring})));
  })(w, x);
}
