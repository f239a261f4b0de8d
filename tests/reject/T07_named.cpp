// A named result of more operands than there is room for.
// EXPECT: \[shardtype T07\] .*more than 8 indices, 8 operands or 6 mesh axes
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;
using Turned = op::Named<op::Concat<J>, Dim<I, Y>, Dim<J, X>>;

auto joined(A const& a, std::source_location const& where) {
#ifdef LEGAL
  return call(Turned{}, where, a, a, a, a, a, a, a, a);
#else
  return call(Turned{}, where, a, a, a, a, a, a, a, a, a);
#endif
}
