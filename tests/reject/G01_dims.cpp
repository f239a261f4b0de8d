// NEEDS: full, Random123
// A permutation has one dim.
// EXPECT: \[shardtype G01\] .*permutation int32 or int64 and one dim
// FORBID: error:.*error:
#include <cstdint>

#include <shardtype/random/random.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", 8> {};
struct J : Index<"J", 8> {};

#ifdef LEGAL
auto make(Mesh<X> const& mesh) { return permutation<std::int64_t, Dim<I, X>>(mesh, RandomKey{7}); }
#else
auto make(Mesh<X> const& mesh) {
  return permutation<std::int64_t, Dim<I, X>, Dim<J>>(mesh, RandomKey{7});
}
#endif
