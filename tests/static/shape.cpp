// Shape operations: the inferred results and the error codes, JAX's test cases for reshape, and the
// law of split and merge compared with a count of every element. The messages are in tests/reject.
#include <type_traits>

#include <shardtype/types.hpp>

using namespace shardtype;
using namespace shardtype::checking;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct Z : Axis<"Z", 2> {};
struct V : Axis<"V"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct P1 : Index<"P1", 1> {};
struct P2 : Index<"P2", 2> {};
struct P3 : Index<"P3", 3> {};
struct P4 : Index<"P4", 4> {};
struct P6 : Index<"P6", 6> {};
struct Q2 : Index<"Q2", 2> {};
struct Q4 : Index<"Q4", 4> {};
struct P8 : Index<"P8", 8> {};
struct P12 : Index<"P12", 12> {};
struct Q6 : Index<"Q6", 6> {};
struct Q8 : Index<"Q8", 8> {};
struct R2 : Index<"R2", 2> {};
struct S2 : Index<"S2", 2> {};
struct P16 : Index<"P16", 16> {};
struct P48 : Index<"P48", 48> {};

template <class... Parts>
using T = Tensor<float, Parts...>;

template <class Op, class Out, class... As>
constexpr bool gives = std::is_same_v<typename Resolve<Op, As...>::result, Out>;
template <class Op, class... As>
constexpr Code refusal_of = Resolve<Op, As...>::verdict.code;
/// A's type after several operations, one after the other.
template <class A, class... Ops>
struct After {
  using type = A;
};
template <class A, class Op, class... Ops>
struct After<A, Op, Ops...> : After<typename Resolve<Op, A>::result, Ops...> {};
template <class A, class... Ops>
using after = typename After<A, Ops...>::type;

using A = T<Dim<I, X>, Dim<J>, Unreduced<Y>>;
using M = T<Dim<I, X>, Dim<J>, Unreduced<Max, Y>>;
using R = T<Dim<I, X>, Dim<J>, Reduced<Y>>;

// transpose: any order, each index once; U and R stay
static_assert(gives<op::Transpose<J, I>, T<Dim<J>, Dim<I, X>, Unreduced<Y>>, A>);
static_assert(gives<op::Transpose<I, J>, M, M>);
static_assert(gives<op::Transpose<J, I>, T<Dim<J>, Dim<I, X>, Reduced<Y>>, R>);
static_assert(gives<op::Transpose<>, T<>, T<>>);
static_assert(refusal_of<op::Named<op::Matmul<>, Dim<I>>, A, A> == Code::N07_no_named_form);
static_assert(refusal_of<op::Named<op::Sum<I>, Dim<I>>, A> == Code::N07_no_named_form);
static_assert(refusal_of<op::Named<op::Shift<J>, Dim<I>, Dim<J>>, A> == Code::N07_no_named_form);
static_assert(refusal_of<op::Named<op::Flip<J>, Dim<I>, Dim<J>>, M> == Code::ok);
static_assert(refusal_of<op::Transpose<J>, A> == Code::D07_names_incomplete);
static_assert(refusal_of<op::Transpose<I, K>, A> == Code::D01_no_such_index);
static_assert(refusal_of<op::Transpose<I, I>, A> == Code::T02_index_twice);
static_assert(refusal_of<op::Transpose<I, X>, A> == Code::T05_not_an_axis);

// relabel: pairs at once, so that names can be swapped
static_assert(gives<op::Relabel<I, K>, T<Dim<K, X>, Dim<J>, Unreduced<Y>>, A>);
static_assert(gives<op::Relabel<I, J, J, I>, T<Dim<J, X>, Dim<I>, Unreduced<Y>>, A>);
static_assert(refusal_of<op::Relabel<I, J>, A> == Code::D02_index_taken);
static_assert(refusal_of<op::Relabel<I>, A> == Code::D07_names_incomplete);
static_assert(refusal_of<op::Relabel<K, L>, A> == Code::D01_no_such_index);
static_assert(gives<op::Relabel<P4, Q4>, T<Dim<Q4>>, T<Dim<P4>>>);
static_assert(gives<op::Relabel<P4, I>, T<Dim<I>>, T<Dim<P4>>>);
static_assert(refusal_of<op::Relabel<P4, P6>, T<Dim<P4>>> == Code::D06_extents_contradict);

