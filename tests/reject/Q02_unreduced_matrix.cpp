// A matrix that is an unreduced sum.
// EXPECT: \[shardtype Q02\] a matrix is unreduced over the axis
// EXPECT: all_reduce<X>\(a\) first
// EXPECT: false, shardtype::Tensor<double, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
#ifdef LEGAL
using A = Tensor<double, Dim<I>, Dim<J>>;
#else
using A = Tensor<double, Dim<I>, Dim<J>, Unreduced<X>>;
#endif

void ask(A const& a) { (void)linalg::cholesky<I, J>(a); }
