// Pools beside loops: one to three dims, strides, dilations, padding, any order of dims, blocks
// that are uneven or empty and windows that cross several of them; gradients of both orders, plans,
// automatic mode, blocks of a shard_map.
// SOURCES: tests/shim/pmpi.cpp
// RANKS: 1 2 4 8
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <source_location>
#include <type_traits>
#include <vector>

#include <shardtype/nn/pool.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct N : Index<"N"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct W : Index<"W"> {};
struct P : Index<"P"> {};
struct C : Index<"C"> {};

using Int = std::int64_t;
using Numbers = std::vector<double>;
using nn::Pool, nn::WindowOptions, nn::AvgPoolOptions;

double at(Numbers const& v, Int k) { return v[static_cast<std::size_t>(k)]; }
double& at(Numbers& v, Int k) { return v[static_cast<std::size_t>(k)]; }

// The elements in the order of the dims `Ls`.
template <class... Ls>
constexpr auto in_order = [](auto const& a) {
  Numbers out;
  for (auto const one : to_host(transpose<Ls...>(a))) out.push_back(static_cast<double>(one));
  return out;
};

// The sizes of a pool of x [n, rows, c]; the number of places follows.
struct Sizes {
  Int n = 1, c = 1;
  std::array<Int, 3> rows{1, 1, 1}, size{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  std::array<Int, 3> before{0, 0, 0}, after{0, 0, 0};

  Int places(std::size_t i) const {
    return (rows[i] + before[i] + after[i] - (size[i] - 1) * dilation[i] - 1) / stride[i] + 1;
  }
  // Calls use(result, elements of x in its window, row-major).
  template <class Use>
  void each(Use const& use) const {
    std::array<Int, 3> const made{places(0), places(1), places(2)};
    std::array<Int, 3> p{}, t{};
    for (Int b = 0; b < n; ++b)
      for (Int place = 0; place < made[0] * made[1] * made[2]; ++place)
        for (Int k = 0; k < c; ++k) {
          split(place, made, p);
          std::vector<Int> window;
          for (Int tap = 0; tap < size[0] * size[1] * size[2]; ++tap) {
            split(tap, size, t);
            Int from = b;
            bool inside = true;
            for (std::size_t i = 0; i < 3; ++i) {
              Int const r = p[i] * stride[i] - before[i] + t[i] * dilation[i];
              inside = inside && r >= 0 && r < rows[i];
              from = from * rows[i] + r;
            }
            if (inside) window.push_back(from * c + k);
          }
          use((b * made[0] * made[1] * made[2] + place) * c + k, window);
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

// Few whole numbers, so that windows have several largest elements.
template <class A, class Extents>
A filled(Mesh<X, Y> const& mesh, Extents const& extents, Int seed) {
  return from_function<A>(mesh, extents, [seed](auto... i) {
    Int k = seed;
    ((k = (k * 31 + i * 17 + 5) % 1009), ...);
    return static_cast<typename A::element>(k % 5 - 2);
  });
}

bool close(Numbers const& a, Numbers const& b, double bound) {
  bool all = a.size() == b.size();
  for (std::size_t k = 0; all && k < a.size(); ++k)
    all =
        std::isnan(b[k]) ? std::isnan(a[k]) : std::abs(a[k] - b[k]) <= bound * (1 + std::abs(b[k]));
  return all;
}

// Values, gradients and products with second derivatives of both pools beside loops; `of_x` and
// `of_y` give the elements in the order of Sizes.
template <class... Ps, class A, class OfX, class OfY>
void check(Mesh<X, Y> const& mesh, A const& x, Sizes const& s, OfX const& of_x, OfY const& of_y) {
  using Number = Tensor<typename A::element>;
  auto const largest = [](auto const& a) { return nn::max_pool<Ps...>(a); };
  auto const y = largest(x);
  auto const ct = filled<std::remove_cvref_t<decltype(y)>>(mesh, y.extents(), 3);
  auto const v = filled<A>(mesh, x.extents(), 4);
  Numbers const xs = of_x(x), cts = of_y(ct), vs = of_x(v);
  auto const first = [&](auto const& pool) {
    return grad<0>([&](auto const& a) { return sum<Number>(pool(a) * ct); })(x);
  };
  auto const second = [&](auto const& pool) {
    return grad<0>([&](auto const& a) {
      auto const inner = [&](auto const& b) { return sum<Number>(square(pool(b)) * ct); };
      return sum<Number>(grad<0>(inner)(a) * v);
    })(x);
  };
  Numbers made(cts.size()), back(xs.size()), twice(xs.size());
  s.each([&](Int k, std::vector<Int> const& window) {
    Int from = -1;
    for (Int const i : window)
      if (from < 0 || at(xs, i) > at(xs, from)) from = i;
    at(made, k) = from < 0 ? -std::numeric_limits<double>::infinity() : at(xs, from);
    if (from < 0) return;
    at(back, from) += at(cts, k);
    at(twice, from) += 2 * at(cts, k) * at(vs, from);
  });
  CHECK(of_y(y) == made);
  CHECK(of_x(first(largest)) == back);
  CHECK(of_x(second(largest)) == twice);

  double const bound = std::is_same_v<typename A::element, double> ? 1e-14 : 2e-2;
  for (bool const counts : {true, false}) {
    CAPTURE(counts);
    auto const mean_of = [counts](auto const& a) {
      return nn::avg_pool<Ps...>(a, AvgPoolOptions{.count_include_pad = counts});
    };
    for (Numbers* const n : {&made, &back, &twice}) n->assign(n->size(), 0);
    s.each([&](Int k, std::vector<Int> const& window) {
      auto const n = static_cast<double>(counts ? s.size[0] * s.size[1] * s.size[2]
                                                : static_cast<Int>(window.size()));
      if (n == 0) at(made, k) = std::numeric_limits<double>::quiet_NaN();
      double of_v = 0;
      for (Int const i : window) {
        at(made, k) += at(xs, i) / n;
        of_v += at(vs, i) / n;
      }
      for (Int const i : window) {
        at(back, i) += at(cts, k) / n;
        at(twice, i) += 2 * at(cts, k) * of_v / n;
      }
    });
    CHECK(close(of_y(mean_of(x)), made, bound));
    CHECK(close(of_x(first(mean_of)), back, bound));
    CHECK(close(of_x(second(mean_of)), twice, bound));
  }
}

template <class Run>
void for_grids(Run const& run) {
  for (auto const& sizes : on_ranks::grids()) run(Mesh<X, Y>(MPI_COMM_WORLD, sizes));
}

}  // namespace

TEST_CASE("images in blocks of rows, pools that do not overlap, and some that do") {
  using Images = Tensor<double, Dim<N, Y>, Dim<H, X>, Dim<W>, Dim<C>>;
  for_grids([](Mesh<X, Y> const& mesh) {
    for (auto const& [n, h, w, c] : {std::array<Int, 4>{3, 13, 5, 2},
                                     {2, 9, 4, 1},
                                     {1, 2, 2, 70},
                                     {0, 4, 3, 2},
                                     {2, 5, 3, 0}}) {
      CAPTURE(n, h, w, c);
      auto const x = filled<Images>(mesh, std::array{n, h, w, c}, 1);
      Sizes s{.n = n, .c = c};
      s.rows = {1, h, w};
      s.size = s.stride = {1, 2, 2};
      check<Pool<H, 2>, Pool<W, 2>>(mesh, x, s, in_order<N, H, W, C>, in_order<N, H, W, C>);
      // the dims of windows in another order; columns of the same number
      s.size = {1, 4, 3};
      s.stride = {1, 2, 1};
      s.before = {0, 2, 1};
      s.after = {0, 1, 1};
      check<Pool<W, 3, nn::same>, Pool<H, 4, WindowOptions{.stride = 2, .before = 2, .after = 1}>>(
          mesh, x, s, in_order<N, H, W, C>, in_order<N, H, W, C>);
    }
  });
}

TEST_CASE("windows that are the last dim, over several blocks, with rows between them") {
  using A = Tensor<double, Dim<C>, Dim<H, X, Y>>;
  for_grids([](Mesh<X, Y> const& mesh) {
    for (Int const rows : {Int{37}, Int{11}, Int{5}, Int{3}}) {
      CAPTURE(rows);
      auto const x = filled<A>(mesh, std::array<Int, 2>{2, rows}, 1);
      Sizes s{.n = 2};
      s.rows = {1, 1, rows};
      s.size = {1, 1, 3};
      s.stride = {1, 1, 2};
      s.dilation = {1, 1, 4};
      s.before = {0, 0, 5};
      s.after = {0, 0, 9};
      check<Pool<H, 3, WindowOptions{.stride = 2, .dilation = 4, .before = 5, .after = 9}, P>>(
          mesh, x, s, in_order<C, H>, in_order<C, P>);
      if (rows < 4) continue;
      s.size = {1, 1, 4};
      s.stride = {1, 1, 5};
      s.dilation = {1, 1, 1};
      s.before = s.after = {0, 0, 0};
      check<Pool<H, 4, WindowOptions{.stride = 5}, P>>(mesh, x, s, in_order<C, H>, in_order<C, P>);
    }
  });
}

TEST_CASE("rows and columns in tiles, with their corners") {
  using A = Tensor<double, Dim<W, Y>, Dim<N>, Dim<H, X>>;
  for_grids([](Mesh<X, Y> const& mesh) {
    for (auto const& [h, w] : {std::array<Int, 2>{13, 11}, {5, 6}, {3, 2}, {4, 0}}) {
      CAPTURE(h, w);
      auto const x = filled<A>(mesh, std::array{w, Int{2}, h}, 1);
      Sizes s{.n = 2};
      s.rows = {1, w, h};
      s.size = {1, 3, 4};
      s.stride = {1, 1, 2};
      s.dilation = {1, 1, 2};
      s.before = {0, 1, 3};
      s.after = {0, 1, 5};
      check<Pool<H, 4, WindowOptions{.stride = 2, .dilation = 2, .before = 3, .after = 5}, P>,
            Pool<W, 3, nn::same>>(mesh, x, s, in_order<N, W, H>, in_order<N, W, P>);
    }
  });
}

TEST_CASE("three dims, with others between, of bfloat16") {
  using A = Tensor<bfloat16, Dim<D>, Dim<N, Y>, Dim<H, X>, Dim<C>, Dim<W>>;
  for_grids([](Mesh<X, Y> const& mesh) {
    auto const x = filled<A>(mesh, std::array<Int, 5>{4, 3, 7, 2, 5}, 1);
    Sizes s{.n = 3, .c = 2};
    s.rows = {4, 7, 5};
    s.size = {2, 3, 2};
    s.stride = {2, 3, 1};
    s.after = {0, 0, 1};
    check<Pool<D, 2>, Pool<H, 3>, Pool<W, 2, nn::same>>(mesh, x, s, in_order<N, D, H, W, C>,
                                                        in_order<N, D, H, W, C>);
  });
}

TEST_CASE("integers, not-a-number, windows without rows, errors") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Whole = Tensor<std::int32_t, Dim<H, X>, Dim<C>>;
  auto const whole =
      from_function<Whole>(mesh, {6, 2}, [](Int h, Int c) { return static_cast<int>(c - 3 * h); });
  CHECK(on_ranks::wrong(nn::max_pool<Pool<H, 2>>(whole),
                        [](Int h, Int c) { return static_cast<int>(c - 6 * h); }) == 0);
  using A = Tensor<float, Dim<H, X>, Dim<C>>;
  auto const marked = from_function<A>(mesh, {12, 2}, [](Int h, Int c) {
    return h == 6 && c == 1 ? std::numeric_limits<float>::quiet_NaN() : float(h);
  });
  CHECK(on_ranks::wrong(isnan(nn::max_pool<Pool<H, 3>>(marked)).tensor(),
                        [](Int h, Int c) { return h == 2 && c == 1; }) == 0);
  // its cotangent goes to the NaN, elsewhere to the last row
  auto const to_marked = grad<0>(
      [](auto const& a) { return sum<Tensor<float>>(nn::max_pool<Pool<H, 3>>(a)); })(marked);
  CHECK(on_ranks::wrong(to_marked, [](Int h, Int c) {
          return h == 6 && c == 1 || h % 3 == 2 && !(h == 8 && c == 1) ? 1.0F : 0.0F;
        }) == 0);
  // the first place reads padding alone
  using Beyond = Pool<H, 2, WindowOptions{.stride = 4, .before = 4}>;
  auto const numbers =
      from_function<A>(mesh, {12, 2}, [](Int h, Int) { return static_cast<float>(h); });
  CHECK(on_ranks::wrong(nn::max_pool<Beyond>(numbers), [](Int h, Int) {
          return h == 0 ? -std::numeric_limits<float>::infinity() : static_cast<float>(4 * h - 3);
        }) == 0);
  auto const inside = nn::avg_pool<Beyond>(numbers, {.count_include_pad = false});
  CHECK(on_ranks::wrong(isnan(inside).tensor(), [](Int h, Int) { return h == 0; }) == 0);
  using Long = Pool<H, 13>;
  CHECK(on_ranks::code_of([&] { (void)nn::max_pool<Long>(marked); }) == "E41");
  CHECK(on_ranks::code_of([&] { (void)nn::avg_pool<Long>(marked); }) == "E41");
}

namespace {

// The bytes and the memory of pools, and of their gradients, of images `A`.
template <class A>
void check_plans(Mesh<X, Y> const& mesh) {
  using Rows = Pool<H, 3, WindowOptions{.stride = 2, .before = 1, .after = 1}>;
  using Columns = Pool<W, 2>;
  auto const run = [](auto const& op) {
    return [&op](auto const&... as) { return call(op, std::source_location::current(), as...); };
  };
  for (auto const& [rows, columns, channels] :
       {std::array<Int, 3>{97, 64, 48}, {64, 61, 16}, {3, 2, 1}, {1, 2, 0}}) {
    CAPTURE(rows, columns, channels);
    auto const x = zeros<A>(mesh, {2, rows, columns, channels});
    op::MaxPool<Rows, Columns> const pool{};
    op::MaxPoolTaps<Rows, Columns> const with_taps{};
    op::AvgPool<Rows, Columns> const means{};
    measured_plan::check("max_pool", pool, run(pool), x);
    measured_plan::check("with taps", with_taps, run(with_taps), x);
    measured_plan::check("avg_pool", means, run(means), x);
    auto const both = call(with_taps, std::source_location::current(), x);
    auto const& [y, taps] = both;
    op::MaxPoolBack<Rows, Columns> const back{{{rows, columns}}};
    op::PoolTake<Rows, Columns> const take{};
    op::AvgPoolBack<Rows, Columns> const spread{{{rows, columns}}};
    measured_plan::check("max_pool_back", back, run(back), y, taps);
    measured_plan::check("pool_take", take, run(take), x, taps);
    measured_plan::check("avg_pool_back", spread, run(spread), y);
  }
}

}  // namespace

TEST_CASE("bytes and memory are as planned") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  check_plans<Tensor<double, Dim<N>, Dim<H, X, Y>, Dim<W>, Dim<C>>>(mesh);
  check_plans<Tensor<double, Dim<N>, Dim<H, X>, Dim<W, Y>, Dim<C>>>(mesh);
}

TEST_CASE("named results") {
  using A = Tensor<double, Dim<N, X>, Dim<H>, Dim<W, Y>>;
  using Rows = Pool<H, 3, WindowOptions{.stride = 2, .before = 1}, P>;
  using Columns = Pool<W, 3, nn::same>;
  for_grids([](Mesh<X, Y> const& mesh) {
    auto const x = filled<A>(mesh, std::array<Int, 3>{3, 9, 7}, 1);
    auto const whole = reshard<Dim<N>, Dim<H>, Dim<W>>(x);
    auto const ct =
        filled<Tensor<double, Dim<P, Y>, Dim<W, X>, Dim<N>>>(mesh, std::array<Int, 3>{4, 7, 3}, 2);
    auto const compare = [&](auto const& named, auto const& strict) {
      CHECK(in_order<N, P, W>(named(x)) == in_order<N, P, W>(strict(x)));
      CHECK(in_order<N, P, W>(named(whole)) == in_order<N, P, W>(strict(x)));
      auto const of = [&](auto const& pool) {
        return [&](auto const& a) {
          return sum<Tensor<double>>(reshard<std::remove_cvref_t<decltype(ct)>>(pool(a)) * ct);
        };
      };
      CHECK(close(in_order<N, H, W>(grad<0>(of(named))(x)),
                  in_order<N, H, W>(grad<0>(of(strict))(x)), 1e-14));
    };
    compare(
        [](auto const& a) { return nn::max_pool<Rows, Columns, Dim<P, Y>, Dim<W, X>, Dim<N>>(a); },
        [](auto const& a) { return nn::max_pool<Rows, Columns>(a); });
    auto const means = [](auto const& a) {
      return nn::avg_pool<Rows, Columns, Dim<N>, Dim<P, X>, Dim<W, Y>>(
          a, {.count_include_pad = false});
    };
    compare(means, [](auto const& a) {
      return nn::avg_pool<Rows, Columns>(a, {.count_include_pad = false});
    });
    op::Named<op::AvgPool<Rows, Columns>, Dim<N>, Dim<P, X>, Dim<W, Y>> const op{
        {{}, {.count_include_pad = false}}};
    measured_plan::check("named", op, means, x);
    measured_plan::check("tiles", op, means, whole);
  });
}

TEST_CASE("automatic mode, with gradients, and blocks of a shard_map") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using A = Tensor<double, Dim<N, X>, Dim<H>, Dim<C>>;
  auto const x = filled<A>(mesh, std::array<Int, 3>{6, 7, 3}, 1);
  auto const f = [](auto const& a) {
    return nn::avg_pool<Pool<H, 3, nn::same>>(nn::max_pool<Pool<H, 2>>(a));
  };
  auto const strict = f(x);
  using Made = std::remove_cvref_t<decltype(strict)>;
  CHECK(array_equal(evaluate<Made>(mesh, f, x), strict));
  CHECK(array_equal(shard_map<Made>(f, x), strict));
  auto const [value, gradient] =
      evaluate(mesh, value_and_grad<0>([&](auto const& a) { return sum(square(f(a))); }), x);
  auto const want =
      value_and_grad<0>([&](auto const& a) { return sum<Tensor<double>>(square(f(a))); })(x);
  CHECK(std::abs(item(value) - item(want.value)) <= 1e-12 * item(want.value));
  CHECK(array_equal(gradient, want.grad));
}
