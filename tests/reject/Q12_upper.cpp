// A word in the place of an option.
// EXPECT: \[shardtype Q12\] no function of linalg .* Options are values and no words
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;
using B = Tensor<float, Dim<I>>;

#ifdef LEGAL
auto solution(A const& a, B const& b) {
  return linalg::triangular_solve<I, J>(a, b, {.upper = true});
}
#else
auto solution(A const& a, B const& b) { return linalg::triangular_solve<I, J>(a, b, "upper"); }
#endif
