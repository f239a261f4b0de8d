// No plan of a product keeps to a megabyte.
// EXPECT: \[shardtype L04\] no plan of the expression keeps to the memory limit
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

struct I : Index<"I", 4096> {};
struct J : Index<"J", 4096> {};
struct K : Index<"K", 4096> {};
using M = Mesh<X, Y>;
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J, X>, Dim<K>>;

auto product(M const& mesh, A const& a, B const& b) {
#ifdef LEGAL
  return evaluate<Dim<I, X>, Dim<K, Y>>(mesh, lazy(a) * lazy(b), MemoryLimit<80'000'000>{});
#else
  return evaluate<Dim<I, X>, Dim<K, Y>>(mesh, lazy(a) * lazy(b), MemoryLimit<1'000'000>{});
#endif
}
