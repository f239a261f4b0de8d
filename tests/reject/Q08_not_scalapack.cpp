// A descriptor of a matrix whose blocks are row-major.
// EXPECT: \[shardtype Q08\] ScaLAPACK has no such matrix
// EXPECT: exchange the labels and describe the transposed matrix
// EXPECT: false, shardtype::Tensor<double, shardtype::Dim<I, shardtype::Cyclic<X, 64> ?>, shardtype::Dim<J> ?>, I, J>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<double, Dim<I, Cyclic<X, 64>>, Dim<J>>;

#ifdef LEGAL
void ask(A const& a) { (void)linalg::scalapack_descriptor<J, I>(a, 0); }
#else
void ask(A const& a) { (void)linalg::scalapack_descriptor<I, J>(a, 0); }
#endif
