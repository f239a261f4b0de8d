// A loss of more values than one constant can list: what hangs on a C++ number is computed anew at
// each reading.
// EXPECT: \[shardtype L03\] one expression has more than 1024 values
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

template <int N>
struct Tag {};
template <int N>
auto deep(auto const& a) {
  if constexpr (N == 0) {
    return exp(a * 0.5F);
  } else {
#ifdef LEGAL
    auto const before = share<Tag<N>>(deep<N - 1>(a));
#else
    auto const before = deep<N - 1>(a);
#endif
    return softmax<J>(before * 0.5F) * sum<J>(before * before);
  }
}
auto loss(Mesh<X> const& mesh, A const& a) {
  return evaluate(mesh, value_and_grad<0>([](auto const& x) { return sum(deep<6>(x)); }), a);
}
