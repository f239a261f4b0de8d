// A tensor from outside, beside a block in the function.
// EXPECT: \[shardtype V01\] a Tensor stands where a Local belongs, or a Local where a Tensor does
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I>, shardtype::Dim<J>, shardtype::Varying<X> ?>, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// MAX-LINES: 11
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
void ask(A const& a, B const& b) {
  (void)shard_map<Dim<I, X>, Dim<J>>([](auto c, auto d) { return c + d; }, a, b);
}
#else
void ask(A const& a, B const& b) {
  (void)shard_map<Dim<I, X>, Dim<J>>([&](auto c) { return c + b; }, a);
}
#endif