// squeeze, expand
static_assert(gives<op::Squeeze<J>, T<Dim<I, X>, Unreduced<Y>>, A>);
static_assert(gives<op::Squeeze<J, P1>, T<Dim<I, X>>, T<Dim<P1>, Dim<I, X>, Dim<J>>>);
static_assert(refusal_of<op::Squeeze<I>, A> == Code::D03_along_split);
static_assert(refusal_of<op::Squeeze<P4>, T<Dim<P4>>> == Code::D06_extents_contradict);
static_assert(refusal_of<op::Squeeze<K>, A> == Code::D01_no_such_index);
static_assert(gives<op::Expand<K>, T<Dim<K>, Dim<I, X>, Dim<J>, Unreduced<Y>>, A>);
static_assert(refusal_of<op::Expand<I>, A> == Code::D02_index_taken);
static_assert(refusal_of<op::Expand<P4>, A> == Code::D06_extents_contradict);

// broadcast: the new dim is split over axes along which the operand is replicated; JAX 2.1: R
// becomes S too
static_assert(
    gives<op::Broadcast<Dim<K, Z>, L>, T<Dim<K, Z>, Dim<L>, Dim<I, X>, Dim<J>, Unreduced<Y>>, A>);
static_assert(refusal_of<op::Broadcast<Dim<K, X>>, A> == Code::T01_axis_twice);
static_assert(refusal_of<op::Broadcast<Dim<K, Y>>, A> == Code::T01_axis_twice);
static_assert(gives<op::Broadcast<Dim<K, Y>>, T<Dim<K, Y>, Dim<I, X>, Dim<J>>, R>);
static_assert(gives<op::Broadcast<Dim<K, Z>>, T<Dim<K, Z>, Dim<I, X>, Dim<J>, Reduced<Y>>, R>);
static_assert(
    gives<op::Broadcast<Dim<K, Z, Y>, L>, T<Dim<K, Z, Y>, Dim<L>, Dim<I, X>, Dim<J>, Reduced<V>>,
          T<Dim<I, X>, Dim<J>, Reduced<V, Y>>>);
static_assert(refusal_of<op::Broadcast<Dim<K, X>>, R> == Code::T01_axis_twice);
static_assert(plan(op::Broadcast<Dim<K, Y>>{{4}}, type<R>).count(Collective::all_reduce) == 0);
static_assert(refusal_of<op::Broadcast<J>, A> == Code::D02_index_taken);

// JAX 1.2 reshape: its test cases (lax.py:7823, tests/pjit_test.py:5520-5613, 8463-8556), over axes
// of two ranks. X is x, Y is y, Z is z. (8@(x,y)) -> (2,4), (4,2); (4@(x,y)) -> (2,2); (12@(x,y))
// -> (3,4) refused
static_assert(gives<op::SplitDim<P8, P2, Q4>, T<Dim<P2, X>, Dim<Q4, Y>>, T<Dim<P8, X, Y>>>);
static_assert(gives<op::SplitDim<P8, P4, Q2>, T<Dim<P4, X, Y>, Dim<Q2>>, T<Dim<P8, X, Y>>>);
static_assert(gives<op::SplitDim<P4, P2, Q2>, T<Dim<P2, X>, Dim<Q2, Y>>, T<Dim<P4, X, Y>>>);
static_assert(refusal_of<op::SplitDim<P12, P3, P4>, T<Dim<P12, X, Y>>> == Code::D09_blocks_differ);
// (8@(x,y,z)) -> (2,4), (4,2)
static_assert(gives<op::SplitDim<P8, P2, Q4>, T<Dim<P2, X>, Dim<Q4, Y, Z>>, T<Dim<P8, X, Y, Z>>>);
static_assert(gives<op::SplitDim<P8, P4, Q2>, T<Dim<P4, X, Y>, Dim<Q2, Z>>, T<Dim<P8, X, Y, Z>>>);
// (2@x,4@y) -> (8); (4@(x,y),2@z) -> (8)
static_assert(gives<op::MergeDims<P2, Q4, P8>, T<Dim<P8, X, Y>>, T<Dim<P2, X>, Dim<Q4, Y>>>);
static_assert(gives<op::MergeDims<P4, Q2, P8>, T<Dim<P8, X, Y, Z>>, T<Dim<P4, X, Y>, Dim<Q2, Z>>>);
// (4@x,6@y,8) -> (4,2,3,8); (4,3,2,8) refused
using In468 = T<Dim<P4, X>, Dim<P6, Y>, Dim<P8>>;
static_assert(gives<op::SplitDim<P6, P2, P3>, T<Dim<P4, X>, Dim<P2, Y>, Dim<P3>, Dim<P8>>, In468>);
static_assert(refusal_of<op::SplitDim<P6, P3, P2>, In468> == Code::D09_blocks_differ);
// (4,12@(x,y),8) -> (4,4,3,8)
static_assert(gives<op::SplitDim<P12, Q4, P3>, T<Dim<P4>, Dim<Q4, X, Y>, Dim<P3>, Dim<P8>>,
                    T<Dim<P4>, Dim<P12, X, Y>, Dim<P8>>>);
