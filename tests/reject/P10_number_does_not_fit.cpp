// A floating number on integers.
// EXPECT: \[shardtype P10\] .*a number does not fit
// EXPECT: false, shardtype::Tensor<int, shardtype::Dim<I> ?>, shardtype::checking::Number<double>
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
using A = Tensor<float, Dim<I>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I>>;
#else
using B = Tensor<int, Dim<I>>;
#endif

void ask(A const& a, B const& b) { (void)(b * 1.5), (void)a; }
