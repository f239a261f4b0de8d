// Every cell of the contraction table: the inferred result of the strict product, or its error
// code. The messages are in tests/reject.
#include <type_traits>

#include <shardtype/types.hpp>

using namespace shardtype;
using namespace shardtype::checking;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct Z : Axis<"Z"> {};
struct W : Axis<"W", 2> {};
struct B : Index<"B"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K", 96> {};

template <class... Parts>
using T = Tensor<float, Parts...>;

template <class A, class C, class Out>
constexpr bool gives = std::is_same_v<result_t<op::Matmul<>, A, C>, Out>;
template <class A, class C>
constexpr Code refusal_of = Resolve<op::Matmul<>, A, C>::verdict.code;
template <class Out, class A, class C, class... Labels>
constexpr bool einsum_gives = std::is_same_v<result_t<op::Einsum<Labels...>, A, C>, Out>;
template <class A, class C, class... Labels>
constexpr Code einsum_refusal = Resolve<op::Einsum<Labels...>, A, C>::verdict.code;

// I | I: replicated
static_assert(gives<T<Dim<I>, Dim<J>>, T<Dim<J>, Dim<K>>, T<Dim<I>, Dim<K>>>);
// free dim | I: that dim on x, on either side
static_assert(gives<T<Dim<I, X>, Dim<J>>, T<Dim<J>, Dim<K>>, T<Dim<I, X>, Dim<K>>>);
static_assert(gives<T<Dim<I>, Dim<J>>, T<Dim<J>, Dim<K, X>>, T<Dim<I>, Dim<K, X>>>);
static_assert(gives<T<Dim<I, X>, Dim<J>>, T<Dim<J>, Dim<K, Y>>, T<Dim<I, X>, Dim<K, Y>>>);
static_assert(gives<T<Dim<I, Y, X>, Dim<J>>, T<Dim<J>, Dim<K>>, T<Dim<I, Y, X>, Dim<K>>>);
// free | free (other): refused, case 4
static_assert(refusal_of<T<Dim<I, X>, Dim<J>>, T<Dim<J>, Dim<K, X>>> == Code::C04_axis_splits_two);
static_assert(refusal_of<T<Dim<I, Y, X>, Dim<J>>, T<Dim<J>, Dim<K, X>>> ==
              Code::C04_axis_splits_two);
// contracted | contracted (same list): unreduced, case 3
static_assert(gives<T<Dim<I>, Dim<J, X>>, T<Dim<J, X>, Dim<K>>, T<Dim<I>, Dim<K>, Unreduced<X>>>);
static_assert(
    gives<T<Dim<I, X>, Dim<J, Y>>, T<Dim<J, Y>, Dim<K>>, T<Dim<I, X>, Dim<K>, Unreduced<Y>>>);
static_assert(
    gives<T<Dim<I>, Dim<J, Y, X>>, T<Dim<J, Y, X>, Dim<K>>, T<Dim<I>, Dim<K>, Unreduced<X, Y>>>);
static_assert(refusal_of<T<Dim<I>, Dim<J, X, Y>>, T<Dim<J, Y, X>, Dim<K>>> ==
              Code::C06_order_differs);
// contracted | I: refused, case 2, on either side; also when only the tail of a list differs
static_assert(refusal_of<T<Dim<I>, Dim<J, X>>, T<Dim<J>, Dim<K>>> == Code::C02_one_side_only);
static_assert(refusal_of<T<Dim<I>, Dim<J>>, T<Dim<J, X>, Dim<K>>> == Code::C02_one_side_only);
static_assert(refusal_of<T<Dim<I>, Dim<J, X, Y>>, T<Dim<J, X>, Dim<K>>> == Code::C02_one_side_only);
static_assert(refusal_of<T<Dim<I>, Dim<J, X>>, T<Dim<J, Y>, Dim<K>>> == Code::C02_one_side_only);
// batch | batch (same list): batch dim on x
static_assert(einsum_gives<T<Dim<B, X>, Dim<I>, Dim<K>>, T<Dim<B, X>, Dim<I>, Dim<J>>,
                           T<Dim<B, X>, Dim<J>, Dim<K>>, B, I, K>);
static_assert(einsum_gives<T<Dim<B, X>, Dim<I, Y>, Dim<K, Z>>, T<Dim<B, X>, Dim<I, Y>, Dim<J>>,
                           T<Dim<J>, Dim<K, Z>, Dim<B, X>>, B, I, K>);
