// A whole update in a tensor with unreduced sums.
// EXPECT: \[shardtype D13\] the operands must be unreduced over the same mesh axes
// EXPECT: false, .*, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};
using A = Tensor<float, Dim<V>, Unreduced<X>>;

#ifdef LEGAL
using U = Tensor<float, Dim<N>, Unreduced<X>>;
#else
using U = Tensor<float, Dim<N>>;
#endif

void ask(A const& a, U const& u) { (void)dynamic_update<V, N>(a, u, 0); }
