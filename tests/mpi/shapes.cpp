// Shape operations that stay local: every element is compared by its global index; uneven and empty
// extents, unreduced operands, shared memory, blocks that do not align.
#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct N : Index<"N"> {};
struct P4 : Index<"P4", 4> {};
struct P3 : Index<"P3", 3> {};
struct P12 : Index<"P12", 12> {};
struct P8 : Index<"P8", 8> {};
struct Two : Index<"Two", 2> {};

using Int = std::int64_t;

Int f(Int i, Int j, Int k) { return i * 10000 + j * 100 + k + 1; }

using Cube = std::array<Int, 3>;
std::vector<Cube> const cubes = {{7, 5, 3}, {1, 4, 9}, {2, 1, 0}, {0, 3, 5}, {13, 6, 8}, {5, 0, 2}};

template <class... Ls, class A>
int wrong_transpose(A const& a) {
  auto const t = transpose<Ls...>(a);
  auto const back = transpose<I, J, K>(t);
  return on_ranks::wrong(back, f) + (back.extents() == a.extents() ? 0 : 1);
}

// Elements of the named result `Out...` of `op` that differ from those of the strict result on a
// replicated operand, over several shardings of the operand.
template <class... Out, class Op, class... Bs>
int wrong_named(Op const& op, Tensor<Int, Dim<I>, Dim<J>> const& whole, Bs const&... more) {
  auto const here = std::source_location::current();
  auto const want = to_host(call(op, here, whole, more...));
  auto const from = [&](auto const& a) {
    return to_host(call(op::Named<Op, Out...>{op}, here, a, (static_cast<void>(more), a)...)) ==
                   want
               ? 0
               : 1;
  };
  return from(whole) + from(reshard<Dim<I, X>, Dim<J>>(whole)) +
         from(reshard<Dim<I, Y>, Dim<J, X>>(whole)) + from(reshard<Dim<I>, Dim<J, X, Y>>(whole));
}

}  // namespace

TEST_CASE("named results of operations that have no named form of their own") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{8, 6}, {7, 5}, {1, 4}, {0, 3}}) {
    INFO(n[0] << " " << n[1]);
    auto const a =
        from_function<Int, Dim<I>, Dim<J>>(mesh, n, [](Int i, Int j) { return f(i, j, 2); });
    CHECK(wrong_named<Dim<I, X>, Dim<J, Y>>(op::Flip<J>{}, a) == 0);
    CHECK(wrong_named<Dim<I>, Dim<J, X>>(op::Flip<I>{}, a) == 0);
    CHECK(wrong_named<Dim<I, Y, X>, Dim<J>>(op::Roll<J>{2}, a) == 0);
    CHECK(wrong_named<Dim<I, X>, Dim<J, Y>>(op::Tril<I, J>{1}, a) == 0);
    if (n[0] >= n[1]) {
      CHECK(wrong_named<Dim<J>>(op::Diagonal<J, I>{}, a) == 0);
      CHECK(wrong_named<Dim<J, Y>>(op::Diagonal<J, I>{}, a) == 0);
    }
    CHECK(wrong_named<Dim<I, X>, Dim<K, Y>>(op::Pad<J, K>{1, 2}, a) == 0);
    CHECK(wrong_named<Dim<K, X>, Dim<J>>(op::Repeat<I, K>{2}, a) == 0);
    CHECK(wrong_named<Dim<I>, Dim<K, Y>>(op::Tile<J, K>{3}, a) == 0);
    CHECK(wrong_named<Dim<I, Y>, Dim<K, X>>(op::Slice<J, K>{1, 3, 1}, a) == 0);
    CHECK(wrong_named<Dim<J, X>, Dim<I>>(op::Transpose<J, I>{}, a) == 0);
    CHECK(wrong_named<Dim<K>, Dim<I, X>, Dim<J, Y>>(op::Stack<K>{}, a, a) == 0);
    CHECK(wrong_named<Dim<K, Y>, Dim<J>>(op::Concat<I, K>{}, a, a) == 0);
    CHECK(wrong_named<Dim<K>, Dim<I, X>, Dim<J>>(op::Expand<K>{}, a) == 0);
  }
  // along whole dims nothing is sent
  auto const rows = zeros<float, Dim<I, X>, Dim<J>>(mesh, {8, 6});
  op::Named<op::Flip<J>, Dim<I, X>, Dim<J>> const flipped{};
  CHECK(plan_at(flipped, rows).collectives() == 0);
}

