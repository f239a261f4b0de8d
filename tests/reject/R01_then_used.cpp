// One mistake, one message: a refused reshard is used further.
// EXPECT: \[shardtype R01\] a reshard keeps the indices
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, K>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J>, Dim<L>>;

#ifdef LEGAL
using Second = Dim<J>;
#else
using Second = Dim<K>;
#endif

void use(A const& a, B const& b) {
  auto c = reshard<Dim<I>, Second>(a);
  auto d = matmul(c, b);
  auto e = all_to_all<X, I, L>(reshard<Dim<I, X>, Dim<L>>(d));
  (void)e.local();
  (void)(d.extent<L>() + 1);
}
