// Gradients whose last movements are under way while the backward pass goes on, against those of
// the ordinary backward pass: the same bits and bytes, in four parallelisms, of weights that are
// used several times, of structures of parameters, with values beside the loss, rematerialised
// layers, gradients by hand, blocks and gradients of gradients. An Error in the backward pass ends
// what is under way. A steady loop allocates nothing.
// RANKS: 1 2 4 8
// SOURCES: tests/shim/pmpi.cpp
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <string_view>
#include <tuple>
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
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct J : Index<"J"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using Int = std::int64_t;

int pulls = 0;
int under_way = 0;
bool fails = false;

// Passes its operand on; its pull counts, notes whether something is under way, and may fail.
struct Probe {
  using operation = Probe;
  static constexpr std::string_view name = "probe";
  static constexpr rules::Verdict rule(rules::Question const& q) { return rules::accept(q.a()); }
  template <class Exec, class Out, class In>
  void kernel(Exec const&, Out const& out, In const& in) const {
    for (std::size_t k = 0; k < in.size(); ++k) out.data()[k] = in.data()[k];
  }
};
auto probe(auto const& a) { return call(Probe{}, std::source_location::current(), a); }

}  // namespace

template <>
struct shardtype::autodiff::Vjp<Probe> : Differentiable {
  template <class V, class A>
  static constexpr Kept<> save(Probe const&, V const&, A const&) {
    return {};
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Probe const&, S const&, C const& ct) {
    if constexpr (is_tensor<C>) {
      ++pulls;
      if (ct.mesh().state().exchanges().any()) ++under_way;
      if (fails) throw Error("E00", "as asked for", FailedOn::every_rank);
    }
    return ct;
  }
};

