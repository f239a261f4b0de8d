// Each rank would look up its own ids in its own summand.
// EXPECT: \[shardtype I06\] an operand is unreduced over a mesh axis that splits the other
// EXPECT: false, .*, B, X>
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
using A = Tensor<float, Dim<V>, Dim<D>, Unreduced<Y>>;
#else
using A = Tensor<float, Dim<V>, Dim<D>, Unreduced<X>>;
#endif

void ask() { (void)plan(op::Take<V>{}, type<A>, type<Ids>); }
