// The plan of a function that branches on a value, from types alone: which of the two runs is known
// at run time.
// EXPECT: \[shardtype A05\] the plan of this function depends on an extent or a value that is known at run time only
// EXPECT: false, shardtype::Local<bool> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: must be initialized by a constant
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", 8> {};

struct Body {
  constexpr auto operator()(auto const& a) const {
    auto const total = all_reduce<X>(sum(a));
#ifdef LEGAL
    return where(total > 0.0, a, -a).tensor();
#else
    return branch((total > 0.0).tensor(), [](auto x) { return x; },
                  [](auto x) { return (-x).tensor(); }, a);
#endif
  }
};
constexpr auto p = plan(Body{}, type<Local<double, Dim<I>, Varying<X>>>);
