// A named result that is unreduced where nothing is.
// EXPECT: \[shardtype R02\] a reshard never makes a replicated value unreduced
// EXPECT: false, .*, X>
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
using A = Tensor<float, Dim<B>, Dim<D>>;
using Ids = Tensor<std::int32_t, Dim<B>>;

#ifdef LEGAL
using Out = Tensor<float, Dim<V, X>, Dim<D>>;
#else
using Out = Tensor<float, Dim<V>, Dim<D>, Unreduced<X>>;
#endif

void ask(A const& a, Ids const& ids) { (void)scatter_add<V, Out>(a, ids, 9); }
