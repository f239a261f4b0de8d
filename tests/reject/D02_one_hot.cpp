// The ids have the new index already.
// EXPECT: \[shardtype D02\] the tensor already has an index of the name
// EXPECT: false, .*, V>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};

#ifdef LEGAL
using Ids = Tensor<std::int32_t, Dim<B>>;
#else
using Ids = Tensor<std::int32_t, Dim<V>>;
#endif

void ask() { (void)plan(op::OneHot<V, float>{}, type<Ids>); }