// (4,2@y,3,8@x) -> (4,6,8); (4,2,6@y,8@x) -> (4,12,8) refused
static_assert(gives<op::MergeDims<P2, P3, P6>, T<Dim<P4>, Dim<P6, Y>, Dim<P8, X>>,
                    T<Dim<P4>, Dim<P2, Y>, Dim<P3>, Dim<P8, X>>>);
static_assert(refusal_of<op::MergeDims<P2, P6, P12>, T<Dim<P4>, Dim<P2>, Dim<P6, Y>, Dim<P8, X>>> ==
              Code::D09_blocks_differ);
// (2@x,2,2@y) -> (8) refused, in either order of merges
using In222 = T<Dim<P2, X>, Dim<Q2>, Dim<R2, Y>>;
static_assert(refusal_of<op::MergeDims<P4, R2, P8>, after<In222, op::MergeDims<P2, Q2, P4>>> ==
              Code::D09_blocks_differ);
static_assert(refusal_of<op::MergeDims<Q2, R2, P4>, In222> == Code::D09_blocks_differ);
// (4@x,6,8) -> (4,4,2,6): JAX refuses a split and a merge at once; here they are two operations
static_assert(std::is_same_v<after<T<Dim<P4, X>, Dim<P6>, Dim<P8>>, op::MergeDims<P6, P8, P48>,
                                   op::SplitDim<P48, Q8, Q6>, op::SplitDim<Q8, Q4, P2>>,
                             T<Dim<P4, X>, Dim<Q4>, Dim<P2>, Dim<Q6>>>);
// (16@(x,y,z)) -> (2,2,2,2)
static_assert(std::is_same_v<after<T<Dim<P16, X, Y, Z>>, op::SplitDim<P16, P2, P8>,
                                   op::SplitDim<P8, Q2, P4>, op::SplitDim<P4, R2, S2>>,
                             T<Dim<P2, X>, Dim<Q2, Y>, Dim<R2, Z>, Dim<S2>>>);
// (4@(x,y),2@z) -> (2,2,2); (2@x,2@y,2@z) -> (4,2)
static_assert(gives<op::SplitDim<P4, P2, Q2>, T<Dim<P2, X>, Dim<Q2, Y>, Dim<R2, Z>>,
                    T<Dim<P4, X, Y>, Dim<R2, Z>>>);
static_assert(gives<op::MergeDims<P2, Q2, P4>, T<Dim<P4, X, Y>, Dim<R2, Z>>,
                    T<Dim<P2, X>, Dim<Q2, Y>, Dim<R2, Z>>>);
// nothing split; dims of extent 1 are added and removed
static_assert(gives<op::SplitDim<P12, P4, P3>, T<Dim<P4>, Dim<P3>>, T<Dim<P12>>>);
static_assert(gives<op::MergeDims<P4, P3, P12>, T<Dim<P12>>, T<Dim<P4>, Dim<P3>>>);
static_assert(gives<op::SplitDim<P8, Q8, P1>, T<Dim<Q8, X>, Dim<P1>>, T<Dim<P8, X>>>);
static_assert(gives<op::SplitDim<P8, P1, Q8>, T<Dim<P1>, Dim<Q8, X>>, T<Dim<P8, X>>>);
static_assert(gives<op::MergeDims<P1, P8, Q8>, T<Dim<Q8, X>>, T<Dim<P1>, Dim<P8, X>>>);
// two dims split: JAX refuses, here two operations
static_assert(std::is_same_v<
              after<T<Dim<P4, X>, Dim<P6, Y>>, op::SplitDim<P4, P2, Q2>, op::SplitDim<P6, R2, P3>>,
              T<Dim<P2, X>, Dim<Q2>, Dim<R2, Y>, Dim<P3>>>);

// split: the caller names the axes; axes that the types leave open go to the outer part
static_assert(gives<op::SplitDim<I, J, K>, T<Dim<J, X>, Dim<K>>, T<Dim<I, X>>>);
static_assert(
    gives<op::SplitDim<I, Dim<J, X>, Dim<K, Y>>, T<Dim<J, X>, Dim<K, Y>>, T<Dim<I, X, Y>>>);
static_assert(
    gives<op::SplitDim<I, J, K>, T<Dim<J>, Dim<K>, Unreduced<X>>, T<Dim<I>, Unreduced<X>>>);
