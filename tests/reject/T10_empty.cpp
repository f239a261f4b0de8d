// No elements at all, by an extent that no tensor has.
// EXPECT: \[shardtype T10\] by its static extents
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
#ifdef LEGAL
struct I : Index<"I", (std::int64_t{1} << 58)> {};
#else
struct I : Index<"I", (std::int64_t{1} << 62)> {};
#endif
struct J : Index<"J", 0> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

void ask() { (void)plan(op::Reshard<Dim<I>, Dim<J>>{}, type<A>); }
