// An expression that has no way round a value that is too large: the legal one is reassociated.
// EXPECT: \[shardtype T10\] by its static extents a tensor here, or a value that an expression needs
// FORBID: basic_type|Pack<|Planned<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", (std::int64_t{1} << 31)> {};
struct J : Index<"J", 1> {};
struct K : Index<"K", (std::int64_t{1} << 31)> {};
struct L : Index<"L", 1> {};
using M = Mesh<X>;
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<J, X>, Dim<K>>;
using C = Tensor<float, Dim<K, X>, Dim<L>>;

auto chain(M const& mesh, A const& a, B const& b, C const& c) {
#ifdef LEGAL
  return evaluate<Dim<I, X>, Dim<L>>(mesh, lazy(a) * lazy(b) * lazy(c));
#else
  return evaluate<Dim<I, X>, Dim<L>>(mesh, exp(lazy(a) * lazy(b)) * lazy(c));
#endif
}
