// A matrix whose rows X splits.
// EXPECT: \[shardtype Q01\] a mesh axis splits the rows or columns of a matrix
// EXPECT: false, shardtype::Tensor<double, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<double, shardtype::Dim<I> ?>, I, X>
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
using A = Tensor<double, Dim<I, X>, Dim<J>>;
#endif
using V = Tensor<double, Dim<I>>;

void ask(A const& a, V const& b) { (void)linalg::solve<I, J>(a, b); }
