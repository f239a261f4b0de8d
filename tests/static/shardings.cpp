// Rules of shardings (train/shardings.hpp).
#include <type_traits>

#include <shardtype/train/shardings.hpp>
#include <shardtype/types.hpp>

using namespace shardtype;

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct D : Index<"D", 8> {};
struct H : Index<"H", 4> {};
struct N : Index<"N"> {};

using train::Placed;
using train::Shardings;
using train::Split;
using Rules = Shardings<Split<B, X>, Split<H, Y>, Split<N, Cyclic<X, 4>>, Split<D, X, Y>>;

static_assert(std::is_same_v<Placed<Shardings<>, float, B, D>, Tensor<float, Dim<B>, Dim<D>>>);
static_assert(std::is_same_v<Placed<Rules, float>, Tensor<float>>);
static_assert(std::is_same_v<Placed<Rules, float, B, H>, Tensor<float, Dim<B, X>, Dim<H, Y>>>);
static_assert(std::is_same_v<Placed<Rules, double, H, B>, Tensor<double, Dim<H, Y>, Dim<B, X>>>);
static_assert(std::is_same_v<Placed<Rules, double, D>, Tensor<double, Dim<D, X, Y>>>);
static_assert(std::is_same_v<train::PlacedDim<Rules, N>, Dim<N, Cyclic<X, 4>>>);

// one line changes what a tensor is
using Whole = Shardings<Split<H, Y>>;
static_assert(std::is_same_v<Placed<Whole, float, B, H>, Tensor<float, Dim<B>, Dim<H, Y>>>);
