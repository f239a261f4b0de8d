// Forward and backward pass of a two-layer MLP, data parallel and Megatron, against the same sgemm_
// calls, elementwise loops and MPI calls written by hand, alternating. The hand-written program
// uses buffers that are allocated once, works in place where it can, and knows that no gradient of
// the input is wanted.
//
// Floor, for a batch of 2048, 512 inputs, 1024 hidden, 512 outputs in float32: five products of 2.1
// GFLOP, 10.7 GFLOP over all ranks, which is 78 ms on one core and 39 ms on two at OpenBLAS's 137
// GF/s per core (AVX2), half of it at 260 GF/s (AVX-512). Beside them, tanh and its derivative read
// and write 42 MB, the loss and its derivative 17 MB: 6 ms at 10 GB/s for one rank. Data parallel
// reduces gradients of 4.2 MB, Megatron sums of 4.2 MB: a millisecond in shared memory.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "yield.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_training_step [--batch=2048] [--inputs=512] [--hidden=1024] [--outputs=512]\n"
    "                    [--rounds=41] [--benchmark_filter=CASE]\n"
    "Loss and gradients of a two-layer MLP in float32 on all ranks, ours against sgemm_, loops "
    "and\n"
    "MPI calls written by hand. Last lines: ratio training_step CASE RANKS MEDIAN Q1 Q3, ours "
    "over\n"
    "the rival in time, where Q1 and Q3 are the quartiles of the ratios of one round; before "
    "them,\n"
    "as itself, the rival over itself, and value training_step CASE RANKS ours_ms (by_hand_ms) "
    "MS.\n";

struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct J : Index<"J"> {};
template <class... Parts>
using T = Tensor<float, Parts...>;
using Pair = std::pair<std::function<void()>, std::function<void()>>;

struct Sizes {
  std::int64_t b, d, h, j;
};

struct DataParallel {
  using W1 = T<Dim<D>, Dim<H>>;
  using W2 = T<Dim<H>, Dim<J>>;
  using In = T<Dim<B, X>, Dim<D>>;
  using Target = T<Dim<B, X>, Dim<J>>;
  template <class A, class E, class M, class Y>
  constexpr auto operator()(A const& w1, E const& w2, M const& x, Y const& y) const {
    auto const hidden = tanh(matmul(x, used_as<Reduced<X>>(w1)));
    auto const out = matmul(hidden, used_as<Reduced<X>>(w2));
    return all_reduce<X>(sum(square(out - y)));
  }
};
struct Megatron {
  using W1 = T<Dim<D>, Dim<H, X>>;
  using W2 = T<Dim<H, X>, Dim<J>>;
  using In = T<Dim<B>, Dim<D>>;
  using Target = T<Dim<B>, Dim<J>>;
  template <class A, class E, class M, class Y>
  constexpr auto operator()(A const& w1, E const& w2, M const& x, Y const& y) const {
    auto const hidden = tanh(matmul(used_as<Reduced<X>>(x), w1));
    auto const out = all_reduce<X>(matmul(hidden, w2));
    return sum(square(out - y));
  }
};

// Elements of a tensor, by position.
auto wave(double speed, double height) {
  return [=](std::int64_t i, std::int64_t k) {
    return static_cast<float>(height *
                              std::sin(speed * static_cast<double>(i * 31 + k * 7 + i * k % 13)));
  };
}

