// A named result without an index of the table.
// EXPECT: \[shardtype R01\] a reshard keeps the indices
// EXPECT: false, .*, D>
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
using A = Tensor<float, Dim<V>, Dim<D>>;
using Ids = Tensor<std::int32_t, Dim<B>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<B, X>, Dim<D>>;
#else
using Out = Tensor<float, Dim<B, X>>;
#endif

void ask(A const& a, Ids const& ids) { (void)take<V, Out>(a, ids); }
