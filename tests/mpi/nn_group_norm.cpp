// Group norm beside loops on one rank: channels and positions split and not, groups on several
// ranks, gradients, plans and what is sent, in all modes.
// RANKS: 1 2 3 4 8
// TIMEOUT: 300
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;
using on_ranks::code_of;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct C : Index<"C"> {};
struct H : Index<"H"> {};
struct W : Index<"W"> {};
struct D : Index<"D"> {};

template <class... Dims>
using T = Tensor<double, Dims...>;
using Whole = T<Dim<B>, Dim<C>, Dim<H>, Dim<W>>;
using Batch = T<Dim<B, X>, Dim<C>, Dim<H>, Dim<W>>;
using Rows = T<Dim<B>, Dim<C>, Dim<H, X>, Dim<W>>;
using Sizes = std::array<std::int64_t, 4>;

// Types and plans, on types alone.
namespace proofs {
struct A2 : Axis<"A2", 2> {};
struct A4 : Axis<"A4", 4> {};
struct N : Index<"N", 6> {};
struct K : Index<"K", 12> {};
struct P : Index<"P", 4096> {};
using Strict = Tensor<float, Dim<N, A2>, Dim<K>, Dim<P>>;
using Split = Tensor<float, Dim<N, A2>, Dim<K>, Dim<P, A4>>;
using Channels = Tensor<bfloat16, Dim<N>, Dim<P, A2>, Dim<K, A4>>;
using Gain = Tensor<float, Dim<K>>;
template <class Op, class... As>
using result = typename checking::Resolve<Op, As...>::result;
template <class... Parts>
using Means = Tensor<double, Parts..., Dim<nn::detail::GroupMeansDim<3>>>;
using Each = Tensor<double, Dim<N, A2>, Dim<K, A4>>;
static_assert(
    std::is_same_v<result<op::GroupMeans<3, K>, Each, Each>,
                   Tensor<double, Dim<N, A2>, Dim<nn::detail::GroupMeansDim<3>>, Unreduced<A4>>>);
static_assert(std::is_same_v<result<op::GroupSpread<true, 3, K>, Means<Dim<N, A2>>, Each>, Each>);
// means of other rows, or of a rank's own part alone
template <bool scale, class M>
inline constexpr rules::Code code =
    checking::Resolve<op::GroupSpread<scale, 3, K>, M, Each>::verdict.code;
static_assert(code<true, Means<Dim<N>>> == rules::Code::D12_dims_differ);
static_assert(code<true, Means<>> == rules::Code::D12_dims_differ);
// what group_norm refuses
template <bool named, class A, std::int64_t groups, class... Ps>
inline constexpr rules::Code refused =
    shardtype::detail::RuleOf<nn::detail::GroupNormRule<named, groups, Ps...>, A>::verdict.code;
using Turns = Tensor<float, Dim<N>, Dim<K>, Dim<P, Cyclic<A4, 2>>>;
using Integers = Tensor<std::int32_t, Dim<N>, Dim<K>>;
using Sums = Tensor<float, Dim<N>, Dim<K>, Unreduced<A2>>;
static_assert(refused<false, Strict, 3, K, P> == rules::Code::ok);
static_assert(refused<false, Split, 3, K> == rules::Code::ok);
static_assert(refused<false, Split, 3, K, P> == rules::Code::S03_split);
static_assert(refused<true, Split, 3, K, P> == rules::Code::ok);
static_assert(refused<true, Split, 3, B, P> == rules::Code::D01_no_such_index);
static_assert(refused<true, Split, 3, K, B> == rules::Code::D01_no_such_index);
static_assert(refused<true, Split, 3, K, P, P> == rules::Code::T02_index_twice);
static_assert(refused<true, Split, 5, K, P> == rules::Code::D06_extents_contradict);
static_assert(refused<true, Turns, 3, K, P> == rules::Code::B03_through_cyclic);
static_assert(refused<true, Integers, 3, K> == rules::Code::P12_not_floating);
static_assert(refused<true, Sums, 3, K> == rules::Code::P04_not_linear);

inline constexpr auto strict = plan(
    value_and_grad<0>([](auto const& x) { return sum<Tensor<float>>(nn::group_norm<3, K, P>(x)); }),
    type<Strict>);
static_assert(strict.forward.collectives() == 1);  // the loss
static_assert(strict.backward.collectives() == 0);
inline constexpr auto split =
    plan(value_and_grad<0>([](auto const& x) {
           return sum<Tensor<float>>(nn::group_norm<3, K, P, Dim<N, A2>, Dim<K>, Dim<P, A4>>(x));
         }),
         type<Split>);
static_assert(split.forward.collectives() == 3);  // the loss over each axis
static_assert(split.backward.collectives() == 1);
static_assert(split.backward.count(Collective::all_reduce) == 1);
// two doubles for each of 3 groups of each of 3 rows of the batch, there and back
static_assert(split.backward.bytes_per_rank() == 2 * (3 * 3 * 2 * 8) * 3 / 4);
inline constexpr auto scaled =
    plan(value_and_grad<0, 1, 2>([](auto const& x, auto const& gain, auto const& bias) {
           return sum<Tensor<float>>(
               nn::group_norm<3, K, P>(x, used_as<Reduced<A2>>(gain), used_as<Reduced<A2>>(bias)));
         }),
         type<Strict>, type<Gain>, type<Gain>);
static_assert(scaled.backward.count(Collective::all_reduce) == 2);
static_assert(scaled.backward.collectives() == 2);
// in automatic mode means of channels travel, 3 rows of 12 doubles, and x does not
inline constexpr auto traced =
    plan_traced<Split>([](auto x) { return evaluate<Split>(nn::group_norm<3, K, P>(x)); });
static_assert(traced.count(Collective::all_reduce) == 2);
static_assert(traced.collectives() == 2);
// over two axes
inline constexpr auto over_two =
    plan([](auto const& x) { return nn::group_norm<3, K, P, Dim<N>, Dim<P, A2>, Dim<K, A4>>(x); },
         type<Channels>);
static_assert(over_two.count(Collective::all_reduce) == over_two.collectives());
static_assert(over_two.collectives() == 2);
}  // namespace proofs

