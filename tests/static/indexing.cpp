// Lookups, scatters and sorting: the inferred results and the error codes, strict and named.
// tests/unit/indexing_rules.cpp shows that the accepted ones are sound; the messages are in
// tests/reject.
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <shardtype/types.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct Z : Axis<"Z"> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};
struct K : Index<"K"> {};
struct P9 : Index<"P9", 9> {};
struct Many : Index<"Many", 50000> {};
struct Few : Index<"Few", 64> {};
struct Wide : Index<"Wide", 512> {};

template <class... Parts>
using T = Tensor<float, Parts...>;
template <class... Parts>
using Ids = Tensor<std::int32_t, Parts...>;
using Places = std::int64_t;

template <class Op, class Out, class... As>
constexpr bool gives = std::is_same_v<typename checking::Resolve<Op, As...>::result, Out>;
template <class Op, class... As>
constexpr rules::Code refusal_of = checking::Resolve<Op, As...>::verdict.code;

// take, one axis after the other
using G = op::Take<V>;
static_assert(gives<G, T<Dim<B, X>, Dim<D>>, T<Dim<V>, Dim<D>>, Ids<Dim<B, X>>>);
static_assert(gives<G, T<Dim<B, X>, Dim<D, Y>>, T<Dim<V>, Dim<D, Y>>, Ids<Dim<B, X>>>);
static_assert(gives<G, T<Dim<B, X>, Dim<D>, Unreduced<Y>>, T<Dim<V, Y>, Dim<D>>, Ids<Dim<B, X>>>);
static_assert(gives<G, T<Dim<D>, Unreduced<X, Y>>, T<Dim<V, Y, X>, Dim<D>>, Ids<>>);
static_assert(gives<G, T<Dim<D>, Dim<B, X>, Dim<N>>, T<Dim<D>, Dim<V>>, Ids<Dim<B, X>, Dim<N>>>);
static_assert(gives<G, T<Dim<B>, Unreduced<X, Y>>, T<Dim<V, X>, Unreduced<Y>>, Ids<Dim<B>>>);
static_assert(gives<G, T<Dim<B>, Unreduced<Max, Y>>, T<Dim<V>, Unreduced<Max, Y>>, Ids<Dim<B>>>);
static_assert(refusal_of<G, T<Dim<V, X>, Unreduced<Max, Y>>, Ids<Dim<B>>> ==
              rules::Code::I07_other_kind);
using Flags = Tensor<bool, Dim<V, X>, Unreduced<Max, Y>>;
static_assert(gives<G, Tensor<bool, Dim<B>, Unreduced<Max, X, Y>>, Flags, Ids<Dim<B>>>);
static_assert(
    gives<G, Tensor<bool, Dim<B>, Unreduced<Max, X>>, Tensor<bool, Dim<V, X>>, Ids<Dim<B>>>);
static_assert(gives<G, T<Dim<B, Y>, Reduced<X>>, T<Dim<V>, Reduced<X, Y>>, Ids<Dim<B, Y>>>);
static_assert(gives<G, T<Dim<B>>, T<Dim<V>>, Ids<Dim<B>, Reduced<X>>>);  // ids have no gradient
static_assert(refusal_of<G, T<Dim<D>>, Ids<Dim<B>>> == rules::Code::D01_no_such_index);
static_assert(refusal_of<G, T<Dim<V>, Dim<B>>, Ids<Dim<B>>> == rules::Code::I03_shared_index);
static_assert(refusal_of<G, T<Dim<V>>, T<Dim<B>>> == rules::Code::I01_not_integers);
static_assert(refusal_of<G, T<Dim<V, X>>, Ids<Dim<B, X>>> == rules::Code::I04_looked_up_and_ids);
static_assert(refusal_of<G, T<Dim<V>, Dim<D, X>>, Ids<Dim<B, X>>> == rules::Code::I05_axis_on_two);
static_assert(refusal_of<G, T<Dim<V>, Unreduced<X>>, Ids<Dim<B, X>>> ==
              rules::Code::I06_unreduced_and_split);
static_assert(refusal_of<G, T<Dim<V>>, Ids<Dim<B>, Unreduced<X>>> ==
              rules::Code::I02_ids_unreduced);

// JAX 2.1 gather: U not implemented, R only by ids that are not split; here both pass
static_assert(
    gives<G, T<Dim<B>, Dim<D>, Unreduced<X>>, T<Dim<V>, Dim<D>, Unreduced<X>>, Ids<Dim<B>>>);
static_assert(gives<G, T<Dim<B>, Dim<D>, Reduced<X>>, T<Dim<V>, Dim<D>, Reduced<X>>, Ids<Dim<B>>>);
static_assert(
    gives<G, T<Dim<B, X>, Dim<D>, Reduced<Y>>, T<Dim<V>, Dim<D>, Reduced<Y>>, Ids<Dim<B, X>>>);

