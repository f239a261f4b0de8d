// NEEDS: full
// The communication of both passes, from types alone: data parallel, Megatron, FSDP, sequence
// parallel, two axes, loops.

#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct B : Index<"B"> {};
struct S : Index<"S"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct J : Index<"J"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
struct Wide : Axis<"Wide", 4> {};
struct Rows : Index<"Rows", 40> {};
struct Small : Index<"Small", 32> {};
struct Large : Index<"Large", 64> {};
struct Last : Index<"Last", 32> {};

// cotangents
static_assert(std::is_same_v<cotangent_t<T<Dim<B, X>, Dim<D>, Reduced<Y>>>,
                             T<Dim<B, X>, Dim<D>, Unreduced<Y>>>);
static_assert(std::is_same_v<cotangent_t<T<Dim<B>, Unreduced<X>, Reduced<Y>>>,
                             T<Dim<B>, Unreduced<Y>, Reduced<X>>>);
static_assert(std::is_same_v<cotangent_t<Local<float, Dim<B>, Varying<X>, Reduced<Y>>>,
                             Local<float, Dim<B>, Varying<X>, Unreduced<Y>>>);

constexpr Collective all_reduces = Collective::all_reduce;
constexpr Collective all_gathers = Collective::all_gather;
constexpr Collective reduce_scatters = Collective::reduce_scatter;

// data parallel: one AllReduce for the loss, one per parameter
using Xs = T<Dim<B, X>, Dim<D>>;
using Ys = T<Dim<B, X>, Dim<J>>;
using W1 = T<Dim<D>, Dim<H>>;
using W2 = T<Dim<H>, Dim<J>>;
inline constexpr auto data_parallel = [](auto w1, auto w2, auto x, auto y) {
  auto h = tanh(matmul(x, reduced<X>(w1)));
  auto p = matmul(h, reduced<X>(w2));
  return all_reduce<X>(sum(square(p - y)));
};
constexpr auto dp =
    plan(value_and_grad<0, 1>(data_parallel), type<W1>, type<W2>, type<Xs>, type<Ys>);
static_assert(dp.forward.count(all_reduces) == 1 && dp.forward.collectives() == 1);
static_assert(dp.backward.count(all_reduces) == 2 && dp.backward.collectives() == 2);

// Reduced weights: none
using W1R = T<Dim<D>, Dim<H>, Reduced<X>>;
using W2R = T<Dim<H>, Dim<J>, Reduced<X>>;
inline constexpr auto reduced_weights = [](auto w1, auto w2, auto x, auto y) {
  auto h = tanh(matmul(x, w1));
  return sum(square(matmul(h, w2) - y));
};
constexpr auto rw =
    plan(value_and_grad<0, 1>(reduced_weights), type<W1R>, type<W2R>, type<Xs>, type<Ys>);
static_assert(rw.collectives() == 0);

// microbatches: as many as one likes, one AllReduce per parameter
inline constexpr auto microbatches = [](auto w1, auto w2, auto xs, auto ys) {
  auto r1 = reduced<X>(w1);
  auto r2 = reduced<X>(w2);
  auto total = reduced_weights(r1, r2, xs[0], ys[0]);
  for (std::size_t k = 1; k < 4; ++k)
    total = (total + reduced_weights(r1, r2, xs[k], ys[k])).tensor();
  return all_reduce<X>(total);
};
constexpr auto micro = plan(value_and_grad<0, 1>(microbatches), type<W1>, type<W2>,
                            type<std::array<Xs, 4>>, type<std::array<Ys, 4>>);
static_assert(micro.forward.collectives() == 1 && micro.backward.count(all_reduces) == 2);
static_assert(micro.collectives() == 3);

// Megatron: one forward, one backward, the latter only if x's gradient is wanted
using Xr = T<Dim<B>, Dim<D>>;
using Yr = T<Dim<B>, Dim<J>>;
using W1C = T<Dim<D>, Dim<H, X>>;
using W2C = T<Dim<H, X>, Dim<J>>;
inline constexpr auto megatron = [](auto w1, auto w2, auto x, auto y) {
  auto h = tanh(matmul(reduced<X>(x), w1));
  auto p = all_reduce<X>(matmul(h, w2));
  return sum(square(p - y));
};
constexpr auto mg2 = plan(value_and_grad<0, 1>(megatron), type<W1C>, type<W2C>, type<Xr>, type<Yr>);
static_assert(mg2.forward.count(all_reduces) == 1 && mg2.backward.collectives() == 0);
constexpr auto mg3 =
    plan(value_and_grad<0, 1, 2>(megatron), type<W1C>, type<W2C>, type<Xr>, type<Yr>);
