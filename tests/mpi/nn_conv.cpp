// Convolutions beside loops: one to three dims, strides, dilations, padding, groups, any order of
// dims, blocks that are uneven or empty and windows that cross several of them; gradients, plans,
// automatic mode, blocks of a shard_map.
// SOURCES: tests/shim/pmpi.cpp
// RANKS: 1 2 4 8
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/nn/conv.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Z : Axis<"Z"> {};
struct N : Index<"N"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct W : Index<"W"> {};
struct P : Index<"P"> {};
struct Q : Index<"Q"> {};
struct KD : Index<"KD"> {};
struct KH : Index<"KH"> {};
struct KW : Index<"KW"> {};
struct C : Index<"C"> {};
struct F : Index<"F"> {};
struct G : Index<"G"> {};

using Int = std::int64_t;
using Numbers = std::vector<double>;
using nn::Window, nn::WindowOptions;

double at(Numbers const& v, Int k) { return v[static_cast<std::size_t>(k)]; }
double& at(Numbers& v, Int k) { return v[static_cast<std::size_t>(k)]; }

// The elements in the order of the dims `Ls`.
template <class... Ls>
constexpr auto in_order = [](auto const& a) {
  Numbers out;
  for (auto const one : to_host(transpose<Ls...>(a))) out.push_back(static_cast<double>(one));
  return out;
};

// The sizes of a convolution x [n, rows, g, c], w [taps, g, c, f], y [n, places, g, f].
struct Sizes {
  Int n = 1, g = 1, c = 1, f = 1;
  std::array<Int, 3> rows{1, 1, 1}, taps{1, 1, 1}, places{1, 1, 1};
  std::array<Int, 3> stride{1, 1, 1}, dilation{1, 1, 1}, before{0, 0, 0};

  // Calls use(x, w, y) with the places of the factors and of the sum of each product.
  template <class Use>
  void each(Use const& use) const {
    std::array<Int, 3> p{}, t{};
    Int const tap_count = taps[0] * taps[1] * taps[2];
    Int const place_count = places[0] * places[1] * places[2];
    for (Int b = 0; b < n; ++b)
      for (Int place = 0; place < place_count; ++place)
        for (Int tap = 0; tap < tap_count; ++tap) {
          split(place, places, p);
          split(tap, taps, t);
          Int from = b;
          bool inside = true;
          for (std::size_t i = 0; i < 3; ++i) {
            Int const r = p[i] * stride[i] - before[i] + t[i] * dilation[i];
            inside = inside && r >= 0 && r < rows[i];
            from = from * rows[i] + r;
          }
          if (!inside) continue;
          for (Int k = 0; k < g; ++k)
            for (Int i = 0; i < c; ++i)
              for (Int j = 0; j < f; ++j)
                use((from * g + k) * c + i, ((tap * g + k) * c + i) * f + j,
                    ((b * place_count + place) * g + k) * f + j);
        }
  }

 private:
  static void split(Int number, std::array<Int, 3> const& extents, std::array<Int, 3>& out) {
    for (std::size_t i = 3; i-- > 0;) {
      out[i] = number % extents[i];
      number /= extents[i];
    }
  }
};

// Whole numbers, so that sums are exact.
auto pattern(Int seed) {
  return [seed](auto... i) {
    Int k = seed;
    ((k = (k * 31 + i * 17 + 5) % 1009), ...);
    return static_cast<double>(k % 5 - 2);
  };
}
template <class A, class M, class Extents>
A filled(M const& mesh, Extents const& extents, Int seed) {
  return from_function<A>(mesh, extents, [f = pattern(seed)](auto... i) {
    return static_cast<typename A::element>(f(i...));
  });
}

