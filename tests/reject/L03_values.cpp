// More values than one constant can list.
// EXPECT: \[shardtype L03\] one expression has more than 1024 values
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

template <int R>
auto deep(A const& a) {
  if constexpr (R == 0) {
    return sum<J>(lazy(a));
  } else {
    return sum<J>(constrain<A>(exp(lazy(a)) * static_cast<float>(R)) * deep<R - 1>(a));
  }
}
template <int N>
auto wide(A const& a) {
  if constexpr (N == 1) {
    return deep<10>(a);
  } else {
    return constrain<Tensor<float, Dim<I, X>>>(wide<N / 2>(a) + wide<N - N / 2>(a));
  }
}
auto total(Mesh<X> const& mesh, A const& a) {
#ifdef LEGAL
  return evaluate<Dim<I, X>>(mesh, wide<24>(a));
#else
  return evaluate<Dim<I, X>>(mesh, wide<64>(a));
#endif
}
