// One mistake, one message: a refused all_gather is used further.
// EXPECT: \[shardtype K01\] .*takes a mesh axis off a dim, but the axis does not split it
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, Y>, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;
using B = Tensor<float, Dim<J, Y>, Dim<K>, Unreduced<X>>;
#else
using A = Tensor<float, Dim<I, Y>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<K>>;
#endif

void use(A const& a, B const& b) {
  auto c = all_gather<X>(a);
  auto d = matmul(c, b);
  auto e = reduce_scatter<X, I>(all_reduce<Y>(d));
  (void)reshard<Dim<I>, Dim<K>>(e).extent<K>();
}
