// NEEDS: full
// Manual mode over some axes: the types of tensors in the function of shard_map, of strict
// operations and of collectives there, refusals, and plans. The messages are in tests/reject.
#include <cstdint>
#include <type_traits>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
using namespace shardtype::checking;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct Z : Axis<"Z", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct N8 : Index<"N8", 8> {};
struct N6 : Index<"N6", 6> {};

template <class... Parts>
using T = Tensor<float, Parts...>;
template <class Op, class Out, class... As>
constexpr bool gives = std::is_same_v<typename Resolve<Op, As...>::result, Out>;
template <class Op, class... As>
constexpr Code refusal_of = Resolve<Op, As...>::verdict.code;

using A = T<Dim<I, X>, Dim<J, Y>>;
using V = T<Dim<I>, Dim<J, Y>, Varying<X>>;

// entering: dims lose the manual axes, which must be the major ones
static_assert(gives<op::EnterManual<X>, V, A>);
static_assert(gives<op::EnterManual<X>, T<Dim<I, Y>, Varying<X>>, T<Dim<I, X, Y>>>);
static_assert(gives<op::EnterManual<X, Y>, T<Dim<I>, Dim<J>, Varying<X, Y>>, A>);
static_assert(gives<op::EnterManual<X>, T<Dim<J, Y>, Unreduced<X>>, T<Dim<J, Y>, Unreduced<X>>>);
static_assert(gives<op::EnterManual<Y>, T<Dim<I>, Dim<J>, Varying<X, Y>>, V>);  // inside another
static_assert(refusal_of<op::EnterManual<Y>, T<Dim<I, X, Y>>> == Code::V18_strict_inside);
static_assert(refusal_of<op::EnterManual<X>, T<Dim<I, Cyclic<X, 4>>>> == Code::B03_through_cyclic);
static_assert(refusal_of<op::EnterManual<X>, T<Dim<N6, X, Y>>> == Code::V10_uneven);
static_assert(refusal_of<op::EnterManual<X>, T<Dim<N6, X>, Dim<J, Y>>> == Code::ok);
// leaving
static_assert(gives<op::LeaveManual<A>, A, V>);
static_assert(gives<op::LeaveManual<A>, A, T<Dim<I>, Dim<J, Y>>>);  // an equal block may be split
static_assert(refusal_of<op::LeaveManual<T<Dim<I>, Dim<J, Y>>>, V> == Code::V07_output_varies);
static_assert(refusal_of<op::LeaveManual<T<Dim<I, X>, Dim<J>>>, V> == Code::V18_strict_inside);
static_assert(refusal_of<op::LeaveManual<T<Dim<J, Y>, Dim<I, X>>>, V> == Code::V09_output_dims);
static_assert(refusal_of<op::LeaveManual<A>, T<Dim<I>, Dim<J, Y>, Unreduced<X>>> ==
              Code::V08_output_unreduced);

// strict operations: the result varies where an operand does
static_assert(gives<op::Map<functions::Add>, V, V, T<Dim<I>, Dim<J, Y>>>);
static_assert(gives<op::Map<functions::Add>, V, V, T<Dim<J>, Reduced<X>>>);
static_assert(
    gives<op::Matmul<>, T<Dim<I>, Dim<K>, Varying<X>, Unreduced<Y>>, V, T<Dim<J, Y>, Dim<K>>>);
static_assert(gives<op::Sum<J>, T<Dim<I>, Varying<X>, Unreduced<Y>>, V>);
static_assert(gives<op::Softmax<I>, V, V>);
static_assert(refusal_of<op::Softmax<J>, V> == refusal_of<op::Softmax<J>, A>);
static_assert(refusal_of<op::Matmul<>, V, T<Dim<J>, Dim<K>>> == Code::C02_one_side_only);
static_assert(refusal_of<op::Map<functions::Multiply>, V, T<Dim<I>, Unreduced<X>>> ==
              Code::P06_unreduced_and_split);
// beside a tensor that the manual axis splits
static_assert(refusal_of<op::Map<functions::Add>, V, A> == Code::V01_mixed);
static_assert(refusal_of<op::Matmul<>, V, T<Dim<J, Y>, Dim<K, X>>> == Code::V01_mixed);
static_assert(refusal_of<op::Matmul<>, T<Dim<J>, Varying<X>>, T<Dim<J>, Dim<K, X>>> ==
              Code::V01_mixed);
