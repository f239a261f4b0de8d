// Ids that have an index of the table.
// EXPECT: \[shardtype I03\] the ids and the table share an index
// EXPECT: take_along<J>
// EXPECT: false, .*shardtype::Dim<B> ?>, B>
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
using A = Tensor<float, Dim<V>, Dim<B>>;

#ifdef LEGAL
using Ids = Tensor<std::int64_t, Dim<N>>;
#else
using Ids = Tensor<std::int64_t, Dim<B>>;
#endif

void ask() { (void)plan(op::Take<V>{}, type<A>, type<Ids>); }
