// A long Fourier transform along a dim that is block-cyclic, and its fix: blocks.
// EXPECT: \[shardtype B03\] this operation does not support block-cyclic dims
// EXPECT: reshard it to blocks first, Dim<I, X> \(one all_to_all
// EXPECT: false, shardtype::Tensor<Kokkos::complex<double>, shardtype::Dim<I, shardtype::Cyclic<X, 4> ?> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/fft/types_four_step.hpp>
#include <shardtype/types.hpp>

namespace Kokkos {
template <class Real>
class complex {
 public:
  using value_type = Real;

 private:
  Real parts[2]{};
};
}  // namespace Kokkos
using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};

#ifdef LEGAL
using A = Tensor<Kokkos::complex<double>, Dim<I, X>>;
#else
using A = Tensor<Kokkos::complex<double>, Dim<I, Cyclic<X, 4>>>;
#endif

void ask() { (void)plan(op::FftFourStep<I, K, L>{}, type<A>); }
