// A promise that blocks are the same says nothing of their gradients.
// EXPECT: \[shardtype X03\] this operation has no gradient
// EXPECT: shardtype::Local<double, shardtype::Dim<B>, shardtype::Varying<X> ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};

auto train(Local<double, Dim<B>, Varying<X>> const& x) {
  return grad<0>([](auto v) {
#ifdef LEGAL
    return sum(all_reduce<Mean, X>(v)) * sum(assume_invariant<X>(stop_gradient(v)));
#else
    return sum(assume_invariant<X>(v));
#endif
  })(x);
}