// batch | I, or a prefix: batch dim on x, the other side sliced
static_assert(einsum_gives<T<Dim<B, X>, Dim<I>, Dim<K>>, T<Dim<B, X>, Dim<I>, Dim<J>>,
                           T<Dim<B>, Dim<J>, Dim<K>>, B, I, K>);
static_assert(einsum_gives<T<Dim<B, X, Y>, Dim<I>, Dim<K>>, T<Dim<B, X>, Dim<I>, Dim<J>>,
                           T<Dim<B, X, Y>, Dim<J>, Dim<K>>, B, I, K>);
static_assert(einsum_refusal<T<Dim<B, X>, Dim<I>, Dim<J>>, T<Dim<B, Y>, Dim<J>, Dim<K>>, B, I, K> ==
              Code::C09_batch_lists_differ);
static_assert(
    einsum_refusal<T<Dim<B, X, Y>, Dim<I>, Dim<J>>, T<Dim<B, Y>, Dim<J>, Dim<K>>, B, I, K> ==
    Code::C09_batch_lists_differ);
// x on different indices otherwise: refused
static_assert(refusal_of<T<Dim<I>, Dim<J, X>>, T<Dim<J>, Dim<K, X>>> ==
              Code::C05_different_indices);
static_assert(refusal_of<T<Dim<I, X>, Dim<J>>, T<Dim<J, X>, Dim<K>>> ==
              Code::C05_different_indices);
static_assert(einsum_refusal<T<Dim<B, X>, Dim<I>, Dim<J>>, T<Dim<B>, Dim<J>, Dim<K, X>>, B, I, K> ==
              Code::C05_different_indices);
static_assert(einsum_refusal<T<Dim<B, X>, Dim<I>, Dim<J>>, T<Dim<B>, Dim<J, X>, Dim<K>>, B, I, K> ==
              Code::C05_different_indices);
// U (sum) | I or R: unreduced
static_assert(
    gives<T<Dim<I>, Dim<J>, Unreduced<X>>, T<Dim<J>, Dim<K>>, T<Dim<I>, Dim<K>, Unreduced<X>>>);
static_assert(
    gives<T<Dim<I>, Dim<J>>, T<Dim<J>, Dim<K>, Unreduced<X>>, T<Dim<I>, Dim<K>, Unreduced<X>>>);
static_assert(gives<T<Dim<I>, Dim<J>, Unreduced<X>>, T<Dim<J>, Dim<K>, Reduced<X>>,
                    T<Dim<I>, Dim<K>, Unreduced<X>>>);
static_assert(gives<T<Dim<I>, Dim<J>, Unreduced<X>>, T<Dim<J>, Dim<K>, Unreduced<Y>>,
                    T<Dim<I>, Dim<K>, Unreduced<X, Y>>>);
static_assert(gives<T<Dim<I>, Dim<J, Y>, Unreduced<X>>, T<Dim<J, Y>, Dim<K>>,
                    T<Dim<I>, Dim<K>, Unreduced<X, Y>>>);
// U (sum) | U or S: refused
static_assert(refusal_of<T<Dim<I>, Dim<J>, Unreduced<X>>, T<Dim<J>, Dim<K>, Unreduced<X>>> ==
              Code::C07_not_linear);
static_assert(refusal_of<T<Dim<I>, Dim<J>, Unreduced<X>>, T<Dim<J>, Dim<K, X>>> ==
              Code::C07_not_linear);
static_assert(refusal_of<T<Dim<I>, Dim<J, X>>, T<Dim<J>, Dim<K>, Unreduced<X>>> ==
              Code::C07_not_linear);
// U (max, min) | anything: refused
static_assert(refusal_of<T<Dim<I>, Dim<J>, Unreduced<Max, X>>, T<Dim<J>, Dim<K>>> ==
              Code::C08_extremum_operand);
static_assert(refusal_of<T<Dim<I>, Dim<J>>, T<Dim<J>, Dim<K>, Unreduced<Min, X>>> ==
              Code::C08_extremum_operand);
// R | I or R: R;  R | S: as I with S. JAX 2.1: R is dropped
static_assert(
    gives<T<Dim<I>, Dim<J>, Reduced<X>>, T<Dim<J>, Dim<K>>, T<Dim<I>, Dim<K>, Reduced<X>>>);
static_assert(gives<T<Dim<I>, Dim<J>, Reduced<X>>, T<Dim<J>, Dim<K>, Reduced<X>>,
                    T<Dim<I>, Dim<K>, Reduced<X>>>);
