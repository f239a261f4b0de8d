// The kernels that elementwise functions launch: a temporary expression becomes part of the next
// one, in each place of an argument; a named one is computed once, because it may be used again.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};

int launches = 0;
void count(char const*, std::uint32_t, std::uint64_t*) { ++launches; }

/// The number of kernels that `work` launches.
template <class Work>
int launched(Work const& work) {
  launches = 0;
  work();
  return launches;
}

struct Add {
  template <class... Ts>
  KOKKOS_FUNCTION float operator()(Ts... values) const {
    return static_cast<float>((values + ...));
  }
};

}  // namespace

TEST_CASE("kernels that functions of expressions launch") {
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(count);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(count);
  Kokkos::Tools::Experimental::set_begin_parallel_scan_callback(count);
  Mesh<X> const mesh(MPI_COMM_WORLD, {1});
  auto const a = full<float, Dim<I, X>>(mesh, {100}, 0.5F);
  auto const b = full<float, Dim<I, X>>(mesh, {100}, 0.25F);
  auto const p = (a > b).tensor();
  auto const kernels = [](auto const& make) {
    return launched([&] { static_cast<void>(make().tensor()); });
  };

  SECTION("functions of one tensor") {
    CHECK(kernels([&] { return exp(a); }) == 1);
    CHECK(kernels([&] { return exp(a + 1); }) == 1);
    CHECK(kernels([&] { return exp(sqrt(-a)); }) == 1);
    CHECK(kernels([&] { return cast<double>(a + 1); }) == 1);
    auto const named = [&](auto const& use) {
      return launched([&] {
        auto h = a + 1;
        use(h);
      });
    };
    CHECK(named([](auto& h) { static_cast<void>(exp(h).tensor()); }) == 2);
    CHECK(named([](auto& h) { static_cast<void>(exp(std::as_const(h)).tensor()); }) == 2);
    CHECK(named([](auto& h) { static_cast<void>((exp(h) + sqrt(h)).tensor()); }) == 2);
    CHECK(named([](auto& h) { static_cast<void>(exp(std::move(h)).tensor()); }) == 1);
  }
  SECTION("functions of two and three") {
    CHECK(kernels([&] { return max(exp(a), b); }) == 1);
    CHECK(kernels([&] { return max(a, exp(b)); }) == 1);
    CHECK(kernels([&] { return max(2, exp(a)); }) == 1);
    CHECK(kernels([&] { return pow(a + 1, b + 1); }) == 1);
    CHECK(kernels([&] { return isclose(exp(a), exp(b)); }) == 1);
    CHECK(kernels([&] { return isclose(1, exp(b)); }) == 1);
    CHECK(kernels([&] { return where(a > b, exp(a), exp(b)); }) == 1);
    CHECK(kernels([&] { return where(p, 0, exp(b)); }) == 1);
    CHECK(kernels([&] { return where(true, exp(a), b); }) == 1);
    CHECK(kernels([&] { return where(true, exp(a), exp(b)); }) == 1);
    CHECK(kernels([&] { return where(false, 2, exp(b)); }) == 1);
    CHECK(kernels([&] { return clip(exp(a), a - 1, b + 1); }) == 1);
    CHECK(kernels([&] { return clip(2, exp(a), exp(b)); }) == 1);
    CHECK(kernels([&] { return clip(2, 1, exp(b)); }) == 1);
  }
  SECTION("map") {
    CHECK(kernels([&] { return map(Add{}, a + 1, exp(b)); }) == 1);
    CHECK(kernels([&] { return map(Add{}, a, exp(b)); }) == 1);
    CHECK(kernels([&] { return map(Add{}, 2, exp(a), exp(b)); }) == 1);
    CHECK(kernels([&] { return map(Add{}, 2, 3, exp(a), exp(b)); }) == 1);
  }
  SECTION("what reads an expression whole") {
    auto const once = [&](auto const& use) { return launched(use); };
    CHECK(once([&] { static_cast<void>(sum(a * b)); }) == once([&] { static_cast<void>(sum(a)); }));
    CHECK(once([&] { static_cast<void>(sum(exp(a) * b)); }) ==
          once([&] { static_cast<void>(sum(a)); }));
    CHECK(once([&] { static_cast<void>(norm_1(exp(a) * b)); }) ==
          once([&] { static_cast<void>(norm_1(a)); }));
    CHECK(once([&] { static_cast<void>(allclose(exp(a), exp(b))); }) ==
          once([&] { static_cast<void>(allclose(a, b)); }));
    CHECK(once([&] { static_cast<void>(allclose(1, exp(b))); }) ==
          once([&] { static_cast<void>(allclose(1, b)); }));
    CHECK(once([&] { static_cast<void>(full_like(exp(a), 2)); }) ==
          once([&] { static_cast<void>(full_like(a, 2)); }));
  }
  SECTION("cotangents of several operands") {
    auto const c = full<float, Dim<I, X>>(mesh, {100}, 2);
    auto const pulls = [&](auto const& f, auto const&... at) {
      auto const both = vjp(f, at...);
      return launched([&] { static_cast<void>(both.pullback(c)); });
    };
    CHECK(pulls([](auto v) { return exp(v).tensor(); }, a) == 1);
    CHECK(pulls([](auto v, auto w) { return max(v, w).tensor(); }, a, b) == 1);
    CHECK(pulls([](auto v, auto w) { return (v / w).tensor(); }, a, b) == 1);
    CHECK(pulls([](auto u, auto v, auto w) { return (u * v + exp(w)).tensor(); }, a, b, c) == 1);
    // of one value: the kernel adds what it has written
    CHECK(pulls([](auto v) { return (v * v * v).tensor(); }, a) == 1);
    // after another node's: the kernel adds to what is there
    CHECK(pulls(
              [](auto v, auto w) {
                auto const first = exp(v * w).tensor();
                return (v * w * first).tensor();
              },
              a, b) == 2);
  }
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(nullptr);
  Kokkos::Tools::Experimental::set_begin_parallel_scan_callback(nullptr);
}

