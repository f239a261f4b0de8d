// QR of one matrix whose rows and columns are both split.
// EXPECT: \[shardtype Q07\] the rows of this matrix are split, so it is one tall matrix
// EXPECT: all_to_all<X, I, B>\(a\)
// EXPECT: false, shardtype::Tensor<double, shardtype::Dim<I, X>, shardtype::Dim<J, Y> ?>, J, Y>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
#ifdef LEGAL
using A = Tensor<double, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<double, Dim<I, X>, Dim<J, Y>>;
#endif

void ask(A const& a) { (void)linalg::qr<I, J, K>(a); }