static_assert(gives<T<Dim<I, X>, Dim<J>>, T<Dim<J>, Dim<K>, Reduced<X>>, T<Dim<I, X>, Dim<K>>>);
static_assert(refusal_of<T<Dim<I>, Dim<J, X>>, T<Dim<J>, Dim<K>, Reduced<X>>> ==
              Code::C02_one_side_only);
static_assert(einsum_gives<T<Dim<B, X>, Dim<I>, Dim<K>>, T<Dim<B, X>, Dim<I>, Dim<J>>,
                           T<Dim<B>, Dim<J>, Dim<K>, Reduced<X>>, B, I, K>);

// matmul: exactly one shared label; the result's labels are a's, then b's
static_assert(refusal_of<T<Dim<I>>, T<Dim<J>>> == Code::C01_nothing_shared);
static_assert(refusal_of<T<Dim<I>, Dim<J>>, T<Dim<I>, Dim<J>>> == Code::C03_several_shared);
static_assert(gives<T<Dim<J>, Dim<B>, Dim<I>>, T<Dim<K>, Dim<J>>, T<Dim<B>, Dim<I>, Dim<K>>>);
static_assert(gives<T<Dim<J, X>>, T<Dim<J, X>>, T<Unreduced<X>>>);
static_assert(std::is_same_v<result_t<op::Matmul<>, Tensor<double, Dim<I>, Dim<J>>,
                                      Tensor<double, Dim<J>, Dim<K>>>,
                             Tensor<double, Dim<I>, Dim<K>>>);
static_assert(Resolve<op::Matmul<>, T<Dim<I>, Dim<J>>, Tensor<double, Dim<J>>>::verdict.code ==
              Code::C10_element_types_differ);

// einsum: summed labels, outer products, labels in any order
static_assert(einsum_gives<T<Dim<K>, Dim<I, X>>, T<Dim<I, X>, Dim<J>>, T<Dim<J>, Dim<K>>, K, I>);
static_assert(einsum_gives<T<Dim<I, X>, Unreduced<Y>>, T<Dim<I, X>, Dim<J, Y>>, T<Dim<K>>, I>);
static_assert(einsum_gives<T<Dim<I, X>, Dim<K, Y>>, T<Dim<I, X>>, T<Dim<K, Y>>, I, K>);
static_assert(einsum_gives<T<Unreduced<X>>, T<Dim<I, X>>, T<Dim<I, X>>>);
static_assert(einsum_refusal<T<Dim<I>>, T<Dim<J>>, K> == Code::N01_unknown_index);
// an axis of an index that one operand sums away and the other keeps would be in two states
static_assert(einsum_refusal<T<Dim<I, X>, Dim<J>>, T<Dim<K, X>>, J, K> ==
              Code::C05_different_indices);

// named results
template <class A, class C, class... Out>
constexpr Code named = Resolve<op::Matmul<Out...>, A, C>::verdict.code;
static_assert(named<T<Dim<I, X>, Dim<J>>, T<Dim<J>, Dim<K, X>>, Dim<I, X>, Dim<K>> == Code::ok);
static_assert(named<T<Dim<I>, Dim<J>>, T<Dim<J>, Dim<K>>, Dim<I>, Dim<B>> ==
              Code::N01_unknown_index);
static_assert(named<T<Dim<I>, Dim<J>>, T<Dim<J>, Dim<K>>, Dim<I>> == Code::N02_missing_index);
static_assert(named<T<Dim<I>, Dim<J>>, T<Dim<J>, Dim<K>>, Dim<I>, Dim<J>, Dim<K>> ==
              Code::N06_contracted_kept);
static_assert(named<T<Dim<I>, Dim<J>>, T<Dim<J>, Dim<K>>, Dim<I>, Dim<K>, Unreduced<Max, X>> ==
              Code::N03_wrong_kind);
static_assert(Resolve<op::Einsum<Dim<I>, Dim<J>, Unreduced<X>>, T<Dim<I>>, T<Dim<J>>>::verdict
                  .code == Code::N04_nothing_unreduced);
static_assert(named<T<Dim<I>, Dim<J>>, T<Dim<J>, Dim<K>>, Tensor<double, Dim<I>, Dim<K>>> ==
              Code::N05_element_type);
static_assert(named<T<Dim<I>, Dim<J>>, T<Dim<J>, Dim<K>>, Dim<I, X>, Dim<K, X>> ==
              Code::T01_axis_twice);
