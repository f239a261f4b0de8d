// The block has no K to be cut along.
// EXPECT: \[shardtype K04\] this collective names an index that the tensor does not have
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, K, X>
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
using A = Local<float, Dim<I>, Dim<K>>;
#else
using A = Local<float, Dim<I>, Dim<J>>;
#endif

void ask(A const& a) { (void)shard<X, K>(a); }
