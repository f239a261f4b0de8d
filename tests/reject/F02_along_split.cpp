// A transform along a dim that X splits.
// EXPECT: \[shardtype F02\] a Fourier transform is local, and a mesh axis splits a dim that it
// EXPECT: fft<I, Dim<I>, Dim<J, X>>\(a\)
// EXPECT: false, shardtype::Tensor<double, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/fft/types_operations.hpp>
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
namespace Kokkos {
template <class Real>
class complex {
  Real parts[2]{};
};
}  // namespace Kokkos
using A = Tensor<double, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using Along = J;
#else
using Along = I;
#endif

void ask() { (void)plan(op::Rfft<Along>{}, type<A>); }
