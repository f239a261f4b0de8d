// A block that varies is no replicated tensor.
// EXPECT: \[shardtype V07\] the output names no dim split over the mesh axis
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Local<float, Dim<I>, Dim<J>, Varying<X>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using B = Tensor<float, Dim<I>, Dim<J>>;
#endif

void ask(A const& a) {
  (void)strict<B>([](auto b) { return b; }, a);
}
