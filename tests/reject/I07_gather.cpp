// A table of unreduced maxima, looked up along a split dim.
// EXPECT: \[shardtype I07\] the operand is an unreduced maximum or minimum
// EXPECT: false, .*, V, Y>
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
using A = Tensor<float, Dim<V>, Dim<D, Y>, Unreduced<Max, X>>;
#else
using A = Tensor<float, Dim<V, Y>, Dim<D>, Unreduced<Max, X>>;
#endif

void ask() { (void)plan(op::Take<V>{}, type<A>, type<Ids>); }
