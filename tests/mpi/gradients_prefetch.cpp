// Layers whose parameters are gathered one layer ahead, against the same layers rematerialised one
// by one: the same bits and bytes, of uneven and empty blocks, of arrays and vectors, with
// movements of gradients under way or joined. While a layer computes, forward and backward, the
// gather of the next one is under way. A steady loop allocates nothing.
// RANKS: 1 2 4 8
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/counted_new.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"
#include "harness/sending.hpp"
#include "shim/pmpi.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using Int = std::int64_t;
using Rows = T<Dim<B, X>, Dim<D>>;
constexpr std::size_t layers = 4;

// One parameter split along its first dim, one along its last, and one that is not split.
template <template <class> class As>
struct Block {
  As<T<Dim<D, X>, Dim<H>>> w1;
  As<T<Dim<H>>> bias;
  std::array<As<T<Dim<H>, Dim<D, X>>>, 1> w2;
};
using Plain = Block<value_t>;

// Whether something is under way, at each call of a layer.
std::vector<bool> under_way;
bool fails = false;

constexpr auto layer = [](auto const& x, auto const& p) {
  under_way.push_back(x.mesh().state().exchanges().any());
  if (fails && under_way.size() == layers + 2)
    throw Error("E00", "as asked for", FailedOn::every_rank);
  auto const h = tanh(matmul(x, used_as<Reduced<X>>(p.w1)) + used_as<Reduced<X>>(p.bias));
  return (x + matmul(h, used_as<Reduced<X>>(p.w2[0]))).tensor();
};
// Whether gathers are ahead, and whether what layers save is kept for the backward pass.
enum class Ahead { no, yes };
enum class Saved { again, kept };
template <Ahead ahead, Saved saved, class F>
auto run(F const& f, auto const& x, auto const& ps) {
  if constexpr (ahead == Ahead::yes && saved == Saved::kept) {
    return prefetch_layers<Reduced<X>>(f, keep_gathered)(x, ps);
  } else if constexpr (ahead == Ahead::yes) {
    return prefetch_layers<Reduced<X>>(f)(x, ps);
  } else {
    auto const one = [&] {
      if constexpr (saved == Saved::kept)
        return f;
      else
        return remat(f);
    }();
    auto h = one(x, ps[0]);
    for (std::size_t k = 1; k < ps.size(); ++k) h = one(h, ps[k]);
    return h;
  }
}
template <Ahead ahead, Saved saved = Saved::again>
struct Loss {
  auto operator()(auto const& ps, auto const& x) const {
    return sum<T<>>(square(run<ahead, saved>(layer, x, ps)));
  }
};

template <class A, class M>
A make(M const& mesh, std::array<Int, A::rank> const& extents, double speed) {
  return from_function<A>(mesh, extents, [=](auto... at) {
    Int sum = 1;
    ((sum = sum * 3 + at), ...);
    return 0.4 * std::sin(speed * static_cast<double>(sum));
  });
}
template <class M>
Plain block(M const& mesh, double speed) {
  return {make<T<Dim<D, X>, Dim<H>>>(mesh, {7, 5}, speed),
          make<T<Dim<H>>>(mesh, {5}, speed + 1),
          {make<T<Dim<H>, Dim<D, X>>>(mesh, {5, 7}, speed + 2)}};
}
template <class M>
std::array<Plain, layers> model(M const& mesh) {
  return {block(mesh, 0.3), block(mesh, 0.5), block(mesh, 0.7), block(mesh, 1.1)};
}

// The difference of two numbers; with `bits` 1 if their bits differ.
double apart(double u, double v, bool bits) {
  if (bits) return std::bit_cast<Int>(u) == std::bit_cast<Int>(v) ? 0 : 1;
  return std::abs(u - v);
}
// The largest difference of the elements, member by member.
template <class A>
double difference(A const& a, A const& b, bool bits) {
  double most = 0;
  autodiff::each_value(
      [&]<class V>(V const& one, V const& other) {
        auto const ours = harness::host_block(one);
        auto const theirs = harness::host_block(other);
        REQUIRE(one.local_size() == other.local_size());
        for (Int k = 0; k < one.local_size(); ++k) {
          most = std::max(most, apart(ours.data()[k], theirs.data()[k], bits));
        }
      },
      a, b);
  return most;
}

template <Saved saved, int... Ks, class Ps, class... Options>
void same(Ps const& ps, Rows const& x, bool bits, Options... options) {
  for (Int const least : {Int{1}, Int{1} << 40}) {
    harness::Sending const limits({.least_segment = least});
    shim::reset();
    auto const expected = value_and_grad<Ks...>(Loss<Ahead::no, saved>{}, options...)(ps, x);
    Int const bytes = shim::bytes();
    shim::reset();
    auto const got = value_and_grad<Ks...>(Loss<Ahead::yes, saved>{}, options...)(ps, x);
    CHECK(shim::bytes() == bytes);
    static_assert(std::is_same_v<decltype(expected), decltype(got)>);
    CHECK(difference(got.value, expected.value, bits) == 0);
    CHECK(difference(got.grad, expected.grad, bits) <= (bits ? 0 : 1e-13));
  }
}
template <Saved saved>
void same() {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  auto const ps = model(mesh);
  auto const x = make<Rows>(mesh, {13, 7}, 0.9);
  same<saved, 0, 1>(ps, x, true);
  same<saved, 0>(ps, x, true, overlap_grad_reduce);
  same<saved, 0>(ps, x, false, join_grad_reduce);
  same<saved, 1>(ps, x, true);  // constant parameters
  std::vector<Plain> const three{ps[0], ps[1], ps[2]};
  same<saved, 0, 1>(three, x, true, overlap_grad_reduce);
  same<saved, 0>(std::vector<Plain>{ps[3]}, x, true);
  CHECK(difference(Loss<Ahead::yes, saved>{}(ps, x), Loss<Ahead::no, saved>{}(ps, x), true) == 0);
}

}  // namespace

