// A complex transform of real numbers.
// EXPECT: \[shardtype F01\] fft, ifft and irfft transform Kokkos::complex of float or double
// EXPECT: Use rfft for real numbers
// EXPECT: false, shardtype::Tensor<double, shardtype::Dim<I> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/fft/types_operations.hpp>
#include <shardtype/types.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
namespace Kokkos {
template <class Real>
class complex {
  Real parts[2]{};
};
}  // namespace Kokkos
using A = Tensor<double, Dim<I>>;

#ifdef LEGAL
using Transform = op::Rfft<I>;
#else
using Transform = op::Fft<I>;
#endif

void ask() { (void)plan(Transform{}, type<A>); }
