// Automatic mode inside of a function whose gradient is wanted.
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
  return evaluate(mesh, value_and_grad<0>([](auto const& x) { return sum(x * x); }), a);
#else
  return value_and_grad<0>([&](auto const& x) { return evaluate<>(mesh, sum(lazy(x) * x)); })(a);
#endif
}
