// The gradient of the factor of a matrix over a grid of ranks.
// EXPECT: \[shardtype X03\] this operation has no gradient
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/check/sentences/gradients.hpp>
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

using A = Tensor<double, Dim<I, Cyclic<X, 64>>, Dim<J, Cyclic<Y, 64>>>;
#ifdef LEGAL
void ask(A const& a) { (void)linalg::cholesky<I, J>(a); }
#else
void ask(A const& a) {
  (void)value_and_grad<0>([](auto const& m) { return linalg::cholesky<I, J>(m); })(a);
}
#endif
