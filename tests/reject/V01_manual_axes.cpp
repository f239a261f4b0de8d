// A tensor from outside, which the manual axis splits, beside a part of one.
// EXPECT: \[shardtype V01\] a Tensor stands where a Local belongs, or a Local where a Tensor does
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J, Y>, shardtype::Varying<X> ?>, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J, Y> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// MAX-LINES: 11, 25 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;

void ask(A const& a, A const& b) {
#ifdef LEGAL
  (void)shard_map<Dim<I, X>, Dim<J>>(
      manual_axes<X>, [](auto const& v, auto const& u) { return (v + u).tensor(); }, a, b);
#else
  (void)shard_map<Dim<I, X>, Dim<J>>(
      manual_axes<X>, [&](auto const& v) { return (v + b).tensor(); }, a);
#endif
}
