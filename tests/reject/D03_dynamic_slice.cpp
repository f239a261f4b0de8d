// A window along a split dim.
// EXPECT: \[shardtype D03\] this operation works along one dim
// EXPECT: false, .*, V, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};
using A = Tensor<float, Dim<V, X>, Dim<D>>;

#ifdef LEGAL
using Along = D;
#else
using Along = V;
#endif

void ask(A const& a) { (void)dynamic_slice<Along>(a, 1, 2); }