namespace {

// Whether the blocks have the same bits, member by member of a structure.
template <class A>
bool same_bits(A const& a, A const& b) {
  bool same = true;
  autodiff::each_value(
      [&]<class V>(V const& one, V const& other) {
        if constexpr (is_tensor<V>) {
          auto const ours = harness::host_block(one);
          auto const theirs = harness::host_block(other);
          same = same && one.extents() == other.extents() &&
                 (one.local_size() == 0 || std::memcmp(ours.data(), theirs.data(),
                                                       static_cast<std::size_t>(one.local_size()) *
                                                           sizeof(*ours.data())) == 0);
        }
      },
      a, b);
  return same;
}

// Checks `f`'s gradient with and without overlap: bits and bytes. Sums by MPI and by messages.
template <int... Ks, class F, class M, class... As>
void same(M const& mesh, F const& f, As const&... as) {
  for (Int const least : {Int{1}, Int{1} << 40}) {
    harness::Sending const limits({.least_segment = least});
    shim::reset();
    auto const expected = value_and_grad<Ks...>(f)(as...);
    Int const bytes = shim::bytes();
    shim::reset();
    auto const got = value_and_grad<Ks...>(f, overlap_grad_reduce)(as...);
    CHECK(shim::bytes() == bytes);
    static_assert(std::is_same_v<decltype(expected), decltype(got)>);
    CHECK(same_bits(got.value, expected.value));
    CHECK(same_bits(got.grad, expected.grad));
    CHECK(same_bits(grad<Ks...>(f, overlap_grad_reduce)(as...), expected.grad));
    CHECK(!mesh.state().exchanges().any());
  }
}
// As above, and checks that something was under way when probes were pulls.
template <int... Ks, class F, class M, class... As>
void overlaps(int expected, M const& mesh, F const& f, As const&... as) {
  same<Ks...>(mesh, f, as...);
  pulls = under_way = 0;
  static_cast<void>(value_and_grad<Ks...>(f)(as...));
  CHECK(pulls > 0);
  CHECK(under_way == 0);
  static_cast<void>(value_and_grad<Ks...>(f, overlap_grad_reduce)(as...));
  CHECK(under_way == expected);
}

auto wave(double speed) {
  return [=](auto... at) {
    Int sum = 1;
    ((sum = sum * 3 + at), ...);
    return 0.1 * std::sin(speed * static_cast<double>(sum));
  };
}
template <class A, class M>
A make(M const& mesh, std::array<Int, A::rank> n, double speed) {
  return from_function<A>(mesh, n, wave(speed));
}

struct DataParallel {
  using W1 = T<Dim<D>, Dim<H>>;
  using W2 = T<Dim<H>, Dim<J>>;
  using In = T<Dim<B, X, Y>, Dim<D>>;
  using Target = T<Dim<B, X, Y>, Dim<J>>;
  using UsedIn = In;
  using UsedW1 = T<Dim<D>, Dim<H>, Reduced<X, Y>>;
  using UsedW2 = T<Dim<H>, Dim<J>, Reduced<X, Y>>;
};
struct Fsdp : DataParallel {
  using W1 = T<Dim<D, X, Y>, Dim<H>>;
  using W2 = T<Dim<H, X, Y>, Dim<J>>;
};
struct TwoAxes {
  using W1 = T<Dim<D>, Dim<H, Y>>;
  using W2 = T<Dim<H, Y>, Dim<J>>;
  using In = T<Dim<B, X>, Dim<D>>;
  using Target = T<Dim<B, X>, Dim<J>>;
  using UsedIn = T<Dim<B, X>, Dim<D>, Reduced<Y>>;
  using UsedW1 = T<Dim<D>, Dim<H, Y>, Reduced<X>>;
  using UsedW2 = T<Dim<H, Y>, Dim<J>, Reduced<X>>;
};
struct FsdpAndTensor : TwoAxes {
  using W1 = T<Dim<D, X>, Dim<H, Y>>;
  using W2 = T<Dim<H, Y, X>, Dim<J>>;
};

template <class S>
struct Loss {
  auto operator()(auto const& w1, auto const& w2, auto const& x, auto const& y) const {
    auto const hidden = probe(
        tanh(matmul(used_as<typename S::UsedIn>(x), used_as<typename S::UsedW1>(w1))).tensor());
    auto const out = matmul<typename S::Target>(hidden, used_as<typename S::UsedW2>(w2));
    return sum<T<>>(square(out - y));
  }
};

using Grid = Mesh<X, Y>;

template <class S>
void trains() {
  for (auto const& [rows, columns] : on_ranks::grids()) {
    Grid const mesh(MPI_COMM_WORLD, {rows, columns});
    for (std::array<Int, 4> const n :
         {std::array<Int, 4>{13, 7, 9, 5}, {3, 1, 2, 1}, {41, 33, 50, 17}}) {
      CAPTURE(rows, columns, n);
      overlaps<0, 1>(1, mesh, Loss<S>{}, make<typename S::W1>(mesh, {n[1], n[2]}, 1.1),
                     make<typename S::W2>(mesh, {n[2], n[3]}, 0.7),
                     make<typename S::In>(mesh, {n[0], n[1]}, 0.3),
                     make<typename S::Target>(mesh, {n[0], n[3]}, 0.9));
    }
  }
}

// One weight for both layers, and decay of it before, between and after them.
template <class S>
struct Tied {
  int decay = 0;
  auto operator()(auto const& w, auto const& x) const {
    auto const of_w = [&] { return (sum<T<>>(square(w)) * 0.3).tensor(); };
    if (decay == 0) return (of_w() + of_layers(w, x)).tensor();
    if (decay == 1) return (of_layers(w, x) + of_w()).tensor();
    return of_layers(w, x);
  }
  auto of_layers(auto const& w, auto const& x) const {
    auto const used = [&] { return used_as<typename S::UsedW1>(w); };
    auto const hidden = probe(tanh(matmul(x, used())).tensor());
    auto const out = einsum<B, D>(hidden, used());
    return sum<T<>>(square(out - x));
  }
};

template <template <class> class As>
struct Parts {
  std::array<As<DataParallel::W1>, 2> first;
  std::tuple<As<Fsdp::W2>, As<T<Dim<J>>>> second;
};
struct OfParts {
  auto operator()(auto const& p, auto const& x) const {
    auto const& [w2, bias] = p.second;
    auto const h = (matmul(x, used_as<Reduced<X, Y>>(p.first[0])) *
                    matmul(x, used_as<Reduced<X, Y>>(p.first[1])))
                       .tensor();
    return sum<T<>>(square(matmul(h, used_as<Reduced<X, Y>>(w2)) + used_as<Reduced<X, Y>>(bias)));
  }
};

}  // namespace

