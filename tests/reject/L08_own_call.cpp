// A solve with factors over many ranks, of right-hand sides whose sharding nobody names.
// EXPECT: \[shardtype L08\] automatic mode does not choose the shardings of shard_map, nor
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using M = Mesh<X>;
using A = Tensor<float, Dim<I>, Dim<J, Cyclic<X, 4>>>;
using B = Tensor<float, Dim<I>, Dim<K>>;

auto solved(M const& mesh, A const& a, B const& b) {
  auto const lu = linalg::lu_factor<I, J>(lazy(a));
#ifdef LEGAL
  auto const right = constrain<Dim<I>, Dim<K>>(lazy(b) * 2);
  return evaluate<Dim<J, Cyclic<X, 4>>, Dim<K>>(mesh, linalg::lu_solve<I, J>(lu, right));
#else
  static_cast<void>(mesh);
  return linalg::lu_solve<I, J>(lu, lazy(b) * 2);
#endif
}
