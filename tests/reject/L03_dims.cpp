// Dims of operands that meet only after many readings.
// EXPECT: \[shardtype L03\] the values of one expression have more than 127 dims together
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", 4> {};
struct J : Index<"J", 4> {};
struct K : Index<"K", 4> {};
struct L : Index<"L", 4> {};
struct M : Index<"M", 4> {};
struct N : Index<"N", 4> {};
using A = Tensor<float, Dim<I, X>, Dim<J>, Dim<K>, Dim<L>, Dim<M>, Dim<N>>;

template <int R>
auto many(A const& a, A const& b) {
  auto const here = sum<J, K, L, M, N>(constrain<A>(lazy(a) * static_cast<float>(R)) * b);
  if constexpr (R == 0) {
    return here;
  } else {
    return here + many<R - 1>(a, b);
  }
}
auto total(Mesh<X> const& mesh, A const& a, A const& b) {
#ifdef LEGAL
  return evaluate<Dim<I, X>>(mesh, many<2>(a, b));
#else
  return evaluate<Dim<I, X>>(mesh, many<14>(a, b));
#endif
}
