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
#endif

namespace shardtype::kernels::vectors {

/// Elements that an array function computes at once, and that fit its small buffers.
inline constexpr std::int64_t block = 512;

#if defined(SHARDTYPE_COMPILED) && defined(SHARDTYPE_VECTOR_FUNCTIONS)
/// y[k] = f(x[k]...) for `n` elements, in the instruction set on which all ranks agreed; `y` may be
/// one of `x`.
template <class F, class T, class... Xs>
void library_function(std::int64_t n, T* y, Xs const*... x) {
  MemberOf<F>::of(array_functions<T>(runtime::run_time.instructions))(n, y, x...);
}
#else
/// y[k] = f(x[k]...) for `n` elements; `y` may be one of `x`.
template <class F, class T, class... Xs>
[[gnu::noinline]] void library_function(std::int64_t n, T* y, Xs const*... x) {
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

/// A function that is composed of those of the library: `run(n, y, x...)` for at most `block`
/// elements; `y` is none of `x`.
template <class F, class T>
struct Composed {
  static constexpr bool has = false;
};

/// Whether `F` of real numbers of type `T` has a vector form.
template <class F, class T>
inline constexpr bool composed = Composed<F, T>::has;
template <class F, class T>
inline constexpr bool vectorised = Library<F, T>::has || composed<F, T>;

/// Prefetches `n` elements to be read, or written: between blocks that are computed in several
/// passes the processor would wait for memory.
template <bool Write = false, class T>
void prefetch([[maybe_unused]] T const* at, [[maybe_unused]] std::int64_t n) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  auto const bytes = n * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t k = 0; k < bytes; k += 64)
    __builtin_prefetch(reinterpret_cast<char const*>(at) + k, Write ? 1 : 0);
#endif
}

/// y[k] = f(x[k]...) for at most `block` elements; `y` is none of `x`.
template <class F, class T, class... Xs>
void run(std::int64_t n, T* y, Xs const*... x) {
  if constexpr (composed<F, T>) {
    if (n == block) (prefetch(x + n, n), ...);
    Composed<F, T>::run(n, y, x...);
  } else {
    library_function<F>(n, y, x...);
  }
}
/// f(x...) of single elements.
template <class F, class T, class... Xs>
T one(T const& x, Xs const&... more) {
  T y{};
  run<F>(1, &y, &x, &more...);
  return y;
}

#ifdef SHARDTYPE_VECTOR_FUNCTIONS

template <class T>
concept Vectorised = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// y = e^-|x|, from which the sigmoid of x is computed without overflow.
template <class T>
void small_exponentials(std::int64_t n, T* y, T const* x) {
  for (std::int64_t k = 0; k < n; ++k) y[k] = -call(functions::Absolute{}, x[k]);
  library_function<functions::Exp>(n, y, y);
}
/// 1 / (1 + e^-a), given e^-|a|, so that small results are accurate.
template <class T>
T sigmoid(T const& a, T const& e) {
  return kernels::detail::chosen(a < T(0), e, T(1)) / (T(1) + e);
}
template <Vectorised T>
struct Composed<functions::Sigmoid, T> {
  static constexpr bool has = true;
  [[gnu::noinline]] static void run(std::int64_t n, T* y, T const* x) {
    small_exponentials(n, y, x);
    for (std::int64_t k = 0; k < n; ++k) y[k] = sigmoid(x[k], y[k]);
  }
};
template <Vectorised T>
struct Composed<functions::Silu, T> {
  static constexpr bool has = true;
  [[gnu::noinline]] static void run(std::int64_t n, T* y, T const* x) {
    small_exponentials(n, y, x);
    for (std::int64_t k = 0; k < n; ++k)
      y[k] = kernels::detail::weighted(x[k], sigmoid(x[k], y[k]));
  }
};
/// log(1 + e^a).
template <Vectorised T>
struct Composed<functions::Softplus, T> {
  static constexpr bool has = true;
  [[gnu::noinline]] static void run(std::int64_t n, T* y, T const* x) {
    small_exponentials(n, y, x);
    library_function<functions::Log1p>(n, y, y);
    for (std::int64_t k = 0; k < n; ++k) y[k] = call(functions::Relu{}, x[k]) + y[k];
  }
};
template <Vectorised T>
struct Composed<functions::LogAddExp, T> {
  static constexpr bool has = true;
  [[gnu::noinline]] static void run(std::int64_t n, T* y, T const* a, T const* b) {
    for (std::int64_t k = 0; k < n; ++k)
      y[k] = kernels::detail::chosen(a[k] == b[k], T(0), -call(functions::Absolute{}, a[k] - b[k]));
    library_function<functions::Exp>(n, y, y);
    library_function<functions::Log1p>(n, y, y);
    for (std::int64_t k = 0; k < n; ++k) y[k] = call(functions::Maximum{}, a[k], b[k]) + y[k];
  }
};
template <Vectorised T>
struct Composed<functions::Gelu, T> {
  static constexpr bool has = true;
  [[gnu::noinline]] static void run(std::int64_t n, T* y, T const* x) {
    for (std::int64_t k = 0; k < n; ++k) y[k] = x[k] * T(-0.7071067811865476);
    library_function<functions::Erfc>(n, y, y);
    for (std::int64_t k = 0; k < n; ++k) y[k] = kernels::detail::weighted(x[k], T(0.5) * y[k]);
  }
};
template <Vectorised T>
struct Composed<functions::GeluTanh, T> {
  static constexpr bool has = true;
  [[gnu::noinline]] static void run(std::int64_t n, T* y, T const* x) {
    alignas(64) T inner[block];
    for (std::int64_t k = 0; k < n; ++k) {
      inner[k] = kernels::detail::twice_inner_gelu(x[k]);
      y[k] = -call(functions::Absolute{}, inner[k]);
    }
    library_function<functions::Exp>(n, y, y);
    for (std::int64_t k = 0; k < n; ++k)
      y[k] = kernels::detail::weighted(x[k], sigmoid(inner[k], y[k]));
  }
};

#endif

}  // namespace shardtype::kernels::vectors