// ids along V itself: chosen rows, under the same index
static_assert(gives<G, T<Dim<D, Y>, Dim<V, X>>, T<Dim<D, Y>, Dim<V>>, Ids<Dim<V, X>>>);
static_assert(gives<G, T<Dim<V>, Unreduced<X>>, T<Dim<V, X>>, Ids<Dim<V>>>);
static_assert(gives<G, T<Dim<B, Y>, Dim<V>, Dim<D>>, T<Dim<V>, Dim<D>>, Ids<Dim<B, Y>, Dim<V>>>);
static_assert(refusal_of<G, T<Dim<V, X>>, Ids<Dim<V, X>>> == rules::Code::I04_looked_up_and_ids);
static_assert(refusal_of<G, T<Dim<V>, Dim<D>>, Ids<Dim<V>, Dim<D>>> ==
              rules::Code::I03_shared_index);
static_assert(gives<op::Take<V, Dim<V, X>, Dim<D>>, T<Dim<V, X>, Dim<D>>, T<Dim<V, X>, Dim<D>>,
                    Ids<Dim<V, X>>>);

// named: where the strict rule refuses, the ids are gathered; a finer result only slices them
template <class... Out>
using Named = op::Take<V, Out...>;
template <class Op, class... As>
using met = typename checking::Resolve<Op, As...>::template met<0>;
using Split = met<Named<Dim<B, X>, Dim<D>>, T<Dim<V, X>, Dim<D>>, Ids<Dim<B, X>>>;
static_assert(std::is_same_v<Split::operand<1, Ids<>>, Ids<Dim<B>>>);
static_assert(std::is_same_v<Split::operand<0, T<>>, T<Dim<V, X>, Dim<D>>>);
static_assert(std::is_same_v<Split::result, T<Dim<B>, Dim<D>, Unreduced<X>>>);
using Finer = met<Named<Dim<B, X>, Dim<D, Y>>, T<Dim<V>, Dim<D>>, Ids<Dim<B>>>;
static_assert(std::is_same_v<Finer::operand<1, Ids<>>, Ids<Dim<B, X>>>);
static_assert(std::is_same_v<Finer::operand<0, T<>>, T<Dim<V>, Dim<D, Y>>>);
static_assert(std::is_same_v<Finer::result, T<Dim<B, X>, Dim<D, Y>>>);
static_assert(refusal_of<Named<Dim<B, X>>, T<Dim<V>, Dim<D>>, Ids<Dim<B>>> ==
              rules::Code::R01_indices_differ);
static_assert(refusal_of<Named<Dim<B>, Unreduced<X>>, T<Dim<V>>, Ids<Dim<B>>> ==
              rules::Code::R02_replicated_to_unreduced);
static_assert(refusal_of<Named<Tensor<double, Dim<B>>>, T<Dim<V>>, Ids<Dim<B>>> ==
              rules::Code::N05_element_type);

// scatter_add, the transpose
using A = op::ScatterAdd<V>;
static_assert(
    gives<A, T<Dim<V>, Dim<D, Y>, Unreduced<X>>, T<Dim<B, X>, Dim<D, Y>>, Ids<Dim<B, X>>>);
static_assert(gives<A, T<Dim<V>, Dim<D>, Unreduced<X, Y>>, T<Dim<B, X>, Dim<N>, Dim<D>>,
                    Ids<Dim<N, Y>, Dim<B>>>);
static_assert(gives<A, T<Dim<D>, Dim<V>>, T<Dim<D>, Dim<B>>, Ids<Dim<B>>>);
static_assert(gives<A, T<Dim<V>, Dim<D>>, T<Dim<D>>, Ids<>>);
static_assert(gives<A, T<Dim<V>, Unreduced<X, Y>>, T<Dim<B, X, Y>>, Ids<Dim<B, X>>>);
static_assert(
    gives<A, T<Dim<V>, Unreduced<X>, Reduced<Y>>, T<Dim<B>, Reduced<X, Y>>, Ids<Dim<B, X>>>);
static_assert(refusal_of<A, T<Dim<D>>, Ids<Dim<B>>> == rules::Code::I08_index_missing);
static_assert(refusal_of<A, T<Dim<B, X>>, Ids<Dim<B, Y>>> == rules::Code::I09_lists_differ);
static_assert(refusal_of<A, T<Dim<B, X, Y>>, Ids<Dim<B, Y, X>>> == rules::Code::I09_lists_differ);
static_assert(refusal_of<A, T<Dim<B, X>, Dim<N>>, Ids<Dim<B>, Dim<N, X>>> ==
              rules::Code::I05_axis_on_two);
