// Nor is there a halo along it.
// EXPECT: \[shardtype D01\] this operation names an index
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, K>
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
using Along = I;
#else
using Along = K;
#endif

void read(A const& a) {
  auto const h = halo_exchange<Along>(a, 1, 1);
  (void)h.local();
  (void)h.ranges();
}