TEST_CASE("transpose: all orders of three dims") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Cube const& n : cubes) {
    INFO(n[0] << " " << n[1] << " " << n[2]);
    auto const a = from_function<Int, Dim<I, X>, Dim<J>, Dim<K, Y>>(mesh, n, f);
    CHECK(on_ranks::wrong(transpose<K, J, I>(a), [](Int k, Int j, Int i) { return f(i, j, k); }) ==
          0);
    CHECK(on_ranks::wrong(transpose<J, K, I>(a), [](Int j, Int k, Int i) { return f(i, j, k); }) ==
          0);
    CHECK(on_ranks::wrong(transpose<J, I, K>(a), [](Int j, Int i, Int k) { return f(i, j, k); }) ==
          0);
    CHECK(on_ranks::wrong(transpose<I, K, J>(a), [](Int i, Int k, Int j) { return f(i, j, k); }) ==
          0);
    CHECK(on_ranks::wrong(transpose<K, I, J>(a), [](Int k, Int i, Int j) { return f(i, j, k); }) ==
          0);
    CHECK(wrong_transpose<J, I, K>(a) == 0);
    CHECK(wrong_transpose<K, J, I>(a) == 0);
    CHECK(wrong_transpose<K, I, J>(a) == 0);
    auto const same = transpose<I, J, K>(a);
    CHECK(same.buffer().data() == a.buffer().data());
    // the operand is unchanged
    CHECK(on_ranks::wrong(a, f) == 0);
  }
}

TEST_CASE("relabel, squeeze and expand share memory") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<Int, Dim<I, X>, Dim<J>, Dim<K, Y>>(mesh, {7, 1, 5}, f);
  auto const renamed = relabel<I, K, K, I>(a);
  static_assert(std::is_same_v<decltype(renamed), Tensor<Int, Dim<K, X>, Dim<J>, Dim<I, Y>> const>);
  CHECK(on_ranks::wrong(renamed, f) == 0);
  CHECK(renamed.template extent<K>() == 7);
  CHECK(renamed.buffer().data() == a.buffer().data());
  auto const flat = squeeze<J>(a);
  CHECK(on_ranks::wrong(flat, [](Int i, Int k) { return f(i, 0, k); }) == 0);
  CHECK(flat.buffer().data() == a.buffer().data());
  auto const deep = expand<L, N>(a);
  static_assert(std::is_same_v<decltype(deep),
                               Tensor<Int, Dim<L>, Dim<N>, Dim<I, X>, Dim<J>, Dim<K, Y>> const>);
  CHECK(on_ranks::wrong(deep,
                        [](Int l, Int n, Int i, Int j, Int k) { return f(i, j, k) + l + n; }) == 0);
  CHECK(deep.extents() == std::array<Int, 5>{1, 1, 7, 1, 5});
  CHECK(on_ranks::code_of([&] { squeeze<J>(zeros<Int, Dim<I, X>, Dim<J>>(mesh, {3, 2})); }) ==
        "E41");
  CHECK(on_ranks::code_of([&] { relabel<J, P4>(zeros<Int, Dim<J>>(mesh, {3})); }) == "E20");
  // a tensor with shared memory is not writable
  auto mine = relabel<J, L>(a);
  CHECK(on_ranks::code_of([&] { mine.mutable_local(); }) == "E21");
}