// Values and gradients of `convolve` beside loops; `of_x`, `of_w`, `of_y` give the elements in the
// order of Sizes.
template <class Ct, class M, class A, class B, class Convolve, class OfX, class OfW, class OfY>
void check(M const& mesh, A const& x, B const& w, Sizes const& s, Convolve const& convolve,
           OfX const& of_x, OfW const& of_w, OfY const& of_y) {
  auto const y = convolve(x, w);
  auto const ct = filled<Ct>(mesh, y.extents(), 3);
  Numbers const xs = of_x(x), ws = of_w(w), cts = of_y(ct);
  Numbers made(cts.size()), to_x(xs.size()), to_w(ws.size());
  s.each([&](Int i, Int j, Int k) {
    at(made, k) += at(xs, i) * at(ws, j);
    at(to_x, i) += at(cts, k) * at(ws, j);
    at(to_w, j) += at(cts, k) * at(xs, i);
  });
  CHECK(of_y(reshard<Ct>(y)) == made);
  auto const [gx, gw] = grad<0, 1>([&](auto const& a, auto const& b) {
    return sum<Tensor<typename A::element>>(convolve(a, b) * ct);
  })(x, w);
  CHECK(of_x(gx) == to_x);
  CHECK(of_w(gw) == to_w);
}

template <WindowOptions o>
struct Option {
  static constexpr WindowOptions value = o;
};

template <class Run>
void for_grids(Run const& run) {
  for (auto const& sizes : on_ranks::grids()) run(Mesh<X, Y>(MPI_COMM_WORLD, sizes));
}

}  // namespace

TEST_CASE("images in blocks of rows, with the padding that keeps them") {
  using Images = Tensor<double, Dim<N, Y>, Dim<H, X>, Dim<W>, Dim<C>>;
  using Kernel = Tensor<double, Dim<KH>, Dim<KW>, Dim<C>, Dim<F>>;
  using Result = Tensor<double, Dim<N, Y>, Dim<H, X>, Dim<W>, Dim<F>>;
  using Rows = Window<H, KH, nn::same>;
  using Columns = Window<W, KW, nn::same>;
  auto const convolve = [](auto const& x, auto const& w) {
    return nn::conv<Rows, Columns>(x, used_as<Reduced<X, Y>>(w));
  };
  struct Case {
    Int n, h, w, c, f, kh, kw;
  };
  for_grids([&](Mesh<X, Y> const& mesh) {
    for (Case const c : {Case{3, 13, 5, 2, 3, 3, 3},
                         {2, 9, 4, 1, 2, 7, 2},
                         {1, 1, 1, 1, 1, 3, 3},
                         {3, 3, 2, 2, 1, 5, 5},
                         {0, 4, 3, 2, 2, 3, 1},
                         {2, 0, 3, 2, 2, 3, 3},
                         {2, 5, 3, 0, 2, 3, 3}}) {
      CAPTURE(c.n, c.h, c.w, c.c, c.f, c.kh, c.kw);
      auto const x = filled<Images>(mesh, std::array{c.n, c.h, c.w, c.c}, 1);
      auto const w = filled<Kernel>(mesh, std::array{c.kh, c.kw, c.c, c.f}, 2);
      Sizes s{.n = c.n, .c = c.c, .f = c.f};
      s.rows = s.places = {1, c.h, c.w};
      s.taps = {1, c.kh, c.kw};
      s.before = {0, (c.kh - 1) / 2, (c.kw - 1) / 2};
      check<Result>(mesh, x, w, s, convolve, in_order<N, H, W, C>, in_order<KH, KW, C, F>,
                    in_order<N, H, W, F>);
    }
  });
}

