// An update of double in a tensor of float.
// EXPECT: \[shardtype C10\] the operands have different element types
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<V> ?>, shardtype::Tensor<double, shardtype::Dim<N> ?> ?>
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
using A = Tensor<float, Dim<V>>;

#ifdef LEGAL
using U = Tensor<float, Dim<N>>;
#else
using U = Tensor<double, Dim<N>>;
#endif

void ask() { (void)plan(op::DynamicUpdate<V, N>{}, type<A>, type<U>); }
