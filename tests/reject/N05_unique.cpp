// A unique whose named result has other elements.
// EXPECT: \[shardtype N05\]
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct V : Index<"V"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<V, X>>;

#ifdef LEGAL
using Found = Tensor<float, Dim<K>>;
#else
using Found = Tensor<double, Dim<K>>;
#endif

void ask(A const& a) { (void)unique<V, K, Found>(a, 3, 0); }