TEST_CASE("broadcast: new dims repeat the value, split or not") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : {0, 1, 3, 7}) {
    auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {5, 4},
                                                         [](Int i, Int j) { return f(i, j, 0); });
    auto const b = broadcast<Dim<K, Y>, L>(a, {n, 2});
    static_assert(
        std::is_same_v<decltype(b), Tensor<Int, Dim<K, Y>, Dim<L>, Dim<I, X>, Dim<J>> const>);
    CHECK(b.extents() == std::array<Int, 4>{n, 2, 5, 4});
    CHECK(on_ranks::wrong(b, [](Int, Int, Int i, Int j) { return f(i, j, 0); }) == 0);
  }
  // reduced over the new dim's axis: the transpose of a sum over a split dim
  for (Int const n : {0, 1, 5}) {
    auto const r = reduced<X, Y>(from_function<Int, Dim<J>>(mesh, {4}, [](Int j) { return j; }));
    auto const b = broadcast<Dim<K, Y>>(r, {n});
    static_assert(std::is_same_v<decltype(b), Tensor<Int, Dim<K, Y>, Dim<J>, Reduced<X>> const>);
    CHECK(on_ranks::wrong(b, [](Int, Int j) { return j; }) == 0);
    auto const a =
        from_function<Int, Dim<I, X>, Dim<J>>(mesh, {n, 4}, [](Int i, Int j) { return 3 * i - j; });
    auto const ct = broadcast<Dim<I, X>>(
        reduced<X>(from_function<Int, Dim<J>>(mesh, {4}, [](Int j) { return 2 - j; })), {n});
    static_assert(std::is_same_v<decltype(ct), decltype(a)>);
    // <sum(a), r> = <a, broadcast(r)>
    Int left = 0;
    for (Int i = 0; i < n; ++i)
      for (Int j = 0; j < 4; ++j) left += (3 * i - j) * (2 - j);
    CHECK(item(all_reduce<X>(sum<>((a * ct).tensor()))) == left);
  }
  auto const s = full<Int>(mesh, {}, 5);
  CHECK(on_ranks::wrong(broadcast<Dim<P4, X, Y>>(s), [](Int) { return 5; }) == 0);
}

namespace {

// Checks split and merge of `na * nb` rows: the result is right, or the Error is E40 exactly where
// the blocks of some rank differ.
template <class First, class Second, class Whole>
void check_split(Mesh<X, Y> const& mesh, Int na, Int nb) {
  auto const a =
      from_function<Int, Whole, Dim<L>>(mesh, {na * nb, 2}, [](Int i, Int l) { return 2 * i + l; });
  auto const parts = zeros<Int, First, Second>(mesh, {na, nb});
  bool same = parts.ranges()[0].size() * parts.ranges()[1].size() == a.ranges()[0].size();
  detail::for_each_element(parts, [&](Int at, std::array<Int, 2> const& index) {
    same = same && index[0] * nb + index[1] == a.ranges()[0].begin + at;
  });
  int const mine = same ? 1 : 0;
  int all = 1;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  INFO("extents " << na << " x " << nb);
  std::string const code = on_ranks::code_of([&] {
    auto const b = split_dim<I, First, Second>(a, {na, nb});
    static_assert(std::is_same_v<decltype(b), Tensor<Int, First, Second, Dim<L>> const>);
    CHECK(on_ranks::wrong(b, [&](Int j, Int k, Int l) { return 2 * (j * nb + k) + l; }) == 0);
    CHECK(b.buffer().data() == a.buffer().data());
    auto const whole = merge_dims<J, K, I>(b);
    static_assert(std::is_same_v<decltype(whole), decltype(a)>);
    CHECK(whole.extents() == a.extents());
    CHECK(on_ranks::wrong(whole, [](Int i, Int l) { return 2 * i + l; }) == 0);
  });
  CHECK(code == (all == 1 ? "none" : "E40"));
  auto const made = zeros<Int, First, Second>(mesh, {na, nb});
  CHECK(on_ranks::code_of([&] { merge_dims<J, K, I>(made); }) == (all == 1 ? "none" : "E40"));
}

}  // namespace

TEST_CASE("split and merge: every small pair of extents") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int na = 0; na <= 9; ++na)
    for (Int nb = 0; nb <= 4; ++nb) {
      check_split<Dim<J>, Dim<K>, Dim<I>>(mesh, na, nb);
      check_split<Dim<J, X>, Dim<K>, Dim<I, X>>(mesh, na, nb);
      check_split<Dim<J, Y>, Dim<K, X>, Dim<I, Y, X>>(mesh, na, nb);
      check_split<Dim<J, X, Y>, Dim<K>, Dim<I, X, Y>>(mesh, na, nb);
      check_split<Dim<J, Y, X>, Dim<K>, Dim<I, Y, X>>(mesh, na, nb);
    }
  auto const a = zeros<Int, Dim<I>>(mesh, {10});
  CHECK(on_ranks::code_of([&] { split_dim<I, J, K>(a, {3, 3}); }) == "E41");
  CHECK(on_ranks::code_of([&] { split_dim<I, J, K>(a, {-5, -2}); }) == "E41");
  CHECK(on_ranks::code_of([&] { split_dim<I, J, P3>(a, {5, 2}); }) == "E20");
  auto const fixed = from_function<Int, Dim<P12>>(mesh, {12}, [](Int i) { return i; });
  CHECK(on_ranks::wrong(split_dim<P12, P4, P3>(fixed), [](Int j, Int k) { return 3 * j + k; }) ==
        0);
}

