// Tensors that lie otherwise cannot be compared where they lie.
// EXPECT: \[shardtype P02\]
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?>, shardtype::Tensor<float, shardtype::Dim<I, Y> ?>, I
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I>>;
#else
using B = Tensor<float, Dim<I, Y>>;
#endif

bool ask(A const& a, B const& b) { return array_equal(a, b); }
