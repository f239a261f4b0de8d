// The different elements of a matrix.
// EXPECT: \[shardtype I13\] unique works on a tensor of one dim
// EXPECT: false, .*, D>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct K : Index<"K"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<V, X>>;
#else
using A = Tensor<float, Dim<V, X>, Dim<D>>;
#endif

void ask(A const& a) { (void)unique<V, K, Dim<K, X>>(a, 3, 0); }
