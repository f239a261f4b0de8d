// One mistake, one message: the slice is used further.
// EXPECT: \[shardtype D03\] this operation works along one dim
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using Along = J;
#else
using Along = I;
#endif

void use(A const& a) {
  auto b = slice<Along>(a, 0, 2);
  auto c = transpose<J, I>(pad<Along>(b, 1, 1, 3.0f));
  auto d = concat<Along>(transpose<I, J>(c), b);
  auto e = cumsum<I>(shift<J>(d, 1));
  (void)e.local();
}
