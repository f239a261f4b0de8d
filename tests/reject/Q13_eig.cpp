// Eigenvalues of any matrix, which are not here; what takes them apart adds no message.
// EXPECT: \[shardtype Q13\] linalg has this function by another name, or not at all: eig and eigvals are eigh
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
auto parts(A const& a) { return linalg::eigh<I, J, K>(a); }
#else
auto parts(A const& a) { return linalg::eig<I, J, K>(a); }
#endif

auto first(A const& a) {
  auto const [w, v] = parts(a);
  return (v * w).tensor();
}
