// Neither operand has both indices.
// EXPECT: \[shardtype P01\] .*so this would be an outer product
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?>, shardtype::Tensor<float, shardtype::Dim<J> ?>, I, J
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
using A = Tensor<float, Dim<I, X>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I>>;
#else
using B = Tensor<float, Dim<J>>;
#endif

void ask(A const& a, B const& b) { (void)(a + b); }
