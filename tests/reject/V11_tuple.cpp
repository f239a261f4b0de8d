// The second part of the carry.
// EXPECT: \[shardtype V11\] the loop.s body returns another type than the carry it takes
// EXPECT: false, std::tuple<shardtype::Local<float, shardtype::Dim<I> ?>, shardtype::Local<float, shardtype::Dim<I> ?> ?>, std::tuple<shardtype::Local<float, shardtype::Dim<I> ?>, shardtype::Local<float, shardtype::Dim<I>, shardtype::Varying<X> ?> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Local<float, Dim<I>>;

#ifdef LEGAL
using B = Local<float, Dim<I>>;
#else
using B = Local<float, Dim<I>, Varying<X>>;
#endif

auto ask(A const& a, B const& b) {
  auto [c, d] = loop(3, std::tuple(a, a), [&](std::int64_t, auto e) {
    return std::tuple(std::get<0>(e), std::get<1>(e) + b);
  });
  return c + d;
}
