// Gradients of and inside of shard_map against central differences in double: every collective and
// cast of manual mode over one and two axes, blocks that are varying, invariant, unreduced and
// reduced, losses in each state, several results, loops and branches, strict mode inside, second
// order; empty blocks and extent 1; an Error in the backward pass; ranks outside the mesh.
// RANKS: 1 2 4 8
#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/gradients.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using gradients::check;
using gradients::make;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using Rows = T<Dim<I, X, Y>, Dim<J>>;
using Int = std::int64_t;

template <class A, class Axis>
constexpr core::AxisState state_of() {
  using S = core::Scope<autodiff::tensor_of<A>, T<Reduced<Axis>>>;
  return S::template spec<0>.state(S::names.find_axis(core::identity<Axis>));
}
// An invariant value of a block: sums over the ranks along an axis where they differ.
template <class Axis, class A>
auto closed_over(A const& a) {
  if constexpr (state_of<A, Axis>() == core::AxisState::varying ||
                state_of<A, Axis>() == core::AxisState::unreduced) {
    return all_reduce<Axis>(a);
  } else if constexpr (state_of<A, Axis>() == core::AxisState::reduced) {
    return all_reduce<Axis>(varying<Axis>(a));
  } else {
    return a;
  }
}
// An invariant number of all elements of a block, of which no two have the same weight.
template <class A>
auto number_of(A const& a) {
  auto const whole = [&] {
    if constexpr (state_of<A, X>() == core::AxisState::unreduced) {
      return all_reduce<X>(a);
    } else {
      return a.tensor();
    }
  }();
  return closed_over<Y>(closed_over<X>(sum(square(whole) + whole * 1.5)));
}
// A function of tensors: `body` of their blocks.
template <class Body>
auto on_blocks(Body const& body) {
  return [&body](auto const&... tensors) { return shard_map<>(body, tensors...); };
}

// The extents of Rows whose blocks are [p n, m].
std::array<Int, 2> rows(Int n, Int m) {
  Int const p = on_ranks::rank_total();
  return {p * p * n, m};
}

struct Sizes {
  Int n, m;
};
constexpr Sizes sizes[] = {{1, 2}, {1, 0}, {2, 1}};

}  // namespace

TEST_CASE("sums and gathers") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto [n, m] : sizes) {
    auto const a = make<Rows>(mesh, rows(n, m), 1);
    auto const sums = [](auto v) {
      return number_of(all_reduce<X>(v)) + number_of(all_reduce<Y, X>(v)) +
             number_of(all_reduce<Mean, X>(v)) + number_of(all_reduce<X>(unreduced<X>(v))) +
             number_of(all_reduce<Y, X>(unreduced<X>(v) * 2.0)) + number_of(unreduced<X>(v));
    };
    check<0>("all_reduce", mesh, on_blocks(sums), a);
    auto const scatters = [](auto v) {
      return number_of(reduce_scatter<X, Y, I>(v)) + number_of(reduce_scatter<Mean, Y, I>(v)) +
             number_of(reduce_scatter<X, I>(unreduced<X>(v))) +
             number_of(reduce_scatter<Y, X, I>(unreduced<X>(v)));
    };
    check<0>("reduce_scatter", mesh, on_blocks(scatters), a);
    auto const gathers = [](auto v) {
      return number_of(all_gather<X, I>(v)) + number_of(all_gather<Y, X, J>(v, to_varying)) +
             number_of(all_gather<X, I>(v, to_reduced)) + number_of(all_gather<X, Y, K>(v)) +
             number_of(all_gather<Y, K>(v, to_varying)) +
             number_of(all_gather<Y, K>(v, to_reduced));
    };
    check<0>("all_gather", mesh, on_blocks(gathers), a);
  }
}

