// Two outputs are named, one block returned.
// EXPECT: \[shardtype V15\] the function of shard_map must return a Local
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

void ask(A const& a) {
#ifdef LEGAL
  auto [b, c] = shard_map<Outs<A, A>>([](auto d) { return std::tuple(d, d); }, a);
  (void)(b + c);
#else
  auto [b, c] = shard_map<Outs<A, A>>([](auto d) { return d; }, a);
  (void)(b + c);
#endif
}