TEST_CASE("strides and dilations along rows that are split, in other orders of dims") {
  // channels before rows, kernels [F, C, K]; rows of several blocks between two places
  using A = Tensor<float, Dim<N>, Dim<C>, Dim<H, X, Y>>;
  using B = Tensor<float, Dim<F>, Dim<C>, Dim<KH>>;
  using Result = Tensor<float, Dim<N>, Dim<F>, Dim<P, X, Y>>;
  auto const at_strides = [](auto const& options, Int stride, Int dilation, Int before, Int after) {
    constexpr WindowOptions o = std::remove_cvref_t<decltype(options)>::value;
    using Moved = Window<H, KH, o, P>;
    for_grids([&](Mesh<X, Y> const& mesh) {
      for (auto const& [rows, taps] :
           {std::pair<Int, Int>{17, 3}, {11, 2}, {4, 3}, {33, 5}, {3, 1}}) {
        CAPTURE(stride, dilation, before, rows, taps);
        Int const places = nn::detail::places_of(o, rows, taps);
        auto const x = filled<A>(mesh, std::array<Int, 3>{2, 3, rows}, 1);
        auto const w = filled<B>(mesh, std::array<Int, 3>{2, 3, taps}, 2);
        if (places < 0) {
          CHECK(on_ranks::code_of([&] { (void)nn::conv<Moved>(x, w); }) == "E41");
          continue;
        }
        Sizes s{.n = 2, .c = 3, .f = 2};
        s.rows = {1, 1, rows};
        s.taps = {1, 1, taps};
        s.places = {1, 1, places};
        s.stride = {1, 1, stride};
        s.dilation = {1, 1, dilation};
        s.before = {0, 0, before};
        CHECK(places == (rows + before + after - (taps - 1) * dilation - 1) / stride + 1);
        check<Result>(
            mesh, x, w, s,
            [](auto const& a, auto const& b) {
              return nn::conv<Moved>(a, used_as<Reduced<X, Y>>(b));
            },
            in_order<N, H, C>, in_order<KH, C, F>, in_order<N, P, F>);
      }
    });
  };
  at_strides(Option<WindowOptions{.stride = 2, .before = 1, .after = 2}>{}, 2, 1, 1, 2);
  at_strides(Option<WindowOptions{.stride = 3, .dilation = 2}>{}, 3, 2, 0, 0);
  at_strides(Option<WindowOptions{.stride = 2, .dilation = 4, .before = 5, .after = 9}>{}, 2, 4, 5,
             9);
}

TEST_CASE("three dims, groups, channels and features that are split") {
  for_grids([](Mesh<X, Y> const& mesh) {
    // groups of channels, of which each has its kernel; no batch
    using A = Tensor<double, Dim<D, X>, Dim<H>, Dim<W>, Dim<G>, Dim<C, Y>>;
    using B = Tensor<double, Dim<KD>, Dim<KH>, Dim<G>, Dim<KW>, Dim<F>, Dim<C, Y>>;
    using Result = Tensor<double, Dim<D, X>, Dim<H>, Dim<W>, Dim<G>, Dim<F>>;
    auto const x = filled<A>(mesh, std::array<Int, 5>{5, 3, 4, 3, 3}, 1);
    auto const w = filled<B>(mesh, std::array<Int, 6>{3, 1, 3, 2, 2, 3}, 2);
    Sizes s{.g = 3, .c = 3, .f = 2};
    s.rows = {5, 3, 4};
    s.taps = {3, 1, 2};
    s.places = {5, 2, 3};
    s.stride = {1, 2, 1};
    s.before = {1, 0, 0};
    check<Result>(
        mesh, x, w, s,
        [](auto const& a, auto const& b) {
          return reduced<Y>(all_reduce<Y>(
              nn::conv<Window<D, KD, nn::same>, Window<H, KH, WindowOptions{.stride = 2}>,
                       Window<W, KW>, nn::Grouped<G>>(a, used_as<Reduced<X>>(b))));
        },
        in_order<D, H, W, G, C>, in_order<KD, KH, KW, G, C, F>, in_order<D, H, W, G, F>);
  });
}

TEST_CASE("rows and columns in tiles, with their corners") {
  using A = Tensor<double, Dim<W, Y>, Dim<N>, Dim<H, X>, Dim<C>>;
  using B = Tensor<double, Dim<KH>, Dim<KW>, Dim<C>, Dim<F>>;
  using Result = Tensor<double, Dim<W, Y>, Dim<N>, Dim<P, X>, Dim<F>>;
  static constexpr WindowOptions o{.stride = 2, .before = 2, .after = 1};
  auto const convolve = [](auto const& x, auto const& w) {
    return nn::conv<Window<H, KH, o, P>, Window<W, KW, nn::same>>(x, used_as<Reduced<X, Y>>(w));
  };
  struct Case {
    Int n, h, w, c, kh, kw;
  };
  for_grids([&](Mesh<X, Y> const& mesh) {
    for (Case const c : {Case{2, 13, 11, 2, 3, 3},
                         {1, 6, 5, 1, 7, 5},  // over several tiles
                         {2, 3, 2, 2, 2, 3},  // fewer rows than ranks
                         {1, 1, 9, 1, 1, 1},
                         {2, 5, 0, 1, 3, 3}}) {
      CAPTURE(c.n, c.h, c.w, c.c, c.kh, c.kw);
      auto const x = filled<A>(mesh, std::array{c.w, c.n, c.h, c.c}, 1);
      auto const w = filled<B>(mesh, std::array{c.kh, c.kw, c.c, Int{2}}, 2);
      Sizes s{.n = c.n, .c = c.c, .f = 2};
      s.rows = {1, c.h, c.w};
      s.taps = {1, c.kh, c.kw};
      s.places = {1, nn::detail::places_of(o, c.h, c.kh), c.w};
      s.stride = {1, 2, 1};
      s.before = {0, 2, (c.kw - 1) / 2};
      check<Result>(mesh, x, w, s, convolve, in_order<N, H, W, C>, in_order<KH, KW, C, F>,
                    in_order<N, P, W, F>);
    }
  });
}

