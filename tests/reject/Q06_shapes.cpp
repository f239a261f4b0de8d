// Right-hand sides without the matrix's batch dim.
// EXPECT: \[shardtype Q06\] rows, columns and right-hand sides do not fit
// EXPECT: broadcast<Dim<B, X>>\(b\)
// EXPECT: false, shardtype::Tensor<double, shardtype::Dim<B, X>, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<double, shardtype::Dim<I> ?>, B>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<double, Dim<B, X>, Dim<I>, Dim<J>>;
#ifdef LEGAL
using V = Tensor<double, Dim<B, X>, Dim<I>>;
#else
using V = Tensor<double, Dim<I>>;
#endif

void ask(A const& a, V const& b) { (void)linalg::solve<I, J>(a, b); }
