// A total of integers as a C++ integer.
// EXPECT: \[shardtype A11\] a tensor is no C\+\+ number
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
using W = Tensor<float, Dim<J>>;
using M = Mesh<X, Y>;

#ifdef LEGAL
std::int64_t ask(Tensor<std::int64_t, Dim<I, X>> const& n) {
  return item(sum<Tensor<std::int64_t>>(n));
}
#else
std::int64_t ask(Tensor<std::int64_t, Dim<I, X>> const& n) {
  std::int64_t total = sum(n);
  return total;
}
#endif
