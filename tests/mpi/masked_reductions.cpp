// Reductions of the elements that a mask keeps, and of those that are no NaN: compared with loops
// on one rank, on uneven and empty blocks; strict and named, in automatic mode, with gradients.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

using Int = std::int64_t;

// A large mean; NaN where the mask is false, which must not come through.
bool keeps(Int i, Int j) { return (i * 2 + j) % 3 != 0 && j != 4; }
double element(Int i, Int j) {
  return keeps(i, j) ? 1000 + static_cast<double>((i * 5 + j * j) % 7)
                     : std::numeric_limits<double>::quiet_NaN();
}

// Of the kept elements of a column.
struct Kept {
  double n = 0, sum = 0, squares = 0, product = 1;
  double most = -std::numeric_limits<double>::infinity();
};
Kept column(Int rows, Int j) {
  Kept out;
  for (Int i = 0; i < rows; ++i)
    if (keeps(i, j)) {
      out.n += 1;
      out.sum += element(i, j);
      out.product *= element(i, j);
      out.most = std::max(out.most, element(i, j));
    }
  for (Int i = 0; i < rows; ++i)
    if (keeps(i, j)) out.squares += std::pow(element(i, j) - out.sum / out.n, 2);
  return out;
}

// The number of elements of a block that differ from `value` of their indices by more than
// rounding; NaN differs from all but NaN.
template <class A, class Value>
int far(A const& a, Value value) {
  int bad = 0;
  auto const block = harness::host_block(a);
  shardtype::detail::for_each_element(
      a, [&](std::int64_t at, std::array<std::int64_t, A::rank> const& index) {
        auto const got = static_cast<double>(block.data()[at]);
        auto const want = static_cast<double>(std::apply(value, index));
        bool const alike = got == want || (std::isnan(got) && std::isnan(want)) ||
                           std::abs(got - want) <= 1e-12 * std::abs(want);
        bad += alike ? 0 : 1;
      });
  return bad;
}

}  // namespace

TEST_CASE("reductions with a mask, and without NaN: strict, named, planned") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const rows : {0, 1, 7}) {
    INFO(rows);
    auto const a = from_function<double, Dim<I, X>, Dim<J>>(mesh, {rows, 5}, &element);
    auto const mask = from_function<bool, Dim<I, X>, Dim<J>>(mesh, {rows, 5}, &keeps);
    auto const tall = reshard<Dim<I>, Dim<J, Y>>(a);
    auto const tall_mask = reshard<Dim<I>, Dim<J, Y>>(mask);
    auto const sum_of = [=](Int j) { return column(rows, j).sum; };
    auto const mean_of = [=](Int j) { return column(rows, j).sum / column(rows, j).n; };
    auto const var_of = [=](Int j) {
      Kept const c = column(rows, j);
      return c.n > 1 ? c.squares / (c.n - 1) : std::numeric_limits<double>::quiet_NaN();
    };
    auto const sums = sum<I>(a, where(mask));
    static_assert(std::is_same_v<decltype(sums), Tensor<double, Dim<J>, Unreduced<X>> const>);
    CHECK(far(all_reduce<X>(sums), sum_of) == 0);
    CHECK(far(nansum<Dim<J, Y>>(a), sum_of) == 0);
    CHECK(far(sum<I>(tall, where(tall_mask)), sum_of) == 0);
    CHECK(far(evaluate<Dim<J>>(mesh, sum<I>(lazy(a), where(lazy(mask)))), sum_of) == 0);
    CHECK(far(mean<Dim<J, Y>>(a, where(mask)), mean_of) == 0);
    CHECK(far(mean<I>(tall, where(tall_mask)), mean_of) == 0);
    CHECK(far(nanmean<Dim<J>>(a), mean_of) == 0);
    CHECK(far(var<Dim<J, Y>>(a, where(mask), 1), var_of) == 0);
    CHECK(far(var<I>(tall, where(tall_mask), 1), var_of) == 0);
    CHECK(far(nanstddev<Dim<J>>(a, 1), [=](Int j) { return std::sqrt(var_of(j)); }) == 0);
    CHECK(far(prod<Dim<J>>(a, where(mask)), [=](Int j) { return column(rows, j).product; }) == 0);
    CHECK(far(max<Dim<J>>(a, where(mask)), [=](Int j) { return column(rows, j).most; }) == 0);
    CHECK(far(nanmin<Dim<J, Y>>(-a), [=](Int j) { return -column(rows, j).most; }) == 0);
    // automatic mode and manual mode
    auto const e = lazy(a);
    auto const m = lazy(mask);
    CHECK(far(evaluate<Dim<J, Y>>(mesh, mean<I>(e, where(m))), mean_of) == 0);
    CHECK(far(evaluate<Dim<J>>(mesh, var<I>(e, where(m), 1)), var_of) == 0);
    CHECK(far(evaluate<Dim<J>>(mesh, max<I>(e, where(m))),
              [=](Int j) { return column(rows, j).most; }) == 0);
    CHECK(far(evaluate<Dim<J, Y>>(mesh, nansum<I>(e)), sum_of) == 0);
    CHECK(far(evaluate<Dim<J>>(mesh, nanvar<I>(e, 1)), var_of) == 0);
    auto const whole = reshard<Dim<I>, Dim<J>>(a);
    auto const whole_mask = reshard<Dim<I>, Dim<J>>(mask);
    CHECK(far(shard_map<Dim<J>>(
                  [](auto const& x, auto const& kept) { return mean<I>(x, where(kept)); }, whole,
                  whole_mask),
              mean_of) == 0);
    CHECK(far(shard_map<Dim<J>>([](auto const& x) { return nanvar<I>(x, 1); }, whole), var_of) ==
          0);
    auto const large = a > 1003.0;
    auto const larger = [=](Int j) {
      Int n = 0;
      for (Int i = 0; i < rows; ++i) n += keeps(i, j) && element(i, j) > 1003 ? 1 : 0;
      return n;
    };
    CHECK(far(sum<Dim<J>>(large, where(mask)), larger) == 0);
    CHECK(far(count_nonzero<Dim<J>>(a - 1000.0, where(large.tensor())), larger) == 0);
    CHECK(far(any<Dim<J>>(large, where(mask)), [=](Int j) { return larger(j) > 0; }) == 0);
    CHECK(far(all<Dim<J>>(large, where(mask)),
              [=](Int j) { return static_cast<double>(larger(j)) == column(rows, j).n; }) == 0);
  }
}

