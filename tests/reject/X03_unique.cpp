// The gradient of a function with unique.
// EXPECT: \[shardtype X03\]
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct V : Index<"V"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<V, X>>;

void ask(A const& a) {
  auto const loss = [](auto const& x) {
#ifdef LEGAL
    auto const of = stop_gradient(x);
#else
    auto const of = x;
#endif
    return sum<Tensor<float>>(x) + sum<Tensor<float>>(unique<V, K, Dim<K>>(of, 3, 0).values);
  };
  (void)grad(loss)(a);
}
