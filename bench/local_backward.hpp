// Rows of bench_local: pullbacks beside the forward operation (back_), on random numbers, and
// values with gradients beside the value (vg_).
#pragma once

#include <cstdint>
#include <string>

#include "local_table.hpp"

namespace local {

struct Feature : Index<"feature"> {};
struct Word : Index<"word"> {};
struct Label : Index<"label"> {};

inline auto const layer_norm = [](auto const& x, auto const& gain, auto const& bias) {
  auto const middle = mean<J>(x).tensor();
  auto const spread = var<J>(x).tensor();
  return ((x - middle) * rsqrt(spread + 1e-5F) * gain + bias).tensor();
};
inline auto const rms_norm = [](auto const& x, auto const& gain) {
  auto const square_mean = mean<J>(x * x).tensor();
  return (x * rsqrt(square_mean + 1e-5F) * gain).tensor();
};
/// Of the scores of words, which the product gives, and of one label per row.
inline auto const cross_entropy = [](auto const& w, auto const& x, auto const& labels) {
  auto const scores = matmul(x, w).tensor();
  return (mean(logsumexp<Word>(scores)) - mean(take_along<Word, Label>(scores, labels))).tensor();
};

/// The pullback of `f` at `a...` beside `f`.
template <class F, class C, class... A>
void run_back(Table& table, std::string const& name, F const& f, C const& ct, A const&... a) {
  auto const both = vjp(f, a...);
  table.run({"back_" + name,
             [&] {
               auto const cotangents = both.pullback(ct);
               benchmark::ClobberMemory();
             },
             [&] {
               auto const y = f(a...);
               benchmark::ClobberMemory();
             },
             0.0});
}
/// The same with the result as cotangent.
template <class F, class... A>
void run_back_own(Table& table, std::string const& name, F const& f, A const&... a) {
  if (!table.wants("back_" + name)) return;
  run_back(table, name, f, f(a...), a...);
}

// An operation on `v`, or on `v` and `w`.
#define SHARDTYPE_LOCAL_BACK(name, a, ...) \
  if (table.wants("back_" name))           \
  run_back(table, name, [](auto const& v) { return (__VA_ARGS__).tensor(); }, ct, a)
#define SHARDTYPE_LOCAL_BACK_TWO(name, a, b, ...) \
  if (table.wants("back_" name))                  \
  run_back(                                       \
      table, name, [](auto const& v, auto const& w) { return (__VA_ARGS__).tensor(); }, ct, a, b)

inline void run_back_functions(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                               std::int64_t columns) {
  auto const made = [&](std::uint64_t key) {
    return normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{key});
  };
  auto const between = [&](std::uint64_t key, float low, float high) {
    return uniform<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{key}, low, high);
  };
  M<float> const any = made(1);
  M<float> const other = made(2);
  M<float> const ct = made(3);
  M<float> const positive = between(4, 0.1F, 1.0F);
  M<float> const inside = between(5, -0.9F, 0.9F);
  SHARDTYPE_LOCAL_BACK("negate", any, -v);
  SHARDTYPE_LOCAL_BACK("sqrt", positive, sqrt(v));
  SHARDTYPE_LOCAL_BACK("rsqrt", positive, rsqrt(v));
  SHARDTYPE_LOCAL_BACK("exp", any, exp(v));
  SHARDTYPE_LOCAL_BACK("exp2", any, exp2(v));
  SHARDTYPE_LOCAL_BACK("expm1", any, expm1(v));
  SHARDTYPE_LOCAL_BACK("log", positive, log(v));
  SHARDTYPE_LOCAL_BACK("log1p", positive, log1p(v));
  SHARDTYPE_LOCAL_BACK("log2", positive, log2(v));
  SHARDTYPE_LOCAL_BACK("log10", positive, log10(v));
  SHARDTYPE_LOCAL_BACK("sin", any, sin(v));
  SHARDTYPE_LOCAL_BACK("cos", any, cos(v));
  SHARDTYPE_LOCAL_BACK("tan", any, tan(v));
  SHARDTYPE_LOCAL_BACK("asin", inside, asin(v));
  SHARDTYPE_LOCAL_BACK("acos", inside, acos(v));
  SHARDTYPE_LOCAL_BACK("atan", any, atan(v));
  SHARDTYPE_LOCAL_BACK("sinh", any, sinh(v));
  SHARDTYPE_LOCAL_BACK("cosh", any, cosh(v));
  SHARDTYPE_LOCAL_BACK("tanh", any, tanh(v));
  SHARDTYPE_LOCAL_BACK("cbrt", any, cbrt(v));
  SHARDTYPE_LOCAL_BACK("erf", any, erf(v));
  SHARDTYPE_LOCAL_BACK("erfc", any, erfc(v));
  SHARDTYPE_LOCAL_BACK("relu", any, relu(v));
  SHARDTYPE_LOCAL_BACK("sigmoid", any, sigmoid(v));
  SHARDTYPE_LOCAL_BACK("silu", any, silu(v));
  SHARDTYPE_LOCAL_BACK("softplus", any, softplus(v));
  SHARDTYPE_LOCAL_BACK("gelu", any, gelu(v));
  SHARDTYPE_LOCAL_BACK("gelu_tanh", any, gelu_tanh(v));
  SHARDTYPE_LOCAL_BACK("abs", any, abs(v));
  SHARDTYPE_LOCAL_BACK("square", any, square(v));
  SHARDTYPE_LOCAL_BACK("clip", any, clip(v, -1.0F, 1.0F));
  SHARDTYPE_LOCAL_BACK("pow_number", positive, pow(v, 2.5F));
  SHARDTYPE_LOCAL_BACK_TWO("pow", positive, other, pow(v, w));
  SHARDTYPE_LOCAL_BACK_TWO("atan2", any, other, atan2(v, w));
  SHARDTYPE_LOCAL_BACK_TWO("logaddexp", any, other, logaddexp(v, w));
  SHARDTYPE_LOCAL_BACK_TWO("max", any, other, max(v, w));
  SHARDTYPE_LOCAL_BACK_TWO("min", any, other, min(v, w));
  SHARDTYPE_LOCAL_BACK_TWO("add", any, other, v + w);
  SHARDTYPE_LOCAL_BACK_TWO("subtract", any, other, v - w);
  SHARDTYPE_LOCAL_BACK_TWO("multiply", any, other, v * w);
  SHARDTYPE_LOCAL_BACK_TWO("divide", any, positive, v / w);
  SHARDTYPE_LOCAL_BACK_TWO("remainder", any, positive, v % w);
  SHARDTYPE_LOCAL_BACK_TWO("where", any, other, where(v > w, v, w));
}

