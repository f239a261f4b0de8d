#pragma once
/// Elementary functions of arrays, for the host. An element has one value wherever it lies: vectors
/// at the end of an array are filled up, and a single element is computed as an array of one.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <shardtype/core/compiled.hpp>
#include <shardtype/kernels/functions.hpp>
#include <shardtype/kernels/vector_library.hpp>

#if defined(SHARDTYPE_COMPILED) && defined(SHARDTYPE_VECTOR_FUNCTIONS)
#include <shardtype/kernels/vector_dispatch.hpp>
#include <shardtype/runtime/run_time.hpp>
#endif

namespace shardtype::kernels::vectors {

/// Elements that an array function computes at once, and that fit its small buffers.
inline constexpr std::int64_t block = 512;

#if defined(SHARDTYPE_COMPILED) && defined(SHARDTYPE_VECTOR_FUNCTIONS)
/// y[k] = f(x[k]...) for `n` elements, in the instruction set on which all ranks agreed; `y` may be
/// one of `x`.
template <class F, class T, class... Xs>
void run(std::int64_t n, T* y, Xs const*... x) {
  MemberOf<F>::of(array_functions<T>(runtime::run_time.instructions))(n, y, x...);
}
#else
/// y[k] = f(x[k]...) for `n` elements; `y` may be one of `x`.
template <class F, class T, class... Xs>
[[gnu::noinline]] void run(std::int64_t n, T* y, Xs const*... x) {
  constexpr int lanes = detail::vector_lanes<T>;
  using V = detail::vector_of<T>;
  auto const vector_at = [](T const* from) {
    V v;
    std::memcpy(&v, from, sizeof(V));
    return v;
  };
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes) {
    V const v = Library<F, T>::call(vector_at(x + k)...);
    std::memcpy(y + k, &v, sizeof(V));
  }
  if (k == n) return;
  auto const rest = static_cast<std::size_t>(n - k) * sizeof(T);
  auto const filled = [&](T const* from) {
    T last[static_cast<std::size_t>(lanes)];
    for (T& l : last) l = T(0.5);  // a usual argument of every function
    std::memcpy(last, from + k, rest);
    return vector_at(last);
  };
  V const v = Library<F, T>::call(filled(x)...);
  std::memcpy(y + k, &v, rest);
}
#endif

/// Whether `F` of real numbers of type `T` has a vector form.
template <class F, class T>
inline constexpr bool vectorised = Library<F, T>::has;

/// f(x...) of single elements.
template <class F, class T, class... Xs>
T one(T const& x, Xs const&... more) {
  T y{};
  vectors::run<F>(1, &y, &x, &more...);
  return y;
}

// On the host, for softmax and logsumexp.

/// y[k] = e^(x[k] - base) factor for `n` elements; `Each`: with their own `base[k]` and
/// `factor[k]`, else with the first ones. `y` may be `x`.
template <bool Each, class T>
[[gnu::noinline]] void scaled_exponentials(std::int64_t n, T* y, T const* x, T const* base,
                                           T const* factor) {
  if constexpr (!vectorised<functions::Exp, T>) {
    for (std::int64_t k = 0; k < n; ++k)
      y[k] = math::exp(x[k] - base[Each ? k : 0]) * factor[Each ? k : 0];
  } else {
#if defined(SHARDTYPE_COMPILED) && defined(SHARDTYPE_VECTOR_FUNCTIONS)
    auto const& all = array_functions<T>(runtime::run_time.instructions);
    (Each ? all.scaled_exp_each : all.scaled_exp)(n, y, x, base, factor);
#elif defined(SHARDTYPE_VECTOR_FUNCTIONS)
    formulas::scaled_exponentials<Registers, detail::vector_of<T>, Each>(n, y, x, base, factor);
#endif
  }
}
/// Adds e^(x[k] - base) to sums[k % formulas::sums_of_one] for `n` elements; `Each`:
/// e^(x[k] - base[k]) to sums[k].
template <bool Each, class T>
  requires(vectorised<functions::Exp, T>)
[[gnu::noinline]] void add_exponentials([[maybe_unused]] std::int64_t n, [[maybe_unused]] T* sums,
                                        [[maybe_unused]] T const* x,
                                        [[maybe_unused]] T const* base) {
#if defined(SHARDTYPE_COMPILED) && defined(SHARDTYPE_VECTOR_FUNCTIONS)
  auto const& all = array_functions<T>(runtime::run_time.instructions);
  (Each ? all.add_exp_each : all.add_exp)(n, sums, x, base);
#elif defined(SHARDTYPE_VECTOR_FUNCTIONS)
  formulas::add_exponentials<Registers, detail::vector_of<T>, Each>(n, sums, x, base);
#endif
}

}  // namespace shardtype::kernels::vectors