static_assert(refusal_of<A, T<Dim<B>, Dim<V>>, Ids<Dim<B>>> == rules::Code::D02_index_taken);
static_assert(
    gives<A, T<Dim<V>, Dim<D, Y>, Unreduced<X>>, T<Dim<V, X>, Dim<D, Y>>, Ids<Dim<V, X>>>);
static_assert(refusal_of<A, T<Dim<B>>, Ids<Dim<V>, Dim<B>>> == rules::Code::I08_index_missing);
static_assert(refusal_of<A, T<Dim<B>, Unreduced<Min, X>>, Ids<Dim<B>>> ==
              rules::Code::I07_other_kind);
static_assert(refusal_of<A, T<Dim<B>, Unreduced<X>>, Ids<Dim<B, X>>> ==
              rules::Code::I06_unreduced_and_split);

// scatter_max and scatter_min: the same, with their kinds
using ScatterMost = op::ScatterMax<V>;
using ScatterLeast = op::ScatterMin<V>;
static_assert(gives<ScatterMost, T<Dim<V>, Dim<D, Y>, Unreduced<Max, X>>, T<Dim<B, X>, Dim<D, Y>>,
                    Ids<Dim<B, X>>>);
static_assert(gives<ScatterLeast, T<Dim<D>, Dim<V>>, T<Dim<D>, Dim<B>>, Ids<Dim<B>>>);
static_assert(
    gives<ScatterLeast, T<Dim<V>, Unreduced<Min, X>>, T<Dim<B>, Unreduced<Min, X>>, Ids<Dim<B>>>);
static_assert(gives<op::ScatterMax<V, Dim<V, X>, Dim<D>>, T<Dim<V, X>, Dim<D>>,
                    T<Dim<B, X>, Dim<D, Y>>, Ids<Dim<B>>>);
static_assert(refusal_of<ScatterMost, T<Dim<B>, Unreduced<X>>, Ids<Dim<B>>> ==
              rules::Code::S02_other_kind);
static_assert(refusal_of<ScatterMost, T<Dim<B>, Unreduced<Min, X>>, Ids<Dim<B>>> ==
              rules::Code::S02_other_kind);
static_assert(refusal_of<ScatterMost, T<Dim<B, X>>, Ids<Dim<B, Y>>> ==
              rules::Code::I09_lists_differ);
static_assert(refusal_of<A, Tensor<bool, Dim<B>>, Ids<Dim<B>>> == rules::Code::C11_not_numbers);

// JAX 2.1 scatter: U by ids that are not split; R not implemented, here it passes
static_assert(gives<A, T<Dim<V>, Unreduced<X>>, T<Dim<B>, Unreduced<X>>, Ids<Dim<B>>>);
static_assert(gives<A, T<Dim<V>, Reduced<X>>, T<Dim<B>, Reduced<X>>, Ids<Dim<B>>>);

// named: each rank computes its own rows over free axes; over the others the result is reduced or
// the operands are gathered, whichever sends less
using Rows =
    checking::Resolve<op::ScatterAdd<V, Dim<V, Y>, Dim<D, X>>, T<Dim<B>, Dim<D>>, Ids<Dim<B>>>;
// Whether there are two candidates.
template <class R>
constexpr bool can_gather = [] {
  planning::LocalPlan const& adding = R::template Way<0>::value;
  planning::LocalPlan const& gathering = R::template Way<1>::value;
  return gathering.verdict && !(gathering.operands[0] == adding.operands[0] &&
                                gathering.operands[1] == adding.operands[1]);
}();
static_assert(std::is_same_v<Rows::met<0>::result, T<Dim<V, Y>, Dim<D, X>>>);
static_assert(!can_gather<Rows>);
template <class Rows, class Batch>
using Embedding = checking::Resolve<op::ScatterAdd<Rows, Dim<Rows, X>, Dim<Wide>>,
                                    T<Dim<Batch, X>, Dim<Wide>>, Ids<Dim<Batch, X>>>;
template <class R>
constexpr bool gathers =
    can_gather<R> && R::candidate({R::S::names.extents(), R::S::names.sizes(), 4}) == 1;
static_assert(std::is_same_v<Embedding<Many, Few>::met<1>::result, T<Dim<Many, X>, Dim<Wide>>>);
static_assert(
    std::is_same_v<Embedding<Many, Few>::met<0>::result, T<Dim<Many>, Dim<Wide>, Unreduced<X>>>);
static_assert(gathers<Embedding<Many, Few>>);
static_assert(!gathers<Embedding<Few, Many>>);