inline void run_back_rows(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                          std::int64_t columns) {
  M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{6});
  M<float> const near =
      uniform<float, Dim<I>, Dim<J>>(mesh, {rows, columns}, RandomKey{7}, 0.9F, 1.1F);
  auto const gain = uniform<float, Dim<J>>(mesh, {columns}, RandomKey{8});
  auto const bias = normal<float, Dim<J>>(mesh, {columns}, RandomKey{9});
  run_back_own(table, "softmax_J", [](auto const& v) { return softmax<J>(v); }, a);
  run_back_own(table, "log_softmax_J", [](auto const& v) { return log_softmax<J>(v); }, a);
  run_back_own(table, "logsumexp_J", [](auto const& v) { return logsumexp<J>(v); }, a);
  run_back_own(table, "var_J", [](auto const& v) { return var<J>(v); }, a);
  run_back_own(table, "norm", [](auto const& v) { return norm(v); }, a);
  run_back_own(table, "norm_1_J", [](auto const& v) { return norm_1<J>(v); }, a);
  run_back_own(table, "norm_inf_J", [](auto const& v) { return norm_inf<J>(v); }, a);
  run_back_own(table, "max_J", [](auto const& v) { return max<J>(v); }, a);
  run_back_own(table, "prod_J", [](auto const& v) { return prod<J>(v); }, near);
  run_back_own(table, "cumsum_J", [](auto const& v) { return cumsum<J>(v); }, a);
  run_back_own(table, "layer_norm", layer_norm, a, gain, bias);
  run_back_own(table, "rms_norm", rms_norm, a, gain);
}

/// Values and gradients beside values alone, of half as many rows.
inline void run_gradients(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                          std::int64_t columns) {
  M<float> const a = normal<float, Dim<I>, Dim<J>>(mesh, {rows / 2, columns}, RandomKey{10});
  auto const gain = uniform<float, Dim<J>>(mesh, {columns}, RandomKey{11});
  auto const bias = normal<float, Dim<J>>(mesh, {columns}, RandomKey{12});
  auto const beside = [&](std::string const& name, auto const& gradient, auto const& f,
                          auto const&... as) {
    table.run({"vg_" + name,
               [&] {
                 auto const both = gradient(as...);
                 benchmark::ClobberMemory();
               },
               [&] {
                 auto const value = f(as...);
                 benchmark::ClobberMemory();
               },
               0.0});
  };
  {
    auto const f = [](auto const& x) { return sum(gelu_tanh(x)); };
    beside("gelu_tanh", value_and_grad<0>(f), f, a);
  }
  {
    auto const f = [](auto const& x, auto const& g, auto const& b) {
      return sum(square(layer_norm(x, g, b)));
    };
    beside("layer_norm", value_and_grad<0, 1, 2>(f), f, a, gain, bias);
  }
  std::int64_t const features = columns / 8;
  std::int64_t const words = 2 * columns;
  auto const x = normal<float, Dim<I>, Dim<Feature>>(mesh, {rows / 2, features}, RandomKey{13});
  auto const w =
      uniform<float, Dim<Feature>, Dim<Word>>(mesh, {features, words}, RandomKey{14}, -0.1F, 0.1F);
  auto const labels =
      integers<std::int32_t, Dim<I>, Dim<Label>>(mesh, {rows / 2, 1}, RandomKey{15}, 0, words);
  beside("cross_entropy", value_and_grad<0, 1>(cross_entropy), cross_entropy, w, x, labels);
}

inline void run_backward(Table& table, Mesh<X> const& mesh, std::int64_t rows,
                         std::int64_t columns) {
  if (table.wants_any("back_")) {
    run_back_functions(table, mesh, rows, columns);
    run_back_rows(table, mesh, rows, columns);
  }
  if (table.wants_any("vg_")) run_gradients(table, mesh, rows, columns);
}

#undef SHARDTYPE_LOCAL_BACK
#undef SHARDTYPE_LOCAL_BACK_TWO

}  // namespace local
