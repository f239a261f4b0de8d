// remat, custom_vjp, vjp and check_grads: values against differences and against the same functions
// without them; structures, several results, second order, uneven and empty; the Errors.
// RANKS: 1 2 4 8
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/gradients.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using gradients::make;
using gradients::whole;

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
using Ws = T<Dim<D, X>, Dim<H>>;
using Hs = T<Dim<B, X>, Dim<H>>;
using Square = T<Dim<D>, Dim<H>, Reduced<X>>;

template <template <class> class As>
struct Layers {
  std::vector<As<Square>> weights;
  As<Ws> last;
};

struct Layer {
  auto operator()(auto const& x, auto const& w) const {
    return tanh(matmul(x, used_as<Reduced<X>>(w)));
  }
};
constexpr Layer layer{};

// The text of the Error that `run` throws.
template <class Run>
std::string text_of(Run run) {
  try {
    run();
  } catch (Error const& e) {
    return e.what();
  }
  return "none";
}

template <class A, class C>
void same(A const& a, C const& b) {
  static_assert(std::is_same_v<A, C>);
  auto const left = whole(a);
  auto const right = whole(b);
  REQUIRE(left.size() == right.size());
  int bad = 0;
  for (std::size_t k = 0; k < left.size(); ++k)
    bad += std::abs(left[k] - right[k]) > 1e-12 * (1 + std::abs(right[k]));
  CHECK(bad == 0);
}

}  // namespace

TEST_CASE("a rematerialised function has the same gradient") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const rows : {7, 1, 0}) {
    auto const x = make<Xs>(mesh, {rows, 5}, 1);
    auto const w = make<Ws>(mesh, {5, 3}, 2);
    auto const loss = [](auto const& f) {
      return [f](auto const& a, auto const& b) { return sum(square(f(a, b)) * f(a, b)); };
    };
    auto const [value, plain] = value_and_grad<0, 1>(loss(layer))(x, w);
    auto const [again, grads] = value_and_grad<0, 1>(loss(remat(layer)))(x, w);
    same(again, value);
    same(std::get<0>(grads), std::get<0>(plain));
    same(std::get<1>(grads), std::get<1>(plain));
    // with respect to one argument; without any gradient
    same(grad<1>(loss(remat(layer)))(x, w), std::get<1>(plain));
    same(remat(layer)(x, w), layer(x, w).tensor());
  }
}

TEST_CASE("remat of structures, of several results, in loops and to second order") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const x = make<Xs>(mesh, {7, 3}, 1);
  Layers<value_t> const p{{make<Square>(mesh, {3, 3}, 2), make<Square>(mesh, {3, 3}, 3)},
                          make<Ws>(mesh, {3, 3}, 4)};
  auto const body = [](auto const& layers, auto const& v) {
    auto h = v;
    for (auto const& w : layers.weights) h = relabel<H, D>(tanh(matmul(h, w))).tensor();
    auto const out = matmul(h, used_as<Reduced<X>>(layers.last)) * 2.0;
    return std::tuple(out, sum(square(h)), h);
  };
  auto const loss = [](auto const& f) {
    return [f](auto const& layers, auto const& v) {
      auto const [out, norm, unused] = f(layers, v);
      return (sum(exp(out)) + norm).tensor();
    };
  };
  auto const [plain, of_x] = grad<0, 1>(loss(body))(p, x);
  auto const [got, of_x_again] = grad<0, 1>(loss(remat(body)))(p, x);
  same(got.weights[0], plain.weights[0]);
  same(got.weights[1], plain.weights[1]);
  same(got.last, plain.last);
  same(of_x_again, of_x);
  // a value that all of it depends on, and nested
  auto const twice = [&](auto const& layers, auto const& v) {
    return remat([&](auto const& l, auto const& u) { return remat(body)(l, u); })(layers, v);
  };
  same(grad<1>(loss(twice))(p, x), of_x);

  auto const w = make<Square>(mesh, {3, 4}, 5);
  auto const one = [](auto const& v, auto const& u) { return sin(matmul(v, u)).tensor(); };
  auto const square_of_gradient = [&](auto const& f) {
    return grad<1>([&](auto const& v, auto const& u) {
      auto const g =
          grad<1>([&](auto const& a, auto const& b) { return sum(square(f(a, b))); })(v, u);
      return sum(square(all_reduce<X>(g)));
    })(x, w);
  };
  same(square_of_gradient(remat(one)), square_of_gradient(one));
}