TEST_CASE("pieces, permutations, broadcasts") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const p = on_ranks::rank_total();
  for (auto [n, m] : sizes) {
    auto const a = make<Rows>(mesh, rows(n, m), 1);
    bool const one_each = n == 1;
    auto const pieces = [&](auto v) {
      auto const same = number_of(all_to_all<Y, X, I, J>(v)) +
                        number_of(all_to_all<X, Y, I, I>(v)) + number_of(all_to_all<X, I, J>(v));
      if (!one_each) return (same + 0.0).tensor();
      return (same + number_of(all_to_all<X, Y, I, K>(v))).tensor();
    };
    check<0>("all_to_all", mesh, on_blocks(pieces), a);
    auto const sent = [&](auto v) {
      std::vector<SourceDestination> pairs;  // gone when the backward pass begins
      for (int k = 0; k + 1 < static_cast<int>(p); ++k) pairs.push_back({k + 1, k});
      auto const r = permute<X, Y>(v, pairs);
      pairs.assign(pairs.size(), {0, 0});
      return number_of(r) + number_of(rotate<Y, X>(v, 1)) + number_of(rotate<X>(v, -3)) +
             number_of(permute<X>(v, {{0, 0}}));
    };
    check<0>("permute, rotate", mesh, on_blocks(sent), a);
    auto const broadcasts = [&](auto v) {
      int const last = static_cast<int>(p) - 1;
      return number_of(broadcast_from<X>(v, 0)) + number_of(broadcast_from<X, Y>(v, last)) +
             number_of(broadcast_from<Y, X>(v, last / 2, to_varying));
    };
    check<0>("broadcast_from", mesh, on_blocks(broadcasts), a);
  }
}

TEST_CASE("casts and blocks in each state") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const p = on_ranks::rank_total();
  for (auto [n, m] : sizes) {
    auto const a = make<Rows>(mesh, rows(n, m), 1);
    auto const w = make<T<Dim<I>, Dim<J>>>(mesh, {p * n, m}, 2);
    auto const r = make<T<Dim<I>, Dim<J>, Reduced<X>>>(mesh, {p * n, m}, 3);
    auto const u = make<T<Dim<I>, Dim<J>, Unreduced<X>>>(mesh, {p * n, m}, 4);
    auto const body = [](auto va, auto vw, auto vr, auto vu) {
      return number_of(vw) + number_of(shard<X, Y, I>(vw)) + number_of(varying<X, Y>(vw) * va) +
             number_of(varying<Y>(reduced<X>(vw)) * va) + number_of(varying<Y>(vr) * va) +
             number_of(reduced<X>(vw) * vr) + number_of(vr * vu) + number_of(vu * 2.0) +
             number_of(varying<X, Y>(vr)) + number_of(all_reduce<X>(vu) * vw);
    };
    check<0, 1, 2, 3>("casts", mesh, on_blocks(body), a, w, r, u);
  }
}

TEST_CASE("uneven pieces") {
  Int const p = on_ranks::rank_total();
  Mesh<X> const mesh(MPI_COMM_WORLD, {p});
  // rank r sends k + 1 rows to rank (r + k) mod p, as far as k < 2
  auto const me = static_cast<std::size_t>(on_ranks::my_rank());
  auto const count = static_cast<std::size_t>(p);
  std::vector<Int> input(count, 0), send(count, 0), output(count, 0), receive(count, 0);
  for (std::size_t k = 0; k < 2 && k < count; ++k) {
    std::size_t const to = (me + k) % count;
    std::size_t const from = (me + count - k) % count;
    send[to] = receive[from] = static_cast<Int>(k + 1);
    input[to] = k == 0 ? 2 : 0;
    output[to] = k == 0 ? 0 : 2;
  }
  auto const body = [&](auto a, auto b) {
    op::RaggedRows const sizes_of_rows{input, send, output, receive};
    auto const c = ragged_all_to_all<X>(a, b, sizes_of_rows);
    return all_reduce<X>(sum(square(c) + c * 1.5));
  };
  for (Int const m : {Int{2}, Int{0}})
    check<0, 1>("ragged_all_to_all", mesh, on_blocks(body),
                make<T<Dim<I, X>, Dim<J>>>(mesh, {3 * p, m}, 1),
                make<T<Dim<I, X>, Dim<J>>>(mesh, {5 * p, m}, 2));
}