TEST_CASE("calls of a kernel, split over threads") {
  using kernels::detail::CallsOfThreads;
  using kernels::detail::make_calls;
  std::vector<int> made;
  auto const kernel = [&](std::int64_t work) { ++made.at(static_cast<std::size_t>(work)); };
  for (std::int64_t threads = 1; threads < 12; ++threads) {
    for (std::int64_t calls = threads; calls < 70; ++calls) {
      made.assign(static_cast<std::size_t>(calls), 0);
      CallsOfThreads const all{{&make_calls<decltype(kernel)>, &kernel}, calls, threads};
      std::int64_t before = 0;
      for (std::int64_t thread = 0; thread < threads; ++thread) {
        all(thread);
        std::int64_t now = 0;
        for (int const n : made) now += n;
        std::int64_t const own = now - before;
        REQUIRE((own == calls / threads || own == calls / threads + 1));
        before = now;
      }
      REQUIRE(made == std::vector<int>(static_cast<std::size_t>(calls), 1));
    }
  }
}

TEST_CASE("sums of columns, split over threads") {
  using kernels::detail::outputs_of_call;
  static_assert(outputs_of_call(4096, 1, 1, 4096) == 4096);
  static_assert(outputs_of_call(4096, 1, 2, 4096) == 2048);
  static_assert(outputs_of_call(4096, 2, 2, 4096) == 4096);
  static_assert(outputs_of_call(4096, 1, 3, 4096) == 1408);
  static_assert(outputs_of_call(300, 1, 8, 4096) == 256);
  constexpr std::int64_t terms = 301, columns = 1001;
  std::vector<float> x(static_cast<std::size_t>(terms * columns));
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = 1.0F / static_cast<float>(k % 977 + 1);
  using Sum = kernels::SumReducer<float>;
  using Store = kernels::detail::StoreTotal<Sum, true, float>;
  auto const sums = [&](std::int64_t workers) {
    std::vector<float> out(static_cast<std::size_t>(columns), -1.0F);
    kernels::detail::ReduceShape shape;
    shape.reduced.rank = 1;
    shape.reduced.extent[0] = shape.terms = terms;
    shape.reduced.stride[0] = shape.outputs = columns;
    std::int64_t const width = outputs_of_call(columns, 1, workers, columns);
    std::int64_t const runs = (columns + width - 1) / width;
    kernels::detail::ReduceRows<Sum, float const*, Store> const work{x.data(), {out.data()}, shape,
                                                                     columns,  runs,         width};
    for (std::int64_t k = 0; k < runs; ++k) work(k);
    return out;
  };
  auto const by_one = sums(1);
  for (std::int64_t workers = 2; workers < 6; ++workers) CHECK(sums(workers) == by_one);
  CHECK(by_one.back() > 0);
}
