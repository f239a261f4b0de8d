// A lookup along a dim that is block-cyclic.
// EXPECT: \[shardtype B03\] .*reshard it to blocks first
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<V, shardtype::Cyclic<X, 4> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
using Ids = Tensor<int, Dim<B>>;

#ifdef LEGAL
using Table = Tensor<float, Dim<V, X>, Dim<D>>;
#else
using Table = Tensor<float, Dim<V, Cyclic<X, 4>>, Dim<D>>;
#endif

void ask(Table const& table, Ids const& ids) { (void)take<V>(table, ids); }
