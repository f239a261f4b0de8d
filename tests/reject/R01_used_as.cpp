// The use of a parameter names all of its indices.
// EXPECT: \[shardtype R01\] .*
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, .*J>
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
using W = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
void use(W const& w) { (void)used_as<Dim<I>, Dim<J>, Reduced<X>>(w); }
#else
void use(W const& w) { (void)used_as<Dim<I>, Reduced<X>>(w); }
#endif
