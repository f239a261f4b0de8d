// X splits the ids, and another dim of the updates.
// EXPECT: \[shardtype I05\] a mesh axis splits one index in the ids and another one
// EXPECT: false, .*, D, B, X>
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
using Ids = Tensor<std::int32_t, Dim<B, X>>;

#ifdef LEGAL
using A = Tensor<float, Dim<B>, Dim<D, Y>>;
#else
using A = Tensor<float, Dim<B>, Dim<D, X>>;
#endif

void ask() { (void)plan(op::ScatterAdd<V>{}, type<A>, type<Ids>); }
