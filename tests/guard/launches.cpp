// The launches of some operations and kernels on n x n floats, one rank: operation, label, functor,
// how often, parallel length, the most MiB of device memory that one touches, and "few" where these
// are more than 2^20 elements and the length is below 65,536. Fails if there is another "few" than
// those of `is_known`, or if partial results are joined that are more than 2^16.
//
// usage: guard_launches [n [PART]]     4096 without n; PART: only operations with it in their name
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <shardtype/kernels/convert.hpp>
#include <shardtype/kernels/pitched.hpp>
#include <shardtype/kernels/segments.hpp>
#include <shardtype/kernels/sum_parts.hpp>
#include <shardtype/kernels/unpack.hpp>
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

#include "guard/launch_table.hpp"

using namespace shardtype;
using launches::of;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct S : Index<"S"> {};
struct T : Index<"T"> {};
struct H : Index<"H"> {};
struct D : Index<"D"> {};
struct E : Index<"E"> {};
struct F : Index<"F"> {};
struct V : Index<"V"> {};

/// A mixture of experts, of n tokens.
template <class M>
auto experts(M const& mesh, std::int64_t n) {
  auto const x = full<float, Dim<S>, Dim<D>>(mesh, {n, n / 4}, 1.0F);
  nn::Routes const routes{zeros<std::int64_t, Dim<S>, Dim<K>>(mesh, {n, 2}),
                          full<float, Dim<S>, Dim<K>>(mesh, {n, 2}, 0.5F)};
  auto const in = full<float, Dim<E>, Dim<D>, Dim<F>>(mesh, {8, n / 4, 8}, 0.1F);
  auto const out = full<float, Dim<E>, Dim<F>, Dim<D>>(mesh, {8, 8, n / 4}, 0.1F);
  return grad(
      [&](auto const& v) { return sum(nn::moe(v, routes, in, out, nn::Ragged{}, nn::Silu{})); })(x);
}