static_assert(mg3.forward.count(all_reduces) == 1 && mg3.backward.count(all_reduces) == 1);
static_assert(mg3.collectives() == 2);
inline constexpr auto megatron_named = [](auto w1, auto w2, auto x, auto y) {
  auto h = tanh(matmul(reduced<X>(x), w1));
  return sum(square(matmul<Dim<B>, Dim<J>>(h, w2) - y));
};
constexpr auto mgn =
    plan(value_and_grad<0, 1, 2>(megatron_named), type<W1C>, type<W2C>, type<Xr>, type<Yr>);
static_assert(mgn.backward.count(all_reduces) == 1 && mgn.backward.collectives() == 1);

// FSDP: one AllGather and one ReduceScatter per parameter, by a cast
using W1S = T<Dim<D, X>, Dim<H>>;
using W2S = T<Dim<H, X>, Dim<J>>;
inline constexpr auto fsdp = [](auto w1, auto w2, auto x, auto y) {
  auto h = tanh(matmul(x, reshard<Dim<D>, Dim<H>, Reduced<X>>(w1)));
  auto p = matmul(h, reshard<Dim<H>, Dim<J>, Reduced<X>>(w2));
  return sum(square(p - y));
};
constexpr auto fs = plan(value_and_grad<0, 1>(fsdp), type<W1S>, type<W2S>, type<Xs>, type<Ys>);
static_assert(fs.forward.count(all_gathers) == 2 && fs.forward.collectives() == 2);
static_assert(fs.backward.count(reduce_scatters) == 2 && fs.backward.collectives() == 2);
// the same movements, started in the backward pass: what is under way is held until its end
constexpr auto sized_plan = [](auto f, auto... options) {
  return plan(value_and_grad<0, 1>(f, options...), type<T<Dim<Small, Wide>, Dim<Large>>>,
              type<T<Dim<Large, Wide>, Dim<Last>>>, type<T<Dim<Rows, Wide>, Dim<Small>>>,
              type<T<Dim<Rows, Wide>, Dim<Last>>>);
};
inline constexpr auto sized_fsdp = [](auto w1, auto w2, auto x, auto y) {
  auto h = tanh(matmul(x, used_as<Reduced<Wide>>(w1)));
  return all_reduce<Wide>(sum(square(matmul(h, used_as<Reduced<Wide>>(w2)) - y)));
};
constexpr auto sz = sized_plan(sized_fsdp);
constexpr auto sz_late = sized_plan(sized_fsdp, overlap_grad_reduce);
static_assert(sz_late.forward.collectives() == sz.forward.collectives());
static_assert(sz_late.backward.count(reduce_scatters) == 2 && sz_late.backward.collectives() == 2);
static_assert(sz_late.bytes_per_rank() == sz.bytes_per_rank() && sz_late.flops() == sz.flops());
static_assert(sz_late.tape_bytes() == sz.tape_bytes());
// w2's operand f64[Large, Last]{U}, and three segments that arrive, beside what w1's product needs
static_assert(sz_late.peak_bytes() > sz.peak_bytes());
static_assert(sz_late.peak_bytes() <=
              sz.peak_bytes() + 8 * (64 * 32 + 16 * 32 * 3) + 8 * 8 * 64 * 3);
constexpr auto fs_late =
    plan(value_and_grad<0, 1>(fsdp, overlap_grad_reduce), type<W1S>, type<W2S>, type<Xs>, type<Ys>);
static_assert(fs_late.backward.count(reduce_scatters) == 2 && fs_late.collectives() == 4);

