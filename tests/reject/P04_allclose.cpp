// Summands that are still to be added up, compared with numbers.
// EXPECT: \[shardtype P04\] .*f of a sum is not the sum of f
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<X> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I, X>>;
#else
using B = Tensor<float, Dim<I>, Unreduced<X>>;
#endif

bool ask(A const& a, B const& b) { return allclose(b, a, 1e-3); }