// one_hot, take_along, dynamic_update
static_assert(gives<op::OneHot<V, float>, T<Dim<B, X>, Dim<V>>, Ids<Dim<B, X>, Reduced<Y>>>);
static_assert(
    std::is_same_v<met<op::OneHot<V, float, Dim<B, X>, Dim<V, Y>>, Ids<Dim<B, X>>>::result,
                   T<Dim<B, X>, Dim<V, Y>>>);
static_assert(refusal_of<op::OneHot<B, float>, Ids<Dim<B>>> == rules::Code::D02_index_taken);
static_assert(
    gives<op::TakeAlong<V>, T<Dim<B, X>, Dim<V>>, T<Dim<B, X>, Dim<V>>, Ids<Dim<B, X>, Dim<V>>>);
static_assert(gives<op::TakeAlong<V, N>, T<Dim<B, X>, Dim<N, Y>>, T<Dim<B, X>, Dim<V>, Reduced<Y>>,
                    Ids<Dim<B, X>, Dim<N, Y>>>);
static_assert(refusal_of<op::TakeAlong<V>, T<Dim<V, X>>, Ids<Dim<V>>> ==
              rules::Code::D03_along_split);
static_assert(refusal_of<op::TakeAlong<V>, T<Dim<B, X>, Dim<V>>, Ids<Dim<B>, Dim<V>>> ==
              rules::Code::D12_dims_differ);
static_assert(refusal_of<op::TakeAlong<V, N>, T<Dim<V>>, Ids<Dim<V>>> ==
              rules::Code::D12_dims_differ);
static_assert(refusal_of<op::TakeAlong<V>, T<Dim<V>>, Ids<Dim<V>, Dim<B>>> ==
              rules::Code::D12_dims_differ);
static_assert(refusal_of<op::TakeAlong<V>, T<Dim<V>, Unreduced<X>>, Ids<Dim<V, X>>> ==
              rules::Code::I06_unreduced_and_split);
// scatter_along: take_along's transpose, at each of its shardings
static_assert(
    gives<op::ScatterAlong<V>, T<Dim<B, X>, Dim<V>>, T<Dim<B, X>, Dim<V>>, Ids<Dim<B, X>, Dim<V>>>);
static_assert(gives<op::ScatterAlong<V, N>, T<Dim<B, X>, Dim<V>, Unreduced<Y>>,
                    T<Dim<B, X>, Dim<N, Y>>, Ids<Dim<B, X>, Dim<N, Y>>>);
static_assert(gives<op::ScatterAlong<V, N>, T<Dim<V>, Dim<B, X>, Reduced<Y>>,
                    T<Dim<N>, Dim<B, X>, Reduced<Y>>, Ids<Dim<N>, Dim<B, X>>>);
static_assert(gives<op::ScatterAlong<V, N>, T<Dim<V>, Unreduced<X, Y>>, T<Dim<N, X>, Unreduced<Y>>,
                    Ids<Dim<N, X>>>);
static_assert(gives<op::ScatterAlong<V, N>, T<Dim<V>, Dim<B, Cyclic<X, 2>>>,
                    T<Dim<N>, Dim<B, Cyclic<X, 2>>>, Ids<Dim<N>, Dim<B, Cyclic<X, 2>>>>);
static_assert(refusal_of<op::ScatterAlong<V, N>, T<Dim<V>>, Ids<Dim<V>>> ==
              rules::Code::D01_no_such_index);
static_assert(refusal_of<op::ScatterAlong<V, N>, T<Dim<V>, Dim<N>>, Ids<Dim<V>, Dim<N>>> ==
              rules::Code::D02_index_taken);
static_assert(refusal_of<op::ScatterAlong<V, N>, T<Dim<N, X>>, Ids<Dim<N>>> ==
              rules::Code::D12_dims_differ);
static_assert(refusal_of<op::ScatterAlong<V, N>, T<Dim<N>>, Ids<Dim<N>, Unreduced<X>>> ==
              rules::Code::I02_ids_unreduced);
static_assert(refusal_of<op::ScatterAlong<V, N>, T<Dim<N>, Unreduced<Max, X>>, Ids<Dim<N>>> ==
              rules::Code::I07_other_kind);
static_assert(refusal_of<op::ScatterAlong<V, N>, T<Dim<N>>, T<Dim<N>>> ==
              rules::Code::I01_not_integers);
static_assert(refusal_of<op::ScatterAlong<V, N>, Tensor<bool, Dim<N>>, Ids<Dim<N>>> ==
              rules::Code::C11_not_numbers);
static_assert(gives<op::DynamicUpdate<V, N>, T<Dim<V>, Dim<D, X>, Unreduced<Y>>,
                    T<Dim<V>, Dim<D, X>, Unreduced<Y>>, T<Dim<N>, Dim<D, X>, Unreduced<Y>>>);
