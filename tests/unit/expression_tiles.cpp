// Elementwise expressions of operands that lie transposed, computed in tiles, against loops over
// single elements: dims in any order in memory, with gaps, uneven extents, repeated operands,
// elements of each size, several expressions at once; and read by parts that begin anywhere.
// OPTIMIZE: 1
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/core/bfloat16.hpp>
#include <shardtype/kernels/expression.hpp>
#include <shardtype/kernels/expression_blocks.hpp>

#include "harness/catch.hpp"
#include "harness/draw.hpp"

using namespace shardtype::kernels;
using shardtype::bfloat16;
using Int = std::int64_t;
using Host = Kokkos::DefaultHostExecutionSpace;

namespace {

/// What distinguishes its arguments.
struct Mix {
  template <class... Ts>
  KOKKOS_FUNCTION auto operator()(Ts... x) const {
    using T = std::common_type_t<Ts...>;
    T out(1);
    ((out = static_cast<T>(out + out + static_cast<T>(x))), ...);
    return out;
  }
};
template <class... Es>
using Mixed = Node<std::make_integer_sequence<int, static_cast<int>(sizeof...(Es))>, Mix, Es...>;

/// A view of memory with the extents of `shape`, in a drawn order of its dims, perhaps with gaps,
/// and without some of them.
template <class T>
struct Operand {
  std::vector<T> memory;
  Layout view;