TEST_CASE("the same bits in four parallelisms") {
  SECTION("data parallel") { trains<DataParallel>(); }
  SECTION("FSDP") { trains<Fsdp>(); }
  SECTION("data x tensor") { trains<TwoAxes>(); }
  SECTION("FSDP x tensor") { trains<FsdpAndTensor>(); }
}

TEST_CASE("a weight that is used several times") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  auto const x = make<DataParallel::In>(mesh, {13, 7}, 0.3);
  for (int const decay : {0, 1, 2}) {
    CAPTURE(decay);
    overlaps<0>(1, mesh, Tied<DataParallel>{decay}, make<DataParallel::W1>(mesh, {7, 9}, 1.1), x);
    overlaps<0>(1, mesh, Tied<Fsdp>{decay}, make<Fsdp::W1>(mesh, {7, 9}, 1.1), x);
  }
}

TEST_CASE("structures of parameters") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  auto const x = make<DataParallel::In>(mesh, {13, 7}, 0.3);
  Parts<value_t> const p{
      {make<DataParallel::W1>(mesh, {7, 9}, 1.1), make<DataParallel::W1>(mesh, {7, 9}, 1.3)},
      {make<Fsdp::W2>(mesh, {9, 5}, 0.7), make<T<Dim<J>>>(mesh, {5}, 0.2)}};
  same<0>(mesh, OfParts{}, p, x);
  auto const layers = [](auto const& ws, auto const& in, auto const& numbers) {
    auto h = probe(tanh(matmul(in, used_as<Reduced<X, Y>>(ws[0]))).tensor());
    for (std::size_t k = 1; k < ws.size(); ++k)
      h = probe(tanh(h * matmul(in, used_as<Reduced<X, Y>>(ws[k]))).tensor());
    return sum<T<>>(h * cast<double>(numbers));
  };
  std::vector<Fsdp::W1> const ws{make<Fsdp::W1>(mesh, {7, 9}, 1.1),
                                 make<Fsdp::W1>(mesh, {7, 9}, 1.2),
                                 make<Fsdp::W1>(mesh, {7, 9}, 1.3)};
  // integers have no gradient
  auto const numbers = from_function<Tensor<Int, Dim<H>>>(mesh, {9}, [](Int k) { return k % 3; });
  overlaps<0, 2>(2, mesh, layers, ws, x, numbers);
}

TEST_CASE("values beside the loss") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  auto const x = make<DataParallel::In>(mesh, {13, 7}, 0.3);
  auto const w = make<DataParallel::W1>(mesh, {7, 9}, 1.1);
  auto const f = [](auto const& v, auto const& in) {
    auto const h = matmul(in, used_as<Reduced<X, Y>>(v));
    return std::pair(sum<T<>>(square(h)), sum<T<>>(h));
  };
  auto const expected = value_and_grad<0>(f, has_aux)(w, x);
  auto const got = value_and_grad<0>(f, has_aux, overlap_grad_reduce)(w, x);
  CHECK(same_bits(got.value.first, expected.value.first));
  CHECK(same_bits(got.value.second, expected.value.second));
  CHECK(same_bits(got.grad, expected.grad));
  auto const [slope, beside] = grad<0>(f, has_aux, overlap_grad_reduce)(w, x);
  CHECK(same_bits(slope, expected.grad));
  CHECK(same_bits(beside, expected.value.second));
}

