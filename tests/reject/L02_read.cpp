// Factors of a matrix over many ranks, which are block-cyclic, in a product of elements.
// EXPECT: \[shardtype L02\] automatic mode plans blocks only
// EXPECT: Only operations on that layout, such as lu_factor
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
using M = Mesh<X>;
using A = Tensor<float, Dim<I>, Dim<J, Cyclic<X, 4>>>;

auto factors(M const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<A>(mesh, linalg::lu_factor<I, J>(lazy(a)).factors);
#else
  return evaluate<Dim<I>, Dim<J, X>>(mesh, linalg::lu_factor<I, J>(lazy(a)).factors * 2);
#endif
}
