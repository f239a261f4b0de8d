// The plan of a function that calls the branch of a number, from types alone: which one is known at
// run time.
// EXPECT: \[shardtype A05\] the plan of this function depends on an extent or a value that is known at run time only
// EXPECT: false, shardtype::Local<long( long)?( int)?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// FORBID: must be initialized by a constant
// NEEDS: full
#include <cstdint>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", 8> {};

struct Body {
  constexpr auto operator()(auto const& a, [[maybe_unused]] auto const& number) const {
    auto const same = [](auto x) { return x; };
    auto const other = [](auto x) { return (-x).tensor(); };
#ifdef LEGAL
    return other(same(a));
#else
    return branch(number, same, other, a);
#endif
  }
};
constexpr auto p = plan(Body{}, type<Local<double, Dim<I>, Varying<X>>>, type<Local<std::int64_t>>);
