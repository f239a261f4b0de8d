// A user-defined operation: its rule, its extents and its kernel. The library adds the errors, the
// plans, and strict, named and manual use. The example is average pooling, f32[I@X, J] -> f32[I@X,
// K] with K = J / width. On 8 ranks.
// RANKS: 8
#include <cstdint>
#include <cstdio>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

// docs: own-operation
// The computation on the local block. It is a functor with a name, because GPU compilers require
// one.
template <class Out, class In>
struct Average {
  Out out;
  In in;
  std::int64_t width;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t k) const {
    typename Out::value_type sum{};
    for (std::int64_t w = 0; w < width; ++w) sum += in(i, k * width + w);
    out(i, k) = sum / static_cast<typename Out::value_type>(width);
  }
};

template <class J, class K>
struct Pool {
  using operation = Pool;
  using from = Mentions<Dim<J>>;  // the index of the operand that is pooled
  using to = Mentions<Dim<K>>;    // the index of the result that replaces it
  static constexpr std::string_view name = "average_pool";
  std::int64_t width = 2;

  // The rule of every operation that changes the extent of one dim: J is not split, and K is at the
  // position of J.
  static constexpr op::Verdict rule(op::Question const& q) { return rules::resized(q); }
  // Sets the extent of K.
  constexpr void extents(ResultExtents const& c) const {
    if (width < 1 || c.extent() % width != 0)
      ResultExtents::fail("average_pool takes groups of " + std::to_string(width) + ", and index " +
                          c.name() + " has extent " + std::to_string(c.extent()));
    c.set(c.extent() / width);
  }
  // One addition per element of the operand, one division per element of the result.
  static constexpr op::Work work(op::CallSizing const& c) {
    return {c.elements(0) + c.result_elements(), 0, false};
  }
  template <class Exec, class Out, class In>
  void kernel(Exec const& exec, Out const& out, In const& in) const {
    using Range2 = Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for("average_pool",
                         Range2(exec, {0, 0},
                                {static_cast<std::int64_t>(out.extent(0)),
                                 static_cast<std::int64_t>(out.extent(1))}),
                         Average<Out, In>{out, in, width});
  }
};

// The function that users call: strict, or with a named result.
template <class J, class K, class... Result, class A>
constexpr auto average_pool(A const& a, std::int64_t width,
                            std::source_location where = std::source_location::current()) {
  if constexpr (sizeof...(Result) == 0) {
    return call(Pool<J, K>{width}, where, a);
  } else {
    return call(op::Named<Pool<J, K>, Result...>{Pool<J, K>{width}}, where, a);
  }
}

// docs: end

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I", 6> {};
struct J : Index<"J", 16> {};
struct K : Index<"K", 4> {};

using ByRows = Tensor<float, Dim<I, X>, Dim<J>>;
using ByColumns = Tensor<float, Dim<I>, Dim<J, Y>>;

// Its plans are constant expressions, as those of every operation.
static_assert(plan(Pool<J, K>{4}, type<ByRows>).collectives() == 0);
static_assert(plan(op::Named<Pool<J, K>, Dim<I>, Dim<K, Y>>{{4}}, type<ByColumns>)
                  .count(Collective::all_gather) == 1);
static_assert(plan([](auto const& a) { return sum<I>(average_pool<J, K>(exp(a), 4)); },
                   type<ByRows>)
                  .collectives() == 0);

// With its gradient: what comes back for a mean goes to each of its elements, divided by their
// number.
// docs: own-operation-gradient
constexpr auto mean_of_four =
    custom_vjp([](auto const& a) { return average_pool<J, K>(a, 4); },
               [](auto const& a) { return std::pair(average_pool<J, K>(a, 4), std::tuple<>()); },
               [](auto const&, auto const& ct) { return repeat<K, J>(ct, 4) / 4.0F; });
// docs: end

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  Mesh<X, Y> const mesh(env.world());
  auto const value = [](std::int64_t i, std::int64_t j) { return static_cast<float>(16 * i + j); };
  auto const expected = [](auto const& pooled) {
    auto const host = to_host(pooled);
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t k = 0; k < 4; ++k)
        if (host[4 * i + k] != static_cast<float>(16 * i + 4 * k) + 1.5F)
          throw Error("example", "average_pool gave other numbers");
  };

  auto const a = from_function<float, Dim<I, X>, Dim<J>>(mesh, value);
  expected(average_pool<J, K>(a, 4));  // strict: J is not split, nothing is sent

  auto const b = from_function<float, Dim<I>, Dim<J, Y>>(mesh, value);
  // average_pool<J, K>(b, 4) does not compile: [shardtype D03] a mesh axis splits J
  expected(average_pool<J, K, Dim<I>, Dim<K, Y>>(
      b, 4));  // named: J is gathered, each rank keeps its block of K

  expected(shard_map<Dim<I, X>, Dim<K>>([](auto block) { return average_pool<J, K>(block, 4); },
                                        a));  // manual

  // docs: own-operation-use
  auto const slope = grad<0>([](auto const& v) { return sum(square(mean_of_four(v))); })(a);
  // docs: end
  if (!allclose(slope, repeat<K, J>(average_pool<J, K>(a, 4), 4) / 2.0F))
    throw Error("example", "the gradient has other numbers");

  if (env.rank() == 0)
    std::fputs(explain(op::Named<Pool<J, K>, Dim<I>, Dim<K, Y>>{{4}}, b).c_str(), stdout);
}
