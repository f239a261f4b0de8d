// The function returns another element type.
// EXPECT: \[shardtype N05\]
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Varying<X> ?>, shardtype::Tensor<double, shardtype::Dim<I, X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I, X>>;
#else
using B = Tensor<double, Dim<I, X>>;
#endif

void ask(A const& a) {
  (void)shard_map<B>([](auto b) { return b; }, a);
}
