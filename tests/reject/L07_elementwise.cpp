// The product of a matrix and its row sums is one of elements.
// EXPECT: \[shardtype L07\] .*a . b sums over nothing where one operand has all indices of the other
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J>>;
using M = Mesh<X, Y>;

#ifdef LEGAL
auto ask(M const& mesh, A const& a, B const& b) {
  return evaluate<Dim<I, X>>(mesh, sum<J>(lazy(a) * b));
}
#else
auto ask(M const& mesh, A const& a, B const& b) { return evaluate<Dim<I, X>>(mesh, lazy(a) * b); }
#endif