/// C (m x n) = A B, row-major; A is stored as its transpose if `ta`, B if `tb`.
void product(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, float const* a,
             float const* b, float* c) {
  auto const rows = static_cast<std::int32_t>(m);
  auto const cols = static_cast<std::int32_t>(n);
  auto const inner = static_cast<std::int32_t>(k);
  float const one = 1;
  float const zero = 0;
  std::int32_t const lda = ta ? rows : inner;
  std::int32_t const ldb = tb ? inner : cols;
  shardtype::kernels::detail::sgemm_(tb ? "T" : "N", ta ? "T" : "N", &cols, &rows, &inner, &one, b,
                                     &ldb, a, &lda, &zero, c, &cols);
}
/// h = tanh(h), by the C library's vector function where our kernels use it.
void apply_tanh(float* __restrict h, std::int64_t n) {
  std::int64_t k = 0;
  using Library = kernels::vectors::Library<functions::Tanh, float>;
  if constexpr (Library::has) {
    using V = kernels::detail::vector_of<float>;
    constexpr auto lanes = static_cast<std::int64_t>(sizeof(V) / sizeof(float));
    for (; k + lanes <= n; k += lanes) {
      V v;
      std::memcpy(&v, h + k, sizeof v);
      v = Library::call(v);
      std::memcpy(h + k, &v, sizeof v);
    }
  }
  for (; k < n; ++k) h[k] = std::tanh(h[k]);
}
/// p = 2 (p - y); returns the sum of (p - y)^2.
float square_off(float* __restrict p, float const* __restrict y, std::int64_t n) {
  float lanes[32] = {};
  std::int64_t k = 0;
  for (; k + 32 <= n; k += 32)
    for (int l = 0; l < 32; ++l) {
      float const off = p[k + l] - y[k + l];
      lanes[l] += off * off;
      p[k + l] = 2 * off;
    }
  float sum = 0;
  for (float const l : lanes) sum += l;
  for (; k < n; ++k) {
    float const off = p[k] - y[k];
    sum += off * off;
    p[k] = 2 * off;
  }
  return sum;
}
/// g = g (1 - h^2).
void through_tanh(float* __restrict g, float const* __restrict h, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) g[k] *= 1 - h[k] * h[k];
}
void reduce(float* x, std::int64_t n) {
  MPI_Allreduce(MPI_IN_PLACE, x, static_cast<int>(n), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/// The hand-written step on the blocks of the tensors that it is made with.
class ByHand {
 public:
  template <class P>
  ByHand(P const&, typename P::W1 const& w1, typename P::W2 const& w2, typename P::In const& x,
         typename P::Target const& y)
      : data_parallel_(std::is_same_v<P, DataParallel>),
        b_(x.template local_extent<B>()),
        d_(x.template local_extent<D>()),
        h_(w1.template local_extent<H>()),
        j_(y.template local_extent<J>()),
        x_(x.local().data()),
        y_(y.local().data()),
        w1_(w1.local().data()),
        w2_(w2.local().data()),
        hidden_(b_ * h_),
        out_(b_ * j_),
        to_hidden_(b_ * h_),
        to_w1_(d_ * h_),
        to_w2_(h_ * j_) {}

  void operator()() {
    product(false, false, b_, h_, d_, x_, w1_, hidden_.data());
    apply_tanh(hidden_.data(), b_ * h_);
    product(false, false, b_, j_, h_, hidden_.data(), w2_, out_.data());
    if (!data_parallel_) reduce(out_.data(), b_ * j_);
    loss_ = square_off(out_.data(), y_, b_ * j_);
    if (data_parallel_) reduce(&loss_, 1);
    product(true, false, h_, j_, b_, hidden_.data(), out_.data(), to_w2_.data());
    if (data_parallel_) reduce(to_w2_.data(), h_ * j_);
    product(false, true, b_, h_, j_, out_.data(), w2_, to_hidden_.data());
    through_tanh(to_hidden_.data(), hidden_.data(), b_ * h_);
    product(true, false, d_, h_, b_, x_, to_hidden_.data(), to_w1_.data());
    if (data_parallel_) reduce(to_w1_.data(), d_ * h_);
  }

  float loss() const { return loss_; }
  HostArray<float> const& to_w1() const { return to_w1_; }
  HostArray<float> const& to_w2() const { return to_w2_; }

 private:
  bool data_parallel_;
  std::int64_t b_, d_, h_, j_;
  float const *x_, *y_, *w1_, *w2_;
  HostArray<float> hidden_, out_, to_hidden_, to_w1_, to_w2_;
  float loss_ = 0;
};

/// Ends the job unless the two programs' numbers agree.
void compare(char const* what, float const* ours, float const* rival, std::size_t n) {
  float most = 0, off = 0;
  for (std::size_t k = 0; k < n; ++k) {
    most = std::max(most, std::abs(rival[k]));
    off = std::max(off, std::abs(ours[k] - rival[k]));
  }
  if (!(off <= 1e-4F * most)) stop(std::string("the two programs differ in ") + what);
}

template <class P>
Pair contenders(Mesh<X> const& mesh, Sizes const& n) {
  using W1 = typename P::W1;
  using W2 = typename P::W2;
  using In = typename P::In;
  using Target = typename P::Target;
  struct Given {
    W1 w1;
    W2 w2;
    In x;
    Target y;
  };
  auto const g = std::make_shared<Given const>(
      Given{from_function<W1>(mesh, {n.d, n.h}, wave(1.13, 0.04)),
            from_function<W2>(mesh, {n.h, n.j}, wave(0.59, 0.03)),
            from_function<In>(mesh, {n.b, n.d}, wave(0.37, 1.0)),
            from_function<Target>(mesh, {n.b, n.j}, wave(0.71, 0.8))});
  auto const rival = std::make_shared<ByHand>(P{}, g->w1, g->w2, g->x, g->y);
  bool const share_cores = shardtype::runtime::run_time.yield_while_waiting;
  auto const run_rival = [rival, share_cores, g] {
    yield_in_mpi = share_cores;
    (*rival)();
    yield_in_mpi = false;
  };
  run_rival();
  auto const [loss, grads] = value_and_grad<0, 1>(P{})(g->w1, g->w2, g->x, g->y);
  auto const& [to_w1, to_w2] = grads;
  float const value = item(loss);
  float const by_hand = rival->loss();
  compare("the loss", &value, &by_hand, 1);
  compare("the gradient of w1", to_w1.local().data(), rival->to_w1().data(), rival->to_w1().size());
  compare("the gradient of w2", to_w2.local().data(), rival->to_w2().data(), rival->to_w2().size());
  return {[g] {
            benchmark::DoNotOptimize(
                value_and_grad<0, 1>(P{})(g->w1, g->w2, g->x, g->y).value.local_size());
          },
          run_rival};
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  Sizes const n{option(argc, argv, "batch", 2048), option(argc, argv, "inputs", 512),
                option(argc, argv, "hidden", 1024), option(argc, argv, "outputs", 512)};
  Mesh<X> const mesh(env.world(), {env.size()});
  Suite suite("training_step", option(argc, argv, "rounds", 41));
  suite.add("data_parallel", [&] { return contenders<DataParallel>(mesh, n); });
  suite.add("megatron", [&] { return contenders<Megatron>(mesh, n); });
  suite.run(argc, argv);
  if (env.rank() == 0)
    for (auto const& [what, times] : suite.results())
      if (!times.ours.empty())
        std::printf(
            "value training_step %s %d ours_ms %.2f\nvalue training_step %s %d by_hand_ms %.2f\n",
            what.c_str(), env.size(), 1e3 * median(times.ours), what.c_str(), env.size(),
            1e3 * median(times.rival));
  suite.print();
  return 0;
}