TEST_CASE("integers among the arguments and results of remat") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const table = make<T<Dim<D>, Dim<H>, Reduced<X>>>(mesh, {5, 3}, 1);
  auto const ids = from_function<std::int32_t, Dim<B, X>>(
      mesh, {9}, [](std::int64_t b) { return static_cast<std::int32_t>(b % 5); });
  auto const look = [](auto const& t, auto const& i) { return std::pair(take<D>(t, i), i); };
  auto const loss = [](auto const& f) {
    return [f](auto const& t, auto const& i) {
      auto const [rows, same_ids] = f(t, i);
      return sum(square(rows) * cast<double>(same_ids));
    };
  };
  same(grad<0>(loss(remat(look)))(table, ids), grad<0>(loss(look))(table, ids));
}

TEST_CASE("gradients by hand") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const x = make<Xs>(mesh, {7, 5}, 1);
  auto const w = make<W>(mesh, {5, 3}, 2);
  auto const product = [](auto const& a, auto const& b) {
    return matmul(a, used_as<Reduced<X>>(b));
  };
  auto const by_hand = custom_vjp(
      product,
      [](auto const& a, auto const& b) {
        return std::pair(matmul(a, used_as<Reduced<X>>(b)), std::tuple(a, b));
      },
      [](auto const& saved, auto const& ct) {
        auto const& [a, b] = saved;
        return std::tuple(einsum<B, D>(ct, used_as<Reduced<X>>(b)),
                          all_reduce<X>(einsum<D, H>(a, ct)));
      });
  auto const loss = [](auto const& f) {
    return [f](auto const& a, auto const& b) { return sum(exp(f(a, b))); };
  };
  auto const plain = grad<0, 1>(loss(product))(x, w);
  auto const got = grad<0, 1>(loss(by_hand))(x, w);
  same(std::get<0>(got), std::get<0>(plain));
  same(std::get<1>(got), std::get<1>(plain));
  same(grad<1>(loss(by_hand))(x, w), std::get<1>(plain));
  same(by_hand(x, w), product(x, w));
  check_grads(by_hand, x, w);
  // gradients of gradients go through the backward function
  auto const of_gradient = [&](auto const& f) {
    return [f](auto const& a, auto const& b) {
      return sum(square(grad<1>(
          [&](auto const& c, auto const& d) { return all_reduce<X>(sum(exp(f(c, d)))); })(a, b)));
    };
  };
  same(grad<1>(of_gradient(by_hand))(x, w), grad<1>(of_gradient(product))(x, w));

  // one that is not the derivative: the gradient is cut off
  auto const cut = custom_vjp([](auto const& a) { return a; },
                              [](auto const& a) { return std::pair(a, std::tuple<>()); },
                              [](auto const&, auto const& ct) { return clip(ct, -0.5, 0.5); });
  auto const clipped = whole(grad<0>([&](auto const& a) { return sum(square(cut(a))); })(x));
  auto const all = whole(x);
  int bad = 0;
  for (std::size_t k = 0; k < all.size(); ++k)
    bad += std::abs(clipped[k] - std::min(0.5, std::max(-0.5, 2 * all[k]))) > 1e-14;
  CHECK(bad == 0);
}

