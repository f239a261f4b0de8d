// Manual mode: every row of the table of collectives and casts (JAX's shard_map with check_vma),
// the type join of local operations, the operands and results of shard_map, and the transposes of
// all movements. The messages are in tests/reject.
#include <cstdint>
#include <type_traits>

#include <shardtype/types.hpp>

using namespace shardtype;
using namespace shardtype::checking;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct Z : Axis<"Z"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct N8 : Index<"N8", 8> {};
struct N7 : Index<"N7", 7> {};

template <class... Parts>
using L = Local<float, Parts...>;
template <class... Parts>
using T = Tensor<float, Parts...>;

using Inv = L<Dim<I>, Dim<J>>;
using Var = L<Dim<I>, Dim<J>, Varying<X>>;
using Summand = L<Dim<I>, Dim<J>, Unreduced<X>>;
using Red = L<Dim<I>, Dim<J>, Reduced<X>>;

template <class Op, class Out, class... As>
constexpr bool gives = std::is_same_v<typename Resolve<Op, As...>::result, Out>;
template <class Op, class... As>
constexpr Code refusal_of = Resolve<Op, As...>::verdict.code;

constexpr AxisState V = AxisState::varying;
constexpr AxisState same = AxisState::replicated;
constexpr AxisState U = AxisState::unreduced;
constexpr AxisState R = AxisState::reduced;
using enum Movement;
// A cast without a function.
template <class A>
constexpr Code cast_refusal(AxisState to) {
  return rules::move(Scope<A>::template spec<0>, cast, 0, to).code;
}

// pvary: I -> V; an error for a varying value
static_assert(gives<op::ToVarying<X>, Var, Inv>);
static_assert(refusal_of<op::ToVarying<X>, Var> == Code::V04_already);
static_assert(refusal_of<op::ToVarying<X>, Summand> == Code::V06_unreduced);
// preduced: I -> R
static_assert(gives<op::ToReduced<X>, Red, Inv>);
static_assert(refusal_of<op::ToReduced<X>, Var> == Code::V05_not_invariant);
static_assert(refusal_of<op::ToReduced<X>, Red> == Code::V04_already);
// vary_unreduced_cast: V -> U, on every named axis (JAX requires V on only one of them)
static_assert(gives<op::ToUnreduced<X>, Summand, Var>);
static_assert(gives<op::ToUnreduced<Max, X>, L<Dim<I>, Dim<J>, Unreduced<Max, X>>, Var>);
static_assert(refusal_of<op::ToUnreduced<X>, Inv> == Code::V03_not_varying);
static_assert(refusal_of<op::ToUnreduced<X, Y>, Var> == Code::V03_not_varying);
static_assert(refusal_of<op::ToUnreduced<Max, Y>, L<Dim<I>, Varying<Y>, Unreduced<X>>> ==
              Code::V16_kind);