TEST_CASE("the same bits and bytes as layers that are rematerialised one by one") {
  same<Saved::again>();
}
TEST_CASE("the same bits and bytes as layers that keep what they gathered") { same<Saved::kept>(); }

TEST_CASE("the gather of the next layer is under way while a layer computes") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  auto const ps = model(mesh);
  auto const x = make<Rows>(mesh, {13, 7}, 0.9);
  under_way.clear();
  static_cast<void>(value_and_grad<0>(Loss<Ahead::yes>{})(ps, x));
  // forward, then backward: none is ahead of the last of either
  std::vector<bool> expected(2 * layers, true);
  expected[layers - 1] = expected[2 * layers - 1] = false;
  CHECK(under_way == expected);
  CHECK(!mesh.state().exchanges().any());
  expected.resize(layers);
  under_way.clear();
  static_cast<void>(Loss<Ahead::yes>{}(ps, x));
  CHECK(under_way == expected);
  under_way.clear();
  static_cast<void>(value_and_grad<0>(Loss<Ahead::yes, Saved::kept>{})(ps, x));
  CHECK(under_way == expected);
}

TEST_CASE("an Error in a layer ends what is under way") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  auto const ps = model(mesh);
  auto const x = make<Rows>(mesh, {13, 7}, 0.9);
  auto const expected = grad<0>(Loss<Ahead::yes>{})(ps, x);
  under_way.clear();
  fails = true;
  CHECK(on_ranks::code_of([&] {
          static_cast<void>(grad<0>(Loss<Ahead::yes>{}, overlap_grad_reduce)(ps, x));
        }) == "E00");
  fails = false;
  CHECK(!mesh.state().exchanges().any());
  CHECK(difference(grad<0>(Loss<Ahead::yes>{})(ps, x), expected, true) == 0);
}

TEST_CASE("gradients of gradients, and structures that go through the layers") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  auto const x = make<Rows>(mesh, {13, 7}, 0.9);
  using W = T<Dim<D, X>, Dim<H>>;
  std::array<W, 3> const ws{make<W>(mesh, {7, 5}, 0.3), make<W>(mesh, {7, 5}, 0.5),
                            make<W>(mesh, {7, 5}, 0.8)};
  auto const one = [](auto const& h, auto const& w) {
    auto const used = used_as<Reduced<X>>(w);
    auto const next = tanh(matmul(h.first, used));
    return std::pair(matmul(next, used).tensor(), (h.second + sum<B, H>(square(next))).tensor());
  };
  auto const f = [&]<Ahead ahead, Saved saved>(std::integral_constant<Ahead, ahead>,
                                               std::integral_constant<Saved, saved>) {
    return [=](auto const& v, auto const& in) {
      auto const last = run<ahead, saved>(one, std::pair(in, sum<B, D>(square(in)).tensor()), v);
      return sum<T<>>(square(last.first)) + all_reduce<X>(last.second);
    };
  };
  auto const size = [](auto const& of) {
    return [=](auto const& v, auto const& in) {
      auto const [of_v, of_in] = grad<0, 1>(of)(v, in);
      return (sum<T<>>(square(of_in)) + sum<T<>>(square(of_v[1]))).tensor();
    };
  };
  auto const compare = [&](auto saved) {
    auto const ahead = f(std::integral_constant<Ahead, Ahead::yes>{}, saved);
    auto const before = f(std::integral_constant<Ahead, Ahead::no>{}, saved);
    CHECK(difference(grad<0, 1>(ahead)(ws, x), grad<0, 1>(before)(ws, x), true) == 0);
    CHECK(difference(grad<0, 1>(size(ahead))(ws, x), grad<0, 1>(size(before))(ws, x), true) == 0);
  };
  compare(std::integral_constant<Saved, Saved::again>{});
  compare(std::integral_constant<Saved, Saved::kept>{});
}

TEST_CASE("a steady loop allocates nothing") {
  Mesh<X> const mesh(MPI_COMM_WORLD);
  auto const ps = model(mesh);
  auto const x = make<Rows>(mesh, {13, 7}, 0.9);
  auto const step = [&] {
    under_way.clear();
    static_cast<void>(value_and_grad<0>(Loss<Ahead::yes>{}, overlap_grad_reduce)(ps, x));
  };
  for (int k = 0; k < 10; ++k) step();  // until each of what is under way had each role
  std::size_t const before = allocated;
  for (int k = 0; k < 5; ++k) step();
  CHECK(allocated == before);
}