TEST_CASE("along a dim that is not split: slice, pad, repeat, tile, flip, roll") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Cube const& n : cubes) {
    INFO(n[0] << " " << n[1] << " " << n[2]);
    auto const a = from_function<Int, Dim<I, Y>, Dim<J>, Dim<K, X>>(mesh, n, f);
    Int const nj = n[1];
    for (Int begin = 0; begin <= nj; ++begin)
      for (Int end = begin; end <= nj; ++end)
        for (Int const step : {1, 2, 5}) {
          auto const s = slice<J, L>(a, begin, end, step);
          CHECK(s.template extent<L>() == (end - begin + step - 1) / step);
          CHECK(on_ranks::wrong(
                    s, [&](Int i, Int j, Int k) { return f(i, begin + j * step, k); }) == 0);
        }
    auto const p = pad<J>(a, 2, 1);
    CHECK(p.template extent<J>() == nj + 3);
    auto const padded = [&](Int value) {
      return [=](Int i, Int j, Int k) { return j < 2 || j >= nj + 2 ? value : f(i, j - 2, k); };
    };
    CHECK(on_ranks::wrong(p, padded(0)) == 0);
    CHECK(on_ranks::wrong(pad<J, L>(a, 2, 1, 9), padded(9)) == 0);
    CHECK(on_ranks::wrong(pad<J>(a, 0, 0), f) == 0);
    for (Int const interior : {0, 1, 3}) {
      Int const step = interior + 1;
      Int const most = nj == 0 ? 0 : (nj - 1) * step + 1;
      auto const spread = [&](Int value) {
        return [=](Int i, Int j, Int k) {
          Int const at = j - 2;
          return at < 0 || at >= most || at % step != 0 ? value : f(i, at / step, k);
        };
      };
      auto const wide = pad<J>(a, 2, 1, op::Interior{interior});
      CHECK(wide.template extent<J>() == most + 3);
      CHECK(on_ranks::wrong(wide, spread(0)) == 0);
      CHECK(on_ranks::wrong(pad<J, L>(a, 2, 0, op::Interior{interior}, 9), spread(9)) == 0);
      CHECK(on_ranks::wrong(slice<J>(wide, 2, 2 + most, step), f) == 0);
    }
    // the transpose of a slice with a step
    for (Int begin = 0; begin <= nj; ++begin)
      for (Int const step : {1, 2, 3}) {
        auto const part = slice<J, L>(a, begin, nj, step);
        Int const rows = part.template extent<L>();
        Int const rest = nj - begin - (rows == 0 ? 0 : (rows - 1) * step + 1);
        auto const back = pad<L, J>(part, begin, rest, op::Interior{step - 1});
        static_assert(std::is_same_v<decltype(back), decltype(a)>);
        CHECK(on_ranks::wrong(back, [&](Int i, Int j, Int k) {
                return j < begin || (j - begin) % step != 0 ? 0 : f(i, j, k);
              }) == 0);
      }
    for (Int const times : {0, 1, 3}) {
      CHECK(on_ranks::wrong(repeat<J>(a, times),
                            [&](Int i, Int j, Int k) { return f(i, j / times, k); }) == 0);
      CHECK(repeat<J>(a, times).template extent<J>() == nj * times);
      CHECK(on_ranks::wrong(tile<J, L>(a, times),
                            [&](Int i, Int j, Int k) { return f(i, j % nj, k); }) == 0);
      CHECK(tile<J>(a, times).template extent<J>() == nj * times);
    }
    CHECK(on_ranks::wrong(flip<J>(a), [&](Int i, Int j, Int k) { return f(i, nj - 1 - j, k); }) ==
          0);
    for (Int r = -nj - 2; r <= nj + 2; ++r)
      CHECK(on_ranks::wrong(roll<J>(a, r), [&](Int i, Int j, Int k) {
              return f(i, ((j - r) % nj + nj) % nj, k);
            }) == 0);
    CHECK(on_ranks::wrong(a, f) == 0);
  }
  // the outermost and the innermost dim
  auto const b = from_function<Int, Dim<I>, Dim<J, X, Y>, Dim<K>>(mesh, {4, 9, 3}, f);
  CHECK(on_ranks::wrong(flip<I>(b), [](Int i, Int j, Int k) { return f(3 - i, j, k); }) == 0);
  CHECK(on_ranks::wrong(flip<K>(b), [](Int i, Int j, Int k) { return f(i, j, 2 - k); }) == 0);
  CHECK(on_ranks::wrong(slice<K>(b, 1, 3), [](Int i, Int j, Int k) { return f(i, j, k + 1); }) ==
        0);
  CHECK(on_ranks::wrong(slice<I>(b, 1, 4, 2),
                        [](Int i, Int j, Int k) { return f(2 * i + 1, j, k); }) == 0);
  CHECK(on_ranks::wrong(roll<K>(b, 1), [](Int i, Int j, Int k) { return f(i, j, (k + 2) % 3); }) ==
        0);
  CHECK(on_ranks::wrong(repeat<K>(b, 2), [](Int i, Int j, Int k) { return f(i, j, k / 2); }) == 0);
  CHECK(on_ranks::wrong(tile<I>(b, 2), [](Int i, Int j, Int k) { return f(i % 4, j, k); }) == 0);
  // invalid arguments
  CHECK(on_ranks::code_of([&] { slice<I>(b, 2, 1); }) == "E41");
  CHECK(on_ranks::code_of([&] { slice<I>(b, 0, 5); }) == "E41");
  CHECK(on_ranks::code_of([&] { slice<I>(b, -1, 2); }) == "E41");
  CHECK(on_ranks::code_of([&] { slice<I>(b, 0, 4, 0); }) == "E41");
  CHECK(on_ranks::code_of([&] { slice<I, P3>(b, 0, 2); }) == "E20");
  CHECK(on_ranks::code_of([&] { pad<I>(b, -1, 2); }) == "E41");
  CHECK(on_ranks::code_of([&] { repeat<I>(b, -1); }) == "E41");
  CHECK(on_ranks::code_of([&] { tile<I>(b, INT64_MAX); }) == "E41");
}