namespace {

struct Megatron {
  auto operator()(auto w1, auto w2, auto x, auto y) const {
    auto const h = tanh(matmul(varying<X>(x), w1));
    return sum(square(all_reduce<X>(matmul(h, w2)) - y));
  }
};

}  // namespace

TEST_CASE("Megatron in shard_map, and its gradient taken inside") {
  Int const p = on_ranks::rank_total();
  Mesh<X> const mesh(MPI_COMM_WORLD, {p});
  using W1 = T<Dim<D>, Dim<H, X>>;
  using W2 = T<Dim<H, X>, Dim<J>>;
  for (Int const b : {4, 0}) {
    auto const w1 = make<W1>(mesh, {5, 3 * p}, 1);
    auto const w2 = make<W2>(mesh, {3 * p, 3}, 2);
    auto const x = make<T<Dim<B>, Dim<D>>>(mesh, {b, 5}, 3);
    auto const y = make<T<Dim<B>, Dim<J>>>(mesh, {b, 3}, 4);
    Megatron const body;
    auto const f = on_blocks(body);
    auto const outside = check<0, 1, 2>("Megatron", mesh, f, w1, w2, x, y);
    auto const inside = shard_map<Outs<T<>, W1, W2, T<Dim<B>, Dim<D>>>>(
        [&](auto... blocks) {
          auto const both = value_and_grad<0, 1, 2>(body)(blocks...);
          return std::tuple_cat(std::tuple(both.value), both.grad);
        },
        w1, w2, x, y);
    gradients::check_one<0>("inside", mesh, f, std::get<1>(inside), 1e-7, w1, w2, x, y);
    gradients::check_one<2>("inside", mesh, f, std::get<3>(inside), 1e-7, w1, w2, x, y);
    CHECK(allclose(std::get<0>(outside), std::get<1>(inside)));
    CHECK(allclose(std::get<1>(outside), std::get<2>(inside)));
  }
}

TEST_CASE("losses in each state, inside of shard_map") {
  Int const p = on_ranks::rank_total();
  Mesh<X> const mesh(MPI_COMM_WORLD, {p});
  using A = T<Dim<I, X>>;
  auto const a = make<A>(mesh, {3 * p}, 1);
  auto const v = make<T<Dim<I>>>(mesh, {3}, 2);
  auto const r = make<T<Dim<I>, Reduced<X>>>(mesh, {3}, 3);
  // each rank its own loss: the gradient of their sum
  auto const own =
      shard_map<A>([](auto x) { return grad<0>([](auto y) { return sum(sin(y)); })(x); }, a);
  gradients::check_one<0>(
      "varying", mesh, [](auto x) { return all_reduce<X>(sum(sin(x))); }, own, 1e-7, a);
  auto const summand = shard_map<A>(
      [](auto x) { return grad<0>([](auto y) { return unreduced<X>(sum(sin(y))); })(x); }, a);
  CHECK(allclose(own, summand));
  // a reduced one is one loss for all ranks
  auto const once = shard_map<T<Dim<I>, Unreduced<X>>>(
      [](auto x) { return grad<0>([](auto y) { return sum(sin(y)); })(x); }, r);
  gradients::check_one<0>("reduced", mesh, [](auto x) { return sum(sin(x)); }, once, 1e-7, r);
  auto const invariant = shard_map<T<Dim<I>>>(
      [](auto x) { return grad<0>([](auto y) { return sum(sin(y)); })(x); }, v);
  gradients::check_one<0>(
      "invariant", mesh, [](auto x) { return sum(sin(x)); }, invariant, 1e-7, v);
  // named in the result
  check<0>(
      "a loss that leaves as unreduced", mesh,
      [](auto x) {
        return shard_map<Unreduced<X>>([](auto y) { return unreduced<X>(sum(sin(y))); }, x);
      },
      a);
  check<0>(
      "a loss that leaves as reduced", mesh,
      [](auto x) { return shard_map<Reduced<X>>([](auto y) { return sum(sin(y)); }, x); }, r);
}

