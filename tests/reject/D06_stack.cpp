// Three operands do not make an extent of 2.
// EXPECT: \[shardtype D06\] the static extents of the indices contradict
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, Two>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct Two : Index<"Two", 2> {};
struct Three : Index<"Three", 3> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using New = Three;
#else
using New = Two;
#endif

void ask() { (void)plan(op::Stack<New>{}, type<A>, type<A>, type<A>); }
