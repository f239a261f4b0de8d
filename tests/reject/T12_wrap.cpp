// Memory whose elements are not those of the tensor.
// EXPECT: \[shardtype T12\] .*no tensor is made of these arguments
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <span>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using M = Mesh<X>;

#ifdef LEGAL
void ask(M const& mesh, std::span<float> mine) { (void)wrap<float, Dim<I, X>>(mesh, {8}, mine); }
#else
void ask(M const& mesh, std::span<double> mine) { (void)wrap<float, Dim<I, X>>(mesh, {8}, mine); }
#endif
