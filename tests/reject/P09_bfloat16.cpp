// bfloat16 and float: not promoted, as float and double are not.
// EXPECT: \[shardtype P09\] .*different element types or memories
// EXPECT: false, shardtype::Tensor<shardtype::bfloat16, shardtype::Dim<I> ?>, shardtype::Tensor<float, shardtype::Dim<I> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
using A = Tensor<bfloat16, Dim<I>>;
using B = Tensor<float, Dim<I>>;

#ifdef LEGAL
void ask(A const& a, B const& b) { (void)(cast<float>(a) + b); }
#else
void ask(A const& a, B const& b) { (void)(a + b); }
#endif
