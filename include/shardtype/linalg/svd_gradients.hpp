#pragma once
/// Gradients of singular vectors.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <shardtype/linalg/spectral.hpp>

namespace shardtype {

namespace op {

/// The cotangent [B, I, J] of matrices by that of their left or right singular vectors: operands a,
/// u, s, vh, and the cotangent.
template <class I, class J, class K, bool left>
struct SvdVectorsPull : linalg::detail::OnMatrices<I, J> {
  using operation = SvdVectorsPull;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "svd";
  static constexpr Verdict rule(rules::Question const& q) { return rules::accept(q.a()); }
  template <class A, class U, class S, class V, class C>
  static constexpr Code elements() {
    return linalg::detail::elements<A, U, V, C>();
  }
  static constexpr planning::Work work(planning::CallSizing const& c) {
    return linalg::detail::work(c, 30, 0);
  }
  template <class Out, class A, class U, class S, class V, class C>
  void fill([[maybe_unused]] Out& out, [[maybe_unused]] A const&, [[maybe_unused]] U const& u,
            [[maybe_unused]] S const& s, [[maybe_unused]] V const& vh,
            [[maybe_unused]] C const& ct) const {
#ifdef SHARDTYPE_HAVE_LAPACK
    namespace lk = linalg::kernels;
    using T = typename A::element;
    using Row = std::conditional_t<left, I, K>;
    auto const us = linalg::detail::stack_beside<A, I, J, I>(u, execute::data_of(u));
    auto const vs = linalg::detail::stack_beside<A, I, J, J>(vh, execute::data_of(vh));
    auto const given = linalg::detail::stack_beside<A, I, J, Row>(ct, execute::data_of(ct));
    auto const made = linalg::detail::stack_beside<A, I, J, I>(out, execute::written(out));
    std::int64_t const m = made.rows, n = made.width, k = std::min(m, n);
    if (k == 0) return;
    runtime::Buffer const room =
        linalg::detail::room<T>(out, m * n + k * (m + n + std::max(m, n)) + 2 * k * k);
    auto* const result = static_cast<T*>(room.data());
    T* const left_vectors = result + m * n;
    T* const right_vectors = left_vectors + m * k;
    T* const g = right_vectors + n * k;
    for (std::int64_t t = 0; t < made.count; ++t) {
      lk::pack(us, t, left_vectors, m);
      lk::pack(vs, t, right_vectors, n);
      lk::pack(given, t, g, given.rows);
      pull(m, n, k, left_vectors, right_vectors, execute::data_of(s) + t * k, g, result);
      lk::unpack(result, m, made, t);
    }
#endif
  }

#ifdef SHARDTYPE_HAVE_LAPACK

 private:
  /// u is m x k, vt = v^H^T n x k; `g`: the cotangent, m x k or k x n, then 2 k k
  /// elements of scratch. By p' of p = u^H a' v: u (f (p s + s p^H)) and v (f (s p + p^H s)), f = 1
  /// / (s_j^2 - s_i^2).
  template <class T>
  static void pull(std::int64_t m, std::int64_t n, std::int64_t k, T const* u, T const* vt,
                   linalg::kernels::real_t<T> const* value, T* g, T* result) {
    namespace lk = linalg::kernels;
    using R = lk::real_t<T>;
    using lk::Trans;
    std::int64_t const rows = left ? m : n;
    T* const x = g + k * std::max(m, n);
    T* const core = x + k * k;
    if constexpr (left) {
      conjugate(m * k, g);
      lk::gemm(Trans::conjugate, Trans::no, k, k, m, T(1), u, m, g, m, T(0), x, k);
    } else {
      lk::gemm(Trans::yes, Trans::yes, k, k, n, T(1), vt, n, g, k, T(0), x, k);
      conjugate(k * n, g);
    }
    auto const weighed = [&](std::int64_t i, std::int64_t j) {
      R const gap = (value[j] - value[i]) * (value[j] + value[i]);
      return gap == R(0) ? T(0) : T(x[i + j * k] / T(gap));
    };
    for (std::int64_t j = 0; j < k; ++j)
      for (std::int64_t i = 0; i < k; ++i)
        core[i + j * k] = (weighed(i, j) + lk::conjugate(weighed(j, i))) * T(value[left ? j : i]);
    if constexpr (left && lk::is_complex<T>)
      for (std::int64_t c = 0; c < k; ++c)
        core[c * (k + 1)] += T(R(0), x[c * (k + 1)].imag() / value[c]);
    // what is outside of the span of the vectors
    bool const outside = rows > k;
    if constexpr (left) {
      lk::gemm(Trans::no, Trans::no, m, k, k, T(-1), u, m, x, k, T(1), g, m);
    } else {
      lk::gemm(Trans::conjugate, Trans::yes, k, n, k, T(-1), x, k, vt, n, T(1), g, k);
    }
    for (std::int64_t c = 0; c < k; ++c)
      for (std::int64_t i = 0; i < rows; ++i) {
        T& e = left ? g[i + c * m] : g[c + i * k];
        e = outside ? T(e / T(value[c])) : T(0);
      }
    if constexpr (left) {
      lk::gemm(Trans::no, Trans::no, m, k, k, T(1), u, m, core, k, T(1), g, m);
      lk::gemm(Trans::no, Trans::yes, m, n, k, T(1), g, m, vt, n, T(0), result, m);
    } else {
      lk::gemm(Trans::no, Trans::yes, k, n, k, T(1), core, k, vt, n, T(1), g, k);
      lk::gemm(Trans::no, Trans::no, m, n, k, T(1), u, m, g, k, T(0), result, m);
    }
    conjugate(m * n, result);
  }
  template <class T>
  static void conjugate(std::int64_t n, T* a) {
    if constexpr (linalg::kernels::is_complex<T>)
      for (std::int64_t e = 0; e < n; ++e) a[e] = linalg::kernels::conjugate(a[e]);
  }
#endif
};

}  // namespace op

namespace op {

template <class I, class J, class K>
template <std::size_t Result, class V, class A>
constexpr auto Svd<I, J, K>::save(V const& all, [[maybe_unused]] A const& a) const {
  if constexpr (Result == 1) {
    return autodiff::keep(std::get<0>(all), std::get<2>(all));
  } else {
    return autodiff::keep(a, std::get<0>(all), std::get<1>(all), std::get<2>(all));
  }
}
/// Of left or right singular vectors valid where singular values differ.
template <class I, class J, class K>
template <class G>
constexpr auto Svd<I, J, K>::pull(G const& g) const {
  if constexpr (G::result == 1) {
    return linalg::detail::pull_singular_values(g);
  } else {
    return g.call(SvdVectorsPull < I, J, K, G::result == 0 > {}, g.template kept<0>(),
                  g.template kept<1>(), g.template kept<2>(), g.template kept<3>(), g.ct);
  }
}

}  // namespace op
}  // namespace shardtype