static_assert(gives<op::SplitDim<I, P1, Dim<K, X>>, T<Dim<P1>, Dim<K, X>>, T<Dim<I, X>>>);
static_assert(refusal_of<op::SplitDim<I, J, Dim<K, X>>, T<Dim<I, X>>> == Code::D09_blocks_differ);
static_assert(refusal_of<op::SplitDim<I, Dim<J, Y>, Dim<K, X>>, T<Dim<I, X, Y>>> ==
              Code::D10_other_axes);
static_assert(refusal_of<op::SplitDim<I, Dim<J, X>, K>, T<Dim<I>>> == Code::D10_other_axes);
static_assert(refusal_of<op::SplitDim<I, J, K>, A> == Code::D02_index_taken);
static_assert(refusal_of<op::SplitDim<L, J, K>, T<Dim<I>>> == Code::D01_no_such_index);
static_assert(refusal_of<op::SplitDim<P12, P4, Q4>, T<Dim<P12>>> == Code::D06_extents_contradict);
static_assert(refusal_of<op::SplitDim<P8, P3, K>, T<Dim<P8>>> == Code::ok);  // an Error when run
static_assert(refusal_of<op::SplitDim<P12, K, P4>, T<Dim<P12, X>>> == Code::D09_blocks_differ);
static_assert(refusal_of<op::SplitDim<P12, K, P4>, T<Dim<P12, V>>> == Code::ok);

// merge: neighbours, the outer one first
static_assert(gives<op::MergeDims<I, J, K>, T<Dim<K, X>, Unreduced<Y>>, A>);
static_assert(refusal_of<op::MergeDims<J, I, K>, A> == Code::D08_not_neighbours);
static_assert(refusal_of<op::MergeDims<I, K, L>, T<Dim<I>, Dim<J>, Dim<K>>> ==
              Code::D08_not_neighbours);
static_assert(refusal_of<op::MergeDims<I, J, K>, T<Dim<I>, Dim<J, X>>> == Code::D09_blocks_differ);
static_assert(refusal_of<op::MergeDims<I, J, I>, A> == Code::D02_index_taken);
static_assert(refusal_of<op::MergeDims<P2, P3, P8>, T<Dim<P2>, Dim<P3>>> ==
              Code::D06_extents_contradict);
static_assert(refusal_of<op::MergeDims<P4, P3, P12>, T<Dim<P4, X>, Dim<P3>>> == Code::ok);
static_assert(refusal_of<op::MergeDims<P3, P4, P12>, T<Dim<P3, X>, Dim<P4>>> ==
              Code::D09_blocks_differ);
static_assert(refusal_of<op::MergeDims<P3, P4, P12>, T<Dim<P3, X>, Dim<P4, Y>>> ==
              Code::D09_blocks_differ);

// along one dim: local, so refused along a split one
static_assert(gives<op::Slice<J>, A, A>);
static_assert(gives<op::Slice<J, K>, T<Dim<I, X>, Dim<K>, Unreduced<Y>>, A>);
static_assert(refusal_of<op::Slice<I>, A> == Code::D03_along_split);
static_assert(refusal_of<op::Slice<K>, A> == Code::D01_no_such_index);
static_assert(refusal_of<op::Slice<J, I>, A> == Code::D02_index_taken);
static_assert(refusal_of<op::Slice<J, K, L>, A> == Code::D07_names_incomplete);
static_assert(refusal_of<op::Slice<P4>, T<Dim<P4>>> == Code::D05_extent_changes);
static_assert(gives<op::Slice<P4, P2>, T<Dim<P2>>, T<Dim<P4>>>);
static_assert(refusal_of<op::Repeat<I>, A> == Code::D03_along_split);
static_assert(refusal_of<op::Tile<I>, A> == Code::D03_along_split);
static_assert(refusal_of<op::Pad<I>, A> == Code::D03_along_split);
static_assert(refusal_of<op::Flip<I>, A> == Code::D03_along_split);
static_assert(refusal_of<op::Roll<I>, A> == Code::D04_roll_along_split);
static_assert(gives<op::Flip<J>, R, R>);
static_assert(gives<op::Roll<J>, M, M>);

// summands are padded with zeros; JAX 2.1: with any value, added once per device
static_assert(gives<op::Pad<J>, A, A>);
static_assert(refusal_of<op::PadValue<float, J>, A> == Code::D11_pad_unreduced);
static_assert(gives<op::PadValue<float, J>, M, M>);
static_assert(gives<op::PadValue<float, J>, R, R>);
// with rows between rows: the extent, and the slice that undoes it
static_assert(plan(op::Pad<P4, P16>{1, 2, 3}, type<T<Dim<P4>>>).collectives() == 0);
static_assert(plan(op::Pad<P4, P12>{1, 1, 2}, type<T<Dim<P4>>>)
                  .sizing_of(planning::Slot::result)
                  .extents[1] == 12);