template <class... Dims, class M>
void check_triangles(M const& mesh, std::array<Int, 3> const& extents) {
  // rows I and columns J, at any positions
  using A = Tensor<Int, Dims...>;
  auto const value = [](auto i, auto j, auto k) { return 1 + i * 31 + j * 7 + k; };
  auto const a = from_function<Int, Dims...>(mesh, extents, value);
  constexpr int i_at = A::spec.find(core::Scope<A>::names.find_label(core::identity<I>));
  constexpr int j_at = A::spec.find(core::Scope<A>::names.find_label(core::identity<J>));
  for (Int const diagonal : {Int{0}, Int{1}, Int{-1}, Int{3}, Int{-4}, INT64_MAX, INT64_MIN}) {
    INFO("diagonal " << diagonal);
    auto const kept = [=](bool upper) {
      return [=](Int x, Int y, Int z) {
        std::array<Int, 3> const at{x, y, z};
        Int const apart = at[j_at] - at[i_at];
        return (upper ? apart >= diagonal : apart <= diagonal) ? value(x, y, z) : 0;
      };
    };
    CHECK(on_ranks::wrong(tril<I, J>(a, diagonal), kept(false)) == 0);
    CHECK(on_ranks::wrong(triu<I, J>(a, diagonal), kept(true)) == 0);
  }
}

