// A function of expressions of values whose gradient is wanted.
// EXPECT: \[shardtype L10\] automatic mode inside of a function whose gradient is wanted
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

auto squares(Mesh<X> const& mesh, A const& a) {
#ifdef LEGAL
  static_cast<void>(mesh);
  auto const inner = [](auto const& x) { return sum(x * x); };
#else
  auto const inner = [&](auto const& x) {
    return evaluate<>(mesh, [](auto const& y) { return sum(y * y); }, x);
  };
#endif
  return value_and_grad<0>(inner)(a);
}
