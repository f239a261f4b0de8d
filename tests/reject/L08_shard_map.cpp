// shard_map of an expression whose sharding nobody names.
// EXPECT: \[shardtype L08\] automatic mode does not choose the shardings of shard_map
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?> ?>
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
using M = Mesh<X>;
using A = Tensor<float, Dim<I, X>, Dim<J>>;

struct Rows {
  template <class L>
  auto operator()(L const& a) const {
    return sum<J>(a);
  }
};

auto whole(M const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Dim<I>>(mesh,
                          shard_map<Dim<I, X>>(Rows{}, constrain<Dim<I, X>, Dim<J>>(lazy(a) * 2)));
#else
  static_cast<void>(mesh);
  return shard_map<Dim<I, X>>(Rows{}, lazy(a) * 2);
#endif
}