TEST_CASE("triangles, of dims split in any way") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 3> const& n : {std::array<Int, 3>{5, 7, 3},
                                      {9, 4, 2},
                                      {5, 7, 1},
                                      {5, 1, 7},
                                      {1, 5, 7},
                                      {1, 1, 1},
                                      {6, 0, 2},
                                      {0, 3, 1}}) {
    INFO("extents " << n[0] << " " << n[1] << " " << n[2]);
    check_triangles<Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, n);
    check_triangles<Dim<K>, Dim<I, X, Y>, Dim<J>>(mesh, n);
    check_triangles<Dim<J, Y>, Dim<K, X>, Dim<I>>(mesh, n);
    check_triangles<Dim<I, Cyclic<X, 2>>, Dim<K>, Dim<J, Y>>(mesh, n);
    check_triangles<Dim<K>, Dim<J>, Dim<I, Cyclic<Y, 3>>>(mesh, n);
  }
}

// Of matrices with more columns, and dims before, between and behind; rows and columns split or
// not.
template <class... Dims, class M>
void check_diagonal(M const& mesh, std::array<Int, 3> const& extents) {
  using A = Tensor<Int, Dims...>;
  auto const value = [](Int x, Int y, Int z) { return 1 + x * 31 + y * 7 + z; };
  auto const a =
      from_function<Int, Dims...>(mesh, extents, [=](auto... at) { return value(at...); });
  constexpr auto at = [](auto label) {
    return static_cast<std::size_t>(
        A::spec.find(core::Scope<A>::names.find_label(core::identity<decltype(label)>)));
  };
  constexpr std::size_t k_at = at(K{});
  auto const expected = [=](Int first, Int second) {
    bool const k_first = k_at < at(I{});
    std::array<Int, 3> on{};
    on.fill(k_first ? second : first);
    on[k_at] = k_first ? first : second;
    return value(on[0], on[1], on[2]);
  };
  auto const d = diagonal<I, J>(a);
  using Whole = std::conditional_t<(k_at < at(I{})), Tensor<Int, Dim<K>, Dim<I>>,
                                   Tensor<Int, Dim<I>, Dim<K>>>;
  CHECK(d.extents() == std::array<Int, 2>{k_at < at(I{}) ? extents[k_at] : extents[at(I{})],
                                          k_at < at(I{}) ? extents[at(I{})] : extents[k_at]});
  CHECK(on_ranks::wrong(reshard<Whole>(d), expected) == 0);
}

TEST_CASE("diagonals, of rows and columns split or not") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 3> const& n : {std::array<Int, 3>{5, 7, 3},
                                      {4, 4, 2},
                                      {1, 9, 1},
                                      {0, 3, 2},
                                      {0, 0, 0},
                                      {8, 8, 1},
                                      {3, 11, 2}}) {
    INFO(n[0] << " " << n[1] << " " << n[2]);
    auto const [i, j, k] = n;
    check_diagonal<Dim<I>, Dim<J>, Dim<K>>(mesh, {i, j, k});
    check_diagonal<Dim<I, X>, Dim<J>, Dim<K, Y>>(mesh, {i, j, k});
    check_diagonal<Dim<I>, Dim<J, Y>, Dim<K>>(mesh, {i, j, k});
    check_diagonal<Dim<I, Y>, Dim<J, X>, Dim<K>>(mesh, {i, j, k});
    check_diagonal<Dim<J, X, Y>, Dim<K>, Dim<I>>(mesh, {j, k, i});
    check_diagonal<Dim<K, X>, Dim<J>, Dim<I, Y>>(mesh, {k, j, i});
    check_diagonal<Dim<K>, Dim<I, X>, Dim<J, Y>>(mesh, {k, i, j});
    check_diagonal<Dim<J>, Dim<I, Y, X>, Dim<K>>(mesh, {j, i, k});
  }
  auto const wide = full<Int, Dim<I, X>, Dim<J>>(mesh, {3, 4}, 1);
  CHECK(on_ranks::code_of([&] { diagonal<J, I>(wide); }) == "E41");
}