static_assert(gives<op::DynamicUpdate<V>, T<Dim<V>, Reduced<Y>>, T<Dim<V>, Reduced<Y>>, T<Dim<V>>>);
// JAX 2.1 dynamic_update_slice: both U or both R over the same axes; R beside I is refused there
static_assert(gives<op::DynamicUpdate<V>, T<Dim<V>, Reduced<Y>>, T<Dim<V>, Reduced<Y>>,
                    T<Dim<V>, Reduced<Y>>>);
static_assert(refusal_of<op::DynamicUpdate<V>, T<Dim<V>, Unreduced<X>>, T<Dim<V>, Reduced<X>>> ==
              rules::Code::D13_unreduced_differs);
static_assert(refusal_of<op::DynamicUpdate<V, N>, T<Dim<V, X>>, T<Dim<N>>> ==
              rules::Code::D03_along_split);
static_assert(refusal_of<op::DynamicUpdate<V, N>, T<Dim<V>>, T<Dim<N, X>>> ==
              rules::Code::D12_dims_differ);
static_assert(refusal_of<op::DynamicUpdate<V>, T<Dim<V>>, T<>> == rules::Code::D12_dims_differ);
static_assert(refusal_of<op::DynamicUpdate<V>, T<Dim<V>, Unreduced<X>>, T<Dim<V>>> ==
              rules::Code::D13_unreduced_differs);

// sorting
static_assert(gives<op::Sort<V>, T<Dim<V>, Dim<D, X>>, T<Dim<V>, Dim<D, X>>>);
static_assert(gives<op::ArgSort<V>, Tensor<Places, Dim<V>>, T<Dim<V>>>);
static_assert(gives<op::TopK<V, K>, T<Dim<K>, Dim<D, X>>, T<Dim<V>, Dim<D, X>>>);
static_assert(
    std::is_same_v<typename checking::Resolve<op::TopK<V, K>, T<Dim<V>, Dim<D, X>>>::results,
                   std::tuple<T<Dim<K>, Dim<D, X>>, Tensor<std::int64_t, Dim<K>, Dim<D, X>>>>);
static_assert(gives<op::TopK<V>, T<Dim<V>, Reduced<Y>>, T<Dim<V>, Reduced<Y>>>);
static_assert(refusal_of<op::TopK<P9>, T<Dim<P9>>> == rules::Code::D05_extent_changes);
static_assert(refusal_of<op::TopK<V, D>, T<Dim<V>, Dim<D>>> == rules::Code::D02_index_taken);
static_assert(refusal_of<op::Sort<V>, T<Dim<V, X>>> == rules::Code::D03_along_split);
// along a split dim: in place, where the result has its axes; else rows are brought together
static_assert(gives<op::Sort<V, Dim<V, X>, Dim<D>>, T<Dim<V, X>, Dim<D>>, T<Dim<V, X>, Dim<D>>>);
static_assert(gives<op::ArgSort<V, Dim<V, X>>, Tensor<Places, Dim<V, X>>, T<Dim<V, X>>>);
static_assert(refusal_of<op::Sort<D, Dim<V, X>>, T<Dim<V, X>>> == rules::Code::D01_no_such_index);
static_assert(gives<op::Sort<V, Dim<V, X>>, T<Dim<V, X>>, T<Dim<V, Cyclic<X, 2>>>>);
static_assert(refusal_of<op::Sort<V, Dim<D>>, T<Dim<V, X>>> == rules::Code::R01_indices_differ);
static_assert(refusal_of<op::Sort<V>, T<Dim<V>, Unreduced<X>>> == rules::Code::I10_sort_unreduced);
static_assert(refusal_of<op::Sort<V>, Tensor<bool, Dim<V>>> == rules::Code::ok);
static_assert(refusal_of<op::Sort<D>, T<Dim<V>>> == rules::Code::D01_no_such_index);

// of rows that ranks share all of these have the largest
static_assert(gives<op::SharedTopK<V, K>, T<Dim<K>, Dim<D, Y>>, T<Dim<V, X>, Dim<D, Y>>>);
static_assert(gives<op::SharedTopK<V>, T<Dim<V>, Reduced<Y>>, T<Dim<V, X>, Reduced<Y>>>);
static_assert(refusal_of<op::SharedTopK<V>, T<Dim<V, Cyclic<X, 2>>>> ==
              rules::Code::B03_through_cyclic);
static_assert(refusal_of<op::SharedTopK<V>, T<Dim<V, X>, Unreduced<Y>>> ==
              rules::Code::I10_sort_unreduced);
static_assert(refusal_of<op::SharedTopK<P9>, T<Dim<P9, X>>> == rules::Code::D05_extent_changes);
static_assert(refusal_of<op::SharedTopK<V, D>, T<Dim<V, X>, Dim<D>>> ==
              rules::Code::D02_index_taken);
