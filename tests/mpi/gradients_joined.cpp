// Small gradients whose reductions are joined, against those that are reduced one by one: the same
// values, in AllReduces and ReduceScatters, of several element types and groups of ranks, with a
// gradient that is too large, a tied weight, microbatches, rematerialised layers and values beside
// the loss, by messages and by MPI. All numbers are integers, so that no order of
// additions changes a bit. On 4 ranks the bytes and the peak are those of the plan. An Error in the
// backward pass ends what is under way. A steady loop allocates nothing.
// RANKS: 1 2 4 8
// SOURCES: tests/shim/pmpi.cpp
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/counted_new.hpp"
#include "harness/host_block.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"
#include "harness/sending.hpp"

using namespace shardtype;

namespace {

using Int = std::int64_t;
struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct Two : Axis<"Two", 2> {};
struct Other : Axis<"Other", 2> {};
struct B : Index<"B", 24> {};
struct D : Index<"D", 5> {};
struct H : Index<"H", 7> {};
struct J : Index<"J", 3> {};
struct K : Index<"K", 3000> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

template <class X, class Y>
struct On {
  using In = T<Dim<B, X>, Dim<D>>;
  // Parameters: replicated, split along a first and a last dim, split along another axis, of
  // another type, and one that is too large to be joined.
  template <template <class> class As>
  struct Parts {
    As<T<Dim<D>, Dim<H>>> w;
    As<T<Dim<H>>> bias;
    As<T<Dim<H, X>, Dim<J>>> rows;
    As<T<Dim<D>, Dim<J, X>>> columns;
    As<T<Dim<D>, Dim<H, Y>>> tensor;
    As<T<Dim<H, Y, X>>> both;
    As<Tensor<float, Dim<J>>> small;
    As<T<Dim<K>>> large;
    std::array<As<T<Dim<J>>>, 2> more;
  };
  struct Loss {
    bool tied = false;  // w is used in two places

    constexpr auto operator()(auto const& p, auto const& x) const {
      auto const use = [](auto const& a) { return used_as<Reduced<X>>(a); };
      auto const h = (matmul(x, use(p.w)) + use(p.bias)).tensor();
      auto const out = (matmul(h, use(p.rows)) + matmul(x, use(p.columns)) +
                        use(p.more[0]) * use(p.more[1]) + cast<double>(use(p.small)))
                           .tensor();
      auto const part = (matmul(used_as<Reduced<Y>>(x), use(p.tensor)) * use(p.both)).tensor();
      auto const first = (sum<T<>>(square(out)) + sum<T<>>(part)).tensor();
      auto const rest = (first + sum<T<>>(sum<D>(x) * sum(use(p.large)))).tensor();
      if (tied) return (rest + sum<T<>>(square(matmul(x, use(p.w))))).tensor();
      return rest;
    }
  };
};

// Passes its operand on; its pull may fail.
bool fails = false;
struct Probe {
  using operation = Probe;
  static constexpr std::string_view name = "probe";
  static constexpr rules::Verdict rule(rules::Question const& q) { return rules::accept(q.a()); }
  template <class Exec, class Out, class In>
  void kernel(Exec const&, Out const& out, In const& in) const {
    for (std::size_t k = 0; k < in.size(); ++k) out.data()[k] = in.data()[k];
  }
};

}  // namespace

template <>
struct shardtype::autodiff::Vjp<Probe> : Differentiable {
  template <class V, class A>
  static constexpr Kept<> save(Probe const&, V const&, A const&) {
    return {};
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Probe const&, S const&, C const& ct) {
    if (fails) throw Error("E00", "as asked for", FailedOn::every_rank);
    return ct;
  }
};