// concat and stack: the operands have the same sharding
static_assert(gives<op::Concat<J>, A, A, A, A>);
static_assert(gives<op::Concat<J, K>, T<Dim<I, X>, Dim<K>, Unreduced<Y>>, A, A>);
static_assert(gives<op::Concat<J>, R, R, T<Dim<I, X>, Dim<J>>>);
static_assert(gives<op::Concat<J>, R, T<Dim<I, X>, Dim<J>>, R>);
static_assert(gives<op::Concat<P4, P12>, T<Dim<P12>>, T<Dim<P4>>, T<Dim<P4>>, T<Dim<P4>>>);
static_assert(refusal_of<op::Concat<P4, P12>, T<Dim<P4>>, T<Dim<P4>>> ==
              Code::D06_extents_contradict);
static_assert(refusal_of<op::Concat<P4>, T<Dim<P4>>, T<Dim<P4>>> == Code::D05_extent_changes);
static_assert(refusal_of<op::Concat<I>, A, A> == Code::D03_along_split);
static_assert(refusal_of<op::Concat<J>, A, T<Dim<I>, Dim<J>, Unreduced<Y>>> ==
              Code::D12_dims_differ);
static_assert(refusal_of<op::Concat<J>, A, T<Dim<I, X>, Unreduced<Y>>> == Code::D12_dims_differ);
static_assert(refusal_of<op::Concat<J>, A, M> == Code::D13_unreduced_differs);
static_assert(refusal_of<op::Concat<J>, A, T<Dim<I, X>, Dim<J>>> == Code::D13_unreduced_differs);
static_assert(refusal_of<op::Concat<J>, A, R> == Code::D13_unreduced_differs);
static_assert(refusal_of<op::Concat<J>, T<Dim<J>>, Tensor<double, Dim<J>>> ==
              Code::C10_element_types_differ);
static_assert(gives<op::Stack<K>, T<Dim<K>, Dim<I, X>, Dim<J>, Unreduced<Y>>, A, A>);
static_assert(gives<op::Stack<P2>, T<Dim<P2>, Dim<I, X>, Dim<J>, Unreduced<Y>>, A, A>);
static_assert(refusal_of<op::Stack<P2>, A, A, A> == Code::D06_extents_contradict);
static_assert(refusal_of<op::Stack<I>, A, A> == Code::D02_index_taken);
static_assert(refusal_of<op::Stack<K>, A, R> == Code::D13_unreduced_differs);

// operations that communicate keep the type
static_assert(gives<op::Shift<I>, A, A>);
static_assert(gives<op::HaloExchange<J>, R, R>);
static_assert(gives<op::HaloAdd<I>, A, A> && gives<op::HaloAdd<J>, R, R>);
static_assert(refusal_of<op::HaloAdd<I>, M> == Code::I07_other_kind);
static_assert(refusal_of<op::HaloAdd<K>, A> == Code::D01_no_such_index);
static_assert(refusal_of<op::HaloAdd<I>, T<Dim<I, Cyclic<X, 2>>>> == Code::B03_through_cyclic);
static_assert(refusal_of<op::HaloAdd<I>, Tensor<bool, Dim<I, X>>> == Code::C11_not_numbers);
static_assert(refusal_of<op::Shift<K>, A> == Code::D01_no_such_index);
static_assert(gives<op::Diff<I>, A, A> && gives<op::Diff<I>, R, R>);
static_assert(refusal_of<op::Diff<I>, M> == Code::I07_other_kind);
static_assert(refusal_of<op::Diff<K>, A> == Code::D01_no_such_index);
static_assert(refusal_of<op::Diff<I>, T<Dim<I, Cyclic<X, 2>>>> == Code::B03_through_cyclic);
static_assert(refusal_of<op::Diff<I>, Tensor<bool, Dim<I, X>>> == Code::C11_not_numbers);
static_assert(plan(op::Diff<J>{}, type<A>).collectives() == 0);
// it sends what shift sends, backward too
template <class Op>
constexpr std::int64_t window_bytes(Op const& op) {
  return plan(op, type<T<Dim<P16, X>, Dim<P3>>>).bytes({});
}
static_assert(window_bytes(op::Diff<P16>{3}) > 0 &&
              window_bytes(op::Diff<P16>{3}) == window_bytes(op::Shift<P16>{3}) &&
              window_bytes(op::Diff<P16>{3}.transposed()) == window_bytes(op::Shift<P16>{-3}));