static_assert(named<T<Dim<I>, Dim<J>>, T<Dim<J>, Dim<K>>, Dim<K, X>, Dim<I, Y>> == Code::ok);
static_assert(Resolve<op::Einsum<Dim<I>>, T<Dim<I>, Dim<J>>, T<Dim<J>, Dim<K>>>::verdict.code ==
              Code::ok);

// Plans of the four cases of the scaling book, and of the second row of the table.
constexpr auto plan_of = [](auto op, auto... types) { return plan(op, types...); };
struct Is : Index<"Is", 128> {};
struct Js : Index<"Js", 64> {};
constexpr auto local =
    plan_of(op::Matmul<>{}, type<T<Dim<Is, X>, Dim<Js>>>, type<T<Dim<Js>, Dim<K, Y>>>);
static_assert(local.collectives() == 0 && local.bytes_per_rank() == 0);
static_assert(local.flops() == 2 * 64 * 64 * 24);
constexpr auto gathers = plan_of(op::Matmul<Dim<Is, X>, Dim<K>>{}, type<T<Dim<Is, X>, Dim<Js, Y>>>,
                                 type<T<Dim<Js>, Dim<K>>>);
static_assert(gathers.collectives() == 1);
constexpr auto reduces = plan_of(op::Matmul<Dim<Is, X>, Dim<K>>{}, type<T<Dim<Is, X>, Dim<Js, Y>>>,
                                 type<T<Dim<Js, Y>, Dim<K>>>);
static_assert(reduces.count(Collective::all_reduce) == 1 && reduces.collectives() == 1);
constexpr auto scatters = plan_of(op::Matmul<Dim<Is, X>, Dim<K, Y>>{},
                                  type<T<Dim<Is, X>, Dim<Js, Y>>>, type<T<Dim<Js, Y>, Dim<K>>>);
static_assert(scatters.count(Collective::reduce_scatter) == 1 && scatters.collectives() == 1);
static_assert(scatters.bytes_per_rank() == 64 * 72 * 4);
constexpr auto illegal = plan_of(op::Matmul<Dim<Is, X>, Dim<K>>{}, type<T<Dim<Is, X>, Dim<Js>>>,
                                 type<T<Dim<Js>, Dim<K, X>>>);
static_assert(illegal.count(Collective::all_gather) == 1 && illegal.collectives() == 1);
// an unreduced result is not reduced if its name is unreduced
constexpr auto keeps = plan_of(op::Matmul<Dim<Is, X>, Dim<K>, Unreduced<Y>>{},
                               type<T<Dim<Is, X>, Dim<Js, Y>>>, type<T<Dim<Js, Y>, Dim<K>>>);
static_assert(keeps.collectives() == 0);
// unused axes that split the result slice the operands, which costs nothing
constexpr auto sliced = plan_of(op::Matmul<Dim<Is, X>, Dim<K, Y>>{}, type<T<Dim<Is>, Dim<Js>>>,
                                type<T<Dim<Js>, Dim<K>>>);
static_assert(sliced.collectives() == 0 && sliced.flops() == local.flops());
static_assert(plan_of(op::Matmul<Dim<Is>, Dim<K>, Unreduced<X>>{}, type<T<Dim<Is>, Dim<Js>>>,
                      type<T<Dim<Js>, Dim<K>>>)
                  .flops() == 2 * 128 * 32 * 96);
// three axes, several of them in conflict, within the compilers' default limits
constexpr auto three = plan_of(op::Matmul<Dim<Is, W>, Dim<K, Y, X>>{},
                               type<T<Dim<Is, X>, Dim<Js, Y, W>>>, type<T<Dim<Js, W>, Dim<K, X>>>);
static_assert(three.collectives() > 0 && three.result.rank == 2);
// every operand and the result split each axis differently: dozens of searches
struct Bs : Index<"Bs", 64> {};
constexpr auto batched = plan_of(op::Einsum<Dim<Bs, W>, Dim<Is, X>, Dim<K, Y>>{},
                                 type<T<Dim<Bs, X>, Dim<Is, Y>, Dim<Js, W>>>,
                                 type<T<Dim<Bs, Y>, Dim<Js, X>, Dim<K, W>>>);
static_assert(batched.collectives() > 2 && batched.result.rank == 3);
// the reshard of rank 3 on three axes that takes the planner longest
constexpr auto longest = plan_of(op::Reshard<Dim<Is>, Dim<Js>, Dim<K>>{},
                                 type<T<Dim<Is>, Dim<Js>, Dim<K>, Unreduced<W, X, Y>>>);
