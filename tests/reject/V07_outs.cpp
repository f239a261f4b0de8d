// The second of two results.
// EXPECT: \[shardtype V07\] the output names no dim split over the mesh axis
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<I>, Dim<J>>;

void ask(A const& a) {
#ifdef LEGAL
  auto [b, c] = shard_map<Outs<A, B>>([](auto d) { return std::tuple(d, all_reduce<X>(d)); }, a);
  (void)(b + c);
#else
  auto [b, c] = shard_map<Outs<A, B>>([](auto d) { return std::tuple(d, d); }, a);
  (void)(b + c);
#endif
}
