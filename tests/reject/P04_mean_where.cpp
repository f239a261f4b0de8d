// The mean of the elements that a mask keeps over a split dim, strict: a quotient of pending sums.
// EXPECT: \[shardtype P04\] an operand is unreduced and the function is not linear in it
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using Mask = Tensor<bool, Dim<I, X>, Dim<J>>;

void ask(A const& a, Mask const& mask) {
#ifdef LEGAL
  (void)mean<Dim<J>>(a, where(mask));
#else
  (void)mean<I>(a, where(mask));
#endif
}
