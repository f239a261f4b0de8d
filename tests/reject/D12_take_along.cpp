// Ids that are split otherwise.
// EXPECT: \[shardtype D12\] the operands must have the same indices in the same order
// EXPECT: false, .*, D>
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
using A = Tensor<float, Dim<V>, Dim<D, X>>;

#ifdef LEGAL
using Ids = Tensor<std::int32_t, Dim<V>, Dim<D, X>>;
#else
using Ids = Tensor<std::int32_t, Dim<V>, Dim<D>>;
#endif

void ask() { (void)plan(op::TakeAlong<V>{}, type<A>, type<Ids>); }
