// 12 is not 4 times 4.
// EXPECT: \[shardtype D06\] the static extents of the indices contradict
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<P> ?>, P>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct P : Index<"P", 12> {};
struct Q : Index<"Q", 4> {};
struct R : Index<"R", 4> {};
struct S : Index<"S", 3> {};
using A = Tensor<float, Dim<P>>;

#ifdef LEGAL
using Inner = S;
#else
using Inner = R;
#endif

void ask() { (void)plan(op::SplitDim<P, Q, Inner>{}, type<A>); }