// reduced_vary_cast: R -> V
static_assert(gives<op::ToVarying<X>, Var, Red>);
// other pcasts are refused: V -> I, U -> any, I -> U, R -> I
static_assert(cast_refusal<Var>(same) != Code::ok);
static_assert(refusal_of<op::ToReduced<X>, Summand> == Code::V06_unreduced);
static_assert(refusal_of<op::ToUnreduced<X>, Summand> == Code::V04_already);
static_assert(cast_refusal<Red>(same) != Code::ok);
// psum: V -> I and U -> I; refused for an invariant or reduced value, where JAX multiplies an
// invariant one
static_assert(gives<op::AllReduce<X>, Inv, Var>);
static_assert(gives<op::AllReduce<X>, Inv, Summand>);
static_assert(refusal_of<op::AllReduce<X>, Inv> == Code::V03_not_varying);
static_assert(refusal_of<op::AllReduce<X>, Red> == Code::V03_not_varying);
// over two axes both must be varying: JAX would sum copies along the other
static_assert(gives<op::AllReduce<X, Y>, Inv, L<Dim<I>, Dim<J>, Varying<X, Y>>>);
static_assert(gives<op::AllReduce<Y, X>, Inv, L<Dim<I>, Dim<J>, Varying<X, Y>>>);
static_assert(gives<op::AllReduce<Y, X>, Inv, L<Dim<I>, Dim<J>, Varying<Y>, Unreduced<X>>>);
static_assert(refusal_of<op::AllReduce<X, Y>, Var> == Code::V03_not_varying);
static_assert(refusal_of<op::AllReduce<Z>, Var> == Code::V03_not_varying);
static_assert(gives<op::AllReduce<X>, L<Dim<I>, Varying<Y>>, L<Dim<I>, Varying<X, Y>>>);
// pmean, pmax, pmin; unreduced_pmax
static_assert(gives<op::AllReduce<Mean, X>, Inv, Var>);
static_assert(gives<op::AllReduce<Max, X>, Inv, Var>);
static_assert(gives<op::AllReduce<Min, X>, Inv, Var>);
static_assert(gives<op::AllReduce<Max, X>, L<Dim<I>>, L<Dim<I>, Unreduced<Max, X>>>);
static_assert(refusal_of<op::AllReduce<Max, X>, Summand> == Code::V16_kind);
static_assert(refusal_of<op::AllReduce<Mean, X>, Local<int, Varying<X>>> == Code::P12_not_floating);
static_assert(refusal_of<op::AllReduce<X>, Local<bool, Varying<X>>> == Code::C11_not_numbers);
static_assert(gives<op::AllReduce<Max, X>, Local<bool>, Local<bool, Varying<X>>>);
// all_gather to varying, invariant, reduced; along a dim, or as a new first dim (untiled)
static_assert(gives<op::AllGather<X, I, ToVarying>, Var, Var>);
static_assert(gives<op::AllGather<X, I>, Inv, Var>);
static_assert(gives<op::AllGather<X, J, ToReduced>, Red, Var>);
static_assert(gives<op::AllGather<X, K>, L<Dim<K>, Dim<I>, Dim<J>>, Var>);
static_assert(gives<op::AllGather<Y, X, I>, L<Dim<I>>, L<Dim<I>, Varying<X, Y>>>);
static_assert(refusal_of<op::AllGather<X, I>, Inv> == Code::V03_not_varying);
static_assert(refusal_of<op::AllGather<X, I>, Summand> == Code::V06_unreduced);
// psum_scatter V -> V, unreduced_psum_scatter U -> V
static_assert(gives<op::ReduceScatter<X, I>, Var, Var>);
static_assert(gives<op::ReduceScatter<X, J>, Var, Summand>);
static_assert(refusal_of<op::ReduceScatter<X, I>, Inv> == Code::V03_not_varying);
static_assert(refusal_of<op::ReduceScatter<X, K>, Var> == Code::K04_no_such_index);
static_assert(refusal_of<op::ReduceScatter<X, I>, L<Dim<I>, Unreduced<Max, X>>> == Code::V16_kind);
// the local slice I -> V
static_assert(gives<op::Shard<X, I>, Var, Inv>);
static_assert(refusal_of<op::Shard<X, I>, Var> == Code::V05_not_invariant);
// ppermute, all_to_all (tiled, along one dim, untiled), pbroadcast
static_assert(gives<op::Permute<X>, Var, Var>);
static_assert(refusal_of<op::Permute<X>, Inv> == Code::V03_not_varying);
static_assert(refusal_of<op::Permute<X>, Summand> == Code::V06_unreduced);
static_assert(gives<op::AllToAll<X, I, J>, Var, Var>);
static_assert(gives<op::AllToAll<X, I, I>, Var, Var>);
static_assert(gives<op::AllToAll<X, I, K>, L<Dim<K>, Dim<J>, Varying<X>>, Var>);
static_assert(refusal_of<op::AllToAll<X, K, I>, Var> == Code::K04_no_such_index);
static_assert(refusal_of<op::AllToAll<X, I, J>, Inv> == Code::V03_not_varying);
static_assert(gives<op::BroadcastFrom<X>, Inv, Var>);
static_assert(gives<op::BroadcastFrom<X, ToVarying>, Var, Var>);
static_assert(refusal_of<op::BroadcastFrom<X>, Inv> == Code::V03_not_varying);
// the named parameters: kinds, axes, indices, in this order
static_assert(refusal_of<op::AllGather<I, X>, Var> == Code::T05_not_an_axis);
static_assert(refusal_of<op::AllGather<X>, Var> == Code::T05_not_an_axis);
static_assert(refusal_of<op::AllReduce<I>, Var> == Code::T05_not_an_axis);
static_assert(refusal_of<op::AllReduce<>, Var> == Code::K07_no_axis);
static_assert(refusal_of<op::AllReduce<X, X>, Var> == Code::T01_axis_twice);