/// Kernels that move the blocks of collectives.
template <class A>
void kernels_of(A const& a, std::int64_t n) {
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec;
  auto const* const from = static_cast<float const*>(a.buffer().data());
  A const made = a.clone();
  auto* const to = static_cast<float*>(made.buffer().data());
  auto const done = [&] {
    exec.fence();
    return 0;
  };
  runtime::Buffer const begin = a.mesh().state().pool().template take<Exec::memory_space>(64);
  std::int64_t const of_messages[] = {0, n / 2, n};
  runtime::copy_bytes<Exec::memory_space, Kokkos::HostSpace>(begin.data(), of_messages,
                                                             sizeof of_messages);
  auto const* const segments = static_cast<std::int64_t const*>(begin.data());
  of("pack, outer dim", [&] {
    kernels::move_segments<kernels::Packing::split>(exec, from, to, segments, 2, 1, n, n);
    return done();
  });
  of("pack, inner dim", [&] {
    kernels::move_segments<kernels::Packing::join>(exec, from, to, segments, 2, n, n, 1);
    return done();
  });
  of("unpack", [&] {
    kernels::Layout rows;
    rows.rank = 2;
    rows.extent[0] = rows.extent[1] = n;
    kernels::copy_unpacked(exec, from, rows.packed(), to);
    return done();
  });
  of("add_pitched", [&] {
    kernels::add_pitched(exec, from, n, to, n, n, n);
    return done();
  });
  of("sum of parts", [&] {
    kernels::sum_parts(exec, from, n * n / 2, 2, 1, n * n / 2, n * n / 2, to);
    return done();
  });
  of("convert", [&] {
    kernels::convert(exec, 1, kernels::Matrix<float const>{from, n, n, n, 1, n * n},
                     kernels::Matrix<float>{to, n, n, n, 1, n * n});
    return done();
  });
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {1});
  std::int64_t const n = argc > 1 ? std::atoll(argv[1]) : 4096;
  launches::bound = launches::Bound::of(n * n);
  if (argc > 2) launches::part = argv[2];
  auto const a = full<float, Dim<I>, Dim<J>>(mesh, {n, n}, 1.0F);
  auto const b = full<float, Dim<J>, Dim<K>>(mesh, {n, n / 32}, 1.0F);
  auto const all = full<float, Dim<I>>(mesh, {n * n}, 1.0F);
  auto const gain = full<float, Dim<J>>(mesh, {n}, 1.0F);
  auto const ids = zeros<std::int64_t, Dim<S>>(mesh, {n});
  auto const along = zeros<std::int64_t, Dim<I>, Dim<J>>(mesh, {n, n});
  std::printf("%-22s %-24s %-18s %6s %10s %8s\n", "operation", "label", "functor", "times",
              "length", "MiB");
  of("a * 3 + a", [&] { return (a * 3.0F + a).tensor(); });
  of("slice, outer dim", [&] { return slice<I, K>(a, 0, n / 2); });
  of("slice, inner dim", [&] { return slice<J, K>(a, 0, n / 2); });
  of("transpose", [&] { return (transpose<J, I>(a) + 0.0F).tensor(); });
  of("sum", [&] { return sum(a); });
  of("sum of rows", [&] { return sum<J>(a); });
  of("sum of columns", [&] { return sum<I>(a); });
  of("argmax of rows", [&] { return argmax<J>(a); });
  of("var of rows", [&] { return var<J>(a); });
  of("softmax of rows", [&] { return softmax<J>(a); });
  of("cumsum of rows", [&] { return cumsum<J>(a); });
  of("cumsum, 1-D", [&] { return cumsum<I>(all); });
  of("cummax gradient, 1-D",
     [&] { return grad([](auto const& v) { return sum(cummax<I>(v)); })(all); });
  of("sort of rows", [&] { return sort<J>(a); });
  of("top_k of rows", [&] { return top_k<J, K>(a, 8); });
  of("take rows", [&] { return take<I>(a, ids); });
  of("scatter_add rows", [&] { return scatter_add<K>(relabel<I, S>(a), ids, n); });
  of("take_along", [&] { return take_along<J>(a, along); });
  of("rms_norm of rows", [&] { return nn::rms_norm<J>(a, gain); });
  of("gradient of its gain",
     [&] { return grad([&](auto const& g) { return sum(nn::rms_norm<J>(a, g)); })(gain); });
  of("layer_norm of rows", [&] { return nn::layer_norm<J>(a, gain, gain); });
  of("its gradient",
     [&] { return grad([&](auto const& x) { return sum(nn::layer_norm<J>(x, gain, gain)); })(a); });
  of("cumsum, exclusive", [&] { return cumsum<I>(all, op::Cumulate::exclusive); });
  of("scatter_along", [&] { return scatter_along<J>(a, along, n); });
  of("concat", [&] { return concat<J>(a, a); });
  kernels_of(a, n);
  of("matmul", [&] { return matmul(a, b); });
  of("cast to bfloat16", [&] { return cast<bfloat16>(a).tensor(); });
  auto const attention = [&](std::int64_t heads) {
    auto const q = zeros<float, Dim<I>, Dim<S>, Dim<H>, Dim<D>>(mesh, {1, n / 4, heads, 64});
    auto const k = zeros<float, Dim<I>, Dim<T>, Dim<H>, Dim<D>>(mesh, {1, n / 4, heads, 64});
    return nn::attention(q, k, k);
  };
  // with one that fills each operand
  of("attention, n / 4 x 64", [&] { return attention(1); }, 3);
  of("4 heads", [&] { return attention(4); }, 3);
  // elementwise and made
  of("random numbers", [&] { return normal<float, Dim<I>, Dim<J>>(mesh, {n, n}, RandomKey{1}); });
  of("tril", [&] { return tril<I, J>(a); });
  of("flip", [&] { return flip<J>(a); });
  of("repeat", [&] { return repeat<J, K>(a, 2); });
  of("one_hot", [&] { return one_hot<J>(ids, n); });
  // reductions
  of("prod of columns", [&] { return prod<I>(a); });
  of("logsumexp of columns", [&] { return logsumexp<I>(a); });
  of("var of columns", [&] { return var<I>(a); });
  of("reproducible sum", [&] { return sum<Tensor<float>>(a, reproducible); });
  of("softmax of columns", [&] { return softmax<I>(a); });
  of("softmax's gradient",
     [&] { return grad([](auto const& v) { return sum(square(softmax<J>(v))); })(a); });
  of("max's gradient", [&] { return grad([](auto const& v) { return sum(max<J>(v)); })(a); });
  of("bincount", [&] { return bincount<V>(along, 1000); });
  of("searchsorted", [&] { return searchsorted<K>(relabel<J, K>(gain), a); });
  of("median of rows", [&] { return median<J>(a); });
  of("sort, 1-D", [&] { return sort<I>(all); });
  of("top_k, 1-D", [&] { return top_k<I, K>(all, 8); });
  // running values
  of("cumsum of columns", [&] { return cumsum<I>(a); });
  of("cumsum of bfloat16", [&] { return cumsum<J>(cast<bfloat16>(a).tensor()); });
  auto const quarter = full<float, Dim<I>, Dim<J>>(mesh, {n / 4, n}, 1.0F);
  auto const long_one = full<float, Dim<I>>(mesh, {n * n / 4}, 1.0F);
  of("cumprod's gradient",
     [&] { return grad([](auto const& v) { return sum(cumprod<J>(v)); })(quarter); });
  of("the same, 1-D",
     [&] { return grad([](auto const& v) { return sum(cumprod<I>(v)); })(long_one); });
  // products
  of("matrix x vector", [&] { return matmul(a, gain); });
  of("matrix x 4 columns",
     [&] { return matmul(a, full<float, Dim<J>, Dim<K>>(mesh, {n, 4}, 1.0F)); });
  of("bfloat16 product",
     [&] { return matmul(cast<bfloat16>(a).tensor(), cast<bfloat16>(b).tensor()); });
  // layers
  auto const targets = zeros<std::int64_t, Dim<I>>(mesh, {n});
  of("cross_entropy", [&] { return nn::cross_entropy<J>(a, targets); });
  of("its gradient, n x n",
     [&] { return grad([&](auto const& v) { return sum(nn::cross_entropy<J>(v, targets)); })(a); });
  of("rotary", [&] { return nn::rotary<I, J>(a); });
  of("causal_mask", [&] { return nn::causal_mask<I, J>(a); });
  of("dropout", [&] { return nn::dropout(a, RandomKey{1}, 0.25); });
  of("max_pool", [&] { return nn::max_pool<nn::Pool<I, 2>, nn::Pool<J, 2>>(a); });
  of("its gradient, 2 x 2", [&] {
    return grad([](auto const& v) { return sum(nn::max_pool<nn::Pool<I, 2>, nn::Pool<J, 2>>(v)); })(
        a);
  });
  of(
      "attention's gradient",
      [&] {
        auto const q = zeros<float, Dim<I>, Dim<S>, Dim<H>, Dim<D>>(mesh, {1, n / 8, 8, 64});
        auto const k = zeros<float, Dim<I>, Dim<T>, Dim<H>, Dim<D>>(mesh, {1, n / 8, 8, 64});
        return grad([&](auto const& v) { return sum(nn::attention(v, k, k)); })(q);
      },
      13);
  of("experts", [&] { return experts(mesh, n); });
  of("AdamW", [&] {
    train::AdamW const adam{{.clip = 1}};
    auto w = a.clone();
    auto state = adam.init(w);
    adam.update(w, a, state);
    return 0;
  });
  return launches::failed ? 1 : 0;
}
