// One-hot rows of bool.
// EXPECT: \[shardtype I01\] places are given by a tensor
// EXPECT: false, shardtype::Tensor<bool, shardtype::Dim<B> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};

#ifdef LEGAL
using Ids = Tensor<std::int64_t, Dim<B>>;
#else
using Ids = Tensor<bool, Dim<B>>;
#endif

void ask(Ids const& ids) { (void)one_hot<V>(ids, 10); }
