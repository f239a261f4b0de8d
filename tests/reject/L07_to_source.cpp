// A plan to be printed whose result lacks an index.
// EXPECT: \[shardtype L07\] the result that evaluate names has other indices than the expression
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/freeze/to_source.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", 8> {};
struct J : Index<"J", 8> {};
struct K : Index<"K", 8> {};

auto printed(Mesh<X> const& mesh, Tensor<float, Dim<I, X>, Dim<J>> const& a,
             Tensor<float, Dim<J, X>, Dim<K>> const& b) {
#ifdef LEGAL
  return to_source<"product">(evaluate_to<Tensor<float, Dim<I>, Dim<K>>>, mesh, lazy(a) * b);
#else
  return to_source<"product">(evaluate_to<Tensor<float, Dim<I>>>, mesh, lazy(a) * b);
#endif
}
