// The calls of the tables in docs/from_jax.md, docs/from_numpy.md and docs/from_mpi.md: each stands
// in one of these functions (scripts/snippets.py), which both compilers accept
// (tests/structure/beside_others.py). They are not run.
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <shardtype/checkpoint/checkpoint.hpp>
#include <shardtype/fft/fft.hpp>
#include <shardtype/from_jax.hpp>
#include <shardtype/nn/attention.hpp>
#include <shardtype/nn/conv.hpp>
#include <shardtype/nn/pool.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>
#include <shardtype/visualize/png.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct P : Axis<"P"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct N : Index<"N"> {};
struct I1 : Index<"I1"> {};
struct I2 : Index<"I2"> {};
struct Part : Index<"Part"> {};
struct V : Index<"V"> {};

// What a program would do with a value: nothing here.
template <class... A>
void use(A const&...) {}

struct Values {
  Mesh<X, Y> mesh;
  Tensor<float, Dim<I, X>, Dim<J>> a, same;
  Tensor<float, Dim<J>, Dim<K>> b;
  Tensor<float, Dim<I, X>> u;
  Tensor<float, Dim<J>> v;
  Tensor<float, Dim<V>, Dim<J>> table;
  Tensor<std::int64_t, Dim<N, X>> ids;
  Tensor<float, Dim<N, X>, Dim<J>> updates;
  Tensor<bool, Dim<I, X>, Dim<J>> p;
  Tensor<float> s;
  Tensor<float, Dim<J>, Unreduced<X>> summands;
  Tensor<float, Dim<I>, Dim<J>> whole;
  RandomKey key;
};

[[maybe_unused]] void numpy(Values const& in) {
  auto const& [mesh, a, same, b, u, v, table, ids, updates, p, s, summands, whole, key] = in;
  use(zeros<float, Dim<I, X>, Dim<J>>(mesh, {8, 12}));
  use(full<float, Dim<I, X>, Dim<J>>(mesh, {8, 12}, 2.0F));
  auto const f = [](std::int64_t i, std::int64_t j) { return static_cast<float>(i + j); };
  use(from_function<float, Dim<I, X>, Dim<J>>(mesh, {8, 12}, f));
  use(arange<std::int64_t, Dim<I, X>>(mesh, 8));
  use(eye<float, Dim<I, X>, Dim<J>>(mesh, {8, 12}));
  use(load_npy<float, Dim<I, X>, Dim<J>>(mesh, "a.npy"));
  save_npy(a, "a.npy");
  save_png(a, "a.png");
  use(normal<float, Dim<I, X>>(mesh, {8}, RandomKey{7}));
  use(exponential<float, Dim<I, X>>(mesh, {8}, key), gumbel<float, Dim<I, X>>(mesh, {8}, key));
  use(gamma<float, Dim<I, X>>(mesh, {8}, key, 2.5));
  use(choice<std::int64_t, Dim<N, X>>(mesh, {8}, key, 100));
  use(a.extents(), a.extent<I>());
  use(cast<double>(a));
  use(hypot(a, same), nan_to_num(a));
  use(ids & 1, ids << 2, p ^ !p);
  use(exp(a) + a * a);
  auto const b2 = relabel<J, I, K, N>(b);
  use(einsum<I, J>(u, v), outer(u, v));
  use(kron<I1, I2>(b, b2));
  use(meshgrid(u, v));
  use(diag<I, K>(u), trace<I, J, Tensor<float>>(a));
  use(map<Dim<I, X>, Dim<J>>(functions::Add{}, u, v));
  use(a - mean<J>(a));
  use(sum<I>(a), sum<Dim<J>>(a));
  use(sum<J>(where(p, a, 0.0F)), max<J>(where(p, a, -1.0F)));
  use(nansum<J>(a), nanmean<J>(a));
  use(sum<J>(a, where(a > 0.0F)));
  use(item(sum<Tensor<float>>(a)));
  use(max(a), argmax<J>(a));
  use(matmul(a, b));
  use(matmul(a, relabel<I, K>(reshard<Dim<I>, Dim<J>>(a))));
  use(einsum<I, K>(a, b));
  use(transpose<J, I>(a));
  use(split_dim<I, I1, I2>(a, {2, 4}), reshape<I1, I2>(a, {4, 24}));
  use(expand<K>(a), squeeze<K>(expand<K>(a)));
  use(at<I, Dim<J>>(a, 3), at<J>(a, 3));
  use(slice<J, Part>(a, 2, 5), slice<I, Part, Dim<Part>, Dim<J, X>>(a, 2, 5));
  use(take<V>(table, ids));
  use(scatter_set<V, Dim<V>, Dim<J>>(table, updates, ids));
  auto const order = argsort<I, Dim<I, X>>(u);
  use(take<I, Dim<I, X>, Dim<J>>(a, order));
  use(concat<J, K>(a, a));
  auto const counts = argsort<J>(v);
  use(repeat<J, Part>(a, counts, 100));
  use(compress<J, Part>(a, v > 0.0F, 8));
  use(stack<K>(a, same));
  use(where(p, a, same));
  use(sort<J>(a, op::Order::descending));
  use(sort<I, Dim<I, X>, Dim<J>>(a), argsort<I, Dim<I, X>, Dim<J>>(a));
  use(quantile<I, Dim<J>>(a, 0.9), median<J>(a));
  use(bincount<V>(ids, 10), bincount<V, Dim<V>>(ids, 10));
  use(histogram<V, Dim<V>>(a, 10, 0.0, 1.0));
  use(searchsorted<J>(v, u));
  use(unique<I, K, Dim<K, X>>(u, 8, 0).values);
  use(searchsorted<K>(unique<J, K>(v, 12, HUGE_VAL).values, v));
  use(shift<I>(a, 1, op::Edge::wrap));
  use(allclose(a, same));
  use(fft<J>(cast<Kokkos::complex<float>>(a)));
  print(a);
  auto const block = a.local();
  float most = 0;
  for (std::int64_t i = 0; i < a.local_extent<I>(); ++i) most = std::max(most, block(i, 0));
  use(most);
  if (item(any<Tensor<bool>>(p))) use(p);
  auto c = a.clone();
  c += 1.0F;
}

