// Another shape, by the name of NumPy.
// EXPECT: \[shardtype A16\] .*split_dim<I, I1, I2>
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using W = Tensor<float, Dim<J>>;
using M = Mesh<X, Y>;

#ifdef LEGAL
void ask(A const& a) { (void)merge_dims<I, J, K>(reshard<Dim<I>, Dim<J>>(a)); }
#else
void ask(A const& a) { (void)reshape(a, {4, 24}); }
#endif