TEST_CASE("gradients by hand of structures, several results and free casts") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const x = make<Xs>(mesh, {7, 3}, 1);
  auto const w = make<W>(mesh, {3, 3}, 2);
  // results of which one is not read: its cotangent is zero
  auto const both = custom_vjp(
      [](auto const& a) { return std::tuple(a * 2.0, a * 3.0); },
      [](auto const& a) { return std::pair(std::tuple(a * 2.0, a * 3.0), std::tuple<>()); },
      [](auto const&, auto const& cts) { return std::get<0>(cts) * 2.0 + std::get<1>(cts) * 3.0; });
  check_grads(both, x);
  same(grad<0>([&](auto const& a) { return sum(std::get<1>(both(a))); })(x),
       full<double, Dim<B, X>, Dim<D>>(mesh, {7, 3}, 3.0));
  // an array in, its gradient an array; a constant argument
  auto const added = [](auto const& ws, auto const& v) {
    return (ws[0] + ws[1] * 4.0 + v).tensor();
  };
  auto const sums = custom_vjp(
      added, [=](auto const& ws, auto const& v) { return std::pair(added(ws, v), std::tuple<>()); },
      [](auto const&, auto const& ct) {
        return std::tuple(std::array{ct, (ct * 4.0).tensor()}, no_gradient);
      });
  std::array const two{w, w};
  check_grads<0>(sums, two, w);
  auto const grads = grad<0>([&](auto const& ws) { return sum(square(sums(ws, w))); })(two);
  same(grads[1], (grads[0] * 4.0).tensor());
  // a cotangent that is sliced for free
  auto const rows = custom_vjp([](auto const& a) { return sum<D>(a); },
                               [](auto const& a) { return std::pair(sum<D>(a), a.extents()[1]); },
                               [](auto const& n, auto const& ct) {
                                 return transpose<B, D>(broadcast<D>(reshard<Dim<B>>(ct), {n}));
                               });
  check_grads(rows, x);
}

TEST_CASE("a pullback") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::int64_t const n : {7, 0}) {
    auto const x = make<Xs>(mesh, {n, 5}, 1);
    auto const w = make<W>(mesh, {5, 3}, 2);
    auto const ct = make<Hs>(mesh, {n, 3}, 3);
    auto const f = [](auto const& a, auto const& b) { return matmul(a, used_as<Reduced<X>>(b)); };
    auto [y, pullback] = vjp(f, x, w);
    same(y, f(x, w));
    auto const [dx, dw] = pullback(ct);
    same(dx, einsum<B, D>(ct, used_as<Reduced<X>>(w)));
    same(dw, all_reduce<X>(einsum<D, H>(x, ct)));
    // again, with another cotangent, and for the last time
    auto const twice = pullback((ct * 2.0).tensor());
    same(std::get<1>(twice), (dw * 2.0).tensor());
    auto moved = std::move(pullback);
    same(std::get<0>(std::move(moved)(ct)), dx);
    CHECK(on_ranks::code_of([&] { pullback(ct); }) == "E75");
    // of one argument; a structure of results; second order
    auto [results, back] = vjp<1>(
        [&](auto const& a, auto const& b) { return std::pair(f(a, b), sum(square(b))); }, x, w);
    same(back(std::pair(ct, full<double>(mesh, {}, 1.0))), (dw + w * 2.0).tensor());
    same(results.second, sum(square(w)));
  }
  auto const x = make<Xs>(mesh, {7, 5}, 1);
  auto const w = make<T<Dim<D>, Dim<H>, Reduced<X>>>(mesh, {5, 3}, 2);
  check_grads(
      [](auto const& a, auto const& b) {
        auto [y, pullback] =
            vjp([](auto const& c, auto const& d) { return tanh(matmul(c, d)); }, a, b);
        return pullback(y);
      },
      x, w);
}

