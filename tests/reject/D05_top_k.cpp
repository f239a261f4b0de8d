// Fewer rows of an index that has 9.
// EXPECT: \[shardtype D05\] this operation changes the extent of an index whose type settles it
// EXPECT: false, .*, P>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};
struct P : Index<"P", 9> {};
using A = Tensor<float, Dim<P>>;

#ifdef LEGAL
inline constexpr auto best = op::TopK<P, V>{};
#else
inline constexpr auto best = op::TopK<P>{};
#endif

void ask() { (void)plan(best, type<A>); }