// Local operations: V with I is V, with R is V; U only where the rule is linear and the other
// operand is U alike
using Add = op::Map<functions::Add>;
using Times = op::Map<functions::Multiply>;
using Exp = op::Map<functions::Exp>;
static_assert(gives<Add, Var, Var, Inv>);
static_assert(gives<Add, Var, Inv, Var>);
static_assert(gives<Add, L<Dim<I>, Varying<X, Y>>, L<Dim<I>, Varying<Y>>, L<Dim<I>, Varying<X>>>);
static_assert(gives<Add, Var, Red, Var>);
static_assert(gives<Add, Red, Red, Inv>);
static_assert(gives<Add, Summand, Summand, Summand>);
static_assert(gives<Times, Summand, Summand, Inv>);
static_assert(gives<Times, L<Dim<I>, Varying<Y>, Unreduced<X>>, L<Dim<I>, Unreduced<X>>,
                    L<Dim<I>, Varying<Y>>>);
static_assert(refusal_of<Add, Summand, Inv> == Code::P05_unreduced_and_whole);
static_assert(refusal_of<Add, Summand, Var> == Code::P06_unreduced_and_split);
static_assert(refusal_of<Times, Summand, Var> == Code::P06_unreduced_and_split);
static_assert(refusal_of<Exp, Summand> == Code::P04_not_linear);
static_assert(refusal_of<Add, Var, T<Dim<I>, Dim<J>>> == Code::V01_mixed);
static_assert(refusal_of<op::Map<functions::Add, Dim<I>, Dim<J>>, Var, Var> ==
              Code::V14_named_result);

using B = L<Dim<J>, Dim<K>>;
static_assert(gives<op::Matmul<>, L<Dim<I>, Dim<K>, Varying<X>>, Var, B>);
static_assert(gives<op::Einsum<I>, L<Dim<I>, Varying<X, Y>>, Var, L<Dim<J>, Varying<Y>>>);
static_assert(gives<op::Einsum<>, L<Varying<X>>, Var, Var>);  // a local product: nothing becomes
                                                              // unreduced
static_assert(gives<op::Matmul<>, L<Dim<I>, Dim<K>, Unreduced<X>>, Summand, B>);
static_assert(refusal_of<op::Matmul<>, Summand, L<Dim<J>, Dim<K>, Varying<X>>> ==
              Code::C07_not_linear);
static_assert(refusal_of<op::Matmul<>, Var, T<Dim<J>, Dim<K>>> == Code::V01_mixed);
static_assert(refusal_of<op::Matmul<Dim<I>, Dim<K>>, Var, B> == Code::V14_named_result);
static_assert(refusal_of<op::Einsum<Dim<I>>, Var, B> == Code::V14_named_result);