TEST_CASE("constants among values whose gradient is wanted, and values that nothing reads") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const x = make<Xs>(mesh, {7, 5}, 1);
  auto const w = make<W>(mesh, {5, 3}, 2);
  auto const constant = []<class A>(A const& a) { return A(a.value()); };
  auto const product = [](auto const& a, auto const& b) {
    return matmul(a, used_as<Reduced<X>>(b)).tensor();
  };
  auto const by_hand = custom_vjp(
      product,
      [=](auto const& a, auto const& b) { return std::pair(product(a, b), std::pair(a, b)); },
      [](auto const& saved, auto const& ct) {
        auto const& [a, b] = saved;
        return std::tuple(einsum<B, D>(ct, used_as<Reduced<X>>(b)),
                          all_reduce<X>(einsum<D, H>(a, ct)));
      });
  // all values have one type, whether on the tape or not
  auto const loss = [&](auto const& f) {
    return [&](auto const& a, auto const& b) {
      static_cast<void>(f(a, b));  // nothing reads it
      auto const one = f(a, constant(b)) + f(constant(a), b) * 2.0;
      auto const none = f(constant(a), constant(b));
      return all_reduce<X>(sum(square(one + none)) + sum(a)) + sum(b);
    };
  };
  auto const [of_x, of_w] = grad<0, 1>(loss(product))(x, w);
  auto const [again_x, again_w] = grad<0, 1>(loss(remat(product)))(x, w);
  same(again_x, of_x);
  same(again_w, of_w);
  auto const [hand_x, hand_w] = grad<0, 1>(loss(by_hand))(x, w);
  same(hand_x, of_x);
  same(hand_w, of_w);
  // in structures; an argument that the function ignores
  auto const of_two = [](auto const& ws, auto const&) { return sum(ws[0] * ws[1]); };
  auto const two_by_hand = custom_vjp(
      of_two, [=](auto const& ws, auto const& unused) { return std::pair(of_two(ws, unused), ws); },
      [](auto const& ws, auto const& ct) {
        return std::tuple(std::array{(ct * ws[1]).tensor(), (ct * ws[0]).tensor()}, no_gradient);
      });
  auto const of_array = [&](auto const& f) {
    return [&](auto const& b) {
      return f(std::array{b, constant(b)}, b) + f(std::array{constant(b), constant(b)}, b);
    };
  };
  same(grad<0>(of_array(remat(of_two)))(w), w);
  same(grad<0>(of_array(two_by_hand))(w), w);
  // a pullback of a constant
  auto const [y, pullback] = vjp(constant, x);
  same(pullback(y), full<double, Dim<B, X>, Dim<D>>(mesh, {7, 5}, 0.0));
}

TEST_CASE("a function of seven arguments") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const w = make<W>(mesh, {5, 3}, 2);
  auto const u = make<W>(mesh, {5, 3}, 3);
  auto const f = [](auto const& a, auto const&, auto const&, auto const& b, auto const&,
                    auto const&, auto const& c) { return sum(a * b * c); };
  auto const [value, both] = value_and_grad<0, 6>(f)(w, w, w, u, w, w, u);
  same(value, sum(w * u * u));
  same(std::get<0>(both), (u * u).tensor());
  same(std::get<1>(both), (w * u).tensor());
}

TEST_CASE("a pullback holds what the forward pass saved, and frees it") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const w = make<W>(mesh, {5, 3}, 2);
  auto const ct = full<double>(mesh, {}, 1.0);
  auto const used = [&] { return mesh.state().pool().used_bytes(); };
  std::size_t const before = used();
  {
    auto [y, pullback] = vjp([](auto const& v) { return sum(square(exp(v).tensor())); }, w);
    std::size_t const held = used();
    static_cast<void>(pullback(ct));
    CHECK(used() == held);
    static_cast<void>(std::move(pullback)(ct));
    if (mesh.here()) CHECK(used() < held);
  }
  CHECK(used() == before);
}