TEST_CASE("rematerialised layers, gradients by hand, blocks, gradients of gradients") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  auto const x = make<DataParallel::In>(mesh, {13, 7}, 0.3);
  auto const w = make<Fsdp::W1>(mesh, {7, 9}, 1.1);
  auto const v = make<Fsdp::W1>(mesh, {7, 9}, 1.3);
  auto const layer = [](auto const& a, auto const& in) {
    return tanh(matmul(in, used_as<Reduced<X, Y>>(a)));
  };
  SECTION("remat") {
    auto const f = [&](auto const& a, auto const& b, auto const& in) {
      auto const h = probe((remat(layer)(a, in) * remat(layer)(b, in)).tensor());
      return sum<T<>>(square(probe(remat(layer)(a, in)) + h));
    };
    overlaps<0, 1>(1, mesh, f, w, v, x);
  }
  SECTION("by hand") {
    auto const by_hand = custom_vjp(
        [](auto const& in, auto const& a) { return matmul(in, used_as<Reduced<X, Y>>(a)); },
        [](auto const& in, auto const& a) {
          return std::pair(matmul(in, used_as<Reduced<X, Y>>(a)), in);
        },
        [](auto const& in, auto const& ct) {
          return std::tuple(no_gradient, reshard<Dim<D, X, Y>, Dim<H>>(einsum<D, H>(in, ct)));
        });
    auto const f = [&](auto const& a, auto const& b, auto const& in) {
      return sum<T<>>(square(by_hand(in, a) * probe(by_hand(in, b) * layer(b, in))));
    };
    same<0, 1>(mesh, f, w, v, x);
  }
  SECTION("blocks") {
    auto const f = [&](auto const& a, auto const& b, auto const& in) {
      auto const h = (layer(a, in) * layer(b, in)).tensor();
      auto const rows = shard_map<T<Dim<H>>>(
          [](auto const& block) { return all_reduce<X, Y>(sum<B>(square(block))); }, h);
      return sum<T<>>(square(rows));
    };
    // all blocks alike
    same<0, 1>(mesh, f, w, v, make<DataParallel::In>(mesh, {16, 7}, 0.3));
  }
  SECTION("of gradients") {
    auto const f = [&](auto const& a, auto const& in) { return sum<T<>>(square(layer(a, in))); };
    auto const size = [&](auto const& g) {
      return [&](auto const& a, auto const& in) { return sum<T<>>(square(g(a, in))); };
    };
    auto const once = grad<0>(f);
    auto const expected = grad<0>(size(once))(w, x);
    auto const inner = grad<0>(f, overlap_grad_reduce);
    CHECK(same_bits(grad<0>(size(inner))(w, x), expected));
    CHECK(same_bits(grad<0>(size(inner), overlap_grad_reduce)(w, x), expected));
  }
}

TEST_CASE("an Error in the backward pass ends what is under way") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  harness::Sending const limits({.least_segment = 1});
  auto const w1 = make<Fsdp::W1>(mesh, {7, 9}, 1.1);
  auto const w2 = make<Fsdp::W2>(mesh, {9, 5}, 0.7);
  auto const x = make<Fsdp::In>(mesh, {13, 7}, 0.3);
  auto const y = make<Fsdp::Target>(mesh, {13, 5}, 0.9);
  auto const both = value_and_grad<0, 1>(Loss<Fsdp>{}, overlap_grad_reduce);
  auto const expected = both(w1, w2, x, y);
  for (int round = 0; round < 3; ++round) {
    pulls = under_way = 0;
    fails = true;
    CHECK(on_ranks::code_of([&] { static_cast<void>(both(w1, w2, x, y)); }) == "E00");
    fails = false;
    CHECK(under_way == 1);
    CHECK(!mesh.state().exchanges().any());
    CHECK(same_bits(both(w1, w2, x, y).grad, expected.grad));
  }
}

TEST_CASE("a steady training loop allocates nothing") {
  Grid const mesh = on_ranks::two_axes<X, Y>();
  for (Int const least : {Int{1}, Int{8192}}) {
    harness::Sending const limits({.least_segment = least});
    auto w1 = make<Fsdp::W1>(mesh, {33, 50}, 1.1);
    auto w2 = make<Fsdp::W2>(mesh, {50, 17}, 0.7);
    auto const x = make<Fsdp::In>(mesh, {41, 33}, 0.3);
    auto const y = make<Fsdp::Target>(mesh, {41, 17}, 0.9);
    auto const step = [&] {
      auto const [loss, gradients] =
          value_and_grad<0, 1>(Loss<Fsdp>{}, overlap_grad_reduce)(w1, w2, x, y);
      auto const& [to_w1, to_w2] = gradients;
      w1 = w1 - 0.001 * to_w1;
      w2 = w2 - 0.001 * to_w2;
    };
    // the pool needs four steps of these sizes, without overlap too
    for (int k = 0; k < 6; ++k) step();
    std::size_t const blocks = mesh.state().pool().allocations();
    std::size_t const before = allocated;
    for (int k = 0; k < 10; ++k) step();
    CHECK(allocated == before);
    CHECK(mesh.state().pool().allocations() == blocks);
  }
}