TEST_CASE("several results, and parts that are not differentiated") {
  Int const p = on_ranks::rank_total();
  Mesh<X> const mesh(MPI_COMM_WORLD, {p});
  using A = T<Dim<I, X>, Dim<J>>;
  auto const f = [](auto a, auto b) {
    auto [c, d, n] = shard_map<Outs<A, T<Dim<J>, Unreduced<X>>, Tensor<std::int64_t, Dim<I, X>>>>(
        [](auto x, auto y) {
          return std::tuple(x * tanh(y), unreduced<X>(sum<I>(exp(x))), argmax<J>(x));
        },
        a, b);
    static_assert(is_tensor<decltype(n)>);
    return all_reduce<X>(sum(c * c)) + sum(square(all_reduce<X>(d)));
  };
  check<0, 1>("two of three results", mesh, f, make<A>(mesh, {2 * p, 3}, 1),
              make<A>(mesh, {2 * p, 3}, 2));
}

TEST_CASE("loops and branches") {
  Int const p = on_ranks::rank_total();
  Mesh<X> const mesh(MPI_COMM_WORLD, {p});
  using A = T<Dim<I, X>>;
  auto const a = make<A>(mesh, {3 * p}, 1);
  auto const w = make<T<Dim<I>>>(mesh, {3}, 2);
  auto const loops = [](auto x, auto y) {
    // the carry begins as a constant
    auto const c = loop(
        3, varying<X>(full_local<double, Dim<I>>({3}, 0.5)),
        [&](Int k, auto carry) { return rotate<X>(tanh(carry + x * (0.1 * double(k + 1))), 1); });
    auto const [d, e] = loop(2, std::tuple(c, y), [](Int, auto both) {
      auto const [v, u] = both;
      return std::tuple(v * varying<X>(u), sin(u));
    });
    return all_reduce<X>(sum(c * d)) + sum(e * e);
  };
  check<0, 1>("loop", mesh, on_blocks(loops), a, w);
  auto const repeats = [](auto x, auto y) {
    auto const u = loop_while([](auto v) { return sum(v * v) > 0.3; }, y,
                              [](auto v) { return (v * 0.5).tensor(); });
    return all_reduce<X>(sum(varying<X>(u) * x));
  };
  check<0, 1>("loop_while", mesh, on_blocks(repeats), a, w);
  for (int const chosen : {0, 1, 2}) {
    auto const branches = [&](auto x, auto y) {
      auto const number = full_local<int>({}, chosen);
      auto const v = branch(
          number, [](auto s) { return (s * 2.0).tensor(); },
          [](auto s) { return stop_gradient(s); }, [](auto s) { return (s * s).tensor(); }, x);
      auto const u =
          branch(number > 0, [](auto s) { return exp(s); }, [](auto s) { return exp(s) * 1.0; }, y);
      return all_reduce<X>(sum(v)) + sum(u * u);
    };
    auto const both = value_and_grad<0, 1>(on_blocks(branches))(a, w);
    auto const all = gradients::whole(a);
    auto const got = gradients::whole(std::get<0>(both.grad));
    for (std::size_t k = 0; k < all.size(); ++k) {
      double const expected = chosen == 0 ? 2 : chosen == 1 ? 0 : 2 * all[k];
      CHECK(std::abs(got[k] - expected) < 1e-12);
    }
  }
}

TEST_CASE("strict mode inside") {
  Int const p = on_ranks::rank_total();
  Mesh<X> const mesh(MPI_COMM_WORLD, {p});
  using A = T<Dim<I, X>, Dim<J>>;
  auto const f = [](auto a) {
    auto const c = shard_map<T<Dim<I, X>, Dim<J>>>(
        [](auto x) {
          auto const turned =
              strict<A>([](auto t) { return reshard<Dim<I>, Dim<J, X>>(tanh(t)); }, exp(x));
          return rotate<X>(all_to_all<X, I, J>((turned * turned).tensor()), 1);
        },
        a);
    return all_reduce<X>(sum(square(c)));
  };
  check<0>("strict", mesh, f, make<A>(mesh, {2 * p, p}, 1));
}

