#pragma once
/// Gradients compared with differences.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/autodiff/structure.hpp>
#include <shardtype/autodiff/vjp_function.hpp>
#include <shardtype/core/text.hpp>
#include <shardtype/ops/run_to_host.hpp>

namespace shardtype {

/// The options of check_grads. An element of a gradient may differ from the difference quotient `d`
/// by atol + rtol |d|, and by the rounding error of d.
struct GradientCheck {
  double step = 1e-5;  ///< elements are moved by this, up and down
  double rtol = 1e-5;
  double atol = 1e-7;
  std::int64_t elements = 64;  ///< of each tensor at most so many are checked, spread evenly
};

namespace autodiff {

/// Whether differences of a tensor can be taken in double; of integers there are none.
template <class V>
inline constexpr bool in_double =
    !is_differentiable<V> || std::is_same_v<element_t<tensor_of<V>>, double> ||
    std::is_same_v<element_t<tensor_of<V>>, std::complex<double>> ||
    std::is_same_v<element_t<tensor_of<V>>, Kokkos::complex<double>>;
/// The same of an argument, if it is one tensor.
template <class P>
constexpr bool argument_in_double() {
  if constexpr (!is_structure<P>) {
    return in_double<P>;
  } else {
    return true;
  }
}

/// All elements of a tensor, on every rank; of an unreduced one the sums.
template <class A>
std::vector<typename A::element> whole_values(A const& a) {
  return api::to_host(api::reshard<typename shardtype::detail::Replicated<A>::type>(a));
}
/// A tensor like `like`, of type `A`, of these elements.
template <class A, class B>
A from_whole(B const& like, std::vector<typename A::element> const& all) {
  A out = shardtype::detail::uninitialized<A>(like.mesh(), like.extents());
  shardtype::detail::fill_from_host(out, [&](std::array<std::int64_t, A::rank> const& at) {
    std::int64_t k = 0;
    for (std::size_t d = 0; d < A::rank; ++d) k = k * like.extents()[d] + at[d];
    return all[static_cast<std::size_t>(k)];
  });
  return out;
}

/// The real, or the imaginary part of a number.
template <class T>
double part_of_number(T const& x, [[maybe_unused]] int part) {
  if constexpr (shardtype::detail::is_complex<T>) {
    return static_cast<double>(part == 0 ? x.real() : x.imag());
  } else {
    return static_cast<double>(x);
  }
}
/// The weight of element `k` of a result in the number that is differentiated: 1 for a loss.
inline double weight_of(std::int64_t k, bool one_number) {
  return one_number ? 1.0 : 1.0 + 0.5 * std::sin(1.7 * static_cast<double>(k) + 0.3);
}
/// The weighted sum of a function's results (of complex ones the real part).
template <class Out>
double weighted_sum(Out const& out) {
  double sum = 0;
  autodiff::each_value(
      [&]<class V>(V const& v) {
        if constexpr (is_differentiable<V>) {
          auto const all = autodiff::whole_values(v);
          for (std::size_t k = 0; k < all.size(); ++k)
            sum += autodiff::part_of_number(all[k], 0) *
                   autodiff::weight_of(static_cast<std::int64_t>(k), V::rank == 0);
        }
      },
      out);
  return sum;
}
/// The cotangents of these results: the weights.
template <class Out>
auto weights_for(Out const& out) {
  Tape tape;
  auto ct = Parameters<Out>::take(Parameters<Out>::lift(out, &tape));
  autodiff::each_value(
      []<class V, class C>(V const& v, C& c) {
        if constexpr (is_differentiable<V>) {
          std::int64_t n = 1;
          for (std::int64_t const e : v.extents()) n *= e;
          std::vector<typename C::element> all(static_cast<std::size_t>(n));
          for (std::int64_t k = 0; k < n; ++k)
            all[static_cast<std::size_t>(k)] =
                static_cast<typename C::element>(autodiff::weight_of(k, V::rank == 0));
          c = autodiff::from_whole<C>(v, all);
        }
      },
      out, ct);
  return ct;
}

/// "(3, 1)": the position of element `k` in a tensor.
template <class A>
std::string position_text(A const& a, std::int64_t k) {
  std::string out;
  for (std::size_t d = A::rank; d-- > 0;) {
    std::int64_t const e = a.extents()[d];
    out = std::to_string(k % e) + (out.empty() ? "" : ", ") + out;
    k /= e;
  }
  return "(" + out + ")";
}
inline std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", x);
  return text;
}

/// Compares the gradient of one tensor with differences. `at()` is the function's value with the
/// tensor as it is now.
template <class A, class G, class At>
void check_tensor(std::string const& name, A& a, G const& gradient, At const& at,
                  GradientCheck const& how) {
  using T = typename A::element;
  constexpr int parts = shardtype::detail::is_complex<T> ? 2 : 1;
  A const before = a;
  auto all = autodiff::whole_values(before);
  auto const given = autodiff::whole_values(gradient);
  auto const n = static_cast<std::int64_t>(all.size());
  std::int64_t const count = std::min(n, how.elements);
  // for each element and part: the gradient, the difference, and what rounding may add to it
  std::vector<double> numbers;
  for (std::int64_t j = 0; j < count; ++j) {
    auto const k = static_cast<std::size_t>(j * n / count);
    T const kept = all[k];
    for (int part = 0; part < parts; ++part) {
      auto const moved = [&](double by) {
        if constexpr (parts == 2) {
          all[k] = kept + (part == 0 ? T(by, 0) : T(0, by));
        } else {
          all[k] = kept + by;
        }
        a = autodiff::from_whole<A>(before, all);
        return at();
      };
      double const up = moved(how.step);
      double const down = moved(-how.step);
      all[k] = kept;
      // the gradient with respect to z = x + iy is df/dx - i df/dy
      numbers.push_back(autodiff::part_of_number(given[k], part));
      numbers.push_back((part == 0 ? 1 : -1) * (up - down) / (2 * how.step));
      numbers.push_back(1e-15 * std::max(std::abs(up), std::abs(down)) / how.step);
    }
  }
  a = before;
  // the first rank's numbers, so that all ranks judge alike
  runtime::MeshState& mesh = a.mesh().state();
  if (!mesh.here()) runtime::throw_outside(mesh, "check_grads");
  if (mesh.agreement().begin_step())
    mesh.agreement().meet("check_grads", {static_cast<std::int64_t>(numbers.size())});
  if (!numbers.empty())
    mesh.whole().broadcast(numbers.data(), static_cast<std::int64_t>(numbers.size()), 0);
  for (std::size_t p = 0; p < numbers.size(); p += 3) {
    double const got = numbers[p];
    double const expected = numbers[p + 1];
    double const bound = how.atol + how.rtol * std::abs(expected) + numbers[p + 2];
    if (std::abs(got - expected) <= bound) continue;  // false for a NaN
    auto const j = static_cast<std::int64_t>(p) / (3 * parts);
    char const* const part = parts == 1         ? ""
                             : (p / 3) % 2 == 0 ? "real part of the "
                                                : "imaginary part of the ";
    throw Error("E76",
                name + ", element " + autodiff::position_text(before, j * n / count) + " of " +
                    shardtype::detail::element_name<T>() +
                    core::spec_text(A::spec, core::Scope<A>::names) + ": the " + part +
                    "gradient is " + autodiff::number_text(got) + ", differences give " +
                    autodiff::number_text(expected),
                FailedOn::every_rank);
  }
}

/// check_grads with respect to the arguments numbered `Ks`.
template <int... Ks, class F, class... Ps>
void check_at(std::integer_sequence<int, Ks...>, GradientCheck const& how, F const& f,
              Ps const&... ps) {
  auto both = shardtype::vjp<Ks...>(f, ps...);
  if constexpr (!any_poisoned<std::remove_cvref_t<decltype(both.value)>>) {
    std::tuple<Ps...> args(ps...);
    auto const at = [&] {
      return autodiff::weighted_sum(
          std::apply([&](auto const&... each) { return autodiff::computed(f(each...)); }, args));
    };
    auto const ct = autodiff::weights_for(both.value);
    auto const check = [&]<class P, class G>(int k, P& arg, G const& gradients) {
      std::int64_t value = 0;
      autodiff::each_value(
          [&]<class A, class B>(A& a, B const& gradient) {
            std::string name = "check_grads: argument " + std::to_string(k);
            if (is_structure<P>) name += ", value " + std::to_string(value);
            ++value;
            if constexpr (!in_double<A>) {
              refused<Code::X08_not_double, false, A>{};
            } else if constexpr (!is_no_gradient<B>) {
              autodiff::check_tensor(name, a, gradient, at, how);
            }
          },
          arg, gradients);
    };
    auto const grads = std::move(both.pullback)(ct);
    if constexpr (sizeof...(Ks) == 1) {
      (check(Ks, std::get<static_cast<std::size_t>(Ks)>(args), grads), ...);
    } else {
      [&]<std::size_t... N>(std::index_sequence<N...>) {
        (check(Ks, std::get<static_cast<std::size_t>(Ks)>(args), std::get<N>(grads)), ...);
      }(std::make_index_sequence<sizeof...(Ks)>{});
    }
  }
}
/// The arguments before the options, if the last one is such.
template <int... Ks, class F, class... As>
void check_arguments(GradientCheck const& how, F const& f, As const&... as) {
  if constexpr (!(autodiff::argument_in_double<As>() && ...)) {
    refused<Code::X08_not_double, false, As...>{};
  } else {
    autodiff::check_at(NumbersOrAll<static_cast<int>(sizeof...(As)), Ks...>{}, how, f, as...);
  }
}

}  // namespace autodiff

