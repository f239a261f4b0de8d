// Complex numbers have no least one.
// EXPECT: \[shardtype S04\] .*complex
// EXPECT: false, shardtype::Tensor<Kokkos::complex<float>, shardtype::Dim<I> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
using A = Tensor<Kokkos::complex<float>, Dim<I>>;

#ifdef LEGAL
auto count(A const& a) { return counted_prod<I>(a); }
#else
auto count(A const& a) { return counted_min<I>(a); }
#endif