// how many steps there are depends on sizes
static_assert(checking::Resolve<op::SharedTopK<V, K>, T<Dim<V, Z>>>::open_count(
                  {2}, Collective::all_gather) == planning::unbounded);
static_assert(checking::Resolve<op::SharedTopK<V, K>, T<Dim<V>>>::open_count(
                  {2}, Collective::all_gather) == 0);
static_assert(std::is_same_v<detail::TopKOperand<V, T<Dim<V, Cyclic<X, 2>>, Dim<D>, Unreduced<Y>>,
                                                 T<Dim<K>, Dim<D, Y>>>::type,
                             T<Dim<V>, Dim<D, Y>>>);
static_assert(
    std::is_same_v<detail::TopKOperand<V, T<Dim<V, X>, Dim<D>>, T<Dim<K>, Dim<D, Y>>>::type,
                   T<Dim<V, X>, Dim<D, Y>>>);

// unique of sorted elements: values, counts, and how many there are
template <class A, class Op = op::SharedUnique<int, V, K>>
using Different = typename checking::Resolve<Op, A>::results;
static_assert(
    std::is_same_v<Different<T<Dim<V, X, Y>>>,
                   std::tuple<T<Dim<K, X, Y>>, Tensor<Places, Dim<K, X, Y>>, Tensor<Places>>>);
static_assert(std::is_same_v<Different<T<Dim<V>, Reduced<Y>>, op::Unique<int, V>>,
                             std::tuple<T<Dim<V>>, Tensor<Places, Dim<V>>, Tensor<Places>>>);
template <class A, class F = int, class... Result>
constexpr rules::Code unique_refused = refusal_of<op::SharedUnique<F, V, Result...>, A>;
static_assert(unique_refused<T<Dim<V, X>, Dim<D>>> == rules::Code::I13_unique_of_one_dim);
static_assert(unique_refused<T<Dim<V, Cyclic<X, 2>>>> == rules::Code::B03_through_cyclic);
static_assert(unique_refused<T<Dim<V, X>, Unreduced<Y>>> == rules::Code::I10_sort_unreduced);
static_assert(unique_refused<T<Dim<D>>> == rules::Code::D01_no_such_index);
static_assert(unique_refused<T<Dim<V>>, int, V> == rules::Code::D02_index_taken);
static_assert(unique_refused<Tensor<int, Dim<V>>, float> == rules::Code::P10_number_does_not_fit);
static_assert(refusal_of<op::SharedUnique<int, P9>, T<Dim<P9, X>>> ==
              rules::Code::D05_extent_changes);
static_assert(refusal_of<op::Unique<int, V>, T<Dim<V, X>>> == rules::Code::D03_along_split);

// a sort along a split dim gathers no elements
using LongRow = T<Dim<Many, Y>>;
inline constexpr Plan sorts = plan(op::Sort<Many, Dim<Many, Y>>{}, type<LongRow>);
static_assert(sorts.count(Collective::all_reduce) == 4 && sorts.count(Collective::all_to_all) == 1);
static_assert(sorts.bytes_per_rank() < 2 * 50000 / 4 * 4);
static_assert(sorts.peak_bytes() < 4 * 50000 / 4 * 4);
static_assert(
    plan(op::ArgSort<Many, Dim<Many, Y>>{}, type<LongRow>).count(Collective::all_to_all) == 2);

// quantiles: rows in order, of which one element is left
template <class... Out>
using Middle = op::Quantile<V, Out...>;
static_assert(gives<Middle<>, T<Dim<D, X>, Reduced<Y>>, T<Dim<V>, Dim<D, X>, Reduced<Y>>>);
static_assert(gives<Middle<>, T<>, T<Dim<V>>>);
static_assert(gives<Middle<Dim<D, Y>>, T<Dim<D, Y>>, T<Dim<V, X>, Dim<D>>>);
static_assert(gives<Middle<T<>>, T<>, T<Dim<V, Cyclic<X, 2>>>>);
static_assert(std::is_same_v<met<Middle<Dim<D, Y>>, T<Dim<V, X>, Dim<D>>>::operand<0, T<>>,
                             T<Dim<V, X>, Dim<D, Y>>>);
static_assert(refusal_of<Middle<>, T<Dim<V, X>>> == rules::Code::D03_along_split);
static_assert(refusal_of<Middle<>, T<Dim<D>>> == rules::Code::D01_no_such_index);
static_assert(refusal_of<Middle<>, T<Dim<V>, Unreduced<X>>> == rules::Code::I10_sort_unreduced);
static_assert(refusal_of<Middle<>, Ids<Dim<V>>> == rules::Code::P12_not_floating);
static_assert(refusal_of<Middle<Dim<V>>, T<Dim<V, X>>> == rules::Code::R01_indices_differ);

