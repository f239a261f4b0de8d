// A halo that was refused says no more when it is added up.
// EXPECT: \[shardtype B03\] this operation does not support block-cyclic dims
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, shardtype::Cyclic<X, 16> ?> ?>, I, X>
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
using A = Tensor<float, Dim<I, X>>;
#else
using A = Tensor<float, Dim<I, Cyclic<X, 16>>>;
#endif

void back(A const& a) { (void)halo_add(zeros_like(halo_exchange<I>(a, 1, 1))); }
