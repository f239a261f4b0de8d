// The page of a plan without its header.
// EXPECT: \[shardtype A15\] .*<shardtype/visualize/program_page.hpp> to_html
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
void ask(A const& a) { (void)exp(a); }
#else
void ask(A const& a) { write_html(a, "plan.html"); }
#endif