// A triangle of two dims: nothing is sent, for any sharding and any unreduced kind.
static_assert(gives<op::Tril<I, J>, A, A>);
static_assert(gives<op::Triu<J, I>, A, A>);
static_assert(gives<op::Tril<I, J>, M, M>);
static_assert(
    gives<op::Tril<I, J>, T<Dim<I, Cyclic<X, 4>>, Dim<J, Y>>, T<Dim<I, Cyclic<X, 4>>, Dim<J, Y>>>);
static_assert(refusal_of<op::Tril<I, K>, A> == Code::D01_no_such_index);
static_assert(refusal_of<op::Tril<I, I>, A> == Code::T02_index_twice);
static_assert(plan(op::Tril<I, J>{}, type<A>).collectives() == 0);
// A diagonal: nothing is sent; unreduced over the axes of the dim that goes.
static_assert(gives<op::Diagonal<I, J>, T<Dim<I, X>, Unreduced<Y>>, A>);
static_assert(gives<op::Diagonal<J, I>, T<Dim<J>, Unreduced<X, Y>>, A>);
static_assert(gives<op::Diagonal<I, J>, T<Dim<I, X>, Unreduced<Max, Y>>, M>);
static_assert(
    gives<op::Diagonal<K, J>, T<Dim<I, X>, Dim<K>, Unreduced<Y>>, T<Dim<J, Y>, Dim<I, X>, Dim<K>>>);
static_assert(gives<op::Diagonal<J, I>, Tensor<bool, Dim<J>, Unreduced<Max, X>>,
                    Tensor<bool, Dim<I, X>, Dim<J>>>);
static_assert(refusal_of<op::Diagonal<J, I>, M> == Code::I07_other_kind);
static_assert(refusal_of<op::Diagonal<I, K>, A> == Code::D01_no_such_index);
static_assert(refusal_of<op::Diagonal<I, I>, A> == Code::T02_index_twice);
static_assert(refusal_of<op::Diagonal<J, I>, T<Dim<I, Cyclic<X, 4>>, Dim<J>>> ==
              Code::B03_through_cyclic);
static_assert(plan(op::Diagonal<I, J>{}, type<A>).collectives() == 0);
static_assert(plan(op::Named<op::Diagonal<J, I>, Dim<J>>{}, type<T<Dim<I, X>, Dim<J>>>)
                  .count(Collective::all_reduce) == 1);
// The matrix with a given diagonal: the transpose.
static_assert(gives<op::Diag<I, K>, T<Dim<I, X>, Dim<J>, Dim<K>, Unreduced<Y>>, A>);
static_assert(
    gives<op::Diag<J, K>, T<Dim<J>, Dim<K>, Unreduced<Max, X>>, T<Dim<J>, Unreduced<Max, X>>>);
static_assert(refusal_of<op::Diag<K, L>, A> == Code::D01_no_such_index);
static_assert(refusal_of<op::Diag<I, J>, A> == Code::D02_index_taken);
static_assert(refusal_of<op::Diag<I, K>, T<Dim<I, Cyclic<X, 4>>>> == Code::B03_through_cyclic);
static_assert(plan(op::Diag<I, K>{}, type<A>).collectives() == 0);
static_assert(plan(op::Named<op::Diag<J, K>, Dim<J>, Dim<K>>{}, type<T<Dim<J, X>>>)
                  .count(Collective::all_gather) == 1);
// full_like: the same type, for any sharding and any unreduced kind.
static_assert(gives<op::FullLike<int>, A, A> && gives<op::FullLike<double>, M, M>);
static_assert(refusal_of<op::FullLike<double>, Tensor<int, Dim<I>>> ==
              Code::P10_number_does_not_fit);
static_assert(plan(op::FullLike<int>{1}, type<A>).collectives() == 0);
// to_memory: the same sharding in another memory; without one in that of the default execution
// space. Functions of two memories and named results in another memory are refused.
struct Host {
  using memory_space = Host;
};
using AtHost = T<Dim<I, X>, Dim<J>, Unreduced<Y>, Memory<Host>>;
using Apart = T<Dim<I, X>, Dim<J>, Memory<Host>>;
static_assert(gives<op::ToMemory<Host>, AtHost, A> && gives<op::ToMemory<>, A, AtHost>);
static_assert(gives<op::ToMemory<Host>, AtHost, AtHost> && gives<op::ToMemory<>, M, M>);
static_assert(gives<op::ToMemory<Host>, T<Dim<I, Cyclic<X, 4>>, Reduced<Y>, Memory<Host>>,
                    T<Dim<I, Cyclic<X, 4>>, Reduced<Y>>>);
