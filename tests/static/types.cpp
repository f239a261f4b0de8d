// Types as values and back, canonical spelling, blocks, and the laws that declarations check.
#include <cstdint>
#include <type_traits>

#include <shardtype/types.hpp>

using namespace shardtype;
using namespace shardtype::checking;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct Z : Axis<"Z"> {};
struct I : Index<"I", 10> {};
struct J : Index<"J"> {};
struct OtherI : Index<"I"> {};
struct OtherX : Axis<"X", 3> {};

// canonical spelling
static_assert(std::is_same_v<tensor_t<float, Dim<I>, Unreduced<Y, X>>,
                             Tensor<float, Dim<I>, Unreduced<X, Y>>>);
static_assert(std::is_same_v<tensor_t<float, Reduced<Y>, Dim<I>, Unreduced<Max, X>>,
                             Tensor<float, Dim<I>, Unreduced<Max, X>, Reduced<Y>>>);
static_assert(std::is_same_v<tensor_t<double>, Tensor<double>>);
static_assert(
    std::is_same_v<tensor_t<int, Dim<J, Y, X>, Dim<I>>, Tensor<int, Dim<J, Y, X>, Dim<I>>>);

template <class... Parts>
constexpr Code law = rules::well_formed(Scope<Tensor<float, Parts...>>::parsed[0]).code;
static_assert(law<Dim<I, X, Y>, Dim<J>> == Code::ok);
static_assert(law<> == Code::ok);
static_assert(law<Dim<I, X>, Dim<J, X>> == Code::T01_axis_twice);
static_assert(law<Dim<I, X, X>> == Code::T01_axis_twice);
static_assert(law<Dim<I, X>, Unreduced<X>> == Code::T01_axis_twice);
static_assert(law<Dim<I>, Unreduced<X>, Reduced<X>> == Code::T01_axis_twice);
static_assert(law<Dim<I>, Unreduced<X, X>> == Code::T01_axis_twice);
static_assert(law<Dim<I>, Dim<I>> == Code::T02_index_twice);
static_assert(law<Dim<I>, Unreduced<Y, X>> == Code::T03_not_canonical);
static_assert(law<Unreduced<X>, Dim<I>> == Code::T03_not_canonical);
static_assert(law<Dim<I>, Unreduced<>> == Code::T03_not_canonical);
static_assert(law<Dim<I>, Unreduced<X>, Unreduced<Y>> == Code::T03_not_canonical);
static_assert(law<Dim<I>, int> == Code::T04_unknown_part);
static_assert(law<I> == Code::T04_unknown_part);
static_assert(law<Dim<X>> == Code::T05_not_an_axis);
static_assert(law<Dim<I, J>> == Code::T05_not_an_axis);
static_assert(law<Dim<I>, Unreduced<J>> == Code::T05_not_an_axis);

// too many dims or axes is the first error, before any that depends on a part of the type
struct T : Axis<"T"> {};
struct S : Axis<"S"> {};
struct V : Axis<"V"> {};
struct W : Axis<"W"> {};
using Seven = Tensor<float, Dim<I, V, W>, Dim<J, X, Y>, Unreduced<S, T, Z>>;
static_assert(Resolve<op::Reshard<Seven>, Tensor<float, Dim<I>, Dim<J>>>::verdict.code ==
              Code::T07_too_many);
static_assert(Resolve<op::Matmul<>, Tensor<float, Dim<I, V>, Dim<J, W, X>>,
                      Tensor<float, Dim<J, W, X>, Unreduced<S, T, Y, Z>>>::verdict.code ==
              Code::T07_too_many);

static_assert(rules::well_named(Scope<Tensor<float, Dim<I>>, Tensor<float, Dim<OtherI>>>::names)
                  .code == Code::T06_same_name);
static_assert(
    rules::well_named(Scope<Tensor<float, Dim<I, X>>, Tensor<float, Dim<J, OtherX>>>::names).code ==
    Code::T06_same_name);

// numbering by first appearance: programs that differ only in names share their specs
struct P : Index<"P"> {};
struct Q : Index<"Q"> {};
static_assert(Scope<Tensor<float, Dim<I, X>, Dim<J, Y>>>::spec<0> ==
              Scope<Tensor<float, Dim<Q, Z>, Dim<P, X>>>::spec<0>);
