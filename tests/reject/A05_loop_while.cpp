// The plan of a function that loops while a value is large, from types alone: the number of rounds
// is known at run time.
// EXPECT: \[shardtype A05\] the plan of this function depends on an extent or a value that is known at run time only
// EXPECT: false, shardtype::Local<bool> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: must be initialized by a constant
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", 8> {};

struct Halves {
  constexpr auto operator()(auto const& a) const { return (a / 2.0).tensor(); }
  constexpr auto operator()(std::int64_t, auto const& a) const { return (a / 2.0).tensor(); }
};
struct Body {
  constexpr auto operator()(auto const& a) const {
#ifdef LEGAL
    return loop(3, a, Halves{});
#else
    auto const large = [](auto const& x) { return (all_reduce<X>(sum(x)) > 1.0).tensor(); };
    return loop_while(large, a, Halves{});
#endif
  }
};
constexpr auto p = plan(Body{}, type<Local<double, Dim<I>, Varying<X>>>);
