// A block does not go to another mesh.
// EXPECT: \[shardtype V01\] a Tensor stands where a Local belongs, or a Local where a Tensor does
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Local<float, Dim<I>, Dim<J>, Varying<X>>;
#endif

void ask(A const& a, Mesh<Y> const& mesh) { (void)transfer<Dim<I, Y>, Dim<J>>(a, mesh); }
