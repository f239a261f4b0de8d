// The last of three branches gives another type than the first.
// EXPECT: \[shardtype V12\] the two branches return different types
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I> ?>, shardtype::Local<float, shardtype::Dim<I>, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Local<float, Dim<I>>;
using B = Local<float, Dim<I>, Varying<X>>;
using N = Local<std::int32_t>;

void ask(N const& n, A const& a, B const& b) {
  auto const first = [](A const& c, B const&) { return c; };
  auto const second = [](A const& c, B const&) { return c + c; };
#ifdef LEGAL
  auto const third = [](A const& c, B const&) { return c * 2; };
#else
  auto const third = [](A const& c, B const& d) { return c + d; };
#endif
  (void)branch(n, first, second, third, a, b);
}
