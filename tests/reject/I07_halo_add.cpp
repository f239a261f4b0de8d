// Sums over halos of candidates for a maximum.
// EXPECT: \[shardtype I07\] the operand is an unreduced maximum or minimum
// EXPECT: Halo<shardtype::Tensor<float, shardtype::Dim<I, Y>, shardtype::Unreduced<shardtype::Max, X> ?>, I>, X>
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
#ifdef LEGAL
using A = Tensor<float, Dim<I, Y>, Unreduced<X>>;
#else
using A = Tensor<float, Dim<I, Y>, Unreduced<Max, X>>;
#endif

void back(A const& a) { (void)halo_add(halo_exchange<I>(a, 1, 1)); }