static_assert(gives<op::ToMemory<Host>, Local<float, Dim<I>, Varying<X>, Memory<Host>>,
                    Local<float, Dim<I>, Varying<X>>>);
static_assert(gives<op::Sum<J>, T<Dim<I, X>, Memory<Host>>, Apart>);
static_assert(gives<op::Named<op::ToMemory<Host>, Dim<I>, Dim<J, X>>,
                    T<Dim<I>, Dim<J, X>, Memory<Host>>, T<Dim<I, X>, Dim<J>>>);
static_assert(gives<op::Named<op::ToMemory<>, Dim<J>, Dim<I, X>>, T<Dim<J>, Dim<I, X>>, Apart>);
static_assert(plan(op::ToMemory<Host>{}, type<A>).collectives() == 0);
static_assert(plan(op::Named<op::ToMemory<Host>, Dim<I>, Dim<J>>{}, type<T<Dim<I, X>, Dim<J>>>)
                  .count(Collective::all_gather) == 1);
static_assert(refusal_of<op::ToMemory<J>, A> == Code::T19_no_memory_space);
static_assert(refusal_of<op::Named<op::ToMemory<J>, Dim<I>, Dim<J>>, A> ==
              Code::T19_no_memory_space);
static_assert(refusal_of<op::Map<functions::Add>, T<Dim<I, X>, Dim<J>>, Apart> ==
              Code::P09_element_types_differ);
static_assert(refusal_of<op::Named<op::ToMemory<Host>, T<Dim<I>, Dim<J>>>, T<Dim<I>, Dim<J>>> ==
              Code::N05_element_type);
static_assert(refusal_of<op::Named<op::Flip<J>, T<Dim<I>, Dim<J>>>, Apart> ==
              Code::N05_element_type);
static_assert(refusal_of<op::Sum<T<Dim<I>>>, Apart> == Code::N05_element_type);
static_assert(refusal_of<op::Map<functions::Exp, T<Dim<I>, Dim<J>>>, Apart> ==
              Code::N05_element_type);
static_assert(gives<op::CumSum<I>, A, A>);
static_assert(gives<op::CumMax<I>, M, M>);
// backward: the same type and the same exchange
template <class Op>
constexpr Plan scan_plan(Op const& op) {
  return plan(op, type<T<Dim<P16, X>, Dim<P3>>>);
}
static_assert([] {
  Plan const forth = scan_plan(op::CumSum<P16>{});
  Plan const back = scan_plan(op::CumSum<P16>{.reverse = true});
  return back.bytes({}) == forth.bytes({}) && back.bytes({}) > 0 && back.result == forth.result &&
         back.count(Collective::all_gather) == 1;
}());
static_assert(refusal_of<op::CumSum<I>, M> == Code::D14_scan_unreduced);
static_assert(refusal_of<op::CumMax<I>, A> == Code::D14_scan_unreduced);
static_assert(refusal_of<op::CumMin<I>, M> == Code::D14_scan_unreduced);
struct Complex {};
static_assert(refusal_of<op::CumMax<I>, Tensor<Complex, Dim<I>>> == Code::D15_element_type);
static_assert(refusal_of<op::CumSum<I>, Tensor<Complex, Dim<I>>> == Code::ok);
static_assert(gives<op::CumProd<I>, T<Dim<I, X>, Dim<J>>, T<Dim<I, X>, Dim<J>>>);
static_assert(refusal_of<op::CumProd<I>, A> == Code::D14_scan_unreduced);
static_assert(refusal_of<op::CumProd<I>, M> == Code::D14_scan_unreduced);
static_assert(refusal_of<op::CumProd<I>, Tensor<Complex, Dim<I>>> == Code::ok);
static_assert(refusal_of<op::CumProd<I>, Tensor<bool, Dim<I>>> == Code::D15_element_type);
static_assert(refusal_of<op::CumSum<I>, Tensor<bool, Dim<I>>> == Code::D15_element_type);
static_assert(refusal_of<op::CumMax<I>, Tensor<bool, Dim<I>>> == Code::ok);
static_assert(refusal_of<op::Transpose<I>, int> == Code::T09_not_a_tensor);