TEST_CASE("check_grads names what differs") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const x = make<Xs>(mesh, {7, 5}, 1);
  auto const wrong = custom_vjp(
      [](auto const& a) { return square(a); },
      [](auto const& a) { return std::pair(square(a), a); },
      [](auto const& a, auto const& ct) { return where(a > 0.5, a * ct, 2.0 * a * ct); });
  auto const all = whole(x);
  std::size_t k = 0;
  while (!(all[k] > 0.5)) ++k;
  auto const loss = [&](auto const& b, auto const& a) { return sum(wrong(a)) + sum(b); };
  std::string const text = text_of([&] { check_grads(loss, make<Xs>(mesh, {4, 5}, 2), x); });
  CAPTURE(text);
  std::string const at = "(" + std::to_string(k / 5) + ", " + std::to_string(k % 5) + ")";
  CHECK(text.find("[shardtype E76] check_grads: argument 1, element " + at + " of f64[B@X, D]") ==
        0);
  CHECK(text.find("the gradient is ") != std::string::npos);
  CHECK(text.find("differences give ") != std::string::npos);
  // with less strict bounds; in a structure
  check_grads(loss, make<Xs>(mesh, {4, 5}, 2), x, GradientCheck{.rtol = 1.0});
  std::string const inner = text_of([&] {
    check_grads([&](auto const& two) { return sum(wrong(two[1])) + sum(two[0]); },
                std::array{x, x});
  });
  CAPTURE(inner);
  CHECK(inner.find("argument 0, value 1, element " + at) != std::string::npos);
  // a NaN is no gradient
  auto const nan =
      custom_vjp([](auto const& a) { return square(a); },
                 [](auto const& a) { return std::pair(square(a), a); },
                 [](auto const& a, auto const& ct) { return 2.0 * a * ct * (0.0 / 0.0); });
  CHECK(on_ranks::code_of([&] { check_grads(nan, x); }) == "E76");
  // few elements of a large tensor; unreduced and Reduced ones; a loss
  check_grads<0>([](auto const& a, auto const& w) { return sum(exp(matmul(a, w))); },
                 make<Xs>(mesh, {40, 5}, 1), make<Square>(mesh, {5, 3}, 2),
                 GradientCheck{.elements = 10});
  check_grads([](auto const& u) { return sum(square(all_reduce<X>(u))); },
              make<T<Dim<D>, Unreduced<X>>>(mesh, {5}, 1));
  check_grads([](auto const& r) { return reshard<Dim<D, X>>(r); },
              make<T<Dim<D>, Reduced<X>>>(mesh, {5}, 1));
}

TEST_CASE("what carries a gradient is an argument") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const w = make<W>(mesh, {5, 3}, 2);
  auto const mixed = [&](auto const& f) {
    return text_of([&] {
      grad<0>([&](auto const& a) {
        return sum(a) + sum(grad<0>([&](auto const& b) { return f(b, a); })(stop_gradient(a)));
      })(w);
    });
  };
  auto const plain = [](auto const& a, auto const& b) { return sum(a * b); };
  CHECK(mixed(plain).find("[shardtype E73] operand 2 of map") == 0);
  CHECK(mixed(remat(plain)).find("[shardtype E73] argument 1 of remat") == 0);
  auto const hand = custom_vjp(
      plain, [=](auto const& a, auto const& b) { return std::pair(plain(a, b), std::tuple(a, b)); },
      [](auto const& s, auto const& ct) {
        return std::tuple(ct * std::get<1>(s), ct * std::get<0>(s));
      });
  CHECK(mixed(hand).find("[shardtype E73] argument 1 of custom_vjp") == 0);
  CHECK(on_ranks::code_of([&] {
          grad<0>([&](auto const& a) {
            auto [y, pullback] = vjp([&](auto const&) { return square(a); }, stop_gradient(a));
            return sum(a) + sum(pullback(w));
          })(w);
        }) == "E73");
  // beside an inner loss; the gradient flows on if the arguments are values of the outer one
  std::string const beside = text_of([&] {
    grad<0>([&](auto const& a) {
      auto const inner = [&](auto const& b) { return std::tuple(sum(b), sum(b), sum(square(a))); };
      auto const [slope, metrics] = grad<0>(inner, has_aux)(stop_gradient(a));
      return sum(a) + sum(slope) + std::get<1>(metrics);
    })(w);
  });
  CHECK(beside.find("[shardtype E73] value 2 beside the loss belongs to another differentiation") ==
        0);
  same(grad<0>([](auto const& a) {
         auto const inner = [&](auto const& b) { return std::pair(sum(square(b)), square(a)); };
         auto const [slope, metric] = grad<0>(inner, has_aux)(a);
         return sum(slope) + sum(metric);
       })(w),
       (w * 2.0 + 2.0).tensor());
}