// the same source, with replicated and with Reduced weights
constexpr auto fs_i = plan(value_and_grad<0, 1>(fsdp), type<W1>, type<W2>, type<Xs>, type<Ys>);
static_assert(fs_i.forward.collectives() == 0 && fs_i.backward.count(all_reduces) == 2);
constexpr auto fs_r = plan(value_and_grad<0, 1>(fsdp), type<W1R>, type<W2R>, type<Xs>, type<Ys>);
static_assert(fs_r.collectives() == 0);
// by a named product, whose strict form is refused
inline constexpr auto fsdp_named = [](auto w, auto x) {
  return sum(square(matmul<Dim<B, X>, Dim<H>>(x, w)));
};
constexpr auto fsn = plan(value_and_grad<0>(fsdp_named), type<W1S>, type<Xs>);
static_assert(fsn.forward.count(all_gathers) == 1 && fsn.backward.count(reduce_scatters) == 1);
static_assert(fsn.collectives() == 2);
constexpr auto fsn2 = plan(value_and_grad<0, 1>(fsdp_named), type<W1S>, type<Xs>);
static_assert(fsn2.backward.count(all_gathers) == 1);  // w again, for x

// with remat (ZeRO-3): each layer's weights are gathered again
inline constexpr auto zero3 = [](auto w1, auto w2, auto x, auto y) {
  auto h = remat([](auto w, auto v) { return tanh(matmul(v, used_as<Reduced<X>>(w))); })(w1, x);
  auto p = remat([](auto w, auto v) { return matmul(v, used_as<Reduced<X>>(w)); })(w2, h);
  return sum(square(p - y));
};
constexpr auto z3 = plan(value_and_grad<0, 1>(zero3), type<W1S>, type<W2S>, type<Xs>, type<Ys>);
static_assert(z3.forward.count(all_gathers) == 2 && z3.forward.collectives() == 2);
static_assert(z3.backward.count(all_gathers) == 2 && z3.backward.count(reduce_scatters) == 2);
static_assert(z3.backward.collectives() == 4);

// a result that nothing reads is not computed again
inline constexpr auto unread = [](auto w1, auto w2, auto x, auto y) {
  static_cast<void>(
      remat([](auto w, auto v) { return tanh(matmul(v, used_as<Reduced<X>>(w))); })(w1, x));
  return zero3(w1, w2, x, y);
};
constexpr auto z3u = plan(value_and_grad<0, 1>(unread), type<W1S>, type<W2S>, type<Xs>, type<Ys>);
static_assert(z3u.forward.count(all_gathers) == 3 && z3u.backward.count(all_gathers) == 2);
static_assert(z3u.backward.collectives() == 4);

// a gradient by hand, and a pullback, communicate what they name
inline constexpr auto by_hand = custom_vjp(
    [](auto x, auto w) { return matmul(x, used_as<Reduced<X>>(w)); },
    [](auto x, auto w) { return std::pair(matmul(x, used_as<Reduced<X>>(w)), std::tuple(x, w)); },
    [](auto const& saved, auto ct) {
      auto const& [x, w] = saved;
      return std::tuple(no_gradient, all_reduce<X>(einsum<D, H>(x, ct)));
    });
inline constexpr auto with_hand = [](auto w, auto x) { return sum(square(by_hand(x, w))); };
constexpr auto bh = plan(value_and_grad<0>(with_hand), type<W1>, type<Xs>);
static_assert(bh.forward.collectives() == 0 && bh.backward.count(all_reduces) == 1);
inline constexpr auto unread_hand = [](auto w, auto x) {
  static_cast<void>(by_hand(x, w));
  return sum(square(by_hand(x, w)));
};
constexpr auto bhu = plan(value_and_grad<0>(unread_hand), type<W1>, type<Xs>);
static_assert(bhu.backward.count(all_reduces) == 1 && bhu.backward.collectives() == 1);
inline constexpr auto pulled_back = [](auto w, auto x) {
  auto [y, pullback] = vjp([=](auto v) { return matmul(x, reduced<X>(v)); }, w);
  return (pullback(y) + pullback(y)).tensor();
};
static_assert(plan(pulled_back, type<W1>, type<Xs>).count(all_reduces) == 2);

