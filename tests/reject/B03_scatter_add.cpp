// A scatter of updates that are block-cyclic.
// EXPECT: \[shardtype B03\] .*reshard it to blocks first
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<B, shardtype::Cyclic<X, 4> ?>
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
using Table = Tensor<float, Dim<B, X>, Dim<D>>;
#else
using Table = Tensor<float, Dim<B, Cyclic<X, 4>>, Dim<D>>;
#endif

void ask(Table const& table, Ids const& ids) { (void)scatter_add<V>(table, ids, 9); }