TEST_CASE("values whose gradient is wanted are read like tensors") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const w = make<T<Dim<D>, Reduced<X>>>(mesh, {5}, 1);
  auto const whole_w = whole(w);
  bool read = false;
  auto const f = [&](auto const& v, bool alike) {
    auto h = v.clone();
    auto total = all_reduce<X>(to_partial<X>(all_gather<X>(reshard<Dim<D, X>>(v))));
    static_cast<void>(total);
    h += v * 2.0;
    h -= v;
    h *= 3.0;
    h /= 2.0;
    auto loss = sum(h);
    loss += sum(square(v));
    if (alike) {
      auto const back = to_host(stop_gradient(v));
      read = std::equal(back.begin(), back.end(), whole_w.begin()) && to_text(v) == to_text(w) &&
             item(stop_gradient(loss)) == item(loss.tensor().value()) && item(loss > -1.0) &&
             v.mesh() == w.mesh() && v.template extent<D>() == 5;
    }
    return loss;
  };
  auto const g = whole(grad<0>([&](auto const& v) { return f(v, true); })(w));
  CHECK(read);
  int bad = 0;
  for (std::size_t k = 0; k < g.size(); ++k) bad += std::abs(g[k] - (3 + 2 * whole_w[k])) > 1e-12;
  CHECK(bad == 0);
}

TEST_CASE("complex numbers: the gradient is df/dx - i df/dy") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Z = Kokkos::complex<double>;
  using Zs = Tensor<Z, Dim<B, X>, Dim<D>>;
  auto const z =
      from_function<Z, Dim<B, X>, Dim<D>>(mesh, {5, 3}, [](std::int64_t b, std::int64_t d) {
        return Z(0.5 + 0.1 * static_cast<double>(b), 0.3 * static_cast<double>(d) - 0.2);
      });
  auto const all = whole(z);
  // |z|^2: 2 conj(z)
  auto const square_of = whole(grad<0>([](auto const& v) { return sum(real(v * conj(v))); })(z));
  // the imaginary part of z^2, of which df/dx = 2y, df/dy = 2x
  auto const imaginary = whole(grad<0>([](auto const& v) { return sum(imag(v * v)); })(z));
  int bad = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    Z const x = all[k];
    bad += std::abs(square_of[k].real() - 2 * x.real()) > 1e-12;
    bad += std::abs(square_of[k].imag() + 2 * x.imag()) > 1e-12;
    bad += std::abs(imaginary[k].real() - 2 * x.imag()) > 1e-12;
    bad += std::abs(imaginary[k].imag() + 2 * x.real()) > 1e-12;
  }
  CHECK(bad == 0);
  // by differences of both parts: products, functions, complex results, by hand
  auto const w = from_function<Z, Dim<D>, Dim<H>>(mesh, {3, 2}, [](std::int64_t d, std::int64_t h) {
    return Z(0.2 * static_cast<double>(d) + 0.1, 0.4 - 0.3 * static_cast<double>(h));
  });
  check_grads([](auto const& v,
                 auto const& u) { return all_reduce<X>(sum(real(exp(matmul(v, reduced<X>(u)))))); },
              z, w);
  check_grads([](auto const& v) { return v * v * Z(0, 2); }, z);
  check_grads([](auto const& v) { return sum(imag(v)) * sum(real(v)); },
              reshard<Dim<B>, Dim<D>>(z));
  auto const wrong =
      custom_vjp([](auto const& v) { return sum(imag(v)); },
                 [](auto const& v) { return std::pair(sum(imag(v)), v); },
                 [](auto const& v, auto const& ct) { return v * Z(0, 0) + cast<Z>(ct) * Z(0, 1); });
  std::string const text = text_of([&] { check_grads(wrong, reshard<Dim<B>, Dim<D>>(z)); });
  CAPTURE(text);
  CHECK(text.find("the imaginary part of the gradient is 1, differences give ") !=
        std::string::npos);
  static_cast<void>(std::type_identity<Zs>{});
}