// sequence parallel: AllGather and ReduceScatter each way
using Xq = T<Dim<S, X>, Dim<D>>;
inline constexpr auto sequence = [](auto w1, auto w2, auto x) {
  auto h = tanh(matmul(reshard<Dim<S>, Dim<D>, Reduced<X>>(x), w1));
  return sum(square(reduce_scatter<X, S>(matmul(h, w2))));
};
constexpr auto sq = plan(value_and_grad<0, 1, 2>(sequence), type<W1C>, type<W2C>, type<Xq>);
static_assert(sq.forward.count(all_gathers) == 1 && sq.forward.count(reduce_scatters) == 1);
static_assert(sq.backward.count(all_gathers) == 1 && sq.backward.count(reduce_scatters) == 1);
static_assert(sq.collectives() == 4);

// data x tensor
using Wa = T<Dim<D>, Dim<H, Y>>;
using Wb = T<Dim<H, Y>, Dim<J>>;
inline constexpr auto two_axes = [](auto w1, auto w2, auto x) {
  auto h = tanh(matmul(reduced<Y>(x), reduced<X>(w1)));
  return sum(square(all_reduce<Y>(matmul(h, reduced<X>(w2)))));
};
constexpr auto xy = plan(value_and_grad<0, 1, 2>(two_axes), type<Wa>, type<Wb>, type<Xs>);
static_assert(xy.forward.count(all_reduces) == 1 && xy.backward.count(all_reduces) == 3);

// weight decay next to the cast weight
inline constexpr auto decay = [](auto w, auto x) {
  return all_reduce<X>(sum(square(matmul(x, reduced<X>(w))))) + sum(square(w));
};
constexpr auto wd = plan(value_and_grad<0>(decay), type<W1>, type<Xs>);
static_assert(wd.forward.collectives() == 1 && wd.backward.count(all_reduces) == 1);

// layer norm along a dim that is not split: its scale needs one AllReduce, backward
inline constexpr auto layer_norm = [](auto g, auto x) {
  auto c = (x - mean<D>(x)).tensor();
  auto v = mean<D>(square(c)) + 1e-5;
  return sum(square(c * rsqrt(v) * reduced<X>(g)));
};
constexpr auto ln = plan(value_and_grad<0, 1>(layer_norm), type<T<Dim<D>>>, type<Xs>);
static_assert(ln.forward.collectives() == 0 && ln.backward.count(all_reduces) == 1);

// softmax over a split dim: its statistics are named Reduced
inline constexpr auto softmax_of_split = [](auto l) {
  auto lse = logsumexp<Dim<B>, Reduced<X>>(l);
  return sum(square(exp(l - lse)));
};
constexpr auto sm = plan(value_and_grad<0>(softmax_of_split), type<T<Dim<B>, Dim<H, X>>>);
static_assert(sm.forward.count(all_reduces) == 1 && sm.backward.count(all_reduces) == 1);

// a maximum, minimum, product or norm of a split dim: one AllReduce, of pairs
template <auto F>
constexpr bool sends_once(auto const& p) {
  return p.forward.count(F) == 1 && p.forward.collectives() == 1 && p.backward.collectives() == 0;
}
inline constexpr auto most = [](auto a) { return sum(square(max<Dim<D>>(a))); };
inline constexpr auto least = [](auto a) { return sum(square(min<Dim<D>>(a))); };
inline constexpr auto product = [](auto a) { return sum(square(prod<Dim<D>>(a))); };
inline constexpr auto length = [](auto a) { return sum(square(norm<Dim<D>>(a))); };
inline constexpr auto size = [](auto a) { return sum(square(norm_inf<Dim<D>>(a))); };
static_assert(sends_once<all_reduces>(plan(value_and_grad<0>(most), type<Xs>)));
static_assert(sends_once<all_reduces>(plan(value_and_grad<0>(least), type<Xs>)));
static_assert(sends_once<all_reduces>(plan(value_and_grad<0>(product), type<Xs>)));
static_assert(sends_once<all_reduces>(plan(value_and_grad<0>(length), type<Xs>)));
static_assert(sends_once<all_reduces>(plan(value_and_grad<0>(size), type<Xs>)));
// of a whole dim: none
inline constexpr auto whole_dims = [](auto a) {
  return sum(max<D>(a) * min<D>(a) * prod<D>(a) * norm<D>(a) * var<D>(a)) + sum(softmax<D>(a));
};
static_assert(plan(value_and_grad<0>(whole_dims), type<Xs>).collectives() == 0);
// values beside the loss: computed forward, once
inline constexpr auto with_metrics = [](auto a) {
  auto m = max<Dim<D>>(a);
  return std::tuple(sum(square(m)), m, m * 2);
};
static_assert(sends_once<all_reduces>(plan(value_and_grad<0>(with_metrics, has_aux), type<Xs>)));
static_assert(sends_once<all_reduces>(
    plan(value_and_grad<0>(with_metrics, has_aux, overlap_grad_reduce), type<Xs>)));
