// A table with a row for each of several searches.
// EXPECT: \[shardtype I12\] a sorted table has one dim
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

#ifdef LEGAL
using A = Tensor<float, Dim<V>>;
#else
using A = Tensor<float, Dim<D>, Dim<V>>;
#endif

void ask(A const& a, Tensor<float, Dim<B, X>> const& queries) { (void)searchsorted<V>(a, queries); }