TEST_CASE("reductions with a mask of fewer dims") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<double, Dim<I, X>, Dim<J, Y>>(
      mesh, {7, 5}, [](Int i, Int j) { return static_cast<double>(i * i + j); });
  auto const columns = from_function<bool, Dim<J, Y>>(mesh, {5}, [](Int j) { return j % 2 == 0; });
  double n = 0;
  double total = 0;
  for (Int i = 0; i < 7; ++i)
    for (Int j = 0; j < 5; j += 2) n += 1, total += static_cast<double>(i * i + j);
  double squares = 0;
  for (Int i = 0; i < 7; ++i)
    for (Int j = 0; j < 5; j += 2)
      squares += std::pow(static_cast<double>(i * i + j) - total / n, 2);
  CHECK(far(mean<Tensor<double>>(a, where(columns)), [&] { return total / n; }) == 0);
  CHECK(far(var<Tensor<double>>(a, where(columns)), [&] { return squares / n; }) == 0);
}

TEST_CASE("gradients of reductions with a mask: none where it is false, NaN there or not") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const rows : {0, 1, 7}) {
    INFO(rows);
    auto const a = from_function<double, Dim<I, X>, Dim<J>>(mesh, {rows, 4}, &element);
    auto const mask = from_function<bool, Dim<I, X>, Dim<J>>(mesh, {rows, 4}, &keeps);
    auto const some = [](auto const& v) { return where(v == v, v, op::zero); };
    auto const of_mean = grad([&](auto const& x) {
      return sum<Tensor<double>>(some(mean<Dim<J, Y>>(x, where(mask))));
    })(a);
    CHECK(far(of_mean, [=](Int i, Int j) { return keeps(i, j) ? 1 / column(rows, j).n : 0.0; }) ==
          0);
    auto const of_var = grad(
        [&](auto const& x) { return sum<Tensor<double>>(some(var<Dim<J>>(x, where(mask)))); })(a);
    CHECK(far(of_var, [=](Int i, Int j) {
            Kept const c = column(rows, j);
            return keeps(i, j) ? 2 * (element(i, j) - c.sum / c.n) / c.n : 0.0;
          }) == 0);
    auto const of_max = grad([&](auto const& x) {
      auto const m = nanmax<Dim<J>>(x);
      return sum<Tensor<double>>(where(m > 0.0, m, op::zero));
    })(a);
    CHECK(far(of_max, [=](Int i, Int j) {
            Int ties = 0;
            for (Int k = 0; k < rows; ++k)
              ties += keeps(k, j) && element(k, j) == column(rows, j).most ? 1 : 0;
            return keeps(i, j) && element(i, j) == column(rows, j).most
                       ? 1 / static_cast<double>(ties)
                       : 0.0;
          }) == 0);
  }
}
