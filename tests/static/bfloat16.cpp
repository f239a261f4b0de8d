// Operations on tensors of bfloat16: the elements of results, what is refused, and two bytes per
// element in plans.
#include <cstdint>

#include <shardtype/types.hpp>

using namespace shardtype;
using namespace shardtype::planning;
namespace f = functions;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I", 100> {};
struct J : Index<"J", 64> {};
struct K : Index<"K", 30> {};

template <class... Parts>
using H = Tensor<bfloat16, Parts...>;
template <class... Parts>
using F = Tensor<float, Parts...>;
using A = H<Dim<I, X>, Dim<J, Y>>;
using checking::Number;
using checking::Resolve;

template <class Op, class Out, class... As>
inline constexpr bool gives = std::is_same_v<typename Resolve<Op, As...>::result, Out>;
template <class Op, class... As>
inline constexpr Code refusal_of = Resolve<Op, As...>::verdict.code;

// Two of bfloat16, or one and a number of any kind that float takes too.
static_assert(gives<op::Map<f::Add>, A, A, A>);
static_assert(gives<op::Map<f::Multiply>, A, A, Number<int>>);
static_assert(gives<op::Map<f::Multiply>, A, A, Number<float>>);
static_assert(gives<op::Map<f::Multiply>, A, A, Number<double>>);
static_assert(gives<op::Map<f::Multiply>, A, A, Number<bfloat16>>);
static_assert(gives<op::Map<f::Multiply>, F<Dim<I>>, F<Dim<I>>, Number<bfloat16>>);
static_assert(gives<op::Map<f::Exp>, A, A>);
static_assert(gives<op::Map<f::Sign>, A, A>);
static_assert(gives<op::Map<f::Absolute>, A, A>);
static_assert(gives<op::Map<f::Less>, Tensor<bool, Dim<I, X>, Dim<J, Y>>, A, A>);
static_assert(gives<op::Map<f::Cast<float>>, F<Dim<I, X>, Dim<J, Y>>, A>);
static_assert(gives<op::Map<f::Cast<bfloat16>>, A, F<Dim<I, X>, Dim<J, Y>>>);
// casts of unreduced sums among floats are additive
static_assert(gives<op::Map<f::Cast<float>>, F<Dim<I>, Unreduced<X>>, H<Dim<I>, Unreduced<X>>>);
static_assert(gives<op::Map<f::Cast<bfloat16>>, H<Dim<I>, Unreduced<X>>, F<Dim<I>, Unreduced<X>>>);
static_assert(refusal_of<op::Map<f::Cast<std::int32_t>>, H<Dim<I>, Unreduced<X>>> ==
              Code::P04_not_linear);
static_assert(
    gives<op::Map<f::Divide>, H<Dim<I>, Unreduced<X>>, H<Dim<I>, Unreduced<X>>, Number<int>>);
// nothing is promoted silently, as with float and double
static_assert(refusal_of<op::Map<f::Add>, H<Dim<I>>, F<Dim<I>>> == Code::P09_element_types_differ);
static_assert(refusal_of<op::Map<f::Add>, H<Dim<I>>, Tensor<std::int32_t, Dim<I>>> ==
              Code::P09_element_types_differ);
static_assert(refusal_of<op::Map<f::Add>, Tensor<std::int32_t, Dim<I>>, Number<bfloat16>> ==
              Code::P10_number_does_not_fit);
static_assert(refusal_of<op::Matmul<>, H<Dim<I>, Dim<J>>, F<Dim<J>, Dim<K>>> ==
              Code::C10_element_types_differ);

// Reductions keep the element type.
static_assert(gives<op::Sum<J>, H<Dim<I, X>, Unreduced<Y>>, A>);
static_assert(gives<op::Mean<J>, H<Dim<I, X>, Unreduced<Y>>, A>);
static_assert(gives<op::NormInf<J>, H<Dim<I, X>, Unreduced<Max, Y>>, A>);
static_assert(gives<op::Norm<Dim<I, X>>, H<Dim<I, X>>, A>);
static_assert(gives<op::ArgMax<Dim<I, X>>, Tensor<std::int64_t, Dim<I, X>>, A>);
static_assert(refusal_of<op::Any<J>, A> == Code::P11_condition);
static_assert(gives<op::CumSum<I>, A, A>);
static_assert(gives<op::CumMax<I>, A, A>);
static_assert(gives<op::Softmax<I, J, Dim<I, X>, Dim<J, Y>>, A, A>);

// Ids are integers.
static_assert(refusal_of<op::Take<I>, H<Dim<I>, Dim<J>>, H<Dim<K>>> == Code::I01_not_integers);

// A total is a double: 8 bytes beside results of 2.
constexpr Plan sum = plan(op::Sum<J>{}, type<H<Dim<I, X>, Dim<J>>>);
static_assert(sum.given_bytes() == 50 * 64 * 2 && sum.peak_bytes() == 50 * (64 * 2 + 2 + 8));
static_assert(plan(op::Sum<Dim<I, X>>{}, type<A>).bytes_per_rank() == 2 * 50 * 2 * 3 / 4);
static_assert(plan(op::Norm<Dim<I, X>>{}, type<A>).bytes_per_rank() == 2 * 50 * 8 * 3 / 4);

// Collectives move two bytes per element.
constexpr Plan gather = plan(op::Reshard<Dim<I>, Dim<J>>{}, type<H<Dim<I, X>, Dim<J>>>);
static_assert(gather.bytes_per_rank() == 50 * 64 * 2);

// A product holds copies of both operands and of the result in float.
constexpr Plan product = plan(op::Matmul<>{}, type<H<Dim<I, X>, Dim<J>>>, type<H<Dim<J>, Dim<K>>>);
static_assert(product.peak_bytes() == (50 * 64 + 64 * 30 + 50 * 30) * (2 + 4));
constexpr Plan same = plan(op::Matmul<>{}, type<F<Dim<I, X>, Dim<J>>>, type<F<Dim<J>, Dim<K>>>);
static_assert(same.peak_bytes() == (50 * 64 + 64 * 30 + 50 * 30) * 4);
static_assert(product.flops() == same.flops());

}  // namespace
