// I is split over X in one operand and over Y in the other.
// EXPECT: \[shardtype P02\] .*an index is split differently in two operands
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<I, Y> ?>, I, Y
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
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I, X>>;
#else
using B = Tensor<float, Dim<I, Y>>;
#endif

void ask(A const& a, B const& b) { (void)(a * b); }
