// X splits the rows of the table, and the ids.
// EXPECT: \[shardtype I04\] a mesh axis splits the index that is looked up and the ids too
// EXPECT: take<V, Dim<...>...>
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<V, X>, shardtype::Dim<D> ?>, shardtype::Tensor<(int|std::int32_t), shardtype::Dim<B, X> ?>, V, B, X>
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
using A = Tensor<float, Dim<V, Y>, Dim<D>>;
#else
using A = Tensor<float, Dim<V, X>, Dim<D>>;
#endif

void ask() { (void)plan(op::Take<V>{}, type<A>, type<Ids>); }
