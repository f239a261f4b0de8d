// reduce_scatter onto K, which the tensor does not have.
// EXPECT: \[shardtype K04\] .*names an index that the tensor does not have
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<X> ?>, K, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I>, Dim<K>, Unreduced<X>>;
#else
using A = Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>;
#endif

void send(A const& a) { (void)reduce_scatter<X, K>(a); }
