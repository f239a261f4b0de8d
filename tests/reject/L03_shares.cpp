// Thirty-three shares.
// EXPECT: \[shardtype L03\] one expression has more than 32 shares
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", 4> {};
using A = Tensor<float, Dim<I, X>>;
template <int>
struct Tag;

template <int R>
auto many(A const& a) {
  if constexpr (R == 0) {
    return lazy(a);
  } else {
    return share<Tag<R>>(many<R - 1>(a));
  }
}
auto total(Mesh<X> const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Dim<I>>(mesh, many<32>(a));
#else
  return evaluate<Dim<I>>(mesh, many<33>(a));
#endif
}