TEST_CASE("concat and stack") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const n : {0, 1, 5}) {
    auto const a = from_function<Int, Dim<I, X>, Dim<J>, Dim<K, Y>>(mesh, {7, 3, 4}, f);
    auto const b = from_function<Int, Dim<I, X>, Dim<J>, Dim<K, Y>>(
        mesh, {7, n, 4}, [](Int i, Int j, Int k) { return -f(i, j, k); });
    auto const c = concat<J>(a, b, a);
    CHECK(c.template extent<J>() == 6 + n);
    CHECK(on_ranks::wrong(c, [&](Int i, Int j, Int k) {
            return j < 3 ? f(i, j, k) : j < 3 + n ? -f(i, j - 3, k) : f(i, j - 3 - n, k);
          }) == 0);
    CHECK(on_ranks::wrong(concat<J, L>(a), f) == 0);
  }
  auto const a = from_function<Int, Dim<P4>, Dim<I, Y, X>>(mesh, {4, 11},
                                                           [](Int i, Int j) { return f(i, j, 0); });
  auto const c = concat<P4, P8>(a, a);
  static_assert(std::is_same_v<decltype(c), Tensor<Int, Dim<P8>, Dim<I, Y, X>> const>);
  CHECK(on_ranks::wrong(c, [](Int i, Int j) { return f(i % 4, j, 0); }) == 0);
  auto const s = stack<Two>(a, flip<P4>(a));
  static_assert(std::is_same_v<decltype(s), Tensor<Int, Dim<Two>, Dim<P4>, Dim<I, Y, X>> const>);
  CHECK(on_ranks::wrong(s, [](Int t, Int i, Int j) { return f(t == 0 ? i : 3 - i, j, 0); }) == 0);
  auto const u = zeros<Int, Dim<J>, Dim<I, X>>(mesh, {4, 11});
  auto const v = zeros<Int, Dim<J>, Dim<I, X>>(mesh, {4, 10});
  CHECK(on_ranks::code_of([&] { concat<J>(u, v); }) == "E24");
  CHECK(on_ranks::code_of([&] { stack<K>(u, v); }) == "E24");
  auto const other = on_ranks::two_axes<X, Y>();
  CHECK(on_ranks::code_of([&] { concat<J>(u, zeros<Int, Dim<J>, Dim<I, X>>(other, {4, 11})); }) ==
        "E23");
}

TEST_CASE("unreduced operands: the reduction of the result is the result of the reduction") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const x = mesh.template coordinate<X>();
  auto const px = mesh.template size_of<X>();
  auto part = zeros<Int, Dim<J>, Dim<I, Y>, Unreduced<X>>(mesh, {3, 5});
  auto most = zeros<Int, Dim<J>, Dim<I, Y>, Unreduced<Max, X>>(mesh, {3, 5});
  auto const fill = [&](auto const& view) {
    detail::for_each_element(part, [&](Int at, std::array<Int, 2> const& index) {
      view.data()[at] = (x + 1) * f(index[0], index[1], 0);
    });
  };
  harness::write_block(part, fill);
  harness::write_block(most, fill);
  Int const sum = px * (px + 1) / 2;
  auto g = [](Int j, Int i) { return f(j, i, 0); };
  CHECK(on_ranks::wrong(all_reduce<X>(pad<J>(part, 1, 2)),
                        [&](Int j, Int i) { return j < 1 || j > 3 ? 0 : sum * g(j - 1, i); }) == 0);
  CHECK(on_ranks::wrong(all_reduce<X>(pad<J>(most, 1, 2, 77)),
                        [&](Int j, Int i) { return j < 1 || j > 3 ? 77 : px * g(j - 1, i); }) == 0);
  CHECK(on_ranks::wrong(all_reduce<X>(concat<J>(part, part)),
                        [&](Int j, Int i) { return sum * g(j % 3, i); }) == 0);
  CHECK(on_ranks::wrong(all_reduce<X>(transpose<I, J>(most)),
                        [&](Int i, Int j) { return px * g(j, i); }) == 0);
  CHECK(on_ranks::wrong(all_reduce<X>(broadcast<L>(part, {2})),
                        [&](Int, Int j, Int i) { return sum * g(j, i); }) == 0);
  CHECK(on_ranks::wrong(all_reduce<X>(shift<I>(part, 2)),
                        [&](Int j, Int i) { return i < 2 ? 0 : sum * g(j, i - 2); }) == 0);
  CHECK(on_ranks::wrong(all_reduce<X>(cummax<J>(most)),
                        [&](Int j, Int i) { return px * g(j, i); }) == 0);
}
