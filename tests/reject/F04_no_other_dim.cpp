// A named transform of the only dim, which X splits.
// EXPECT: \[shardtype F04\] a mesh axis splits a dim that this Fourier transform names, and no other dim
// EXPECT: fft<I>\(all_gather<X>\(a\)\)
// EXPECT: false, shardtype::Tensor<double, shardtype::Dim<I, X> ?>, X>
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

#ifdef LEGAL
using A = Tensor<double, Dim<I, X>, Dim<J>>;
using Named = op::Named<op::Rfft<I>, Dim<I>, Dim<J, X>>;
#else
using A = Tensor<double, Dim<I, X>>;
using Named = op::Named<op::Rfft<I>, Dim<I, X>>;
#endif

void ask() { (void)plan(Named{}, type<A>); }
