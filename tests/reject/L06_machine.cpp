// A Machine where a policy is wanted.
// EXPECT: \[shardtype L06\] this is not a policy
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

struct Slow {
  static constexpr Machine machine{.latency = 1e-3};
};

auto product(Mesh<X> const& mesh, Tensor<float, Dim<I, X>, Dim<J>> const& a,
             Tensor<float, Dim<J>, Dim<K>> const& b) {
#ifdef LEGAL
  return evaluate<Dim<I, X>, Dim<K>>(mesh, lazy(a) * lazy(b), Slow{});
#else
  return evaluate<Dim<I, X>, Dim<K>>(mesh, lazy(a) * lazy(b), Machine{.latency = 1e-3});
#endif
}
