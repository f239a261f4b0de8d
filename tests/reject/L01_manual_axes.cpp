// shard_map over some axes takes tensors.
// EXPECT: \[shardtype L01\] automatic mode does not record this operation
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;

void ask(A const& a) {
#ifdef LEGAL
  (void)shard_map<Dim<I, X>, Dim<J>>(manual_axes<X>, [](auto const& v) { return v; }, a);
#else
  (void)shard_map<Dim<I, X>, Dim<J>>(manual_axes<X>, [](auto const& v) { return v; }, lazy(a));
#endif
}
