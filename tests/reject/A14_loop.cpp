// A loop over rows.
// EXPECT: \[shardtype A14\] .*a\.local_extent<I>\(\)
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
using M = Mesh<X, Y>;

#ifdef LEGAL
void ask(A const& a) {
  for (std::int64_t i = 0; i < a.local_extent<I>(); ++i) (void)a.local()(i, 0);
}
#else
void ask(A const& a) {
  for (auto row : a) print(row);
}
#endif
