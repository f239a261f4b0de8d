// 8 rows cannot be called 9.
// EXPECT: \[shardtype D06\] the static extents of the indices contradict
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<P> ?>, P, Q>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct P : Index<"P", 8> {};
struct Q : Index<"Q", 9> {};
struct R : Index<"R", 8> {};
using A = Tensor<float, Dim<P>>;

#ifdef LEGAL
using New = R;
#else
using New = Q;
#endif

void ask() { (void)plan(op::Relabel<P, New>{}, type<A>); }
