// Ranks would take different ones of three branches.
// EXPECT: \[shardtype V13\] the value may differ between ranks along the mesh axis
// EXPECT: false, shardtype::Local<int, shardtype::Varying<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Local<float, Dim<I>, Varying<X>>;

#ifdef LEGAL
using N = Local<std::int32_t>;
#else
using N = Local<std::int32_t, Varying<X>>;
#endif

void ask(N const& n, A const& a) {
  auto const twice = [](auto b) { return b + b; };
  (void)branch(n, twice, [](auto b) { return b; }, twice, a);
}