namespace {

// Small integers, which depend on all indices.
auto numbers(Int seed) {
  return [=](auto... at) {
    Int sum = seed;
    ((sum = sum * 3 + at), ...);
    return static_cast<double>((sum * sum + seed) % 7 - 3);
  };
}
// A tensor of such, of the type of a member.
template <class M>
struct Made {
  M const& mesh;
  Int seed;
  template <class A>
  operator A() const {  // NOLINT(google-explicit-constructor)
    return from_function<A>(mesh, [at = numbers(seed)](auto... k) {
      return static_cast<typename A::element>(at(k...));
    });
  }
};
template <class P, class M>
typename P::template Parts<value_t> make(M const& m) {
  using Last = T<Dim<J>>;
  return {Made{m, 2}, Made{m, 3}, Made{m, 4},
          Made{m, 5}, Made{m, 6}, Made{m, 7},
          Made{m, 8}, Made{m, 9}, {Last(Made{m, 10}), Last(Made{m, 11})}};
}

// Whether all blocks have the same bits.
template <class P>
bool same_bits(P const& a, P const& b) {
  bool same = true;
  autodiff::each_value(
      [&]<class V>(V const& one, V const& other) {
        auto const ours = harness::host_block(one);
        auto const theirs = harness::host_block(other);
        same = same && one.extents() == other.extents() &&
               std::equal(ours.data(), ours.data() + one.local_size(), theirs.data());
      },
      a, b);
  return same;
}

template <class L, class M, class P, class In>
void same(L const& loss, M const& mesh, P const& p, In const& x) {
  // by MPI, and by messages
  for (Int const least : {Int{1} << 40, Int{1}}) {
    harness::Sending const limits({.least_segment = least});
    auto const expected = value_and_grad<0>(loss)(p, x);
    auto const got = value_and_grad<0>(loss, join_grad_reduce)(p, x);
    CHECK(item(got.value) == item(expected.value));
    CHECK(same_bits(got.grad, expected.grad));
    CHECK(same_bits(grad<0>(loss, join_grad_reduce)(p, x), expected.grad));
    CHECK(!mesh.state().exchanges().any());
  }
}

}  // namespace

TEST_CASE("the same values") {
  using P = On<X, Y>;
  for (auto const& [rows, columns] : on_ranks::grids()) {
    Mesh<X, Y> const mesh(MPI_COMM_WORLD, {rows, columns});
    CAPTURE(rows, columns);
    auto const p = make<P>(mesh);
    auto const x = from_function<P::In>(mesh, numbers(1));
    same(P::Loss{}, mesh, p, x);
    same(P::Loss{true}, mesh, p, x);
  }
}

TEST_CASE("remat, microbatches, values beside the loss") {
  using P = On<X, Y>;
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  auto const p = make<P>(mesh);
  auto const x = from_function<P::In>(mesh, numbers(1));
  SECTION("remat") {
    same([](auto const& q, auto const& in) { return remat(P::Loss{true})(q, in); }, mesh, p, x);
  }
  SECTION("microbatches") {
    // one reduction of the sum of all of them
    same(
        [](auto const& q, auto const& ins) {
          auto const w = used_as<Reduced<X>>(q.w);
          return (sum<T<>>(square(matmul(ins[0], w))) + sum<T<>>(square(matmul(ins[1], w))))
              .tensor();
        },
        mesh, p, std::array{x, from_function<P::In>(mesh, numbers(2))});
  }
  SECTION("values beside the loss") {
    auto const f = [](auto const& q, auto const& in) {
      auto const total = P::Loss{}(q, in);
      return std::pair(total, total * 2.0);
    };
    auto const expected = value_and_grad<0>(f, has_aux)(p, x);
    auto const got = value_and_grad<0>(f, has_aux, join_grad_reduce)(p, x);
    CHECK(item(got.value.second) == item(expected.value.second));
    CHECK(same_bits(got.grad, expected.grad));
    CHECK(same_bits(grad<0>(f, has_aux, join_grad_reduce)(p, x).first, expected.grad));
  }
}