static_assert(Scope<Tensor<float, Dim<I, X, Y>>>::spec<0> ==
              Scope<Tensor<float, Dim<I, Y, X>>>::spec<0>);
// within one scope specs with different orders of axes differ
using Both = Scope<Tensor<float, Dim<I, X, Y>>, Tensor<float, Dim<I, Y, X>>>;
static_assert(Both::spec<0> != Both::spec<1>);

// Blocks nest: 10 over X (2) and Y (4) is 5 + 5, each 2 + 2 + 1 + 0.
constexpr Sizes sizes{{2, 4, 1, 1}};
constexpr AxisList xy = [] {
  AxisList l;
  l.push(0);
  l.push(1);
  return l;
}();
constexpr Range at(std::int64_t x, std::int64_t y) {
  return block({0, 10}, xy, sizes, Coords{{x, y, 0, 0}});
}
static_assert(at(0, 0) == Range{0, 2} && at(0, 1) == Range{2, 4} && at(0, 2) == Range{4, 5} &&
              at(0, 3) == Range{5, 5});
static_assert(at(1, 0) == Range{5, 7} && at(1, 3) == Range{10, 10});
static_assert(largest_block(10, xy, sizes) == 2);
// blocks of every extent tile it, in order
constexpr bool tile(std::int64_t extent) {
  std::int64_t next = 0;
  for (std::int64_t g = 0; g < 8; ++g) {
    Range const r = block({0, extent}, xy, sizes, member(xy, sizes, {}, g));
    if (r.begin != next || r.end < r.begin) return false;
    next = r.end;
  }
  return next == extent;
}
static_assert([] {
  for (std::int64_t n = 0; n < 41; ++n)
    if (!tile(n)) return false;
  return true;
}());

// The collectives as rules.
template <class Op, class A, class Out>
constexpr bool makes = std::is_same_v<result_t<Op, A>, Out>;
template <class Op, class A>
constexpr Code refusal_of = Resolve<Op, A>::verdict.code;
using A = Tensor<float, Dim<I, X, Y>, Dim<J>>;
static_assert(makes<op::AllGather<Y>, A, Tensor<float, Dim<I, X>, Dim<J>>>);
static_assert(makes<op::AllGather<Y, X>, A, Tensor<float, Dim<I>, Dim<J>>>);
static_assert(refusal_of<op::AllGather<X>, A> == Code::K02_not_minor_most);
static_assert(refusal_of<op::AllGather<Z>, A> == Code::K01_not_split);
// to reduced, as in manual mode
using checking::ToReduced;
static_assert(makes<op::AllGather<Y, ToReduced>, A, Tensor<float, Dim<I, X>, Dim<J>, Reduced<Y>>>);
static_assert(
    makes<op::AllGather<Y, X, ToReduced>, A, Tensor<float, Dim<I>, Dim<J>, Reduced<X, Y>>>);
static_assert(refusal_of<op::AllGather<X, ToReduced>, A> == Code::K02_not_minor_most);
static_assert(refusal_of<op::AllGather<Z, ToReduced>, A> == Code::K01_not_split);
static_assert(refusal_of<op::AllGather<ToReduced>, A> == Code::K07_no_axis);
static_assert(refusal_of<op::AllGather<ToReduced, Y>, A> == Code::V01_mixed);
static_assert(refusal_of<op::AllGather<Y, ToVarying>, A> == Code::V01_mixed);

// one cast for all ways to store a parameter
using Used = Tensor<float, Dim<I>, Dim<J>, Reduced<X>>;
using AsX = op::UsedAs<Reduced<X>>;
static_assert(makes<AsX, Tensor<float, Dim<I>, Dim<J>>, Used>);
static_assert(makes<AsX, Tensor<float, Dim<I, X>, Dim<J>>, Used>);
static_assert(makes<AsX, Tensor<float, Dim<I>, Dim<J, X>>, Used>);
static_assert(makes<AsX, Used, Used>);
static_assert(makes<AsX, Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>, Used>);
static_assert(makes<AsX, A, Tensor<float, Dim<I, Y>, Dim<J>, Reduced<X>>>);
static_assert(
    makes<AsX, Tensor<float, Dim<I, X>, Dim<J, Y>>, Tensor<float, Dim<I>, Dim<J, Y>, Reduced<X>>>);