// counts: unreduced over all axes that split the operand; named, reduced
template <class... Parts>
using Counts = Tensor<std::int64_t, Parts...>;
template <class... Out>
using OfIds = op::Bincount<V, Out...>;
template <class... Out>
using OfBins = op::Histogram<V, Out...>;
static_assert(gives<OfIds<>, Counts<Dim<V>, Unreduced<X, Y>>, Ids<Dim<B, X>, Dim<N, Y>>>);
static_assert(gives<OfIds<>, Counts<Dim<V>, Unreduced<X>>, Ids<Dim<B, Cyclic<X, 2>>, Reduced<Y>>>);
static_assert(gives<OfIds<>, Counts<Dim<V>>, Ids<>>);
static_assert(gives<OfBins<>, Counts<Dim<V>, Unreduced<X>>, T<Dim<B>, Dim<N, X>>>);
static_assert(
    std::is_same_v<met<OfIds<Dim<V, Y>>, Ids<Dim<B, X>>>::result, Counts<Dim<V, Y>, Unreduced<X>>>);
static_assert(gives<OfBins<Dim<V, X>>, Counts<Dim<V, X>>, T<Dim<B, X>>>);
static_assert(refusal_of<OfIds<>, Ids<Dim<V>>> == rules::Code::D02_index_taken);
static_assert(refusal_of<OfIds<>, T<Dim<B>>> == rules::Code::I01_not_integers);
static_assert(refusal_of<OfIds<>, Ids<Dim<B>, Unreduced<X>>> == rules::Code::I02_ids_unreduced);
static_assert(refusal_of<OfIds<Dim<V, Cyclic<X, 2>>>, Ids<Dim<B>>> ==
              rules::Code::B03_through_cyclic);
static_assert(refusal_of<OfIds<Tensor<int, Dim<V>>>, Ids<Dim<B>>> == rules::Code::N05_element_type);
static_assert(refusal_of<OfIds<Dim<D>>, Ids<Dim<B>>> == rules::Code::R01_indices_differ);
static_assert(refusal_of<OfBins<>, T<Dim<B>, Unreduced<X>>> == rules::Code::I10_sort_unreduced);
static_assert(refusal_of<OfBins<>, Tensor<bool, Dim<B>>> == rules::Code::C11_not_numbers);
inline constexpr Plan counts_rows = plan(op::Bincount<Few, Dim<Few>>{}, type<Ids<Dim<Many, X>>>);
static_assert(counts_rows.count(Collective::all_reduce) == 1 &&
              counts_rows.count(Collective::all_gather) == 0);
static_assert(counts_rows.bytes_per_rank() == 64 * 8);

// searches: dims and sharding of the queries
using Search = op::SearchSorted<V>;
static_assert(gives<Search, Counts<Dim<B, X>, Dim<N, Y>>, T<Dim<V>>, T<Dim<B, X>, Dim<N, Y>>>);
static_assert(
    gives<Search, Counts<Dim<B, Cyclic<X, 2>>>, T<Dim<V>, Reduced<Y>>, T<Dim<B, Cyclic<X, 2>>>>);
static_assert(refusal_of<Search, T<Dim<B>>, T<Dim<N>>> == rules::Code::D01_no_such_index);
static_assert(refusal_of<Search, T<Dim<V, X>>, T<Dim<B>>> == rules::Code::D03_along_split);
static_assert(refusal_of<Search, T<Dim<V>>, T<Dim<V>>> == rules::Code::I03_shared_index);
static_assert(refusal_of<Search, T<Dim<V>>, T<Dim<B>, Unreduced<X>>> ==
              rules::Code::I10_sort_unreduced);
static_assert(refusal_of<Search, T<Dim<D>, Dim<V>>, T<Dim<B>>> ==
              rules::Code::I12_table_of_one_dim);
static_assert(refusal_of<Search, T<Dim<V>>, Ids<Dim<B>>> == rules::Code::C10_element_types_differ);

// plans: the strict forms have no collectives; plans with run-time sizes
static_assert(plan(op::Take<Many>{}, type<T<Dim<Many, Y>, Dim<Wide>>>, type<Ids<Dim<Few, X>>>)
                  .count(Collective::all_gather) == 0);
static_assert(
    valid_on<op::Take<V>, OperandTypes<T<Dim<V>, Dim<D, Z>>, Ids<Dim<B, X>>>, AxisSize<Z, 3>>);
static_assert(
    !valid_on<op::Take<V>, OperandTypes<T<Dim<V, Z>, Dim<D>>, Ids<Dim<B, Z>>>, AxisSize<Z, 3>>);