// strict collectives and reshards along the strict axes
static_assert(gives<op::AllReduce<Y>, T<Dim<I>, Varying<X>>, T<Dim<I>, Varying<X>, Unreduced<Y>>>);
static_assert(gives<op::AllGather<Y>, T<Dim<I>, Dim<J>, Varying<X>>, V>);
static_assert(gives<op::AllToAll<Y, J, I>, T<Dim<I, Y>, Dim<J>, Varying<X>>, V>);
static_assert(gives<op::Reshard<Dim<I, Y>, Dim<J>>, T<Dim<I, Y>, Dim<J>, Varying<X>>, V>);
static_assert(refusal_of<op::Reshard<Dim<I, X>, Dim<J>>, V> == Code::T01_axis_twice);
static_assert(refusal_of<op::Reshard<Dim<I>, Dim<J>, Varying<Z>>, A> == Code::V17_not_manual);
static_assert(refusal_of<op::Sum<Dim<I>>, V> == Code::V14_named_result);
static_assert(refusal_of<op::Matmul<Dim<I>, Dim<K>>, V, T<Dim<J, Y>, Dim<K>>> ==
              Code::V14_named_result);

// manual collectives along the manual axis, of indices that no strict axis splits
static_assert(gives<op::AllReduce<X>, T<Dim<I>, Dim<J, Y>>, V>);
static_assert(gives<op::AllReduce<Max, X>, T<Dim<I>, Dim<J, Y>>, V>);
static_assert(gives<op::AllGather<X, I>, T<Dim<I>, Dim<J, Y>>, V>);
static_assert(gives<op::AllGather<X, I, ToVarying>, V, V>);
static_assert(gives<op::AllGather<X, K>, T<Dim<K>, Dim<I>, Dim<J, Y>>, V>);
static_assert(gives<op::ReduceScatter<X, I>, V, V>);
static_assert(gives<op::AllToAll<X, I, I>, V, V>);
static_assert(gives<op::Rotate<X>, V, V>);
static_assert(gives<op::Permute<X>, V, V>);
static_assert(gives<op::BroadcastFrom<X>, T<Dim<I>, Dim<J, Y>>, V>);
static_assert(gives<op::Shard<X, I>, V, T<Dim<I>, Dim<J, Y>>>);
static_assert(gives<op::ToVarying<X>, V, T<Dim<I>, Dim<J, Y>>>);
static_assert(gives<op::ToUnreduced<X>, T<Dim<I>, Dim<J, Y>, Unreduced<X>>, V>);
static_assert(refusal_of<op::AllGather<X, J>, V> == Code::V18_strict_inside);
static_assert(refusal_of<op::ReduceScatter<X, J>, V> == Code::V18_strict_inside);
static_assert(refusal_of<op::Rotate<Y>, V> == Code::V17_not_manual);
static_assert(refusal_of<op::Rotate<Z>, V> == Code::V17_not_manual);
static_assert(refusal_of<op::Shard<Y, I>, V> == Code::V17_not_manual);
static_assert(refusal_of<op::AllReduce<X, Y>, V> == Code::V17_not_manual);
static_assert(refusal_of<op::AllReduce<Y>, V> == Code::K03_not_unreduced);  // the strict one
static_assert(refusal_of<op::AllGather<X, I, ToReduced>, V> == Code::V01_mixed);
static_assert(refusal_of<op::Rotate<X>, A> == Code::V01_mixed);
static_assert(refusal_of<op::ToVarying<X>, V> == Code::V04_already);
static_assert(std::is_same_v<cotangent_t<V>, V>);

// plans of functions
struct N4 : Index<"N4", 4> {};
struct K3 : Index<"K3", 3> {};
constexpr auto planned = [](auto const& a, auto const& w) {
  return shard_map<Dim<N8, X>, Dim<K3>>(
      manual_axes<X>,
      [](auto const& v, auto const& u) { return all_reduce<Y>(matmul(rotate<X>(v, 1), u)); }, a, w);
};
constexpr auto plan_of_layer =
    plan(planned, type<T<Dim<N8, X>, Dim<N4, Y>>>, type<T<Dim<N4, Y>, Dim<K3>>>);
static_assert(plan_of_layer.collectives() == 2);
// the rotated block, 4 x 2, and two stages of half of the sums, 4 x 3
static_assert(plan_of_layer.bytes_per_rank() == (4 * 2 + 4 * 3) * 4);

// backward, one all_reduce over the manual axis: of varying<X>
constexpr auto loss = [](auto const& a, auto const& w) {
  return all_reduce<X>(shard_map<>(
      manual_axes<X>,
      [](auto const& v, auto const& u) {
        return unreduced<X>(sum(square(all_reduce<Y>(matmul(v, varying<X>(u))))));
      },
      a, w));
};
constexpr auto passes =
    plan(value_and_grad<1>(loss), type<T<Dim<N8, X>, Dim<N4, Y>>>, type<T<Dim<N4, Y>, Dim<K3>>>);
static_assert(passes.forward.count(Collective::all_reduce) == 2);
static_assert(passes.backward.count(Collective::all_reduce) == 1);
static_assert(passes.backward.collectives() == 1);

}  // namespace