auto mesh_of() { return on_ranks::two_axes<X, Y>(); }

template <class A>
std::vector<double> numbers(A const& a) {
  std::vector<double> out;
  for (auto const x : to_host(a)) out.push_back(static_cast<double>(x));
  return out;
}
// The largest difference; infinite where one of both is NaN.
double distance(std::vector<double> const& a, std::vector<double> const& b) {
  double out = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t k = 0; k < a.size() && k < b.size(); ++k) {
    double const d = std::abs(a[k] - b[k]);
    out = std::isnan(d) ? 1e300 : std::max(out, d);
  }
  return out;
}

// The result, and the gradient of sum(ct * result).
struct Dense {
  std::vector<double> result, gradient;
};
Dense dense(std::vector<double> const& x, std::vector<double> const& ct, Sizes const& n,
            std::int64_t groups, double eps) {
  Dense out{x, x};
  auto const part = static_cast<std::size_t>(n[1] / groups * n[2] * n[3]);
  for (std::size_t from = 0; part > 0 && from < x.size(); from += part) {
    auto const mean_of = [&](auto const& of) {
      double sum = 0;
      for (std::size_t k = from; k < from + part; ++k) sum += of(k);
      return sum / static_cast<double>(part);
    };
    double const mean = mean_of([&](std::size_t k) { return x[k]; });
    double const var = mean_of([&](std::size_t k) { return (x[k] - mean) * (x[k] - mean); });
    double const scale = 1 / std::sqrt(var + eps);
    auto const normal = [&](std::size_t k) { return (x[k] - mean) * scale; };
    double const less = mean_of([&](std::size_t k) { return ct[k]; });
    double const share = mean_of([&](std::size_t k) { return ct[k] * normal(k); });
    for (std::size_t k = from; k < from + part; ++k) {
      out.result[k] = normal(k);
      out.gradient[k] = (ct[k] - less - normal(k) * share) * scale;
    }
  }
  return out;
}

// Of x in the sharding and the order `Dims`.
template <std::int64_t groups, class... Dims>
void compare(Mesh<X, Y> const& mesh, Sizes const& n) {
  INFO("groups " << groups << " sizes " << n[0] << " " << n[1] << " " << n[2] << " " << n[3]);
  auto const x = normal<Whole>(mesh, n, RandomKey{1}, 3.0, 2.0);
  auto const ct = normal<Whole>(mesh, n, RandomKey{2});
  auto const placed = [](auto const& a) {
    return reshard<Dims...>(transpose<shardtype::detail::label_of_t<Dims>...>(a));
  };
  auto const back = [](auto const& a) { return numbers(transpose<B, C, H, W>(a)); };
  auto const f = [](auto const& a) { return nn::group_norm<groups, C, H, W, Dims...>(a, 0.1); };
  auto const weights = placed(ct);
  auto const loss = [&](auto const& a) { return sum<T<>>(weights * f(a)); };
  Dense const expected = dense(numbers(x), numbers(ct), n, groups, 0.1);
  auto const a = placed(x);
  CHECK(distance(back(f(a)), expected.result) < 1e-12);
  CHECK(distance(back(grad<0>(loss)(a)), expected.gradient) < 1e-12);
}
template <class... Dims>
void compare_all(Mesh<X, Y> const& mesh) {
  for (Sizes const n : {Sizes{3, 6, 5, 4}, Sizes{1, 6, 1, 1}, Sizes{5, 6, 0, 2}, Sizes{0, 6, 2, 2}})
    compare<2, Dims...>(mesh, n);
  compare<1, Dims...>(mesh, {2, 5, 7, 3});
  compare<6, Dims...>(mesh, {3, 6, 11, 2});   // instance norm
  compare<3, Dims...>(mesh, {2, 21, 3, 10});  // 7 channels each: on several ranks
}

}  // namespace

