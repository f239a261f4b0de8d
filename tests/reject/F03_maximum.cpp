// A transform of a pending maximum.
// EXPECT: \[shardtype F03\] a maximum or minimum is pending
// EXPECT: all_reduce the axis first
// EXPECT: false, shardtype::Tensor<double, shardtype::Dim<I>, shardtype::Unreduced<shardtype::Max, X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/fft/types_operations.hpp>
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
namespace Kokkos {
template <class Real>
class complex {
  Real parts[2]{};
};
}  // namespace Kokkos

#ifdef LEGAL
using A = Tensor<double, Dim<I>, Unreduced<X>>;
#else
using A = Tensor<double, Dim<I>, Unreduced<Max, X>>;
#endif

void ask() { (void)plan(op::Rfft<I>{}, type<A>); }
