// Rows of blocks, put into a tensor.
// EXPECT: \[shardtype V01\] a Tensor stands where a Local belongs, or a Local where a Tensor does
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Local<float, Dim<I>, Dim<J>, Varying<X>>;

#ifdef LEGAL
using B = Local<float, Dim<I>, Dim<J>, Varying<X>>;
#else
using B = Tensor<float, Dim<I>, Dim<J>>;
#endif

void ask(A const& a, B const& b, op::RaggedRows const& rows) {
  (void)ragged_all_to_all<X>(a, b, rows);
}
