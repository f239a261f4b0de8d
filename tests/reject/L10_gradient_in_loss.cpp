// A gradient of automatic mode inside of a loss of automatic mode.
// EXPECT: \[shardtype L10\] automatic mode inside of a function whose gradient is wanted
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

auto squares(Mesh<X> const& mesh, A const& a) {
  return evaluate(mesh, value_and_grad<0>([&](auto const& x) {
#ifdef LEGAL
                    static_cast<void>(mesh);
                    return sum(x * x);
#else
                    return sum(
                        evaluate(mesh, grad<0>([](auto const& y) { return sum(y * y); }), x));
#endif
                  }),
                  a);
}
