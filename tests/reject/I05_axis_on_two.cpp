// X splits the ids, and another dim of the table.
// EXPECT: \[shardtype I05\] a mesh axis splits one index in the ids and another one in the other operand
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<V>, shardtype::Dim<D, X> ?>, shardtype::Tensor<(int|std::int32_t), shardtype::Dim<B, X> ?>, D, B, X>
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
using A = Tensor<float, Dim<V>, Dim<D, Y>>;
#else
using A = Tensor<float, Dim<V>, Dim<D, X>>;
#endif

void ask() { (void)plan(op::Take<V>{}, type<A>, type<Ids>); }