static_assert(longest.count(Collective::reduce_scatter) + longest.count(Collective::all_reduce) >
              0);
// run-time sizes: `count` holds for all sizes
static_assert(plan(op::Matmul<Dim<I, X>, Dim<K, Y>>{}, type<T<Dim<I, X>, Dim<J, Y>>>,
                   type<T<Dim<J, Y>, Dim<K>>>)
                  .count(Collective::reduce_scatter) == 1);
static_assert(plan(op::Matmul<Dim<I, X>, Dim<K, Y>>{}, type<T<Dim<I, X>, Dim<J, Y>>>,
                   type<T<Dim<J, Y>, Dim<K>>>)
                  .count(Collective::all_gather) == 0);

// JAX 1.4 dot_general: its test cases, lhs (8,2) and rhs (2,8) over two axes of two ranks; X is x,
// W is y
struct M8 : Index<"M8", 8> {};
struct C2 : Index<"C2", 2> {};
struct N8 : Index<"N8", 8> {};
template <class A, class C, class... Out>
constexpr auto dot_plan = plan(op::Matmul<Out...>{}, type<A>, type<C>);
// P(x,_) P(_,y) and P(x,_) P(_,_): as JAX, local
static_assert(gives<T<Dim<M8, X>, Dim<C2>>, T<Dim<C2>, Dim<N8, W>>, T<Dim<M8, X>, Dim<N8, W>>>);
static_assert(gives<T<Dim<M8, X>, Dim<C2>>, T<Dim<C2>, Dim<N8>>, T<Dim<M8, X>, Dim<N8>>>);
// P(x,y) P(_,_): JAX P(x,_), by a collective that the compiler chooses; here the result is named
using OneSided = T<Dim<M8, X>, Dim<C2, W>>;
static_assert(refusal_of<OneSided, T<Dim<C2>, Dim<N8>>> == Code::C02_one_side_only);
static_assert(dot_plan<OneSided, T<Dim<C2>, Dim<N8>>, Dim<M8, X>, Dim<N8>>.collectives() == 1);
// P(x,_) P(x,_), "fsdp": JAX P(x,_), by an all_gather; here the result is named
using Rows = T<Dim<M8, X>, Dim<C2>>;
static_assert(refusal_of<Rows, T<Dim<C2, X>, Dim<N8>>> == Code::C05_different_indices);
constexpr Plan fsdp = dot_plan<Rows, T<Dim<C2, X>, Dim<N8>>, Dim<M8, X>, Dim<N8>>;
static_assert(fsdp.count(Collective::all_gather) == 1 && fsdp.collectives() == 1);
// P(_,y) P(_,y), "half_tp": JAX P(_,y), by an all_gather; here the result is named
using Half = T<Dim<M8>, Dim<C2, W>>;
static_assert(refusal_of<Half, T<Dim<C2>, Dim<N8, W>>> == Code::C05_different_indices);
constexpr Plan half_tp = dot_plan<Half, T<Dim<C2>, Dim<N8, W>>, Dim<M8>, Dim<N8, W>>;
static_assert(half_tp.count(Collective::all_gather) == 1 && half_tp.collectives() == 1);
// P(x,_) P(_,x): refused, as JAX
static_assert(refusal_of<Rows, T<Dim<C2>, Dim<N8, X>>> == Code::C04_axis_splits_two);
// P(x,y) P(y,_) and P(_,y) P(y,_): JAX refuses without out_sharding; here U
static_assert(gives<OneSided, T<Dim<C2, W>, Dim<N8>>, T<Dim<M8, X>, Dim<N8>, Unreduced<W>>>);
static_assert(gives<Half, T<Dim<C2, W>, Dim<N8>>, T<Dim<M8>, Dim<N8>, Unreduced<W>>>);
// ... and with out_sharding P(x,_), P(x,y), P(x,_,unreduced={y}): the same collectives
using Inner = T<Dim<C2, W>, Dim<N8>>;
constexpr Plan whole = dot_plan<OneSided, Inner, Dim<M8, X>, Dim<N8>>;
static_assert(whole.count(Collective::all_reduce) == 1 && whole.collectives() == 1);
constexpr Plan parts = dot_plan<OneSided, Inner, Dim<M8, X>, Dim<N8, W>>;
static_assert(parts.count(Collective::reduce_scatter) == 1 && parts.collectives() == 1);
static_assert(dot_plan<OneSided, Inner, Dim<M8, X>, Dim<N8>, Unreduced<W>>.collectives() == 0);
// P(x,y) P(x,y): refused, as JAX
static_assert(refusal_of<OneSided, T<Dim<C2, X>, Dim<N8, W>>> == Code::C05_different_indices);

