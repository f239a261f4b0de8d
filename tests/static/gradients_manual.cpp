// NEEDS: full
// The communication of both passes through shard_map, from types alone: Megatron, data parallel,
// FSDP, sequence parallel, rings; gradients taken inside; plans with sizes.

#include <tuple>
#include <type_traits>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};
struct J : Index<"J"> {};
struct I : Index<"I"> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
constexpr Collective all_reduces = Collective::all_reduce;
constexpr Collective all_gathers = Collective::all_gather;
constexpr Collective reduce_scatters = Collective::reduce_scatter;
constexpr Collective all_to_alls = Collective::all_to_all;
constexpr Collective permutes = Collective::permute;
constexpr Collective broadcasts = Collective::broadcast;

// a function of tensors: `body` of their blocks
template <class Body, class... Out>
struct OnBlocks {
  template <class... As>
  constexpr auto operator()(As const&... as) const {
    return shard_map<Out...>(Body{}, as...);
  }
};

// Megatron: one AllReduce forward; one backward, of x's gradient if it is asked for
struct Megatron {
  constexpr auto operator()(auto w1, auto w2, auto x, auto y) const {
    auto h = tanh(matmul(varying<X>(x), w1));
    return sum(square(all_reduce<X>(matmul(h, w2)) - y));
  }
};
using W1C = T<Dim<D>, Dim<H, X>>;
using W2C = T<Dim<H, X>, Dim<J>>;
using Xr = T<Dim<B>, Dim<D>>;
using Yr = T<Dim<B>, Dim<J>>;
constexpr auto megatron =
    plan(value_and_grad<0, 1, 2>(OnBlocks<Megatron>{}), type<W1C>, type<W2C>, type<Xr>, type<Yr>);
static_assert(megatron.forward.count(all_reduces) == 1 && megatron.forward.collectives() == 1);
static_assert(megatron.backward.count(all_reduces) == 1 && megatron.backward.collectives() == 1);
constexpr auto weights_alone =
    plan(value_and_grad<0, 1>(OnBlocks<Megatron>{}), type<W1C>, type<W2C>, type<Xr>, type<Yr>);
static_assert(weights_alone.backward.collectives() == 0);
// what is inferred
using Grads = decltype(grad<0, 1, 2>(OnBlocks<Megatron>{})(
    std::declval<W1C const&>(), std::declval<W2C const&>(), std::declval<Xr const&>(),
    std::declval<Yr const&>()));
static_assert(std::is_same_v<Grads, std::tuple<W1C, W2C, Xr>>);

// data parallel: one AllReduce for the loss, one per parameter
struct DataParallel {
  constexpr auto operator()(auto w1, auto w2, auto x, auto y) const {
    auto h = tanh(matmul(x, varying<X>(w1)));
    return all_reduce<X>(sum(square(matmul(h, reduced<X>(w2)) - y)));
  }
};
using Xs = T<Dim<B, X>, Dim<D>>;
using Ys = T<Dim<B, X>, Dim<J>>;
using W1 = T<Dim<D>, Dim<H>>;
using W2 = T<Dim<H>, Dim<J>>;
constexpr auto data_parallel =
    plan(value_and_grad<0, 1>(OnBlocks<DataParallel>{}), type<W1>, type<W2>, type<Xs>, type<Ys>);
static_assert(data_parallel.forward.count(all_reduces) == 1 &&
              data_parallel.forward.collectives() == 1);
static_assert(data_parallel.backward.count(all_reduces) == 2 &&
              data_parallel.backward.collectives() == 2);

// an unreduced loss and Reduced weights: nothing is sent
struct Unsummed {
  constexpr auto operator()(auto w, auto x) const {
    return unreduced<X>(sum(square(matmul(x, w))));
  }
};
using W1R = T<Dim<D>, Dim<H>, Reduced<X>>;
constexpr auto unsummed =
    plan(value_and_grad<0>(OnBlocks<Unsummed, Unreduced<X>>{}), type<W1R>, type<Xs>);
static_assert(unsummed.collectives() == 0);

// FSDP: AllGather and ReduceScatter of the weight
struct Fsdp {
  constexpr auto operator()(auto w, auto x) const {
    return all_reduce<X>(sum(square(matmul(x, all_gather<X, D>(w, to_reduced)))));
  }
};
using W1S = T<Dim<D, X>, Dim<H>>;
constexpr auto fsdp = plan(value_and_grad<0>(OnBlocks<Fsdp>{}), type<W1S>, type<Xs>);
static_assert(fsdp.forward.count(all_gathers) == 1 && fsdp.forward.collectives() == 2);
static_assert(fsdp.backward.count(reduce_scatters) == 1 && fsdp.backward.collectives() == 1);

