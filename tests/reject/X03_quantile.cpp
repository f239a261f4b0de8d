// The gradient of a median.
// EXPECT: \[shardtype X03\] this operation has no gradient
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

auto middle(A const& a) {
  return grad([](auto const& x) {
#ifdef LEGAL
    return sum(at<I, Dim<J>>(sort<I, Dim<I, X>, Dim<J>>(x), 3));
#else
    return sum(median<I, Dim<J>>(x));
#endif
  })(a);
}
