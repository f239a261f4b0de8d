// The inverse of a long transform, of frequencies whose second dim X splits.
// EXPECT: \[shardtype F05\] ifft_four_step<K1, K2, I>\(f\) takes the order that fft_four_step gives
// EXPECT: all_to_all<X, K2, K1>\(f\) first
// EXPECT: false, shardtype::Tensor<Kokkos::complex<double>, shardtype::Dim<P>, shardtype::Dim<Q, X> ?>, Q, X>
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
struct P : Index<"P", 8> {};
struct Q : Index<"Q", 4> {};

#ifdef LEGAL
using A = Tensor<Kokkos::complex<double>, Dim<P, X>, Dim<Q>>;
#else
using A = Tensor<Kokkos::complex<double>, Dim<P>, Dim<Q, X>>;
#endif

void ask() { (void)plan(op::IfftFourStep<P, Q, I>{}, type<A>); }
