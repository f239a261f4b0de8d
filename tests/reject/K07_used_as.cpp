// Used as what it is.
// EXPECT: \[shardtype K07\] this collective names no mesh axis
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?> ?>
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
using W = Tensor<float, Dim<I, X>>;

#ifdef LEGAL
void use(W const& w) { (void)used_as<Reduced<X>>(w); }
#else
void use(W const& w) { (void)used_as<Reduced<>>(w); }
#endif