TEST_CASE("three dims that three axes split, of which one has two blocks at most") {
  using A = Tensor<double, Dim<D, Z>, Dim<H, X>, Dim<W, Y>, Dim<G>>;
  using B = Tensor<double, Dim<KD>, Dim<KH>, Dim<KW>, Dim<G>>;
  for (auto const& sizes : on_ranks::grids()) {
    Int const depth = sizes[1] % 2 == 0 ? 2 : 1;
    Mesh<X, Y, Z> const mesh(MPI_COMM_WORLD, {sizes[0], sizes[1] / depth, depth});
    auto const x = filled<A>(mesh, std::array<Int, 4>{5, 7, 4, 3}, 1);
    auto const w = filled<B>(mesh, std::array<Int, 4>{3, 3, 2, 3}, 2);
    Sizes s{.g = 3};
    s.rows = s.places = {5, 7, 4};
    s.taps = {3, 3, 2};
    s.before = {1, 1, 0};
    check<A>(
        mesh, x, w, s,
        [](auto const& a, auto const& b) {
          return nn::conv<Window<D, KD, nn::same>, Window<H, KH, nn::same>, Window<W, KW, nn::same>,
                          nn::Grouped<G>>(a, used_as<Reduced<X, Y, Z>>(b));
        },
        in_order<D, H, W, G>, in_order<KD, KH, KW, G>, in_order<D, H, W, G>);
  }
}

TEST_CASE("a kernel for each channel, of bfloat16") {
  for_grids([](Mesh<X, Y> const& mesh) {
    using A = Tensor<bfloat16, Dim<N, Y>, Dim<H, X>, Dim<W>, Dim<C>>;
    using B = Tensor<bfloat16, Dim<KH>, Dim<KW>, Dim<C>>;
    auto const x = filled<A>(mesh, std::array<Int, 4>{2, 7, 3, 37}, 1);
    auto const w = filled<B>(mesh, std::array<Int, 3>{3, 2, 37}, 2);
    Sizes s{.n = 2, .g = 37};
    s.rows = {1, 7, 3};
    s.taps = {1, 3, 2};
    s.places = {1, 4, 3};
    s.stride = {1, 2, 1};
    s.before = {0, 1, 0};
    check<Tensor<bfloat16, Dim<N, Y>, Dim<P, X>, Dim<W>, Dim<C>>>(
        mesh, x, w, s,
        [](auto const& a, auto const& b) {
          return nn::conv<Window<H, KH, WindowOptions{.stride = 2, .same = true}, P>,
                          Window<W, KW, nn::same>, nn::Grouped<C>>(a, used_as<Reduced<X, Y>>(b));
        },
        in_order<N, H, W, C>, in_order<KH, KW, C>, in_order<N, P, W, C>);
  });
}