TEST_CASE("group norm of whole groups, of split positions and channels, and its gradient") {
  auto const mesh = mesh_of();
  compare_all<Dim<B, X>, Dim<C>, Dim<H>, Dim<W>>(mesh);
  compare_all<Dim<B, X>, Dim<C>, Dim<H, Y>, Dim<W>>(mesh);
  compare_all<Dim<B>, Dim<H>, Dim<W, X>, Dim<C, Y>>(mesh);
  compare_all<Dim<C, Y>, Dim<B, X>, Dim<W>, Dim<H>>(mesh);
  compare_all<Dim<W>, Dim<C, X, Y>, Dim<H>, Dim<B>>(mesh);
}

namespace {

using Vec = T<Dim<C>>;
using Split = T<Dim<B, X>, Dim<C>, Dim<H, Y>, Dim<W>>;

template <class A, class U>
double apart(A const& a, U const& b) {
  return distance(numbers(a), numbers(b));
}
// Of sum(ct f(x)) by all arguments.
template <class F, class Ct, class... As>
auto gradients(F const& f, Ct const& ct, As const&... as) {
  auto const loss = [&](auto const&... each) { return sum<T<>>(ct * f(each...)); };
  if constexpr (sizeof...(As) == 1) {
    return std::tuple(grad<0>(loss)(as...));
  } else {
    return grad<0, 1, 2>(loss)(as...);
  }
}
template <class... Us, class... Vs>
double all_apart(std::tuple<Us...> const& a, std::tuple<Vs...> const& b) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::max({apart(std::get<K>(a), std::get<K>(b))...});
  }(std::index_sequence_for<Us...>{});
}
constexpr auto of_split = [](auto const& x, auto const&... more) {
  return nn::group_norm<2, C, H, W, Dim<B, X>, Dim<C>, Dim<H, Y>, Dim<W>>(
      x, used_as<Reduced<X, Y>>(more)..., 0.1);
};

}  // namespace

TEST_CASE("one group is a layer norm; gain and bias") {
  auto const mesh = mesh_of();
  using Lines = T<Dim<B, X>, Dim<C>>;
  auto const x = normal<Lines>(mesh, {7, 12}, RandomKey{1}, 3.0, 2.0);
  auto const ct = normal<Lines>(mesh, {7, 12}, RandomKey{2});
  auto const gain = normal<Vec>(mesh, {12}, RandomKey{3});
  auto const bias = normal<Vec>(mesh, {12}, RandomKey{4});
  auto const layer = [](auto const& a, auto const& g, auto const& b) {
    return nn::layer_norm<C>(a, used_as<Reduced<X>>(g), used_as<Reduced<X>>(b), 0.1);
  };
  auto const group = [](auto const& a, auto const& g, auto const& b) {
    return nn::group_norm<1, C>(a, used_as<Reduced<X>>(g), used_as<Reduced<X>>(b), 0.1).tensor();
  };
  CHECK(apart(group(x, gain, bias), layer(x, gain, bias)) < 1e-13);
  CHECK(all_apart(gradients(group, ct, x, gain, bias), gradients(layer, ct, x, gain, bias)) <
        1e-12);
  auto const y = normal<Split>(mesh, {3, 4, 5, 2}, RandomKey{5}, 3.0, 2.0);
  auto const gains = normal<Vec>(mesh, {4}, RandomKey{6});
  check_grads(of_split, y, gains, gains);
  auto const of_gain = of_split(y, gains, gains * 2.0).tensor();
  CHECK(apart(of_gain, (of_split(y) * gains + gains * 2.0).tensor()) == 0);
}

