// The product of a block and a tensor.
// EXPECT: \[shardtype V01\] a Tensor stands where a Local belongs, or a Local where a Tensor does
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Local<float, Dim<I>, Dim<J>, Varying<X>>;

#ifdef LEGAL
using B = Local<float, Dim<J>, Dim<K>>;
#else
using B = Tensor<float, Dim<J>, Dim<K>>;
#endif

void ask(A const& a, B const& b) { (void)matmul(a, b); }
