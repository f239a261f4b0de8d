// A system without the names of its rows and columns.
// EXPECT: \[shardtype Q12\] no function of linalg is called like this. Rows and columns are template arguments
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
auto solution(A const& a, B const& b) { return linalg::solve<I, J>(a, b); }
#else
auto solution(A const& a, B const& b) { return linalg::solve(a, b); }
#endif