namespace api {

/// Compares the gradient of `f` at `as...` with central differences, in double:
///
///     check_grads(f, a, b);                        // of all arguments
///     check_grads<0>(f, a, b, GradientCheck{.step = 1e-4, .elements = 10});
///
/// `f` is one that vjp takes: its result may have dims and be a structure; of such the gradient of
/// a weighted sum of all elements is compared. What carries a gradient of its own (custom_vjp) is
/// thus compared with the function itself. Of second order: the gradient of a function that calls
/// grad. Arguments have elements double or complex double, or have none of a gradient; they are on
/// one mesh. Collective, and expensive: f runs twice for each element that is checked, and each
/// argument is gathered on every rank. Error E76 on every rank names the argument, the element and
/// both numbers. Refused: X08 other elements; as vjp. JAX: jax.test_util.check_grads.
template <int... Ks, class F, class... As>
  requires(sizeof...(As) > 0)
void check_grads(F const& f, As const&... as) {
  constexpr std::size_t last = sizeof...(As) - 1;
  if constexpr (std::is_same_v<autodiff::nth_t<static_cast<int>(last), As...>, GradientCheck>) {
    auto const all = std::tie(as...);
    [&]<std::size_t... N>(std::index_sequence<N...>) {
      autodiff::check_arguments<Ks...>(std::get<last>(all), f,
                                       autodiff::argument_of(std::get<N>(all))...);
    }(std::make_index_sequence<last>{});
  } else {
    autodiff::check_arguments<Ks...>(GradientCheck{}, f, autodiff::argument_of(as)...);
  }
}

}  // namespace api

}  // namespace shardtype
