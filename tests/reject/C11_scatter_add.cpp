// Sums of bool.
// EXPECT: \[shardtype C11\] the operands hold bool
// EXPECT: false, .*
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
using A = Tensor<std::int64_t, Dim<B>>;
#else
using A = Tensor<bool, Dim<B>>;
#endif

void ask() { (void)plan(op::ScatterAdd<V>{}, type<A>, type<Ids>); }