// a variance: its mean is reduced as well; softmax over a split dim: one each way
inline constexpr auto variance = [](auto a) { return sum(square(var<Dim<D>>(a))); };
constexpr auto va = plan(value_and_grad<0>(variance), type<Xs>);
static_assert(va.forward.count(all_reduces) == 2 && va.backward.collectives() == 0);
inline constexpr auto softmax_named = [](auto a) {
  return sum(square(softmax<B, Dim<B, X>, Dim<D>>(a)));
};
constexpr auto sn = plan(value_and_grad<0>(softmax_named), type<Xs>);
static_assert(sn.forward.count(all_reduces) == 1 && sn.backward.count(all_reduces) == 1);
static_assert(sn.collectives() == 2);

// a loop over six layers: six times one
using Wd = T<Dim<D>, Dim<H>>;
inline constexpr auto loop = [](auto const& ws, auto x) {
  auto h = tanh(matmul(x, reduced<X>(ws[0]))).tensor();
  for (std::size_t k = 1; k < ws.size(); ++k)
    h = tanh(matmul(relabel<H, D>(h), reduced<X>(ws[k]))).tensor();
  return all_reduce<X>(sum(square(h)));
};
constexpr auto six = plan(value_and_grad<0>(loop), type<std::array<Wd, 6>>, type<Xs>);
static_assert(six.forward.count(all_reduces) == 1 && six.backward.count(all_reduces) == 6);
static_assert(six.collectives() == 7);

// Sizes that the types determine: bytes, flops and what the tape holds.
namespace sized {
struct X4 : Axis<"X", 4> {};
struct Bs : Index<"B", 4096> {};
struct Ds : Index<"D", 512> {};
struct Hs : Index<"H", 1024> {};
struct Js : Index<"J", 256> {};
template <class... Parts>
using F = Tensor<float, Parts...>;
inline constexpr auto mlp = [](auto w1, auto w2, auto x, auto y) {
  auto h = tanh(matmul(x, reduced<X4>(w1)));
  auto p = matmul(h, reduced<X4>(w2));
  return all_reduce<X4>(sum(square(p - y)));
};
constexpr auto p =
    plan(value_and_grad<0, 1>(mlp), type<F<Dim<Ds>, Dim<Hs>>>, type<F<Dim<Hs>, Dim<Js>>>,
         type<F<Dim<Bs, X4>, Dim<Ds>>>, type<F<Dim<Bs, X4>, Dim<Js>>>);
static_assert(p.forward.collectives() == 1 && p.backward.count(Collective::all_reduce) == 2);
// tanh's result, which the second product saves as well; p for the square
static_assert(p.tape_bytes() == 4 * (1024 * 1024 + 1024 * 256));
static_assert(p.backward.bytes_per_rank() == 2 * 4 * 3 / 4 * (512 * 1024 + 1024 * 256));

struct H2 : Index<"H", 512> {};
// FSDP of three layers: the tape keeps the gathered weights, with remat what enters the layers
template <bool again>
struct Layers {
  template <class H, class U>
  static constexpr auto next(H const& h, U const& u) {
    auto const layer = [](auto v, auto w) {
      return tanh(matmul(v, used_as<Reduced<X4>>(w))).tensor();
    };
    if constexpr (again) {
      return relabel<H2, Ds>(remat(layer)(h, u));
    } else {
      return relabel<H2, Ds>(layer(h, u));
    }
  }
  template <class W, class A>
  constexpr auto operator()(W const& w, A const& x) const {
    auto h = next(x, w[0]);
    for (std::size_t k = 1; k < w.size(); ++k) h = next(h, w[k]);
    return all_reduce<X4>(sum(square(h)));
  }
};
template <bool again>
constexpr auto p3 =
    plan(value_and_grad<0>(Layers<again>{}), type<std::array<F<Dim<Ds, X4>, Dim<H2>>, 3>>,
         type<F<Dim<Bs, X4>, Dim<Ds>>>);
static_assert(p3<false>.tape_bytes() == 3 * 4 * (1024 * 512 + 512 * 512));
static_assert(p3<true>.tape_bytes() == 3 * 4 * (1024 * 512));
static_assert(p3<true>.peak_bytes() < p3<false>.peak_bytes());
static_assert(p3<false>.backward.count(Collective::reduce_scatter) == 3 &&
              p3<false>.collectives() == 7);
static_assert(p3<true>.backward.count(Collective::reduce_scatter) == 3 &&
              p3<true>.collectives() == 10);
}  // namespace sized