[[maybe_unused]] void jax_names(Values const& in, std::vector<float> const& host) {
  auto const& [mesh, a, same, b, u, v, table, ids, updates, p, s, summands, whole, key] = in;
  use(from_host<float, Dim<I, X>, Dim<J>>(mesh, {8, 12}, host));
  use(type_name(a));
  visualize(a);
  use(reshard<Dim<I>, Dim<J, X>>(a));
  use(to_memory<Kokkos::HostSpace>(a));
  use(item(s));
  use(matmul<Dim<I, X>, Dim<K, Y>>(a, b));
  auto const b2 = relabel<J, I, K, N>(b);
  use(outer(u, v), kron<I1, I2>(b, b2));
  use(diag<I, K>(u), trace<I, J, Tensor<float>>(a));
  auto const order = argsort<I, Dim<I, X>>(u);
  use(take<I, Dim<I, X>, Dim<J>>(a, order));
  use(scatter_add<V>(updates, ids, 100));
  use(scatter_max<V, Dim<V>>(updates, ids, 100), scatter_min<V, Dim<V>>(updates, ids, 100));
  use(scatter_set<V, Dim<V>, Dim<J>>(table, updates, ids));
  auto const counts = argsort<J>(v);
  use(repeat<J, Part>(a, counts, 100));
  use(compress<J, Part>(a, v > 0.0F, 8));
  use(gelu_tanh(a));
  use(elu(a), leaky_relu(a));
  use(lgamma(a), digamma(a), erfinv(a));
  use(softmax<J>(a), softmax<I, Dim<I, X>, Dim<J>>(a));
  use(sort<I, Dim<I, X>, Dim<J>>(a), argsort<I, Dim<I, X>, Dim<J>>(a));
  use(categorical<J>(a, RandomKey{7}));
  use(top_k<I, K, Dim<K>, Dim<J>>(a, 3));
  use(quantile<I, Dim<J>>(a, 0.9), median<J>(a));
  use(bincount<V, Dim<V>>(ids, 10));
  use(histogram<V, Dim<V>>(a, 10, 0.0, 1.0));
  use(searchsorted<J>(v, u));
  use(unique<I, K, Dim<K, X>>(u, 8, 0).values);
  use(searchsorted<K>(unique<J, K>(v, 12, HUGE_VAL).values, v));
  use(nn::conv<nn::Window<I, K, nn::same>>(a, b));
  use(nn::max_pool<nn::Pool<I, 2>, nn::Pool<J, 2>>(a));
  use(evaluate<Dim<I, X>, Dim<K>>(mesh, [](auto x, auto w) { return exp(x * w); }, a, b));
  use(evaluate<Dim<I, X>, Dim<K>>(mesh, exp(constrain<Dim<I, X, Y>, Dim<K>>(lazy(a) * b))));
  use(shard_map<Dim<J>>([](auto block) { return all_reduce<X>(sum<I>(block)); }, a));
  use(shard_map<Dim<J>>(manual_axes<X>, [](auto part) { return all_reduce<X>(sum<I>(part)); }, a));
  use(shard_map<Dim<J>>([](auto block) { return jax::psum<X>(sum<I>(block)); }, a));
  use(shard_map<Dim<I>, Dim<J>>([](auto block) { return all_gather<X, I>(block); }, a));
  use(shard_map<Dim<J, X>>([](auto block) { return reduce_scatter<X, J>(sum<I>(block)); }, a));
  use(shard_map<Dim<I, X>, Dim<J>>([](auto block) { return rotate<X>(block, 1); }, a));
  use(shard_map<Dim<I, X>, Dim<J>>([](auto block) { return permute<X>(block, {{0, 1}}); }, a));
  auto const loss = [](auto const& w, auto const& x) {
    return sum<Tensor<float>>(square(x * used_as<Dim<J>, Reduced<X>>(w)));
  };
  use(value_and_grad<0>(loss)(v, a), grad<0>(loss)(v, a));
  auto const squares = [](auto const& w, auto const& x) { return sum(square(x * w)); };
  use(evaluate(mesh, value_and_grad<0, 1>(squares), v, a));
  use(grad<0>([&](auto const& w) { return remat(loss)(w, stop_gradient(a)); })(v));
  train::AdamW const adam{{.rate = 1e-3}};
  use(adam);
  auto model = std::tuple(v.clone());
  auto state = adam.init(model);
  checkpoint::save("run", 1, model, state);
  checkpoint::load("run", model, state);
  use(plan(op::Matmul<Dim<I, X>, Dim<K, Y>>{}, a, b));
  use(explain(op::Matmul<Dim<I, X>, Dim<K, Y>>{}, a, b));
}

