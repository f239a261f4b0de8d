// Normal numbers by their name in NumPy and PyTorch.
// EXPECT: \[shardtype A19\] this function has another name here: randn and standard_normal are normal<float, Dim<I>>
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using M = Mesh<X>;

#ifdef LEGAL
auto draw(M const& mesh) { return normal<float, Dim<I, X>>(mesh, {8}, RandomKey{7}); }
#else
auto draw(M const& mesh) { return randn<float, Dim<I, X>>(mesh, {8}); }
#endif