static_assert(!valid_on<op::Sort<V>, OperandTypes<T<Dim<V, Z>>>, AxisSize<Z, 3>>);

// One row of a dim: as a lookup of one id.
template <class... Out>
using Row = op::At<V, Out...>;
static_assert(gives<Row<>, T<Dim<D>, Unreduced<Y>>, T<Dim<V, Y>, Dim<D>>>);
static_assert(gives<Row<>, T<Dim<B, X>, Dim<D>>, T<Dim<B, X>, Dim<V>, Dim<D>>>);
static_assert(gives<Row<>, T<Unreduced<X, Y>, Reduced<Z>>, T<Dim<V, Y, X>, Reduced<Z>>>);
static_assert(gives<Row<>, T<Dim<D>, Unreduced<Max, X>>, T<Dim<V>, Dim<D>, Unreduced<Max, X>>>);
static_assert(gives<Row<>, Tensor<bool, Unreduced<Max, X>>, Tensor<bool, Dim<V, X>>>);
static_assert(refusal_of<Row<>, T<Dim<D>>> == rules::Code::D01_no_such_index);
static_assert(refusal_of<Row<>, T<Dim<V, Cyclic<X, 2>>>> == rules::Code::B03_through_cyclic);
static_assert(refusal_of<Row<>, T<Dim<V, X>, Unreduced<Max, Y>>> == rules::Code::I07_other_kind);
static_assert(gives<Row<Dim<D, X>>, T<Dim<D, X>>, T<Dim<V, Y>, Dim<D>>>);
static_assert(gives<Row<Dim<D>>, T<Dim<D>>, T<Dim<V, Cyclic<X, 2>>, Dim<D>>>);
static_assert(gives<Row<T<>>, T<>, T<Dim<V, X>, Unreduced<Y>>>);
static_assert(refusal_of<Row<Dim<D>>, Local<float, Dim<V>, Dim<D>>> ==
              rules::Code::V14_named_result);
static_assert(refusal_of<Row<Dim<V>>, T<Dim<V>, Dim<D>>> == rules::Code::R01_indices_differ);
static_assert(refusal_of<Row<Dim<D>, Unreduced<X>>, T<Dim<V>, Dim<D>>> ==
              rules::Code::R02_replicated_to_unreduced);

// Along a split dim it is sent alone; a slice of it is added up where that is less, else it goes
// from dim to dim.
using Table = T<Dim<Many, Y>, Dim<Wide>>;
constexpr auto row = plan(op::At<Many, Dim<Wide>>{40000}, type<Table>);
static_assert(row.collectives() == 1 && row.bytes_per_rank() == 2 * 512 * 4 * 3 / 4);
constexpr auto part_of_row = plan(op::At<Many, Dim<Wide, Y>>{40000}, type<Table>);
static_assert(part_of_row.count(Collective::reduce_scatter) == 1 &&
              part_of_row.bytes_per_rank() == 512 * 4 * 3 / 4);
template <class... Out>
using Part = op::Slice<Many, Few, Out...>;
constexpr auto few = plan(Part<Dim<Few>, Dim<Wide>>{100, 164}, type<Table>);
static_assert(few.collectives() == 1 && few.bytes_per_rank() == 2 * 64 * 512 * 4 * 3 / 4);
using Most = op::Slice<Many, N, Dim<N>, Dim<Wide, Y>>;
constexpr auto most = plan(op::Slice<Many, P9, Dim<P9>, Dim<Wide, Y>>{0, 9}, type<Table>);
static_assert(most.count(Collective::all_gather) == 0);
static_assert(gives<Most, T<Dim<N>, Dim<Wide, Y>>, Table>);
static_assert(
    gives<op::Slice<V, N, Dim<D>, Dim<N, Z>>, T<Dim<D>, Dim<N, Z>>, T<Dim<V, X>, Dim<D>>>);
static_assert(gives<op::Slice<V, N, T<Dim<N>>>, T<Dim<N>>, T<Dim<V, Cyclic<X, 2>>>>);
static_assert(gives<op::Slice<V, N, T<Dim<N>>>, T<Dim<N>>, T<Dim<V, X>, Unreduced<Max, Y>>>);
static_assert(refusal_of<op::Slice<V, N>, T<Dim<V, X>>> == rules::Code::D03_along_split);
static_assert(refusal_of<op::Slice<V, D, Dim<D>>, T<Dim<V, X>, Dim<D>>> ==
              rules::Code::D02_index_taken);
static_assert(refusal_of<op::Slice<V, N, Dim<N>>, T<Dim<D>>> == rules::Code::D01_no_such_index);
static_assert(refusal_of<op::Slice<V, N, Dim<V>>, T<Dim<V, X>>> == rules::Code::R01_indices_differ);

}  // namespace
