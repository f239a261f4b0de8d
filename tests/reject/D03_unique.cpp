// unique along a split dim, without a named result.
// EXPECT: \[shardtype D03\]
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct V : Index<"V"> {};
struct K : Index<"K"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<V>>;
#else
using A = Tensor<float, Dim<V, X>>;
#endif

void ask(A const& a) { auto const [values, counts, distinct] = unique<V, K>(a, 3, 0); }
