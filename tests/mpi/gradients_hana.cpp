// Structs that Boost.Hana knows as parameters: gradients by name, integers absent; nested, through
// remat, vjp and check_grads.
// RANKS: 1 2 4
#include <cstdint>
#include <type_traits>

#include <boost/hana/define_struct.hpp>
#include <boost/hana/length.hpp>

#include <shardtype/autodiff/hana_struct.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/gradients.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using gradients::make;
using gradients::whole;
namespace hana = boost::hana;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using Xs = T<Dim<B, X>, Dim<D>>;
using W = T<Dim<D>, Dim<H>>;
using Bias = T<Dim<H>, Reduced<X>>;
using Places = Tensor<std::int32_t, Dim<H>>;

struct Layer {
  BOOST_HANA_DEFINE_STRUCT(Layer, (W, weight), (Places, places), (Bias, bias));
};
struct Model {
  BOOST_HANA_DEFINE_STRUCT(Model, (Layer, layer), (W, decay));
};
constexpr auto weight = BOOST_HANA_STRING("weight");
constexpr auto places = BOOST_HANA_STRING("places");
constexpr auto bias = BOOST_HANA_STRING("bias");
constexpr auto layer = BOOST_HANA_STRING("layer");
constexpr auto decay = BOOST_HANA_STRING("decay");

struct Loss {
  auto operator()(auto const& model, auto const& x) const {
    auto const& l = hana::at_key(model, layer);
    auto const h = tanh(matmul(x, reduced<X>(hana::at_key(l, weight))) + hana::at_key(l, bias));
    auto const scale = cast<double>(hana::at_key(l, places));
    return all_reduce<X>(sum(square(h * scale))) + sum(square(hana::at_key(model, decay)));
  }
};

}  // namespace

TEST_CASE("gradients have the names of a struct's members") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const x = make<Xs>(mesh, {7, 3}, 1);
  Model const model{
      {make<W>(mesh, {3, 4}, 2),
       from_function<std::int32_t, Dim<H>>(
           mesh, {4}, [](std::int64_t h) { return static_cast<std::int32_t>(h + 1); }),
       make<Bias>(mesh, {4}, 3)},
      make<W>(mesh, {3, 4}, 4)};
  auto const [value, grad] = value_and_grad<0>(Loss{})(model, x);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(grad)>, gradient_t<Model>>);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(grad[layer][weight])>, W>);
  static_assert(
      std::is_same_v<std::remove_cvref_t<decltype(grad[layer][bias])>, T<Dim<H>, Unreduced<X>>>);
  static_assert(!decltype(hana::contains(grad[layer], places))::value);
  static_assert(decltype(hana::length(grad[layer]))::value == 2);
  CHECK(whole(value)[0] == whole(Loss{}(model, x).tensor())[0]);
  // the same function of single tensors
  auto const alone = [&](auto const& w, auto const& b, auto const& d) {
    auto const h = tanh(matmul(x, reduced<X>(w)) + b);
    return all_reduce<X>(sum(square(h * cast<double>(model.layer.places)))) + sum(square(d));
  };
  auto const [dw, db, dd] =
      shardtype::grad<0, 1, 2>(alone)(model.layer.weight, model.layer.bias, model.decay);
  CHECK(whole(grad[layer][weight]) == whole(dw));
  CHECK(whole(grad[layer][bias]) == whole(db));
  CHECK(whole(grad[decay]) == whole(dd));
  check_grads(Loss{}, model, x);
  // run again
  auto const again = shardtype::grad<0>(remat(Loss{}))(model, x);
  CHECK(whole(again[layer][weight]) == whole(dw));
  CHECK(whole(again[decay]) == whole(dd));
  // the same of a map, to second order
  auto const second = shardtype::grad<0>([](auto const& m, auto const& v) {
    auto const g = shardtype::grad<0>(Loss{})(m, v);
    return sum(square(g[layer][weight])) + sum(square(g[decay]));
  });
  auto const of_decay = whole(second(model, x)[decay]);
  auto const d = whole(model.decay);
  int bad = 0;
  for (std::size_t k = 0; k < d.size(); ++k) bad += std::abs(of_decay[k] - 8 * d[k]) > 1e-12;
  CHECK(bad == 0);
}
