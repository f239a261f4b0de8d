// The plan of a function asks for an extent that is known at run time only.
// EXPECT: \[shardtype A05\] the plan of this function depends on an extent that is known at run time only
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, J
// FORBID: error:.*error:
// MAX-LINES: 11
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", 8> {};
#ifdef LEGAL
struct J : Index<"J", 6> {};
#else
struct J : Index<"J"> {};
#endif
struct K : Index<"K"> {};

using A = Tensor<float, Dim<I, X>, Dim<J>>;

inline constexpr auto first_half = [](auto const& a) {
  return slice<J, K>(a, 0, a.template extent<J>() / 2);
};

void ask() { (void)plan(first_half, type<A>); }