// sequence parallel: AllGather and ReduceScatter each way
struct Sequence {
  constexpr auto operator()(auto w1, auto w2, auto x) const {
    auto h = tanh(matmul(all_gather<X, B>(x, to_reduced), w1));
    return all_reduce<X>(sum(square(reduce_scatter<X, B>(matmul(h, w2)))));
  }
};
constexpr auto sequence =
    plan(value_and_grad<0, 1, 2>(OnBlocks<Sequence>{}), type<W1C>, type<W2C>, type<Xs>);
static_assert(sequence.forward.count(all_gathers) == 1 &&
              sequence.forward.count(reduce_scatters) == 1 && sequence.forward.collectives() == 3);
static_assert(sequence.backward.count(all_gathers) == 1 &&
              sequence.backward.count(reduce_scatters) == 1 &&
              sequence.backward.collectives() == 2);

// a ring in a loop; the last rotation is of no use to the gradient of x
struct Ring {
  constexpr auto operator()(auto x) const {
    auto const both = loop(3, std::tuple(x, x), [](std::int64_t, auto carry) {
      auto const [here, sum_of_all] = carry;
      auto const next = rotate<X>(here, 1);
      return std::tuple(next, (sum_of_all + next * next).tensor());
    });
    return all_reduce<X>(sum(std::get<1>(both)));
  }
};
constexpr auto ring = plan(value_and_grad<0>(OnBlocks<Ring>{}), type<Xs>);
static_assert(ring.forward.count(permutes) == 3 && ring.forward.collectives() == 4);
static_assert(ring.backward.count(permutes) == 3 && ring.backward.collectives() == 3);

// others
struct Moves {
  constexpr auto operator()(auto x) const {
    SourceDestination const pairs[] = {{0, 1}};
    return all_reduce<X>(sum(square(all_to_all<X, B, D>(x))) +
                         sum(square(permute<X>(x, std::span<SourceDestination const>(pairs))))) +
           sum(square(broadcast_from<X>(x, 0))) +
           all_reduce<X>(sum(square(broadcast_from<X>(x, 0, to_varying)))) +
           sum(square(all_gather<X, I>(x)));
  }
};
constexpr auto moves = plan(value_and_grad<0>(OnBlocks<Moves>{}), type<Xs>);
static_assert(moves.forward.count(all_to_alls) == 1 && moves.forward.count(permutes) == 1 &&
              moves.forward.count(broadcasts) == 2 && moves.forward.count(all_gathers) == 1);
static_assert(moves.backward.count(all_to_alls) == 1 && moves.backward.count(permutes) == 1 &&
              moves.backward.count(broadcasts) == 0 && moves.backward.count(all_gathers) == 0 &&
              moves.backward.count(all_reduces) == 1);

// a gradient taken inside of shard_map, in the plan of a function
struct Inside {
  constexpr auto operator()(auto w1, auto w2, auto x, auto y) const {
    auto const both = value_and_grad<0, 2>(Megatron{})(w1, w2, x, y);
    return std::tuple(std::get<0>(both.grad), std::get<1>(both.grad));
  }
};
constexpr auto inside =
    plan(OnBlocks<Inside, Outs<W1C, Xr>>{}, type<W1C>, type<W2C>, type<Xr>, type<Yr>);
static_assert(inside.count(all_reduces) == 2 && inside.collectives() == 2);

// strict mode inside of manual mode
struct StrictInside {
  constexpr auto operator()(auto x) const {
    auto const t = strict<Xs>([](auto a) { return reshard<Dim<B>, Dim<D, X>>(a); }, x);
    return all_reduce<X>(sum(square(t)));
  }
};
constexpr auto strict_inside = plan(value_and_grad<0>(OnBlocks<StrictInside>{}), type<Xs>);
static_assert(strict_inside.forward.count(all_to_alls) == 1);
static_assert(strict_inside.backward.count(all_to_alls) == 1 &&
              strict_inside.backward.collectives() == 1);

// with sizes: bytes and the tape
struct X2 : Axis<"X2", 2> {};
struct B8 : Index<"B8", 8> {};
struct D6 : Index<"D6", 6> {};
struct H4 : Index<"H4", 4> {};
struct Sized {
  constexpr auto operator()(auto w, auto x) const {
    return all_reduce<X2>(sum(square(matmul(x, varying<X2>(w)))));
  }
};
constexpr auto sized = plan(value_and_grad<0>(OnBlocks<Sized>{}), type<T<Dim<D6>, Dim<H4>>>,
                            type<T<Dim<B8, X2>, Dim<D6>>>);
// one number forward, w's gradient backward: 2 n (p - 1) / p
static_assert(sized.forward.bytes_per_rank() == 8);
static_assert(sized.backward.bytes_per_rank() == 6 * 4 * 8);
static_assert(sized.forward.flops() >= 2 * 4 * 6 * 4);
static_assert(sized.tape_bytes() >= 4 * 4 * 8);  // the product, which square reads

}  // namespace
