// Products with a collective before or after them: under every policy of Overlap, the product
// alone, and the communication alone.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "paired.hpp"

namespace forms {

using namespace shardtype;

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

enum What { blocking, ring, bidirectional, shared, automatic, product, communication, whats };
inline char const* const names[] = {"blocking",  "ring",    "bidirectional", "shared",
                                    "automatic", "product", "communication"};

struct Form {
  std::string name;
  std::array<std::function<void()>, whats> run{};
  std::array<std::vector<double>, whats> seconds{};
};

template <class... Dims>
auto random_like(Mesh<X> const& mesh, std::int64_t n) {
  return from_function<float, Dims...>(mesh, {n, n}, [](std::int64_t i, std::int64_t j) {
    return static_cast<float>((i * 13 + j * 7) % 31) / 31.0f - 0.5f;
  });
}

// Adds one product under every policy to `form`, and checks that all policies give the same result.
template <class... Out, class A, class B>
void all_ways(Form& form, A const& a, B const& b) {
  auto const expected = matmul<Out...>(a, b);
  Overlap const how[] = {Overlap::none, Overlap::ring, Overlap::bidirectional, Overlap::shared,
                         Overlap::automatic};
  for (int w = blocking; w <= automatic; ++w) {
    Overlap const overlap = how[w];
    auto const got = matmul<Out...>(a, b, overlap);
    float worst = 0;
    for (std::int64_t k = 0; k < got.local_size(); ++k)
      worst = std::max(worst, std::abs(got.local().data()[k] - expected.local().data()[k]));
    if (!(worst < 1e-2f)) stop(form.name + " " + names[w] + " differs by " + std::to_string(worst));
    form.run[static_cast<std::size_t>(w)] = [a, b, overlap] {
      benchmark::DoNotOptimize(matmul<Out...>(a, b, overlap).local_size());
    };
  }
}

template <class F>
std::function<void()> kept(F f) {
  return [f] { benchmark::DoNotOptimize(f().local_size()); };
}

/// The forms of products of n x n float matrices, all or the one that `only` names: gather: A[I@X,
/// J] B[J, K@X] -> [I, K@X]; gather_inner: A[I@X, J] B[J@X, K] -> [I@X, K]; scatter: A[I, J@X]
/// B[J@X, K] -> [I@X, K]; reduce: the operands of scatter -> [I, K].
inline std::vector<Form> make(Mesh<X> const& mesh, std::int64_t n, std::string const& only) {
  std::vector<Form> forms;
  auto const wanted = [&](std::string const& name) { return only.empty() || only == name; };
  if (wanted("gather")) {
    auto const a = random_like<Dim<I, X>, Dim<J>>(mesh, n);
    auto const b = random_like<Dim<J>, Dim<K, X>>(mesh, n);
    Form& form = forms.emplace_back(Form{"gather"});
    all_ways<Dim<I>, Dim<K, X>>(form, a, b);
    auto const whole = all_gather<X>(a);
    form.run[product] = kept([=] { return matmul(whole, b); });
    form.run[communication] = kept([=] { return all_gather<X>(a); });
  }
  if (wanted("gather_inner")) {
    auto const a = random_like<Dim<I, X>, Dim<J>>(mesh, n);
    auto const b = random_like<Dim<J, X>, Dim<K>>(mesh, n);
    Form& form = forms.emplace_back(Form{"gather_inner"});
    all_ways<Dim<I, X>, Dim<K>>(form, a, b);
    auto const whole = all_gather<X>(b);
    form.run[product] = kept([=] { return matmul(a, whole); });
    form.run[communication] = kept([=] { return all_gather<X>(b); });
  }
  auto const left = random_like<Dim<I>, Dim<J, X>>(mesh, n);
  auto const right = random_like<Dim<J, X>, Dim<K>>(mesh, n);
  auto const unreduced = matmul(left, right);
  if (wanted("scatter")) {
    Form& form = forms.emplace_back(Form{"scatter"});
    all_ways<Dim<I, X>, Dim<K>>(form, left, right);
    form.run[product] = kept([=] { return matmul(left, right); });
    form.run[communication] = kept([=] { return reduce_scatter<X, I>(unreduced); });
  }
  if (wanted("reduce")) {
    Form& form = forms.emplace_back(Form{"reduce"});
    all_ways<Dim<I>, Dim<K>>(form, left, right);
    form.run[product] = kept([=] { return matmul(left, right); });
    form.run[communication] = kept([=] { return all_reduce<X>(unreduced); });
  }

  return forms;
}

/// Runs the entries of `form` one after the other, once unmeasured and then `rounds` times; each
/// round starts with another entry.
inline void measure(Form& form, std::int64_t rounds) {
  for (std::int64_t round = -1; round < rounds; ++round)
    for (int k = 0; k < whats; ++k) {
      auto const w = static_cast<std::size_t>((k + std::max<std::int64_t>(round, 0)) % whats);
      if (!form.run[w]) continue;
      double const t = timed(form.run[w]);
      if (round >= 0) form.seconds[w].push_back(t);
    }
}

/// The times of the entry of `ways` with the smallest median.
inline std::vector<double> const& best_of(Form const& form, std::vector<What> const& ways) {
  What best = ways[0];
  for (What w : ways)
    if (median(form.seconds[w]) < median(form.seconds[best])) best = w;
  return form.seconds[best];
}

}  // namespace forms
