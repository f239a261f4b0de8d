// The largest of complex numbers, along a split dim.
// EXPECT: \[shardtype I11\]
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct V : Index<"V"> {};
struct K : Index<"K"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<V, X>>;
#else
using A = Tensor<Kokkos::complex<float>, Dim<V, X>>;
#endif

void ask(A const& a) { (void)top_k<V, K, Dim<K>>(a, 3); }
