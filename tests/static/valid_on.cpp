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
static_assert(valid_on<op::Matmul<>, Args<A, B>, Size<X, 256>, Size<Y, 4>>);
static_assert(valid_on<op::Matmul<Dim<I, X>, Dim<K, Y>>, Args<A, B>, Size<X, 256>, Size<Y, 4>>);
static_assert(valid_on<op::Reshard<Dim<I>, Dim<J, X>>, Args<A>, Size<X, 2>, Size<Y, 3>>);
// refused by a rule: X would split two dims
static_assert(
    !valid_on<op::Matmul<>, Args<T<Dim<I, X>, Dim<J>>, T<Dim<J>, Dim<K, X>>>, Size<X, 2>>);
// an axis without a size: of an operand, of the result
static_assert(!valid_on<op::Matmul<>, Args<A, B>, Size<X, 256>>);
static_assert(!valid_on<op::Reshard<Dim<I, Y>>, Args<T<Dim<I, X>>>, Size<X, 2>>);
static_assert(valid_on<op::Reshard<Dim<I, Y>>, Args<T<Dim<I, X>>>, Size<X, 2>, Size<Y, 2>>);
// sizes that cannot be
static_assert(!valid_on<op::Reshard<Dim<I>>, Args<T<Dim<I, X>>>, Size<X, 0>>);
static_assert(!valid_on<op::Reshard<Dim<I>>, Args<T<Dim<I, F4>>>, Size<F4, 8>>);
static_assert(valid_on<op::Reshard<Dim<I>>, Args<T<Dim<I, F4>>>, Size<F4, 4>>);
static_assert(valid_on<op::Reshard<Dim<I>>, Args<T<Dim<I, F4>>>>);
static_assert(
    !valid_on<op::Reshard<Dim<I>>, Args<T<Dim<I, X>>>, Size<X, (1 << 20)>, Size<Y, (1 << 20)>>);
// static extents: 2^60 elements are too many, in an operand or in the result
static_assert(
    !valid_on<op::Reshard<Dim<Huge>, Dim<Wide>>, Args<T<Dim<Huge, X>, Dim<Wide>>>, Size<X, 2>>);
static_assert(valid_on<op::Einsum<Huge>, Args<T<Dim<Huge, X>>, T<Dim<Wide>>>, Size<X, 2>>);
static_assert(!valid_on<op::Einsum<Huge, Wide>, Args<T<Dim<Huge, X>>, T<Dim<Wide>>>, Size<X, 2>>);
// types that break a law
static_assert(!valid_on<op::Reshard<Dim<I>>, Args<T<Dim<I, X, X>>>, Size<X, 2>>);
static_assert(!valid_on<op::Reshard<Dim<I>>, Args<int>, Size<X, 2>>);

// callables: those that say what they take answer, and their result counts
struct Layer {
  template <class P, class Q>
    requires Contractible<P, Q>
  result_t<op::Matmul<>, P, Q> operator()(P const&, Q const&) const;
};
static_assert(valid_on<Layer, Args<A, B>, Size<X, 256>, Size<Y, 4>>);
static_assert(!valid_on<Layer, Args<B, B>, Size<X, 256>, Size<Y, 4>>);
static_assert(!valid_on<Layer, Args<A>, Size<X, 256>, Size<Y, 4>>);
struct Fails {
  Poisoned operator()(A const&) const;
};
static_assert(!valid_on<Fails, Args<A>, Size<X, 2>, Size<Y, 2>>);

}  // namespace