TEST_CASE("an Error in the backward pass ends what is under way") {
  using P = On<X, Y>;
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  harness::Sending const limits({.least_segment = 1});
  auto const p = make<P>(mesh);
  auto const x = from_function<P::In>(mesh, numbers(1));
  // The pull fails when gradients are in a bucket, and if one of them has another summand, when
  // this bucket is begun.
  for (bool const begun : {false, true}) {
    auto const f = [=](auto const& q, auto const& in) {
      auto const w = [&] { return used_as<Reduced<X>>(q.w); };
      auto const first = call(Probe{}, std::source_location::current(), matmul(in, w())) *
                         used_as<Reduced<X>>(q.bias);
      auto const total = sum<T<>>(square(first));
      if (!begun) return total;
      return (total + sum<T<>>(matmul(in, w())) + sum<T<>>(matmul(in, w()))).tensor();
    };
    auto const both = value_and_grad<0>(f, join_grad_reduce);
    auto const expected = both(p, x);
    CHECK(same_bits(expected.grad, value_and_grad<0>(f)(p, x).grad));
    for (int round = 0; round < 3; ++round) {
      fails = true;
      CHECK(on_ranks::code_of([&] { static_cast<void>(both(p, x)); }) == "E00");
      fails = false;
      CHECK(!mesh.state().exchanges().any());
      CHECK(same_bits(both(p, x).grad, expected.grad));
    }
  }
}

// The collectives of both passes, where types give all sizes: joined are the AllReduces of four
// gradients and the tensor's, that of the floats is by itself, and the large one is.
using Sized = On<Two, Other>;
static constexpr auto alone =
    plan(value_and_grad<0>(Sized::Loss{}), type<Sized::Parts<value_t>>, type<Sized::In>);
static constexpr auto joined = plan(value_and_grad<0>(Sized::Loss{}, join_grad_reduce),
                                    type<Sized::Parts<value_t>>, type<Sized::In>);
static_assert(alone.backward.count(Collective::all_reduce) == 7);
static_assert(alone.backward.count(Collective::reduce_scatter) == 3);
static_assert(joined.forward.collectives() == alone.forward.collectives());
static_assert(joined.backward.count(Collective::all_reduce) == 3);
static_assert(joined.backward.count(Collective::reduce_scatter) == 1);
// if sizes are given at run time, for all of them
static constexpr auto of_all_sizes = plan(value_and_grad<0>(On<X, Y>::Loss{}, join_grad_reduce),
                                          type<On<X, Y>::Parts<value_t>>, type<On<X, Y>::In>);
static_assert(of_all_sizes.backward.count(Collective::all_reduce) == 3);
static_assert(of_all_sizes.backward.count(Collective::reduce_scatter) == 1);

TEST_CASE("sent and held as planned") {
  if (on_ranks::rank_total() != 4) return;
  Mesh<Two, Other> const mesh(MPI_COMM_WORLD);
  auto const p = make<Sized>(mesh);
  auto const x = from_function<Sized::In>(mesh, numbers(1));
  auto& memory = runtime::run_time.memory;
  Int given = measured_plan::block_bytes(x);
  autodiff::each_value([&](auto const& a) { given += measured_plan::block_bytes(a); }, p);
  Int const others = memory.now() - given;
  memory.reset();
  shim::reset();
  {
    auto const got = value_and_grad<0>(Sized::Loss{}, join_grad_reduce)(p, x);
    CHECK(shim::bytes() == joined.forward.bytes(measured_plan::at(joined.forward, mesh)) +
                               joined.backward.bytes(measured_plan::at(joined.backward, mesh)));
  }
  Int const peak = measured_plan::most_of_ranks(memory.most() - others);
  INFO("peak " << peak << ", planned " << joined.peak_bytes());
  CHECK(peak <= joined.peak_bytes());
  CHECK(static_cast<double>(joined.peak_bytes()) <= 1.1 * static_cast<double>(peak));
  CHECK(memory.now() - others == given);
}

TEST_CASE("a steady training loop allocates nothing") {
  using P = On<X, Y>;
  Mesh<X, Y> const mesh = on_ranks::two_axes<X, Y>();
  auto const p = make<P>(mesh);
  auto const x = from_function<P::In>(mesh, numbers(1));
  for (Int const least : {Int{1}, Int{8192}}) {
    harness::Sending const limits({.least_segment = least});
    auto const step = [&] {
      static_cast<void>(value_and_grad<0>(P::Loss{true}, join_grad_reduce)(p, x));
    };
    for (int k = 0; k < 6; ++k) step();
    std::size_t const blocks = mesh.state().pool().allocations();
    std::size_t const before = allocated;
    for (int k = 0; k < 10; ++k) step();
    CHECK(allocated == before);
    CHECK(mesh.state().pool().allocations() == blocks);
  }
}
