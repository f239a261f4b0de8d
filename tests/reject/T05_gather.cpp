// A mesh axis for the index.
// EXPECT: \[shardtype T05\] a mesh axis stands where an index belongs, or the other way round
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
using A = Tensor<float, Dim<V>, Dim<D>>;
using Ids = Tensor<std::int32_t, Dim<B>>;

#ifdef LEGAL
using Along = V;
#else
using Along = X;
#endif

void ask() { (void)plan(op::Take<Along>{}, type<A>, type<Ids>); }
