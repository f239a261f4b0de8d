// The same with a named result, of ids that are split: a sum that no name says.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: Named<.*TakeRows<V>, .*shardtype::Tensor<double, shardtype::Dim<V>, shardtype::Dim<D> ?>
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
using Table = Tensor<double, Dim<V>, Dim<D>>;
using Ids = Tensor<std::int64_t, Dim<B, X>>;

auto train(Table const& table, Ids const& ids) {
  return grad<0>([&](auto t) {
#ifdef LEGAL
    return sum(square(take<V, Dim<B, X>, Dim<D>>(reduced<X>(t), ids)));
#else
    return sum(square(take<V, Dim<B, X>, Dim<D>>(t, ids)));
#endif
  })(table);
}
