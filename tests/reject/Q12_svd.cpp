// Singular values without an index of their own; what takes them apart adds no message.
// EXPECT: \[shardtype Q12\] no function of linalg .* and so is the new dim of factors
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

#ifdef LEGAL
auto parts(A const& a) { return linalg::svd<I, J, K>(a); }
#else
auto parts(A const& a) { return linalg::svd<I, J>(a); }
#endif

auto first(A const& a) {
  auto const [u, s, vh] = parts(a);
  return matmul((u * s).tensor(), vh);
}
