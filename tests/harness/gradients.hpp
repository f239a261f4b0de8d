// Gradients against central differences, in double.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

namespace gradients {

// A number from -1 to 1, the same on all ranks.
inline double drawn(std::int64_t k, int seed) {
  return std::sin(1.3 * static_cast<double>(k + 1) + 7.1 * static_cast<double>(seed) +
                  0.01 * static_cast<double>(k * k));
}

// An element from `low` to `high`, of complex numbers in both parts.
template <class T>
T drawn_element(std::int64_t k, int seed, double low = -1, double high = 1) {
  auto const part = [&](int of) { return low + (high - low) * (drawn(k, seed + of) + 1) / 2; };
  if constexpr (shardtype::detail::is_complex<T>) {
    return T(part(0), part(50));
  } else {
    return static_cast<T>(part(0));
  }
}
// The change of a function with gradient `g`, df/dx - i df/dy of complex numbers, along
// `direction`.
template <class T>
double change(T const& g, T const& direction) {
  if constexpr (shardtype::detail::is_complex<T>) {
    return static_cast<double>((g * direction).real());
  } else {
    return static_cast<double>(g) * static_cast<double>(direction);
  }
}

// All elements, of unreduced tensors the sums.
template <class A>
std::vector<typename A::element> whole(A const& a) {
  return shardtype::to_host(shardtype::reshard<shardtype::automatic_mode::whole_t<A>>(a));
}
template <class L>
double total(L const& loss) {
  return static_cast<double>(whole(loss.tensor())[0]);
}

// A tensor with drawn elements, from `low` to `high`.
template <class A, class M>
A make(M const& mesh, std::array<std::int64_t, A::rank> const& extents, int seed, double low = -1,
       double high = 1) {
  std::int64_t n = 1;
  for (std::int64_t const e : extents) n *= e;
  std::vector<typename A::element> all(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k)
    all[static_cast<std::size_t>(k)] = drawn_element<typename A::element>(k, seed, low, high);
  return shardtype::from_host<A>(mesh, extents, all);
}

// `a` moved by `h` along a drawn direction.
template <class A, class M>
A moved(M const& mesh, A const& a, int seed, double h) {
  auto all = whole(a);
  for (std::size_t k = 0; k < all.size(); ++k)
    all[k] += h * drawn_element<typename A::element>(static_cast<std::int64_t>(k), 100 + seed);
  return shardtype::from_host<A>(mesh, a.extents(), all);
}

template <class G>
double along(G const& gradient, int seed) {
  auto const g = whole(gradient);
  double sum = 0;
  for (std::size_t k = 0; k < g.size(); ++k)
    sum +=
        change(g[k], drawn_element<typename G::element>(static_cast<std::int64_t>(k), 100 + seed));
  return sum;
}

// Checks the gradient of `f` with respect to argument K against differences along drawn directions.
template <int K, class M, class F, class G, class... As>
void check_one(std::string const& name, M const& mesh, F const& f, G const& gradient,
               double tolerance, As const&... as) {
  using A = std::tuple_element_t<static_cast<std::size_t>(K), std::tuple<As...>>;
  static_assert(std::is_same_v<G, shardtype::cotangent_t<A>>);
  double const h = 1e-5;
  for (int seed = 0; seed < 4; ++seed) {
    auto at = [&](double by) {
      auto args = std::tuple(as...);
      auto& moving = std::get<static_cast<std::size_t>(K)>(args);
      moving = moved(mesh, moving, seed, by);
      return total(std::apply(f, args));
    };
    double const expected = (at(h) - at(-h)) / (2 * h);
    double const got = along(gradient, seed);
    INFO(name << ", argument " << K << ", direction " << seed);
    CHECK(std::abs(got - expected) <= tolerance * (1 + std::abs(expected)));
  }
}

// One of several gradients; or the only one, which is no tuple.
template <std::size_t N, class G>
auto const& gradient(G const& all) {
  if constexpr (requires { std::get<N>(all); }) {
    return std::get<N>(all);
  } else {
    return all;
  }
}

// The gradients with respect to arguments Ks, which are checked; `as` on `mesh`.
template <int... Ks, class M, class F, class... As>
auto check(std::string const& name, M const& mesh, F const& f, As const&... as) {
  auto const both = shardtype::value_and_grad<Ks...>(f)(as...);
  double const value = total(f(as...));
  INFO(name);
  CHECK(std::abs(total(both.value) - value) <= 1e-12 * (1 + std::abs(value)));
  [&]<std::size_t... N>(std::index_sequence<N...>) {
    (check_one<Ks>(name, mesh, f, gradient<N>(both.grad), 1e-7, as...), ...);
  }(std::make_index_sequence<sizeof...(Ks)>{});
  return both.grad;
}

}  // namespace gradients
