// A range of numbers has one dim.
// EXPECT: \[shardtype D16\] arange and linspace make a tensor of one dim, eye one of two
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X ?>, shardtype::Dim<J> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>>;
#else
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#endif

void run(Mesh<X> const& mesh) { (void)arange<A>(mesh, 10); }
