// A policy whose member is misspelled.
// EXPECT: \[shardtype L06\] this is not a policy
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

struct Little {
#ifdef LEGAL
  static constexpr std::int64_t memory_limit = 1'000'000;
#else
  static constexpr std::int64_t memory_limits = 1'000'000;
#endif
};

auto product(Mesh<X> const& mesh, Tensor<float, Dim<I, X>, Dim<J>> const& a,
             Tensor<float, Dim<J>, Dim<K>> const& b) {
  return evaluate<Dim<I, X>, Dim<K>>(mesh, lazy(a) * lazy(b), Little{});
}