TEST_CASE("second order") {
  Int const p = on_ranks::rank_total();
  Mesh<X> const mesh(MPI_COMM_WORLD, {p});
  using A = T<Dim<I, X>>;
  auto const a = make<A>(mesh, {2 * p}, 1);
  auto const w = make<T<Dim<I>>>(mesh, {2}, 2);
  auto const body = [](auto x, auto y) {
    auto const z = rotate<X>(x, 1) * varying<X>(y * y);
    return all_reduce<X>(sum(sin(z) + x * x * x)) + sum(square(all_reduce<X>(unreduced<X>(z)))) +
           sum(square(broadcast_from<X>(z, 0)));
  };
  auto const outside = [&](auto x, auto y) {
    auto const g = grad<0, 1>(on_blocks(body))(x, y);
    return all_reduce<X>(sum(square(std::get<0>(g)))) + sum(square(std::get<1>(g)));
  };
  check<0, 1>("a gradient of a gradient of shard_map", mesh, outside, a, w);
  auto const mixed = [&](auto x, auto y) {
    return shard_map<>(
        [&](auto bx, auto by) {
          auto const g = grad<0, 1>(body)(bx, by);
          return all_reduce<X>(sum(square(std::get<0>(g)))) + sum(square(std::get<1>(g)));
        },
        x, y);
  };
  check<0, 1>("a gradient of a gradient inside of shard_map", mesh, mixed, a, w);
}

namespace {

// An operation whose backward pass fails.
struct Fragile {
  using operation = Fragile;
  static constexpr std::string_view name = "fragile";
  static constexpr rules::Verdict rule(rules::Question const& q) { return rules::accept(q.a()); }
  template <class Exec, class Out, class In>
  void kernel(Exec const& exec, Out const& out, In const& in) const {
    Kokkos::deep_copy(exec, out, in);
  }
};

}  // namespace

template <>
struct shardtype::autodiff::Vjp<Fragile> : shardtype::autodiff::SavesNothing {
  template <int, class V, class A, class S, class C>
  static constexpr C pull(Fragile const&, S const&, C const& ct) {
    if constexpr (is_local<C>) throw Error("E71", "the pull of fragile");
    return ct;
  }
};

TEST_CASE("an Error in the backward pass leaves manual mode") {
  Int const p = on_ranks::rank_total();
  Mesh<X> const mesh(MPI_COMM_WORLD, {p});
  auto const a = make<T<Dim<I, X>>>(mesh, {2 * p}, 1);
  auto const body = [](auto x) {
    return all_reduce<X>(sum(call(Fragile{}, std::source_location::current(), x)));
  };
  CHECK(on_ranks::code_of([&] { static_cast<void>(grad<0>(on_blocks(body))(a)); }) == "E71");
  CHECK(!mesh.state().in_manual_mode());
  CHECK(on_ranks::code_of([&] { static_cast<void>(zeros<double, Dim<I, X>>(mesh, {2 * p})); }) ==
        "none");
}

TEST_CASE("ranks outside the mesh") {
  Int const p = on_ranks::rank_total();
  if (p < 2) return;
  Mesh<X> const mesh(MPI_COMM_WORLD, {p / 2});
  using A = T<Dim<I, X>>;
  auto const a = full<double, Dim<I, X>>(mesh, {2 * (p / 2)}, 0.5);
  auto const w = full<double, Dim<I>>(mesh, {2}, 2.0);
  auto const body = [](auto x, auto y) {
    auto const z = varying<X>(broadcast_from<X>(x * varying<X>(y), 0)) + rotate<X>(x, 1);
    return all_reduce<X>(sum(z * z));
  };
  auto const both = value_and_grad<0, 1>(on_blocks(body))(a, w);
  static_assert(std::is_same_v<std::tuple_element_t<0, decltype(both.grad)>, A>);
  if (mesh.state().here()) {
    // z = 1 + 0.5 in each of the 2 p / 2 elements
    CHECK(on_ranks::wrong(std::get<1>(both.grad), [&](auto const&) {
            return 2 * 1.5 * 0.5 * static_cast<double>(p / 2);
          }) == 0);
  }
}
