// A part of an expression without a gradient, in automatic mode.
// EXPECT: \[shardtype X03\] this operation has no gradient
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

auto best(Mesh<X> const& mesh, A const& a) {
  return evaluate(mesh, value_and_grad<0>([](auto const& x) {
#ifdef LEGAL
                    return sum(max<J>(x * x));
#else
                    auto const [values, places] = top_k<J, K>(x * x, 2);
                    return sum(values);
#endif
                  }),
                  a);
}
