// The refused sum goes on through everything: one message.
// EXPECT: \[shardtype P02\] .*an index is split differently in two operands
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?>, shardtype::Tensor<float, shardtype::Dim<I, Y> ?>, I, Y
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>>;

#ifdef LEGAL
using B = Tensor<float, Dim<I, X>>;
#else
using B = Tensor<float, Dim<I, Y>>;
#endif

void ask(A const& a, B const& b) {
  auto c = exp(a + b) * 2.0F;
  c += a;
  auto s = sum<Tensor<float>>(where(a > b, c, a));
  float const x = item(s);
  (void)x;
}
