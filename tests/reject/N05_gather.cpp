// A named result of double, of a table of float.
// EXPECT: \[shardtype N05\] the named result has another element type
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
using Out = Tensor<float, Dim<B>, Dim<D>>;
#else
using Out = Tensor<double, Dim<B>, Dim<D>>;
#endif

void ask(A const& a, Ids const& ids) { (void)take<V, Out>(a, ids); }
