// valid_on: whether an operation or a callable can run on given types and axis sizes.
#include <shardtype/types.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct F4 : Axis<"F4", 4> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct Huge : Index<"Huge", (std::int64_t{1} << 40)> {};
struct Wide : Index<"Wide", (std::int64_t{1} << 20)> {};

template <class... Parts>
using T = Tensor<float, Parts...>;
using A = T<Dim<I, X>, Dim<J, Y>>;
using B = T<Dim<J, Y>, Dim<K>>;

// operations
static_assert(valid_on<op::Matmul<>, OperandTypes<A, B>, AxisSize<X, 256>, AxisSize<Y, 4>>);
static_assert(valid_on<op::Matmul<Dim<I, X>, Dim<K, Y>>, OperandTypes<A, B>, AxisSize<X, 256>,
                       AxisSize<Y, 4>>);
static_assert(
    valid_on<op::Reshard<Dim<I>, Dim<J, X>>, OperandTypes<A>, AxisSize<X, 2>, AxisSize<Y, 3>>);
// refused by a rule: X would split two dims
static_assert(!valid_on<op::Matmul<>, OperandTypes<T<Dim<I, X>, Dim<J>>, T<Dim<J>, Dim<K, X>>>,
                        AxisSize<X, 2>>);
// an axis without a size: of an operand, of the result
static_assert(!valid_on<op::Matmul<>, OperandTypes<A, B>, AxisSize<X, 256>>);
static_assert(!valid_on<op::Reshard<Dim<I, Y>>, OperandTypes<T<Dim<I, X>>>, AxisSize<X, 2>>);
static_assert(
    valid_on<op::Reshard<Dim<I, Y>>, OperandTypes<T<Dim<I, X>>>, AxisSize<X, 2>, AxisSize<Y, 2>>);
// invalid sizes
static_assert(!valid_on<op::Reshard<Dim<I>>, OperandTypes<T<Dim<I, X>>>, AxisSize<X, 0>>);
static_assert(!valid_on<op::Reshard<Dim<I>>, OperandTypes<T<Dim<I, F4>>>, AxisSize<F4, 8>>);
static_assert(valid_on<op::Reshard<Dim<I>>, OperandTypes<T<Dim<I, F4>>>, AxisSize<F4, 4>>);
static_assert(valid_on<op::Reshard<Dim<I>>, OperandTypes<T<Dim<I, F4>>>>);
static_assert(!valid_on<op::Reshard<Dim<I>>, OperandTypes<T<Dim<I, X>>>, AxisSize<X, (1 << 20)>,
                        AxisSize<Y, (1 << 20)>>);
// static extents: 2^60 elements are too many, in an operand or in the result
static_assert(!valid_on<op::Reshard<Dim<Huge>, Dim<Wide>>, OperandTypes<T<Dim<Huge, X>, Dim<Wide>>>,
                        AxisSize<X, 2>>);
static_assert(
    valid_on<op::Einsum<Huge>, OperandTypes<T<Dim<Huge, X>>, T<Dim<Wide>>>, AxisSize<X, 2>>);
static_assert(
    !valid_on<op::Einsum<Huge, Wide>, OperandTypes<T<Dim<Huge, X>>, T<Dim<Wide>>>, AxisSize<X, 2>>);
// types that break a law
static_assert(!valid_on<op::Reshard<Dim<I>>, OperandTypes<T<Dim<I, X, X>>>, AxisSize<X, 2>>);
static_assert(!valid_on<op::Reshard<Dim<I>>, OperandTypes<int>, AxisSize<X, 2>>);

// callables: a constrained signature answers, and its result type counts
struct Layer {
  template <class P, class Q>
    requires Contractible<P, Q>
  result_t<op::Matmul<>, P, Q> operator()(P const&, Q const&) const;
};
static_assert(valid_on<Layer, OperandTypes<A, B>, AxisSize<X, 256>, AxisSize<Y, 4>>);
static_assert(!valid_on<Layer, OperandTypes<B, B>, AxisSize<X, 256>, AxisSize<Y, 4>>);
static_assert(!valid_on<Layer, OperandTypes<A>, AxisSize<X, 256>, AxisSize<Y, 4>>);
struct Fails {
  checking::Poisoned operator()(A const&) const;
};
static_assert(!valid_on<Fails, OperandTypes<A>, AxisSize<X, 2>, AxisSize<Y, 2>>);

}  // namespace