TEST_CASE("a large mean, in float and in bfloat16") {
  auto const mesh = mesh_of();
  auto const x = normal<Split>(mesh, {3, 4, 5, 7}, RandomKey{1}, 100.0, 0.5);
  auto const ct = normal<Split>(mesh, {3, 4, 5, 7}, RandomKey{2});
  auto const small = cast<float>(x).tensor();
  auto const of_float = of_split(small);
  static_assert(std::is_same_v<decltype(of_float)::element, float>);
  auto const same = cast<double>(small).tensor();
  CHECK(apart(of_float, of_split(same)) < 1e-6);
  auto const slope = grad<0>(
      [&](auto const& a) { return sum<Tensor<float>>(cast<float>(ct) * of_split(a)); })(small);
  CHECK(apart(slope, std::get<0>(gradients(of_split, ct, same))) < 2e-5);
  auto const half = cast<bfloat16>(x / 10.0).tensor();
  CHECK(apart(of_split(half), of_split(cast<double>(half).tensor())) < 0.02);
}

TEST_CASE("group norm in automatic mode and in manual mode") {
  auto const mesh = mesh_of();
  Sizes const n{2 * on_ranks::rank_total(), 6, 5, 3};
  auto const x = normal<Split>(mesh, n, RandomKey{1}, 3.0, 2.0);
  auto const ct = normal<Split>(mesh, n, RandomKey{2});
  auto const gain = normal<Vec>(mesh, {6}, RandomKey{3});
  auto const bias = normal<Vec>(mesh, {6}, RandomKey{4});
  auto const wanted = of_split(x, gain, bias).tensor();
  CHECK(
      apart(evaluate<Split>(mesh, nn::group_norm<2, C, H, W>(lazy(x), lazy(gain), lazy(bias), 0.1)),
            wanted) < 1e-13);
  auto const traced = [&](auto const& a, auto const& g, auto const& b) {
    return evaluate<Split>(
        mesh, [](auto u, auto v, auto w) { return nn::group_norm<2, C, H, W>(u, v, w, 0.1); }, a, g,
        b);
  };
  CHECK(apart(traced(x, gain, bias), wanted) < 1e-13);
  auto const batch = reshard<Batch>(x);
  auto const blocks = [](auto const& a, auto const& g, auto const& b) {
    return shard_map<Batch>(
        [](auto u, auto v, auto w) {
          return nn::group_norm<2, C, H, W>(u, reduced<X>(v), reduced<X>(w), 0.1).tensor();
        },
        a, g, b);
  };
  auto const weights = reshard<Batch>(ct);
  CHECK(apart(blocks(batch, gain, bias), wanted) < 1e-13);
  CHECK(all_apart(gradients(blocks, weights, batch, gain, bias),
                  gradients(of_split, ct, x, gain, bias)) < 1e-12);
}

TEST_CASE("two doubles for each group are sent, there and back, and replicas have the same bits") {
  auto const mesh = mesh_of();
  using Positions = T<Dim<B>, Dim<C>, Dim<H, Y>, Dim<W>>;
  auto const x = normal<Positions>(mesh, {2, 6, 7, 50}, RandomKey{1});
  std::int64_t const ranks = mesh.size_of<Y>();
  std::int64_t const bytes = 2 * (2 * 3 * 2 * 8) * (ranks - 1) / ranks;
  auto const f = [](auto const& a) {
    return nn::group_norm<3, C, H, W, Dim<B>, Dim<C>, Dim<H, Y>, Dim<W>>(a);
  };
  shim::reset();
  auto const [y, pull] = vjp(f, x);
  CHECK(shim::bytes() == bytes);
  shim::reset();
  auto const slope = pull(y);
  CHECK(shim::bytes() == bytes);
  for (auto const* a : {&y, &slope}) {
    auto const block = harness::host_block(*a);
    std::uint64_t hash = 1469598103934665603U;
    for (std::int64_t at = 0; at < a->local_size(); ++at)
      hash = (hash ^ std::bit_cast<std::uint64_t>(block.data()[at])) * 1099511628211U;
    std::vector<std::uint64_t> all(static_cast<std::size_t>(on_ranks::rank_total()));
    MPI_Allgather(&hash, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (std::size_t r = 0; r < all.size(); ++r)
      CHECK(all[r] == all[r % static_cast<std::size_t>(ranks)]);
  }
}

TEST_CASE("channels that the groups do not divide") {
  auto const mesh = mesh_of();
  auto const x = normal<Split>(mesh, {2, 9, 3, 2}, RandomKey{1});
  std::string text;
  try {
    static_cast<void>(nn::group_norm<4, C, W>(x));
  } catch (Error const& e) {
    text = e.what();
  }
  CHECK(text.find("E41") != std::string::npos);
  CHECK(text.find("index C has extent 9, which 4 groups of group_norm do not divide; 3 do") !=
        std::string::npos);
}