static_assert(makes<AsX, Tensor<float, Dim<I, Cyclic<X, 8>>, Dim<J>>, Used>);
static_assert(makes<AsX, Tensor<float>, Tensor<float, Reduced<X>>>);
static_assert(makes<op::UsedAs<Reduced<X, Y>>, A, Tensor<float, Dim<I>, Dim<J>, Reduced<X, Y>>>);
static_assert(makes<op::UsedAs<Used>, A, Used>);
static_assert(makes<op::UsedAs<Dim<I>, Dim<J>, Reduced<X>>, A, Used>);
static_assert(refusal_of<op::UsedAs<Dim<I>, Reduced<X>>, A> == Code::R01_indices_differ);
static_assert(refusal_of<op::UsedAs<Dim<I>, Dim<J>, Unreduced<X>>, A> ==
              Code::R03_split_to_unreduced);
static_assert(refusal_of<op::UsedAs<Reduced<>>, A> == Code::K07_no_axis);
static_assert(refusal_of<op::UsedAs<Reduced<I>>, A> == Code::T05_not_an_axis);
static_assert(refusal_of<AsX, Local<float, Dim<I>, Varying<X>>> == Code::V14_named_result);
static_assert(refusal_of<AsX, int> == Code::T09_not_a_tensor);
// what it sends, from types alone
template <class W>
constexpr int sends(Collective c) {
  return plan(AsX{}, type<W>).count(c);
}
template <class W>
constexpr int sends() {
  return plan(AsX{}, type<W>).collectives();
}
static_assert(sends<Tensor<float, Dim<I>, Dim<J>>>() == 0);
static_assert(sends<Used>() == 0);
static_assert(sends<Tensor<float, Dim<I, X>, Dim<J>>>(Collective::all_gather) == 1);
static_assert(sends<Tensor<float, Dim<I, X>, Dim<J>>>() == 1);
static_assert(sends<Tensor<float, Dim<I>, Dim<J, Y>>>() == 0);

static_assert(makes<op::AllToAll<Y, I, J>, A, Tensor<float, Dim<I, X>, Dim<J, Y>>>);
static_assert(refusal_of<op::AllToAll<Y, J, I>, A> == Code::K01_not_split);
static_assert(refusal_of<op::AllToAll<Y, I, P>, A> == Code::K04_no_such_index);
using U = Tensor<float, Dim<I>, Dim<J>, Unreduced<X, Y>>;
static_assert(makes<op::AllReduce<X>, U, Tensor<float, Dim<I>, Dim<J>, Unreduced<Y>>>);
static_assert(makes<op::AllReduce<X, Y>, U, Tensor<float, Dim<I>, Dim<J>>>);
static_assert(makes<op::ReduceScatter<X, J>, U, Tensor<float, Dim<I>, Dim<J, X>, Unreduced<Y>>>);
static_assert(refusal_of<op::AllReduce<Z>, U> == Code::K03_not_unreduced);
static_assert(refusal_of<op::ReduceScatter<X, I>, A> == Code::K03_not_unreduced);
static_assert(refusal_of<op::ReduceScatter<X, P>, U> == Code::K04_no_such_index);

// Reshard: what is legal.
template <class From, class To>
constexpr Code resharding = Resolve<op::Reshard<To>, From>::verdict.code;
static_assert(Reshardable<A, Tensor<float, Dim<J, Y>, Dim<I, X>>>);
static_assert(resharding<A, Tensor<float, Dim<I>, Dim<P>>> == Code::R01_indices_differ);
static_assert(resharding<A, Tensor<float, Dim<I>>> == Code::R01_indices_differ);
static_assert(resharding<A, Tensor<float, Dim<I>, Dim<J>, Unreduced<Z>>> ==
              Code::R02_replicated_to_unreduced);
static_assert(resharding<A, Tensor<float, Dim<I>, Dim<J>, Unreduced<X>>> ==
              Code::R03_split_to_unreduced);
static_assert(
    resharding<Tensor<float, Dim<I>, Unreduced<Max, X>>, Tensor<float, Dim<I>, Unreduced<X>>> ==
    Code::R04_kind_differs);
static_assert(resharding<Tensor<float, Dim<I>, Unreduced<Max, X>>, Tensor<float, Dim<I, X>>> ==
              Code::ok);
static_assert(resharding<A, Tensor<double, Dim<I>, Dim<J>>> == Code::N05_element_type);