namespace {

// The bytes and the memory of a convolution, and of its gradients, of images `A`.
template <class A>
void check_plans(Mesh<X, Y> const& mesh) {
  using Rows = Window<H, KH, WindowOptions{.stride = 2, .before = 2, .after = 2}>;
  using Columns = Window<W, KW, nn::same>;
  using B = Tensor<float, Dim<KH>, Dim<KW>, Dim<C>, Dim<F>>;
  for (auto const& [rows, columns, channels] :
       {std::array<Int, 3>{97, 64, 48}, {64, 61, 16}, {3, 2, 1}, {1, 1, 0}}) {
    CAPTURE(rows, columns, channels);
    auto const x = zeros<A>(mesh, {2, rows, columns, channels});
    auto const w = zeros<B>(mesh, {5, 3, channels, 40});
    measured_plan::check(
        "conv", op::Conv<Rows, Columns>{},
        [](auto const& a, auto const& b) { return nn::conv<Rows, Columns>(a, b); }, x, w);
    auto const y = nn::conv<Rows, Columns>(x, w);
    op::ConvTransposed<Rows, Columns> const back{{rows, columns}};
    measured_plan::check(
        "conv_transposed", back,
        [&](auto const& a, auto const& b) {
          return nn::conv_transposed<Rows, Columns>(a, b, nn::Rows{rows, columns});
        },
        y, w);
    op::ConvKernel<Rows, Columns> const kernel{{5, 3}};
    measured_plan::check(
        "conv_kernel", kernel,
        [&](auto const& a, auto const& b) {
          return call(kernel, std::source_location::current(), a, b);
        },
        x, y);
  }
}

}  // namespace

TEST_CASE("bytes and memory are as planned") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  check_plans<Tensor<float, Dim<N>, Dim<H, X, Y>, Dim<W>, Dim<C>>>(mesh);
  check_plans<Tensor<float, Dim<N>, Dim<H, X>, Dim<W, Y>, Dim<C>>>(mesh);
}

TEST_CASE("named results") {
  using Rows = Window<H, KH, nn::same>;
  using Columns = Window<W, KW, WindowOptions{.stride = 2, .before = 1}, P>;
  using A = Tensor<double, Dim<N, X>, Dim<H>, Dim<W, Y>, Dim<C>>;
  using B = Tensor<double, Dim<KH>, Dim<KW>, Dim<C>, Dim<F>>;
  using Tiles = Tensor<double, Dim<N>, Dim<H, X>, Dim<P, Y>, Dim<F>>;
  using Result = Tensor<double, Dim<N>, Dim<P, Y>, Dim<H, X>, Dim<F>>;
  using Made = op::Conv<Rows, Columns>;
  for_grids([](Mesh<X, Y> const& mesh) {
    auto const x = filled<A>(mesh, std::array<Int, 4>{3, 7, 9, 3}, 1);
    auto const w = filled<B>(mesh, std::array<Int, 4>{3, 3, 3, 5}, 2);
    Sizes s{.n = 3, .c = 3, .f = 5};
    s.rows = {1, 7, 9};
    s.taps = {1, 3, 3};
    s.places = {1, 7, 4};
    s.stride = {1, 1, 2};
    s.before = {0, 1, 1};
    check<Result>(
        mesh, x, w, s,
        [](auto const& a, auto const& b) {
          return nn::conv<Rows, Columns, Dim<N>, Dim<P, Y>, Dim<H, X>, Dim<F>>(
              a, used_as<Reduced<X, Y>>(b));
        },
        in_order<N, H, W, C>, in_order<KH, KW, C, F>, in_order<N, H, P, F>);
    // replicated operands: each rank computes its tile
    auto const whole = reshard<Dim<N>, Dim<H>, Dim<W>, Dim<C>>(x);
    auto const tiles = [](auto const& a, auto const& b) {
      return nn::conv<Rows, Columns, Dim<N>, Dim<H, X>, Dim<P, Y>, Dim<F>>(a, b);
    };
    auto const want = nn::conv<Rows, Columns>(whole, w);
    CHECK(in_order<N, H, P, F>(tiles(whole, w)) == in_order<N, H, P, F>(want));
    CHECK(in_order<N, H, P, F>(evaluate<Tiles>(mesh, tiles, whole, w)) ==
          in_order<N, H, P, F>(want));
    measured_plan::check("tiles", op::Named<Made, Dim<N>, Dim<H, X>, Dim<P, Y>, Dim<F>>{}, tiles,
                         whole, w);
    // channels and features over one axis: those of x are gathered
    measured_plan::check(
        "moved", op::Named<Made, Result>{},
        [](auto const& a, auto const& b) { return nn::conv<Rows, Columns, Result>(a, b); },
        reshard<Dim<N, X>, Dim<H>, Dim<W>, Dim<C, Y>>(x),
        reshard<Dim<KH>, Dim<KW>, Dim<C>, Dim<F, Y>>(w));
    auto const back = nn::conv_transposed<Rows, Columns, Dim<N>, Dim<H, X>, Dim<W, Y>, Dim<C>>(
        want, w, nn::Rows{7, 9});
    CHECK(in_order<N, H, W, C>(back) ==
          in_order<N, H, W, C>(nn::conv_transposed<Rows, Columns>(want, w, nn::Rows{7, 9})));
  });
}

