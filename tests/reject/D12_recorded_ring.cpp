// Attention in a ring in automatic mode, of queries that are split over another axis than keys.
// EXPECT: \[shardtype D12\]
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct H : Index<"H"> {};
struct F : Index<"F"> {};
using Keys = Tensor<float, Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>;
#ifdef LEGAL
using Queries = Keys;
#else
using Queries = Tensor<float, Dim<B>, Dim<S, Y>, Dim<H>, Dim<F>>;
#endif

auto mixed(Queries const& q, Keys const& k) {
  return nn::attention<Dim<B>, Dim<S, X>, Dim<H>, Dim<F>>(lazy(q), lazy(k), lazy(k));
}