// JAX 2.2 reshard: every row of its table, forward and backward. The transpose of a reshard goes
// from the cotangent type of the destination to that of the source: S and I are their own
// cotangents, U and R are each other's.
template <class P>
struct CotangentPart {
  using type = P;
};
template <class... Xs>
struct CotangentPart<Unreduced<Xs...>> {
  using type = Reduced<Xs...>;
};
template <class... Xs>
struct CotangentPart<Reduced<Xs...>> {
  using type = Unreduced<Xs...>;
};
template <class A>
struct Cotangent;
template <class... Parts>
struct Cotangent<Tensor<float, Parts...>> {
  using type = tensor_t<float, typename CotangentPart<Parts>::type...>;
};
/// The collective of the reshard from `From` to `To`, or none.
template <class From, class To>
constexpr Collective sent = [] {
  constexpr Plan p = plan(op::Reshard<To>{}, type<From>);
  static_assert(p.collectives() <= 1);
  for (int c = 1; c <= static_cast<int>(Collective::broadcast); ++c)
    if (p.count(static_cast<Collective>(c)) == 1) return static_cast<Collective>(c);
  return Collective::none;
}();
template <class From, class To>
constexpr Collective sent_back = sent<typename Cotangent<To>::type, typename Cotangent<From>::type>;
/// Whether a reshard is refused because only one end is a pending sum, and to_partial converts for
/// free, as JAX's reshard does.
template <class From, class To, class... Xs>
constexpr bool partial_only =
    resharding<From, To> != Code::ok && makes<op::ToPartial<Xs...>, From, To>;
template <class From, class To, class... Xs>
constexpr bool back_partial_only =
    partial_only<typename Cotangent<To>::type, typename Cotangent<From>::type, Xs...>;
struct N : Index<"N", 16> {};
struct M : Index<"M", 16> {};
struct Y2 : Axis<"Y2", 4> {};
using Whole = Tensor<float, Dim<N>, Dim<M>>;
using Blocks = Tensor<float, Dim<N, X>, Dim<M>>;
using Sum = Tensor<float, Dim<N>, Dim<M>, Unreduced<X>>;
using Red = Tensor<float, Dim<N>, Dim<M>, Reduced<X>>;
// I -> R: nothing / all_reduce
static_assert(sent<Whole, Red> == Collective::none);
static_assert(sent_back<Whole, Red> == Collective::all_reduce);
// R -> I: nothing / nothing
static_assert(sent<Red, Whole> == Collective::none);
static_assert(back_partial_only<Red, Whole, X>);
// I -> S: a slice / all_gather
static_assert(sent<Whole, Blocks> == Collective::none);
static_assert(sent_back<Whole, Blocks> == Collective::all_gather);
// S -> I: all_gather / a slice
static_assert(sent<Blocks, Whole> == Collective::all_gather);
static_assert(sent_back<Blocks, Whole> == Collective::none);
// S -> R: all_gather / reduce_scatter
static_assert(sent<Blocks, Red> == Collective::all_gather);
static_assert(sent_back<Blocks, Red> == Collective::reduce_scatter);
// R -> S: a slice / nothing
static_assert(sent<Red, Blocks> == Collective::none);
static_assert(back_partial_only<Red, Blocks, X>);
// U -> I: all_reduce / nothing
static_assert(sent<Sum, Whole> == Collective::all_reduce);
static_assert(sent_back<Sum, Whole> == Collective::none);
// U -> S: reduce_scatter / all_gather
static_assert(sent<Sum, Blocks> == Collective::reduce_scatter);
static_assert(sent_back<Sum, Blocks> == Collective::all_gather);
// I -> U, S -> U: refused where JAX embeds zeros, to_partial does it / nothing
static_assert(partial_only<Whole, Sum, X> && sent_back<Whole, Sum> == Collective::none);
static_assert(partial_only<Blocks, Sum, X> && sent_back<Blocks, Sum> == Collective::none);
static_assert(resharding<Whole, Sum> == Code::R02_replicated_to_unreduced);
static_assert(resharding<Red, Sum> == Code::R02_replicated_to_unreduced);
static_assert(resharding<Blocks, Sum> == Code::R03_split_to_unreduced);
// U over x, y -> U over x: all_reduce / nothing
using Two = Tensor<float, Dim<N>, Dim<M>, Unreduced<X, Y>>;
static_assert(sent<Two, Sum> == Collective::all_reduce);
static_assert(sent_back<Two, Sum> == Collective::none);
// U_max -> I, U_max -> S: all_reduce, reduce_scatter; no kind changes into another, no axis becomes
// unreduced
using Candidates = Tensor<float, Dim<N>, Dim<M>, Unreduced<Max, X>>;
static_assert(sent<Candidates, Whole> == Collective::all_reduce);
static_assert(sent<Candidates, Blocks> == Collective::reduce_scatter);
static_assert(resharding<Candidates, Tensor<float, Dim<N>, Dim<M>, Unreduced<Max, X, Y>>> ==
              Code::R02_replicated_to_unreduced);