// JAX 2.1 dot_general, U: refused for operands; here a product is linear in each operand (rows U
// above). A result that is U over other axes than those of the contracted dims: JAX refuses; here
// the other axes are reduced, or the contracted index is sliced.
using Both = T<Dim<C2, X, W>, Dim<N8>>;
constexpr Plan fewer = dot_plan<T<Dim<M8>, Dim<C2, X, W>>, Both, Dim<M8>, Dim<N8>, Unreduced<X>>;
static_assert(fewer.count(Collective::all_reduce) == 1 && fewer.collectives() == 1);
static_assert(
    dot_plan<T<Dim<M8>, Dim<C2>>, T<Dim<C2>, Dim<N8>>, Dim<M8>, Dim<N8>, Unreduced<X>>.collectives() ==
    0);

// Three and more operands: pairs from left to right, of which each has what later ones and the
// result need.
struct L : Index<"L"> {};
template <class Op, class Out, class... As>
constexpr bool several_give = std::is_same_v<result_t<Op, As...>, Out>;
template <class Op, class... As>
constexpr Code several_refused = Resolve<Op, As...>::verdict.code;
using IJ = T<Dim<I, X>, Dim<J>>;
using JK = T<Dim<J>, Dim<K, Y>>;
using KL = T<Dim<K, Y>, Dim<L>>;
static_assert(several_give<op::Einsum<I, L>, T<Dim<I, X>, Dim<L>, Unreduced<Y>>, IJ, JK, KL>);
static_assert(several_give<op::Einsum<L, I>, T<Dim<L>, Dim<I, X>, Unreduced<Y>>, IJ, JK, KL>);
static_assert(several_give<op::Einsum<>, T<Unreduced<X, Y>>, IJ, JK, KL>);
static_assert(several_give<op::Einsum<I>, T<Dim<I, X>>, IJ, T<Dim<J>>, T<Dim<I>>>);
static_assert(several_give<op::Einsum<B, I>, T<Dim<B>, Dim<I, X>, Unreduced<Y>>, IJ, JK, KL,
                           T<Dim<B>, Dim<L>>>);
using LocalIJ = Local<float, Dim<I>, Dim<J>, Varying<X>>;
static_assert(several_give<op::Einsum<I, L>, Local<float, Dim<I>, Dim<L>, Varying<X>>, LocalIJ,
                           Local<float, Dim<J>, Dim<K>>, Local<float, Dim<K>, Dim<L>>>);
// it is the order that is refused: from the right it would be legal
static_assert(several_refused<op::Einsum<I, L>, IJ, T<Dim<J>, Dim<K, X>>, T<Dim<K, X>, Dim<L>>> ==
              Code::C04_axis_splits_two);
static_assert(several_refused<op::Einsum<I, L>, IJ, JK, T<Dim<K>, Dim<L>>> ==
              Code::C02_one_side_only);
static_assert(several_refused<op::Einsum<I, B>, IJ, JK, KL> == Code::N01_unknown_index);
static_assert(several_refused<op::Einsum<I, I>, IJ, JK, KL> == Code::T02_index_twice);
static_assert(several_refused<op::Einsum<I, X>, IJ, JK, KL> == Code::S05_axis_named);
static_assert(several_refused<op::Einsum<I, L>, IJ, JK, Tensor<double, Dim<K, Y>, Dim<L>>> ==
              Code::C10_element_types_differ);
// its plan: 2 flops for each multiplication of both products on the busiest rank, nothing sent
struct I8 : Index<"I8", 8> {};
struct J6 : Index<"J6", 6> {};
struct L4 : Index<"L4", 4> {};
constexpr auto chain = plan(op::Einsum<I8, L4>{}, type<T<Dim<I8, X>, Dim<J6>>>,
                            type<T<Dim<J6>, Dim<K, Y>>>, type<T<Dim<K, Y>, Dim<L4>>>);
static_assert(chain.collectives() == 0 && chain.flops() == 2 * 4 * 6 * 24 + 2 * 4 * 24 * 4);
static_assert(plan(op::Einsum<I, L>{}, type<IJ>, type<JK>, type<KL>).collectives() == 0);

}  // namespace
