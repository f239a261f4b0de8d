// A sum of tensors in two memories.
// EXPECT: \[shardtype P09\] .*to_memory<Space>\(a\) copies its block
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I> ?>, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Memory<Kokkos::HostSpace> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I>>;
using B = Tensor<float, Dim<I>, Memory<Kokkos::HostSpace>>;

#ifdef LEGAL
void ask(A const& a, B const& b) { (void)(a + to_memory<>(b)); }
#else
void ask(A const& a, B const& b) { (void)(a + b); }
#endif