static_assert(gives<op::Reduce<reductions::Sum, I>, L<Dim<J>, Varying<X>>, Var>);
static_assert(gives<op::Reduce<reductions::Maximum>, L<Varying<X>>, Var>);
static_assert(gives<op::Reduce<reductions::Norm>, L<Varying<X>>, Var>);
static_assert(refusal_of<op::Reduce<reductions::Sum, Dim<J>>, Var> == Code::V14_named_result);
static_assert(refusal_of<op::Reshard<Dim<I>, Dim<J>>, Var> == Code::V14_named_result);
static_assert(gives<op::Transpose<J, I>, L<Dim<J>, Dim<I>, Varying<X>>, Var>);
static_assert(gives<op::Roll<I>, Var, Var>);
static_assert(gives<op::Concat<I>, Var, Inv, Var>);
// JAX 2.1 concat, pad: in manual mode JAX joins U with other states and pads U with any value
static_assert(refusal_of<op::Concat<I>, Summand, Inv> == Code::D13_unreduced_differs);
static_assert(refusal_of<op::Concat<I>, Summand, Var> != Code::ok);
static_assert(refusal_of<op::PadValue<float, I>, Summand> == Code::D11_pad_unreduced);
static_assert(plan(op::Roll<I>{}, type<Var>).collectives() == 0);
static_assert(plan(op::Mean<I>{}, type<Var>).collectives() == 0);
static_assert(plan(op::Matmul<>{}, type<Var>, type<B>).collectives() == 0);

// A block has its own extents: the label's static extent is that of the whole tensor.
static_assert(gives<op::Slice<N8>, L<Dim<N8>>, L<Dim<N8>>>);

// Laws: axes split no dim of a Local, an axis has one state
template <class A>
constexpr Code law = rules::lawful(Scope<A>::names, Scope<A>::parsed, 1).code;
static_assert(law<Var> == Code::ok);
static_assert(law<L<Dim<I, X>>> == Code::V02_wrong_mode);
static_assert(law<T<Dim<I>, Varying<X>>> == Code::ok);  // where X is manual
static_assert(law<L<Dim<I>, Varying<X>, Unreduced<X>>> == Code::T01_axis_twice);
static_assert(law<L<Dim<I>, Varying<X>, Reduced<X>>> == Code::T01_axis_twice);
static_assert(law<L<Dim<I>, Unreduced<Y>, Varying<X>>> == Code::T03_not_canonical);
static_assert(law<L<Dim<I>, Varying<Y, X>>> == Code::T03_not_canonical);

// Operands: a split dim becomes varying; U and R stay; equal blocks only
static_assert(std::is_same_v<local_t<T<Dim<I, X>, Dim<J>>>, Var>);
static_assert(std::is_same_v<local_t<T<Dim<I, Y, X>, Dim<J>>>, L<Dim<I>, Dim<J>, Varying<X, Y>>>);
static_assert(std::is_same_v<local_t<T<Dim<I, Y>, Dim<J>, Unreduced<Max, X>>>,
                             L<Dim<I>, Dim<J>, Varying<Y>, Unreduced<Max, X>>>);
static_assert(std::is_same_v<local_t<T<Dim<I>, Dim<J>, Reduced<X>>>, Red>);
template <class A>
constexpr Code input = detail::Input<A>::verdict.code;
static_assert(input<T<Dim<N8, X, Y>>> == Code::ok);
static_assert(input<T<Dim<N7, X>>> == Code::V10_uneven);
static_assert(input<T<Dim<N7>>> == Code::ok);
static_assert(input<T<Dim<N7, Z>>> == Code::ok);  // the size of Z is known at run time: an Error
static_assert(input<T<Dim<I, Cyclic<X, 4>>>> == Code::B03_through_cyclic);