  Operand(Draw& draw, Layout const& shape, bool repeats) {
    view = shape;
    std::vector<int> order;
    for (int d = 0; d < shape.rank; ++d) order.push_back(d);
    draw.shuffle(order);
    Int next = draw.one_in(6) ? 2 : 1;
    for (int const d : order) {
      if (repeats && draw.one_in(4)) {
        view.stride[d] = 0;
        continue;
      }
      view.stride[d] = next;
      next *= std::max<Int>(shape.extent[d], 1) + (draw.one_in(3) ? 3 : 0);
    }
    memory.resize(static_cast<std::size_t>(next));
    for (T& x : memory) {
      if constexpr (std::is_same_v<T, Kokkos::complex<double>>) {
        x = T(draw.below(100) - 50, draw.below(100) - 50);
      } else if constexpr (std::is_same_v<T, bool>) {
        x = draw.one_in(2);
      } else {
        x = static_cast<T>(draw.below(60) - 30);
      }
    }
  }
};

/// A layout of drawn extents, of which two are beyond a tile now and then.
Layout drawn_shape(Draw& draw) {
  Layout shape;
  shape.rank = 1 + draw.below(4);
  for (int d = 0; d < shape.rank; ++d)
    shape.extent[d] = shape.rank > 2 ? draw.below(25) : 1 + draw.below(draw.one_in(2) ? 200 : 70);
  return shape.packed();
}
Int offset_of(Layout const& view, Layout const& shape, Int element) {
  Int out = 0;
  for (int d = shape.rank - 1; d >= 0; --d) {
    out += element % shape.extent[d] * view.stride[d];
    element /= shape.extent[d];
  }
  return out;
}
template <class... Ts>
Sources<sizeof...(Ts)> sources(Operand<Ts> const&... of) {
  Sources<sizeof...(Ts)> out;
  int k = 0;
  ((out.data[k] = of.memory.data(), std::copy_n(of.view.stride, of.view.rank, out.stride[k]), ++k),
   ...);
  return out;
}
template <class T>
bool same(T const& a, T const& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class R, class... Ts, int... K>
bool check(Draw& draw, std::integer_sequence<int, K...>) {
  Layout const shape = drawn_shape(draw);
  auto const run = [&](Operand<Ts> const&... x) {
    auto const n = static_cast<std::size_t>(shape.elements());
    std::vector<R> out(n + 1, R(77));
    Mixed<Leaf<Ts, K>...> const e{Mix{}, Leaf<Ts, K>{}...};
    evaluate<Elements<Ts...>>(Host(), e, out.data(), shape, sources(x...));
    bool right = same(out[n], R(77));
    for (std::size_t i = 0; i < n; ++i) {
      R const wanted(Mix{}(
          x.memory[static_cast<std::size_t>(offset_of(x.view, shape, static_cast<Int>(i)))]...));
      right = right && same(out[i], wanted);
    }
    return right;
  };
  return run(Operand<Ts>(draw, shape, sizeof...(Ts) > 1)...);
}
template <class R, class... Ts>
void check_type() {
  Draw draw(static_cast<unsigned>(sizeof...(Ts) * 16 + sizeof(R)));
  for (int k = 0; k < 200; ++k) {
    INFO("case " << k);
    REQUIRE(
        check<R, Ts...>(draw, std::make_integer_sequence<int, static_cast<int>(sizeof...(Ts))>{}));
  }
}

}  // namespace

TEST_CASE("expressions of operands that lie in any order") {
  check_type<std::int8_t, std::int8_t, std::int8_t>();
  check_type<bfloat16, bfloat16, bfloat16>();
  check_type<float, float>();
  check_type<float, float, float>();
  check_type<float, float, float, float>();
  check_type<double, double, double>();
  check_type<std::int64_t, std::int64_t, std::int64_t>();
  check_type<Kokkos::complex<double>, Kokkos::complex<double>, Kokkos::complex<double>>();
  check_type<double, float, double, std::int32_t>();
  check_type<float, float, float, float, float, float, float, float, float, float>();
}

TEST_CASE("parts of expressions have the bits of the whole") {
  Draw draw(11);
  for (int k = 0; k < 300; ++k) {
    Layout const shape = drawn_shape(draw);
    auto const n = shape.elements();
    Operand<float> const a(draw, shape, true), b(draw, shape, true);
    using E = Mixed<Leaf<float, 0>, Leaf<float, 1>>;
    E const e{Mix{}, {}, {}};
    ExpressionBlocks<float, E, Elements<float, float>> const all(e, shape, sources(a, b));
    bool right = true;
    for (int times = 0; n > 0 && times < 5; ++times) {
      Int const begin = draw.below(static_cast<int>(n));
      Int const m = draw.one_in(2) ? n - begin : 1 + draw.below(static_cast<int>(n - begin));
      std::vector<float> got(static_cast<std::size_t>(m) + 1, 77.0F);
      compute(all.elements() + begin, m, got.data());
      right = right && got.back() == 77.0F && (all.elements() + begin)[0] == got[0];
      for (Int i = 0; i < m; ++i) {
        auto const at = [&](Operand<float> const& x) {
          return x.memory[static_cast<std::size_t>(offset_of(x.view, shape, begin + i))];
        };
        right = right && got[static_cast<std::size_t>(i)] == Mix{}(at(a), at(b));
      }
    }
    INFO("case " << k);
    REQUIRE(right);
  }
}

TEST_CASE("tiles are chosen where an operand lies transposed") {
  using Tiles = detail::OperandTiles<Elements<float, float>>;
  Layout shape;
  shape.rank = 2;
  shape.extent[0] = 130;
  shape.extent[1] = 90;
  Sources<2> in;
  in.stride[0][0] = 90;
  in.stride[0][1] = 1;
  auto const fast = [&](Int row, Int column) {
    in.stride[1][0] = row;
    in.stride[1][1] = column;
    return Tiles::fast_dim(shape, in);
  };
  CHECK(fast(1, 130) == 0);
  CHECK(fast(90, 1) == -1);
  CHECK(fast(1, 0) == -1);
  CHECK(fast(0, 1) == -1);
  CHECK(fast(2, 260) == -1);
  shape.extent[0] = 3;
  CHECK(fast(1, 3) == -1);
}

TEST_CASE("functions in vectors of a transposed operand have the bits of single elements") {
  Int const rows = 133, columns = 71;
  std::vector<float> a(static_cast<std::size_t>(rows * columns)), out(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = static_cast<float>(k % 97) / 16 - 3;
  a[5] = std::numeric_limits<float>::quiet_NaN();
  a[77] = -std::numeric_limits<float>::infinity();
  using Order = std::integer_sequence<int, 0>;
  using E = Node<Order, shardtype::functions::Exp, Leaf<float, 0>>;
  E const e(shardtype::functions::Exp{}, Leaf<float, 0>{});
  Layout shape;
  shape.rank = 2;
  shape.extent[0] = rows;
  shape.extent[1] = columns;
  shape = shape.packed();
  Sources<1> in;
  in.data[0] = a.data();
  in.stride[0][0] = 1;
  in.stride[0][1] = rows;
  evaluate<Elements<float>>(Host(), e, out.data(), shape, in);
  bool right = true;
  for (Int i = 0; i < rows; ++i)
    for (Int j = 0; j < columns; ++j) {
      void const* const from[] = {a.data() + j * rows + i};
      float const wanted = e.at(from, 0);
      float const got = out[static_cast<std::size_t>(i * columns + j)];
      right = right && (same(got, wanted) || (std::isnan(got) && std::isnan(wanted)));
    }
  CHECK(right);
}

TEST_CASE("several expressions of transposed operands, one added to what is there") {
  Draw draw(3);
  for (int k = 0; k < 50; ++k) {
    Layout const shape = drawn_shape(draw);
    Operand<float> const a(draw, shape, false), b(draw, shape, true);
    auto const n = static_cast<std::size_t>(shape.elements());
    using One = Mixed<Leaf<float, 0>, Leaf<float, 1>>;
    using Other = Mixed<Leaf<float, 1>>;
    Several<One, Other, One> const all{
        {One{Mix{}, {}, {}}}, {Other{Mix{}, {}}}, {One{Mix{}, {}, {}}}};
    std::vector<float> first(n, 5), second(n, 7);
    Targets<float, 3> to;
    to.to[0] = first.data();
    to.to[1] = second.data();
    to.base[1] = second.data();
    evaluate<Elements<float, float>>(Host(), all, to, shape, sources(a, b));
    bool right = true;
    for (std::size_t i = 0; i < n; ++i) {
      auto const at = [&](Operand<float> const& x) {
        return x.memory[static_cast<std::size_t>(offset_of(x.view, shape, static_cast<Int>(i)))];
      };
      right = right && first[i] == Mix{}(at(a), at(b)) && second[i] == 7 + Mix{}(at(b));
    }
    INFO("case " << k);
    REQUIRE(right);
  }
}