TEST_CASE("automatic mode, with gradients, and blocks of a shard_map") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Rows = Window<H, KH, nn::same>;
  using A = Tensor<double, Dim<N, X>, Dim<H>, Dim<C>>;
  using B = Tensor<double, Dim<KH>, Dim<C>, Dim<F>>;
  auto const x = filled<A>(mesh, std::array<Int, 3>{6, 7, 3}, 1);
  auto const w = filled<B>(mesh, std::array<Int, 3>{3, 3, 4}, 2);
  auto const strict = nn::conv<Rows>(x, w);
  using Made = std::remove_cvref_t<decltype(strict)>;
  auto const f = [](auto const& a, auto const& b) { return nn::conv<Rows>(a, b); };
  CHECK(array_equal(evaluate<Made>(mesh, f, x, w), strict));
  auto const loss = [&](auto const& a, auto const& b) { return sum(square(f(a, b))); };
  auto const [value, gradients] = evaluate(mesh, value_and_grad<0, 1>(loss), x, w);
  auto const want = value_and_grad<0, 1>([](auto const& a, auto const& b) {
    return sum<Tensor<double>>(square(nn::conv<Rows>(a, used_as<Reduced<X>>(b))));
  })(x, w);
  CHECK(item(value) == item(want.value));
  CHECK(array_equal(std::get<0>(gradients), std::get<0>(want.grad)));
  CHECK(array_equal(std::get<1>(gradients), std::get<1>(want.grad)));
  CHECK(array_equal(shard_map<Made>(f, x, w), strict));
}

TEST_CASE("transposed convolutions, gradients of gradients, errors") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  constexpr WindowOptions o{.stride = 2, .before = 1};
  using Rows = Window<H, KH, o, P>;
  using A = Tensor<double, Dim<H, X>, Dim<C>>;
  using B = Tensor<double, Dim<KH>, Dim<C>, Dim<F>>;
  auto const x = filled<A>(mesh, std::array<Int, 2>{12, 2}, 1);
  auto const w = filled<B>(mesh, std::array<Int, 3>{3, 2, 3}, 2);
  auto const y = nn::conv<Rows>(x, w);
  // <conv(x, w), y> = <x, conv_transposed(y, w)>
  CHECK(nn::conv_transposed<Rows>(y, w).extents()[0] == 12);
  CHECK(item(sum<Tensor<double>>(y * y)) ==
        item(sum<Tensor<double>>(x * nn::conv_transposed<Rows>(y, w))));
  CHECK(on_ranks::code_of([&] { (void)nn::conv_transposed<Rows>(y, w, nn::Rows{14}); }) == "E41");
  check_grads(
      [](auto const& a, auto const& b) {
        auto const made = nn::conv<Rows>(a, used_as<Reduced<X>>(b));
        return sum<Tensor<double>>(
            square(nn::conv_transposed<Rows>(made * made, used_as<Reduced<X>>(b))));
      },
      x, w);
  auto const wrong = filled<B>(mesh, std::array<Int, 3>{3, 4, 3}, 2);
  CHECK(on_ranks::code_of([&] { (void)nn::conv<Rows>(x, wrong); }) == "E24");
  auto const empty = filled<B>(mesh, std::array<Int, 3>{0, 2, 3}, 2);
  CHECK(on_ranks::code_of([&] { (void)nn::conv<Rows>(x, empty); }) == "E41");
  // a NaN reaches the places whose windows have it, and no other
  auto const marked = from_function<A>(mesh, {12, 2}, [](Int h, Int c) {
    return h == 6 && c == 1 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  });
  auto const one = filled<B>(mesh, std::array<Int, 3>{3, 2, 1}, 2);
  CHECK(on_ranks::wrong(isnan(nn::conv<Rows>(marked, one)).tensor(),
                        [](Int h, Int) { return h == 3; }) == 0);
}
