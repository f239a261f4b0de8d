// A named slice whose result has the old index.
// EXPECT: \[shardtype R01\]
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
void ask(A const& a) { (void)slice<I, K, Dim<K, X>, Dim<J>>(a, 1, 3); }
#else
void ask(A const& a) { (void)slice<I, K, Dim<I, X>, Dim<J>>(a, 1, 3); }
#endif