static_assert(resharding<Candidates, Sum> == Code::R04_kind_differs);
// S -> S: another order of the axes of a dim, another axis, another dim
using Ordered = Tensor<float, Dim<N, X, Y>, Dim<M>>;
using Turned = Tensor<float, Dim<N, Y, X>, Dim<M>>;
static_assert(sent<Ordered, Turned> == Collective::permute);
static_assert(sent_back<Ordered, Turned> == Collective::permute);
// (another axis of the same size: JAX permutes; here a slice, a permute and an all_gather send as
// many bytes)
struct Long : Index<"Long", (1 << 24)> {};
constexpr Plan other_axis = plan(op::Reshard<Dim<Long, Y2>>{}, type<Tensor<float, Dim<Long, Y>>>);
static_assert(other_axis.count(Collective::permute) == 1);
static_assert(other_axis.count(Collective::all_gather) == 1 && other_axis.collectives() == 2);
static_assert(other_axis.bytes_per_rank() == (1 << 24));
using OtherDim = Tensor<float, Dim<N>, Dim<M, X>>;
static_assert(sent<Blocks, OtherDim> == Collective::all_to_all);
static_assert(sent_back<Blocks, OtherDim> == Collective::all_to_all);
// S over x, y -> S over x on the other dim and U over y: JAX does not support it yet; refused as
// any S -> U
static_assert(resharding<Ordered, Tensor<float, Dim<N>, Dim<M, X>, Unreduced<Y>>> ==
              Code::R03_split_to_unreduced);

// Transfer: each type over the axes of its own mesh, here eight in total.
struct P1 : Axis<"P1"> {};
struct P2 : Axis<"P2"> {};
struct P3 : Axis<"P3"> {};
struct P4 : Axis<"P4"> {};
template <class From, class To>
constexpr Code transferring = Resolve<op::Transfer<Mesh<>, To>, From>::verdict.code;
static_assert(Transferable<Tensor<float, Dim<I, X, Y>, Dim<J, W, Z>>,
                           Tensor<float, Dim<J, P2, P1>, Dim<I, P4, P3>>>);
static_assert(Transferable<A, Tensor<float, Dim<I>, Dim<J>, Reduced<P1>>>);
static_assert(transferring<A, Tensor<float, Dim<I, P1>>> == Code::R01_indices_differ);
static_assert(transferring<A, Tensor<float, Dim<I>, Dim<J>, Dim<P>>> == Code::R01_indices_differ);
static_assert(transferring<A, Tensor<float, Dim<I>, Dim<J>, Unreduced<P1>>> ==
              Code::R02_replicated_to_unreduced);
static_assert(transferring<Tensor<float, Dim<I>, Unreduced<Max, X>>, Tensor<float, Dim<I, X>>> ==
              Code::A02_still_unreduced);
static_assert(transferring<A, Tensor<double, Dim<I>, Dim<J>>> == Code::N05_element_type);
static_assert(transferring<A, Tensor<float, Dim<I, P1>, Dim<J, P1>>> == Code::T01_axis_twice);
static_assert(transferring<int, Tensor<float, Dim<I>>> == Code::T09_not_a_tensor);

// R and I are the same bytes
static_assert(plan(op::Reshard<Dim<I>, Reduced<X>>{}, type<Tensor<float, Dim<I>>>).collectives() ==
              0);

// the default of a function's last parameter is the line of its call, of a call in a template too
template <class T>
constexpr std::uint_least32_t line_of(T const&, CallSite where = {}) {
  return where.line();
}
template <class T>
constexpr bool knows_its_line(T const& n) {
  return line_of(n) == __LINE__;
}
static_assert(line_of(1) == __LINE__ && knows_its_line(1));

}  // namespace