[[maybe_unused]] void jax_attention(Tensor<float, Dim<I, X>, Dim<J>, Dim<K>, Dim<V>> const& q,
                                    Tensor<float, Dim<I, X>, Dim<J>, Dim<K>, Dim<V>> const& k,
                                    Tensor<float, Dim<I, X>, Dim<J>, Dim<K>, Dim<V>> const& v) {
  use(nn::attention(q, k, v, {.causal = true, .window = 256}));
}

[[maybe_unused]] void mpi(int argc, char** argv, Values const& in) {
  auto const& [mesh, a, same, b, u, v, table, ids, updates, p, s, summands, whole, key] = in;
  Environment const env(argc, argv);
  use(env.rank(), env.size());
  Mesh<X, Y> const made(env.world());
  Mesh<P> const one(env.world(), {1});
  use(made.coordinate<X>(), made.size_of<X>());
  use(a.local_extent<I>(), a.global_index<I>(0));
  use(reshard<Dim<I, X>, Dim<J>>(whole));
  use(all_gather<X>(a));
  use(transfer<Dim<I>, Dim<J>>(a, one));
  use(all_reduce<X>(summands));
  use(reduce_scatter<X, J>(summands));
  use(all_to_all<X, I, J>(a));
  use(cumsum<I>(a));
  use(halo_exchange<I>(a, 1, 1));
  use(shard_map<Dim<I>, Dim<J>>([](auto block) { return broadcast_from<X>(block, 0); }, a));
  auto pending = start(op::AllGather<X>{}, a);
  use(std::move(pending).wait());
  use(matmul<Dim<I, X>, Dim<K>>(a, b, Overlap::shared));
}

}  // namespace
