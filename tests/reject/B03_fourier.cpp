// A Fourier transform along a dim that is block-cyclic, and its fix: blocks, whose axis a named
// result moves.
// EXPECT: \[shardtype B03\] this operation does not support block-cyclic dims
// EXPECT: reshard it to blocks first, Dim<I, X> \(one all_to_all
// EXPECT: false, shardtype::Tensor<double, shardtype::Dim<I, shardtype::Cyclic<X, 4> ?>, shardtype::Dim<J> ?>, I, X>
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
#else
using A = Tensor<double, Dim<I, Cyclic<X, 4>>, Dim<J>>;
#endif
using Named = op::Named<op::Rfft<I>, Dim<I>, Dim<J, X>>;

void ask() { (void)plan(Named{}, type<A>); }