TEST_CASE("gradients of complex functions: beside the cuts, and of large numbers") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Z = Kokkos::complex<double>;
  auto near = [&](auto const& f, std::vector<Z> const& at, std::vector<Z> const& want) {
    auto const z =
        from_host<Tensor<Z, Dim<B, X>>>(mesh, {static_cast<std::int64_t>(at.size())}, at);
    auto const got =
        whole(grad<0>([&](auto const& v) { return sum<Tensor<double>>(real(f(v))); })(z));
    for (std::size_t k = 0; k < at.size(); ++k) {
      CAPTURE(k, got[k], want[k]);
      CHECK(Kokkos::abs(got[k] - want[k]) <= 1e-14 * Kokkos::abs(want[k]));
    }
  };
  double const r = 1 / std::sqrt(3.0);
  std::vector<Z> const cut = {{2, 0.0}, {2, -0.0}, {-2, 0.0}, {-2, -0.0}};
  near([](auto const& v) { return asin(v); }, cut, {{0, r}, {0, -r}, {0, -r}, {0, r}});
  near([](auto const& v) { return acos(v); }, cut, {{0, -r}, {0, r}, {0, r}, {0, -r}});
  near([](auto const& v) { return asin(v); }, {{1e200, 1e200}}, {{5e-201, 5e-201}});
  near([](auto const& v) { return atan(v); }, {{1e150, 1e150}, {1e200, 1e200}, {0, 1 + 0x1p-40}},
       {{0, -5e-301}, {0, 0}, {-0x1p39 / (1 + 0x1p-41), 0}});
  near([](auto const& v) { return Z(1e200, 1e200) / v; }, {{1e200, 1e200}, {1e200, 0}},
       {{-5e-201, 5e-201}, {-1e-200, -1e-200}});
  near([](auto const& v) { return cast<Z>(abs(v)) * 1e10; }, {{1e307, 0}}, {{1e10, 0}});
}

TEST_CASE("gradients of bfloat16") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const small = [](std::int64_t r, std::int64_t c) {
    return static_cast<bfloat16>(static_cast<float>((r * 3 + c) % 5 - 2));
  };
  auto const x = from_function<bfloat16, Dim<B, X>, Dim<D>>(mesh, {4, 3}, small);
  auto const w = from_function<bfloat16, Dim<D>, Dim<H>>(mesh, {3, 2}, small);
  auto const loss = [](auto const& a, auto const& b) {
    return all_reduce<X>(sum(square(matmul(a, reduced<X>(b)))));
  };
  auto const [value, grads] = value_and_grad<0, 1>(loss)(x, w);
  auto const& [dx, dw] = grads;
  static_assert(
      std::is_same_v<std::remove_cvref_t<decltype(dx)>, std::remove_cvref_t<decltype(x)>>);
  // small integers: bfloat16 has them exactly
  auto const [exact, in_float] = value_and_grad<0, 1>(loss)(cast<float>(x), cast<float>(w));
  int bad = 0;
  auto const compare = [&](auto const& a, auto const& b) {
    auto const left = whole(a);
    auto const right = whole(b);
    for (std::size_t k = 0; k < left.size(); ++k)
      bad += std::abs(static_cast<float>(left[k]) - right[k]) > 0.01f * std::abs(right[k]);
  };
  compare(dx, std::get<0>(in_float));
  compare(dw, std::get<1>(in_float));
  CHECK(bad == 0);
  CHECK(std::abs(static_cast<float>(whole(value)[0]) - whole(exact)[0]) <= 0.01f * whole(exact)[0]);
}
