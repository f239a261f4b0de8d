// A named sum in another memory.
// EXPECT: \[shardtype N05\] .*to_memory<Space>\(a\), a copy of the block
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;
using Out = Tensor<float, Dim<I>, Memory<Kokkos::HostSpace>>;

#ifdef LEGAL
void ask(A const& a) { (void)to_memory<Out>(sum<J>(a)); }
#else
void ask(A const& a) { (void)sum<Out>(a); }
#endif
