// Two of extent 8 behind one another.
// EXPECT: \[shardtype D05\] this operation changes the extent of an index
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<P> ?>, shardtype::Tensor<float, shardtype::Dim<P> ?>, P>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct P : Index<"P", 8> {};
struct Q : Index<"Q", 16> {};
using A = Tensor<float, Dim<P>>;

#ifdef LEGAL
inline constexpr auto asked = op::Concat<P, Q>{};
#else
inline constexpr auto asked = op::Concat<P>{};
#endif

void ask() { (void)plan(asked, type<A>, type<A>); }
