// shard_map whose result has an index of its own, of an extent that only the run shows.
// EXPECT: \[shardtype L08\] automatic mode does not choose the shardings of shard_map
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
#ifdef LEGAL
struct K : Index<"K", 8> {};
#else
struct K : Index<"K"> {};
#endif
using A = Tensor<float, Dim<I, X>, Dim<J>>;

struct Renamed {
  template <class L>
  auto operator()(L const& a) const {
    return relabel<J, K>(a);
  }
};

auto whole(Mesh<X> const& mesh, A const& a) {
  return evaluate<Dim<K>>(mesh, sum<I>(shard_map<Dim<I, X>, Dim<K>>(Renamed{}, lazy(a))));
}
