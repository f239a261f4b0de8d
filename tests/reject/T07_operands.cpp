// A function of more operands than there is room for.
// EXPECT: \[shardtype T07\] .*more than 8 indices, 8 operands or 6 mesh axes
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<double, Dim<I, X>>;

struct First {
  template <class... Ts>
  KOKKOS_FUNCTION double operator()(double a, Ts... /*others*/) const {
    return a;
  }
};

void ask(A const& a) {
#ifdef LEGAL
  (void)map(First{}, a, a, a, a, a, a, a, a);
#else
  (void)map(First{}, a, a, a, a, a, a, a, a, a);
#endif
}
