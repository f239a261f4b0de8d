// Updates that are replicated where the ids are split, with a named result: sliced for free, so
// that their gradient comes in blocks.
// EXPECT: \[shardtype X02\] an operand is replicated along a mesh axis and was sliced
// EXPECT: Named<.*AddRows<V>, .*shardtype::Tensor<double, shardtype::Dim<B>, shardtype::Dim<D> ?>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <cstdint>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct V : Index<"V"> {};
using Updates = Tensor<double, Dim<B>, Dim<D>>;
using Ids = Tensor<std::int64_t, Dim<B, X>>;

auto train(Updates const& updates, Ids const& ids) {
  return grad<0>([&](auto u) {
#ifdef LEGAL
    return sum(square(scatter_add<V, Dim<V>, Dim<D>>(reduced<X>(u), ids, 9)));
#else
    return sum(square(scatter_add<V, Dim<V>, Dim<D>>(u, ids, 9)));
#endif
  })(updates);
}