// What docs/gradients.md says beside JAX.
namespace beside {
struct X4 : Axis<"X", 4> {};
struct B8 : Index<"B", 8> {};
struct D16 : Index<"D", 16> {};
struct V32 : Index<"V", 32> {};
struct R3 : Index<"R", 3> {};
using Rows = T<Dim<B8, X4>, Dim<D16>>;
using Whole = T<Dim<B8>, Dim<D16>>;
using Table = T<Dim<V32>, Dim<D16>>;
using Ids = Tensor<std::int32_t, Dim<B8, X4>>;

template <class Pass>
constexpr bool sends(Pass const& p, Collective kind, int n) {
  return p.count(kind) == n && p.collectives() == n;
}
// a product contracted over X, then reduced
inline constexpr auto contracted = [](auto a, auto b) {
  return sum(square(all_reduce<X4>(matmul(a, b))));
};
static_assert(sends(plan(value_and_grad<0, 1>(contracted), type<T<Dim<B8>, Dim<D16, X4>>>,
                         type<T<Dim<D16, X4>, Dim<V32>>>),
                    all_reduces, 1));
// a bias; an operand sliced for free
inline constexpr auto bias = [](auto b, auto x) {
  return sum(square(x + used_as<Reduced<X4>>(b)));
};
static_assert(sends(plan(value_and_grad<0>(bias), type<T<Dim<D16>>>, type<Rows>), all_reduces, 1));
inline constexpr auto sliced = [](auto b, auto x) {
  return sum(square(x * reshard<Dim<B8, X4>, Dim<D16>>(b)));
};
static_assert(sends(plan(value_and_grad<0>(sliced), type<Whole>, type<Rows>), all_gathers, 1));
// rows of a table by split ids; a sum by split ids
inline constexpr auto lookup = [](auto table, auto ids) {
  return sum(square(take<V32>(used_as<Reduced<X4>>(table), ids)));
};
static_assert(sends(plan(value_and_grad<0>(lookup), type<Table>, type<Ids>), all_reduces, 1));
inline constexpr auto added = [](auto u, auto ids) {
  return sum(square(all_reduce<X4>(scatter_add<V32>(u, ids, 32))));
};
static_assert(sends(plan(value_and_grad<0>(added), type<Rows>, type<Ids>), all_reduces, 1));
// along whole dims: nothing
inline constexpr auto along_whole = [](auto a) {
  auto t = transpose<D, B>(a);
  return sum(square(sort<D>(a))) + sum(square(cumsum<D>(a))) + sum(square(pad<D>(a, 1, 1))) +
         sum(square(concat<D>(a, a))) + sum(square(slice<D>(a, 2, 5))) + sum(square(t));
};
static_assert(plan(value_and_grad<0>(along_whole), type<Xs>).collectives() == 0);
// a few rows of the split dim
inline constexpr auto few = [](auto a) {
  return sum(square(slice<B8, R3, Dim<R3, X4>, Dim<D16>>(a, 2, 5)));
};
constexpr auto fw = plan(value_and_grad<0>(few), type<Rows>);
static_assert(sends(fw.forward, reduce_scatters, 1) && sends(fw.backward, all_gathers, 1));
}  // namespace beside

}  // namespace
