// Updates that are unreduced maxima.
// EXPECT: \[shardtype I07\] the operand is an unreduced maximum or minimum
// EXPECT: false, .*, V, X>
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
using Ids = Tensor<std::int32_t, Dim<B>>;

#ifdef LEGAL
using A = Tensor<float, Dim<B>, Unreduced<X>>;
#else
using A = Tensor<float, Dim<B>, Unreduced<Max, X>>;
#endif

void ask() { (void)plan(op::ScatterAdd<V>{}, type<A>, type<Ids>); }