// Results: an axis that is not named must not vary; a named one may be invariant; U and R must
// agree
template <class Block, class Out>
constexpr Code output = detail::Output<Block, Out>::verdict.code;
static_assert(output<Var, T<Dim<I, X>, Dim<J>>> == Code::ok);
static_assert(output<Var, T<Dim<I>, Dim<J, X>>> == Code::ok);
static_assert(output<Inv, T<Dim<I, X>, Dim<J>>> == Code::ok);
static_assert(output<Inv, T<Dim<I>, Dim<J>>> == Code::ok);
static_assert(output<Var, T<Dim<I>, Dim<J>>> == Code::V07_output_varies);
static_assert(output<L<Dim<I>, Varying<X, Y>>, T<Dim<I, X>>> == Code::V07_output_varies);
static_assert(output<L<Dim<I>, Varying<X, Y>>, T<Dim<I, Y, X>>> == Code::ok);
static_assert(output<Summand, T<Dim<I>, Dim<J>, Unreduced<X>>> == Code::ok);
static_assert(output<Summand, T<Dim<I>, Dim<J>>> == Code::V08_output_unreduced);
static_assert(output<Inv, T<Dim<I>, Dim<J>, Unreduced<X>>> == Code::V08_output_unreduced);
static_assert(output<Summand, T<Dim<I>, Dim<J>, Unreduced<Max, X>>> == Code::V08_output_unreduced);
static_assert(output<Red, T<Dim<I>, Dim<J>, Reduced<X>>> == Code::ok);
static_assert(output<Red, T<Dim<I>, Dim<J>>> == Code::V08_output_unreduced);
static_assert(output<Summand, T<Dim<I, X>, Dim<J>>> == Code::V08_output_unreduced);
static_assert(output<Var, T<Dim<J, X>, Dim<I>>> == Code::V09_output_dims);
static_assert(output<Var, T<Dim<I, X>>> == Code::V09_output_dims);
static_assert(output<Var, Tensor<double, Dim<I, X>, Dim<J>>> == Code::N05_element_type);

// Transposing a movement gives a movement; transposing it twice gives the movement itself.
constexpr bool closed() {
  for (StateChange const& m : rules::moves) {
    StateChange const back = rules::transposed(m);
    if (!rules::exists(back) || !(rules::transposed(back) == m)) return false;
  }
  return true;
}
static_assert(closed());
static_assert(std::size(rules::moves) == 14);
static_assert(rules::transposed({all_gather, V, R}) == StateChange{reduce_scatter, U, V});
static_assert(rules::transposed({all_reduce, U, same}) == StateChange{cast, same, R});
static_assert(rules::transposed({all_reduce, V, same}) == StateChange{cast, same, V});
static_assert(rules::transposed({all_gather, V, same}) == StateChange{shard, same, V});

// The number of a branch is a block without dims that is not varying and not unreduced.
template <class N>
constexpr Code number_refusal = detail::BranchNumber<N>::verdict.code;
static_assert(number_refusal<Local<std::int32_t>> == Code::ok);
static_assert(number_refusal<Local<std::int64_t, Reduced<X>>> == Code::ok);
static_assert(number_refusal<Local<std::int64_t, Varying<X>>> == Code::V13_condition_varies);
static_assert(number_refusal<Local<std::int64_t, Unreduced<X>>> == Code::A02_still_unreduced);
static_assert(number_refusal<Local<std::int64_t, Dim<I>>> == Code::A01_item_has_dims);
static_assert(number_refusal<Tensor<std::int64_t>> == Code::V01_mixed);
static_assert(number_refusal<int> == Code::T09_not_a_tensor);

// Every pair of state and movement is either in the table or refused with a code.
constexpr bool each_decided() {
  for (Movement how : {all_reduce, reduce_scatter, all_gather, all_to_all, permute, shard, cast})
    for (AxisState from : {same, V, U, R})
      for (AxisState to : {same, V, U, R}) {
        Spec s;
        s.local = true;
        if (from == V) s.varying.insert(0);
        if (from == U) s.unreduced.insert(0);
        if (from == R) s.reduced.insert(0);
        Verdict const v = rules::move(s, how, 0, to);
        if (bool(v) != rules::exists({how, from, to})) return false;
        if (v && v.result.state(0) != to) return false;
      }
  return true;
}
static_assert(each_decided());

}  // namespace