// JAX 2.1 reshape, transpose, squeeze, slice, pad, concat, stack, broadcast_in_dim: U is legal with
// kind sum only; here with any kind, because these operations only move elements
static_assert(gives<op::Squeeze<J>, T<Dim<I, X>, Unreduced<Max, Y>>, M>);
static_assert(gives<op::Broadcast<K>, T<Dim<K>, Dim<I, X>, Dim<J>, Unreduced<Max, Y>>, M>);
static_assert(gives<op::MergeDims<I, J, K>, T<Dim<K, X>, Unreduced<Max, Y>>, M>);
static_assert(gives<op::SplitDim<J, K, L>, T<Dim<I, X>, Dim<K>, Dim<L>, Unreduced<Y>>, A>);
static_assert(gives<op::SplitDim<J, K, L>, T<Dim<I, X>, Dim<K>, Dim<L>, Unreduced<Max, Y>>, M>);
static_assert(gives<op::Slice<J>, M, M>);
static_assert(gives<op::Pad<J>, M, M>);
static_assert(gives<op::Concat<J>, M, M, M>);
static_assert(gives<op::Stack<K>, T<Dim<K>, Dim<I, X>, Dim<J>, Unreduced<Max, Y>>, M, M>);
// ... R passes
static_assert(gives<op::Squeeze<J>, T<Dim<I, X>, Reduced<Y>>, R>);
static_assert(gives<op::Broadcast<K>, T<Dim<K>, Dim<I, X>, Dim<J>, Reduced<Y>>, R>);
static_assert(gives<op::MergeDims<I, J, K>, T<Dim<K, X>, Reduced<Y>>, R>);
static_assert(gives<op::SplitDim<J, K, L>, T<Dim<I, X>, Dim<K>, Dim<L>, Reduced<Y>>, R>);
static_assert(gives<op::Slice<J>, R, R>);
static_assert(gives<op::Pad<J>, R, R>);
static_assert(gives<op::Concat<J>, R, R, R>);
static_assert(gives<op::Stack<K>, T<Dim<K>, Dim<I, X>, Dim<J>, Reduced<Y>>, R, R>);
// everything else: not implemented for U and R; here operations that move elements are legal.
// dynamic_slice follows the rule of slice, where JAX refuses U.
static_assert(gives<op::Flip<J>, A, A>);
static_assert(gives<op::Roll<J>, A, A>);
static_assert(gives<op::Repeat<J>, A, A>);
static_assert(gives<op::Tile<J>, R, R>);

// no local operation communicates
static_assert(plan(op::Transpose<J, I>{}, type<A>).count(Collective::all_gather) == 0);
static_assert(plan(op::SplitDim<P8, P2, Q4>{}, type<T<Dim<P8, X, Y>>>).collectives() == 0);

// the law of split and merge is exact: the same elements in the same order on every rank
constexpr bool same_blocks(std::int64_t na, std::int64_t nb, AxisList const& major,
                           AxisList const& minor, Sizes const& sizes) {
  AxisList const all = major.plus(minor);
  for (std::int64_t r = 0; r < sizes.product(all); ++r) {
    Coords const at = member(all, sizes, {}, r);
    Range const whole = block({0, na * nb}, all, sizes, at);
    Range const outer = block({0, na}, major, sizes, at);
    Range const inner = block({0, nb}, minor, sizes, at);
    if (whole.size() != outer.size() * inner.size()) return false;
    std::int64_t next = whole.begin;
    for (std::int64_t i = outer.begin; i < outer.end; ++i)
      for (std::int64_t j = inner.begin; j < inner.end; ++j)
        if (i * nb + j != next++) return false;
  }
  return true;
}
constexpr bool law_is_exact(std::int64_t p, std::int64_t q, int axes_of_major) {
  AxisList both;
  both.push(0);
  both.push(1);
  Sizes sizes;
  sizes.at[0] = p;
  sizes.at[1] = q;
  for (std::int64_t na = 0; na <= 9; ++na)
    for (std::int64_t nb = 0; nb <= 4; ++nb) {
      AxisList const major = both.prefix(axes_of_major);
      AxisList const minor = both.suffix(axes_of_major);
      if (rules::lines_up(na, nb, major, minor, sizes) != same_blocks(na, nb, major, minor, sizes))
        return false;
    }
  return true;
}
static_assert(law_is_exact(2, 2, 0) && law_is_exact(2, 2, 1) && law_is_exact(2, 2, 2));
static_assert(law_is_exact(3, 2, 0) && law_is_exact(3, 2, 1) && law_is_exact(3, 2, 2));
static_assert(law_is_exact(1, 3, 0) && law_is_exact(1, 3, 1) && law_is_exact(4, 3, 2));
static_assert(law_is_exact(4, 3, 1) && law_is_exact(2, 1, 0) && law_is_exact(2, 4, 2));

}  // namespace
