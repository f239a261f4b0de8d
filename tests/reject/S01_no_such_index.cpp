// There is no K to sum over.
// EXPECT: \[shardtype S01\] .*no dim with an index that the reduction names
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>
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
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I>, Dim<K>>;
#else
using B = Tensor<float, Dim<I>, Dim<J>>;
#endif

void ask(A const& a, B const& b) { (void)sum<K>(b), (void)a; }
