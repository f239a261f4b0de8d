// to_memory of an index.
// EXPECT: \[shardtype T19\] to_memory names something that is no memory space
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using Space = Kokkos::HostSpace;
#else
using Space = J;
#endif

void ask(A const& a) { (void)to_memory<Space>(a); }
