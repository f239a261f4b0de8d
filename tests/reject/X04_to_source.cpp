// A plan to be printed of a loss that is no number.
// EXPECT: \[shardtype X04\]
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/freeze/to_source.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", 8> {};

auto printed(Mesh<X> const& mesh, Tensor<float, Dim<I, X>> const& a) {
#ifdef LEGAL
  return to_source<"step">(mesh, value_and_grad<0>([](auto const& x) { return sum(x * x); }), a);
#else
  return to_source<"step">(mesh, value_and_grad<0>([](auto const& x) { return x * x; }), a);
#endif
}
