// Elementwise operations and reductions: the inferred results and the error codes, following the
// tables of docs/rules.md, and JAX's test cases for them (broadcasting rule, lax.py; unreduced and
// reduced rules, shard_alg.py).
#include <complex>
#include <type_traits>

#include <shardtype/types.hpp>

using namespace shardtype;
using namespace shardtype::checking;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

template <class... Parts>
using T = Tensor<float, Parts...>;
using UX = Unreduced<X>;
using RX = Reduced<X>;
using MX = Unreduced<Max, X>;
using Z = std::complex<float>;
namespace f = functions;
namespace r = reductions;

template <class F, class Out, class... Args>
constexpr bool gives = std::is_same_v<result_t<op::Map<F>, Args...>, Out>;
template <class F, class... Args>
constexpr Code refusal_of = Resolve<op::Map<F>, Args...>::verdict.code;
template <class Op, class Out, class A>
constexpr bool reduces = std::is_same_v<result_t<Op, A>, Out>;
template <class Op, class A>
constexpr Code no_reduction = Resolve<Op, A>::verdict.code;

// Dims: by index, the longest list wins.
static_assert(gives<f::Add, T<Dim<I, X>, Dim<J>>, T<Dim<I, X>, Dim<J>>, T<Dim<I, X>, Dim<J>>>);
static_assert(gives<f::Add, T<Dim<I, X>, Dim<J>>, T<Dim<I>, Dim<J>>, T<Dim<I, X>, Dim<J>>>);
static_assert(gives<f::Add, T<Dim<I, X>, Dim<J, Y>>, T<Dim<I, X>, Dim<J>>, T<Dim<J, Y>>>);
static_assert(gives<f::Add, T<Dim<I, X, Y>, Dim<J>>, T<Dim<I, X>, Dim<J>>, T<Dim<I, X, Y>>>);
static_assert(gives<f::Add, T<Dim<J, Y>, Dim<I, X>>, T<Dim<J, Y>, Dim<I>>, T<Dim<I, X>, Dim<J>>>);
static_assert(gives<f::Multiply, T<Dim<I, X>>, T<Dim<I, X>>, Number<int>>);
static_assert(gives<f::Multiply, T<Dim<I, X>>, T<>, T<Dim<I, X>>>);
static_assert(refusal_of<f::Add, T<Dim<I>>, T<Dim<J>>> == Code::P01_no_operand_has_all);
static_assert(refusal_of<f::Add, T<Dim<I, X>>, T<Dim<I, Y>>> == Code::P02_lists_differ);
static_assert(refusal_of<f::Add, T<Dim<I, X, Y>>, T<Dim<I, Y, X>>> == Code::P02_lists_differ);
static_assert(refusal_of<f::Add, T<Dim<I, X>, Dim<J>>, T<Dim<J, X>>> == Code::P03_axis_splits_two);
static_assert(Mappable<f::Add, T<Dim<I, X>>, T<Dim<I>>> && !Mappable<f::Add, T<Dim<I>>, T<Dim<J>>>);

// Element types.
static_assert(gives<f::Less, Tensor<bool, Dim<I, X>>, T<Dim<I, X>>, Number<double>>);
static_assert(gives<f::Close, Tensor<bool, Dim<I, X>>, T<Dim<I, X>>, T<Dim<I>>>);
static_assert(gives<f::Close, Tensor<bool, Dim<I>>, Tensor<Z, Dim<I>>, Number<double>>);
static_assert(gives<f::Close, Tensor<bool, Dim<I>, RX>, T<Dim<I>, RX>, T<Dim<I>>>);
static_assert(refusal_of<f::Close, T<Dim<I>, UX>, T<Dim<I>, UX>> == Code::P04_not_linear);
static_assert(refusal_of<f::Close, T<Dim<I, X>>, T<Dim<I, Y>>> == Code::P02_lists_differ);
static_assert(gives<f::Cast<double>, Tensor<double, Dim<I>>, T<Dim<I>>>);
static_assert(gives<f::Where, T<Dim<I, X>>, Tensor<bool, Dim<I>>, T<Dim<I, X>>, Number<float>>);
static_assert(refusal_of<f::Add, T<Dim<I>>, Tensor<double, Dim<I>>> ==
              Code::P09_element_types_differ);
static_assert(refusal_of<f::Add, Tensor<int, Dim<I>>, Number<double>> ==
              Code::P10_number_does_not_fit);
static_assert(refusal_of<f::Where, T<Dim<I>>, T<Dim<I>>, T<Dim<I>>> == Code::P11_condition);
static_assert(refusal_of<f::Exp, Tensor<int, Dim<I>>> == Code::P12_not_floating);
static_assert(gives<f::Relu, Tensor<int, Dim<I, X>>, Tensor<int, Dim<I, X>>>);
static_assert(gives<f::Clip, Tensor<int, Dim<I, X>>, Tensor<int, Dim<I, X>>, Number<int>,
                    Tensor<int, Dim<I>>>);
static_assert(refusal_of<f::Clip, Tensor<int, Dim<I>>, Number<double>, Number<int>> ==
              Code::P10_number_does_not_fit);
static_assert(gives<f::FloorDivide, T<Dim<I, X>, Dim<J>>, T<Dim<I>, Dim<J>>, T<Dim<I, X>>>);
static_assert(gives<f::IsInf, Tensor<bool, Dim<I, X>>, T<Dim<I, X>>>);
template <class F>
constexpr bool of_reals_alone = gives<F, T<Dim<I, X>>, T<Dim<I, X>>> &&
                                refusal_of<F, Tensor<Z, Dim<I>>> == Code::S04_no_order &&
                                refusal_of<F, T<Dim<I>, UX>> == Code::P04_not_linear;
static_assert(of_reals_alone<f::Relu> && of_reals_alone<f::Sigmoid> && of_reals_alone<f::Silu> &&
              of_reals_alone<f::Softplus> && of_reals_alone<f::Gelu> &&
              of_reals_alone<f::GeluTanh> && of_reals_alone<f::Sign> && of_reals_alone<f::Erf> &&
              of_reals_alone<f::Erfc> && of_reals_alone<f::Cbrt> && of_reals_alone<f::ErfInv> &&
              of_reals_alone<f::LogGamma> && of_reals_alone<f::Digamma>);
template <class F>
constexpr bool of_floating = gives<F, Tensor<Z, Dim<I, X>>, Tensor<Z, Dim<I, X>>> &&
                             refusal_of<F, Tensor<int, Dim<I>>> == Code::P12_not_floating &&
                             refusal_of<F, Tensor<bool, Dim<I>>> == Code::P12_not_floating &&
                             refusal_of<F, T<Dim<I>, UX>> == Code::P04_not_linear;
static_assert(of_floating<f::Log2> && of_floating<f::Log10> && of_floating<f::Exp2> &&
              of_floating<f::Rsqrt> && of_floating<f::Exp>);
static_assert(refusal_of<f::Sigmoid, Tensor<int, Dim<I>>> == Code::P12_not_floating);
static_assert(refusal_of<f::Cbrt, Tensor<int, Dim<I>>> == Code::P12_not_floating);
static_assert(refusal_of<f::Erfc, Tensor<int, Dim<I>>> == Code::P12_not_floating);
static_assert(refusal_of<f::Maximum, Tensor<Z, Dim<I>>, Number<int>> == Code::S04_no_order);
static_assert(refusal_of<f::Less, Tensor<Z, Dim<I>>, Number<int>> == Code::S04_no_order);
static_assert(gives<f::LogAddExp, T<Dim<I, X>>, T<Dim<I, X>>, Number<float>>);
static_assert(refusal_of<f::LogAddExp, Tensor<int, Dim<I>>, Tensor<int, Dim<I>>> ==
              Code::P12_not_floating);
static_assert(refusal_of<f::LogAddExp, T<Dim<I>, UX>, T<Dim<I>, UX>> == Code::P04_not_linear);

static_assert(gives<f::Hypot, T<Dim<I, X>>, T<Dim<I, X>>, T<Dim<I>>>);
static_assert(gives<f::Elu, T<Dim<I, X>>, T<Dim<I, X>>, Number<double>>);
static_assert(gives<f::LeakyRelu, T<Dim<I>, Dim<J, X>>, T<Dim<I>, Dim<J, X>>, T<Dim<J>>>);
static_assert(refusal_of<f::Hypot, Tensor<int, Dim<I>>, Number<int>> == Code::P12_not_floating);
static_assert(refusal_of<f::Elu, Tensor<Z, Dim<I>>, Number<double>> == Code::S04_no_order);
static_assert(refusal_of<f::LeakyRelu, T<Dim<I>, UX>, Number<double>> == Code::P04_not_linear);
static_assert(gives<f::NanToNum, Tensor<Z, Dim<I, X>>, Tensor<Z, Dim<I, X>>>);
static_assert(gives<f::NanToNum, Tensor<int, Dim<I, X>>, Tensor<int, Dim<I, X>>>);
static_assert(refusal_of<f::NanToNum, T<Dim<I>, UX>> == Code::P04_not_linear);
template <class F>
constexpr bool of_integers_alone =
    gives<F, Tensor<int, Dim<I, X>>, Tensor<int, Dim<I, X>>, Number<int>> &&
    refusal_of<F, T<Dim<I>>, T<Dim<I>>> == Code::P14_not_integers &&
    refusal_of<F, Tensor<Z, Dim<I>>, Number<int>> == Code::P14_not_integers &&
    refusal_of<F, Tensor<int, Dim<I>>, Number<double>> == Code::P10_number_does_not_fit &&
    refusal_of<F, Tensor<int, Dim<I>, UX>, Tensor<int, Dim<I>, UX>> == Code::P04_not_linear;
static_assert(of_integers_alone<f::BitAnd> && of_integers_alone<f::BitOr> &&
              of_integers_alone<f::BitXor> && of_integers_alone<f::ShiftLeft> &&
              of_integers_alone<f::ShiftRight>);
static_assert(gives<f::BitXor, Tensor<bool, Dim<I>>, Tensor<bool, Dim<I>>, Number<bool>>);
static_assert(gives<f::BitNot, Tensor<bool, Dim<I>>, Tensor<bool, Dim<I>>>);
static_assert(refusal_of<f::ShiftLeft, Tensor<bool, Dim<I>>, Number<bool>> ==
              Code::P14_not_integers);
static_assert(refusal_of<f::BitNot, Tensor<bfloat16, Dim<I>>> == Code::P14_not_integers);

// U, sum: linear functions stay unreduced.
static_assert(gives<f::Add, T<Dim<I>, UX>, T<Dim<I>, UX>, T<Dim<I>, UX>>);
static_assert(gives<f::Subtract, T<Dim<I>, UX>, T<Dim<I>, UX>, T<Dim<I>, UX>>);
static_assert(gives<f::Negate, T<Dim<I>, UX>, T<Dim<I>, UX>>);
static_assert(gives<f::Multiply, T<Dim<I>, UX>, T<Dim<I>, UX>, Number<float>>);
static_assert(gives<f::Multiply, T<Dim<I>, UX>, T<Dim<I>>, T<Dim<I>, UX>>);
static_assert(gives<f::Multiply, T<Dim<I>, UX>, T<Dim<I>, RX>, T<Dim<I>, UX>>);
static_assert(
    gives<f::Multiply, T<Dim<I>, Unreduced<X, Y>>, T<Dim<I>, Unreduced<Y>>, T<Dim<I>, UX>>);
static_assert(gives<f::Divide, T<Dim<I>, UX>, T<Dim<I>, UX>, T<Dim<I>>>);
static_assert(gives<f::Cast<double>, Tensor<double, Dim<I>, UX>, T<Dim<I>, UX>>);
static_assert(gives<f::Where, T<Dim<I>, UX>, Tensor<bool, Dim<I>>, T<Dim<I>, UX>, T<Dim<I>, UX>>);
static_assert(
    gives<f::Where, T<Dim<I>, UX>, Tensor<bool, Dim<I>>, Number<op::Zero>, T<Dim<I>, UX>>);
static_assert(gives<f::Multiply, T<Dim<I, Y>, UX>, T<Dim<I, Y>>, T<Dim<I>, UX>>);
// ... and the others are refused.
static_assert(refusal_of<f::Exp, T<Dim<I>, UX>> == Code::P04_not_linear);
static_assert(refusal_of<f::Absolute, T<Dim<I>, UX>> == Code::P04_not_linear);
static_assert(refusal_of<f::Equal, T<Dim<I>, UX>, T<Dim<I>, UX>> == Code::P04_not_linear);
static_assert(refusal_of<f::Divide, T<Dim<I>>, T<Dim<I>, UX>> == Code::P04_not_linear);
static_assert(refusal_of<f::Divide, Tensor<int, Dim<I>, UX>, Tensor<int, Dim<I>>> ==
              Code::P04_not_linear);
static_assert(refusal_of<f::Cast<int>, T<Dim<I>, UX>> == Code::P04_not_linear);
static_assert(refusal_of<f::Where, Tensor<bool, Dim<I>, MX>, T<Dim<I>>, T<Dim<I>>> ==
              Code::P04_not_linear);
static_assert(refusal_of<f::Add, T<Dim<I>, UX>, T<Dim<I>>> == Code::P05_unreduced_and_whole);
static_assert(refusal_of<f::Add, T<Dim<I>, UX>, T<Dim<I>, RX>> == Code::P05_unreduced_and_whole);
static_assert(refusal_of<f::Add, T<Dim<I>, UX>, Number<int>> == Code::P05_unreduced_and_whole);
static_assert(refusal_of<f::Add, T<Dim<I>, UX>, T<Dim<I>, Unreduced<Y>>> ==
              Code::P05_unreduced_and_whole);
static_assert(refusal_of<f::Where, Tensor<bool, Dim<I>>, T<Dim<I>, UX>, Number<int>> ==
              Code::P05_unreduced_and_whole);
static_assert(refusal_of<f::Multiply, T<Dim<I>, UX>, T<Dim<I, X>>> ==
              Code::P06_unreduced_and_split);
static_assert(refusal_of<f::Add, T<Dim<I>, UX>, T<Dim<I, X>>> == Code::P06_unreduced_and_split);
static_assert(refusal_of<f::Multiply, T<Dim<I>, UX>, T<Dim<I>, UX>> == Code::P07_two_unreduced);
// U, max.
static_assert(gives<f::Maximum, T<Dim<I>, MX>, T<Dim<I>, MX>, T<Dim<I>, MX>>);
static_assert(gives<f::Maximum, T<Dim<I>, MX>, T<Dim<I>, MX>, T<Dim<I>>>);
static_assert(gives<f::Maximum, T<Dim<I>, MX>, T<Dim<I>, MX>, Number<int>>);
static_assert(refusal_of<f::Minimum, T<Dim<I>, MX>, T<Dim<I>>> == Code::P08_kinds_differ);
static_assert(refusal_of<f::Maximum, T<Dim<I>, UX>, T<Dim<I>>> == Code::P08_kinds_differ);
static_assert(refusal_of<f::Add, T<Dim<I>, MX>, T<Dim<I>, MX>> == Code::P08_kinds_differ);
static_assert(refusal_of<f::Add, T<Dim<I>, MX>, T<Dim<I>, Unreduced<Y>>> == Code::P08_kinds_differ);
static_assert(refusal_of<f::Multiply, T<Dim<I>, MX>, Number<int>> == Code::P08_kinds_differ);
// R: with I or R it stays R, with S it is as I.
static_assert(gives<f::Multiply, T<Dim<I>, RX>, T<Dim<I>, RX>, T<Dim<I>>>);
static_assert(gives<f::Exp, T<Dim<I>, RX>, T<Dim<I>, RX>>);
static_assert(gives<f::Add, T<Dim<I, X>, Dim<J>>, T<Dim<I, X>, Dim<J>>, T<Dim<J>, RX>>);

// Named: conflicting splits are resharded, an outer product is legal, an unreduced result needs an
// unreduced local result.
template <class Out, class F, class... Args>
constexpr Code named = Resolve<op::Map<F, Out>, Args...>::verdict.code;
static_assert(named<T<Dim<I, X>, Dim<J, Y>>, f::Add, T<Dim<I, X>>, T<Dim<J, Y>>> == Code::ok);
static_assert(
    Resolve<op::Map<f::Add, T<Dim<I, X>, Dim<J, Y>>>, T<Dim<I, X>>, T<Dim<J, Y>>>::direct);
static_assert(Resolve<op::Map<f::Add, T<Dim<I, X>, Dim<J, Y>>>, T<Dim<I>>, T<Dim<J>>>::direct);
static_assert(!Resolve<op::Map<f::Add, T<Dim<I>>>, T<Dim<I, X>>, T<Dim<I, X>>>::direct);
static_assert(named<T<Dim<I>>, f::Add, T<Dim<I, X>>, T<Dim<I, Y>>> == Code::ok);
static_assert(named<T<Dim<I>>, f::Exp, T<Dim<I>, UX>> == Code::ok);
static_assert(named<T<Dim<I>, UX>, f::Exp, T<Dim<I>, UX>> == Code::N04_nothing_unreduced);
static_assert(named<T<Dim<K>>, f::Exp, T<Dim<I>>> == Code::N01_unknown_index);
static_assert(named<T<Dim<I>>, f::Add, T<Dim<I>>, T<Dim<J>>> == Code::N02_missing_index);
static_assert(named<Tensor<int, Dim<I>>, f::Add, T<Dim<I>>, T<Dim<I>>> == Code::N05_element_type);

// Reductions: the axes of reduced split dims become unreduced, nothing is sent.
static_assert(reduces<op::Reduce<r::Sum, I>, T<Dim<J>, UX>, T<Dim<I, X>, Dim<J>>>);
static_assert(reduces<op::Reduce<r::Sum, I>, T<Dim<J, Y>, UX>, T<Dim<I, X>, Dim<J, Y>>>);
static_assert(reduces<op::Reduce<r::Sum>, T<Unreduced<X, Y>>, T<Dim<I, X>, Dim<J, Y>>>);
static_assert(reduces<op::Reduce<r::Sum, J>, T<Dim<I, X>>, T<Dim<I, X>, Dim<J>>>);
static_assert(reduces<op::Reduce<r::Sum, J>, T<Dim<I>, UX>, T<Dim<I>, Dim<J>, UX>>);
static_assert(reduces<op::Reduce<r::Sum, J>, T<Dim<I>, RX>, T<Dim<I>, Dim<J>, RX>>);
static_assert(reduces<op::Reduce<r::Sum, I>, Tensor<std::int64_t, UX>, Tensor<bool, Dim<I, X>>>);
static_assert(reduces<op::Reduce<r::Maximum, I>, T<Dim<J>, MX>, T<Dim<I, X>, Dim<J>>>);
static_assert(reduces<op::Reduce<r::Any, I>, Tensor<bool, MX>, Tensor<bool, Dim<I, X>>>);
static_assert(reduces<op::Reduce<r::PlaceOfMaximum, J>, Tensor<std::int64_t, Dim<I, X>>,
                      T<Dim<I, X>, Dim<J>>>);
// counts: i64 of all elements; a sum may be zero where its summands are not
static_assert(reduces<op::CountNonzero<I>, Tensor<std::int64_t, Dim<J>, UX>, T<Dim<I, X>, Dim<J>>>);
static_assert(reduces<op::CountNonzero<>, Tensor<std::int64_t>, Tensor<bool, Dim<I>>>);
static_assert(reduces<op::CountNonzero<I>, Tensor<std::int64_t, RX>, Tensor<Z, Dim<I>, RX>>);
static_assert(no_reduction<op::CountNonzero<I>, T<Dim<I>, UX>> == Code::S02_other_kind);
static_assert(no_reduction<op::CountNonzero<I>, T<Dim<I>, MX>> == Code::S02_other_kind);
static_assert(no_reduction<op::CountNonzero<K>, T<Dim<I>>> == Code::S01_no_such_index);
static_assert(plan(op::CountNonzero<I>{}, type<T<Dim<I, X>>>).collectives() == 0);
static_assert(plan(op::CountNonzero<Dim<J>>{}, type<T<Dim<I, X>, Dim<J>>>)
                  .count(Collective::all_reduce) == 1);
static_assert(no_reduction<op::Reduce<r::Sum, K>, T<Dim<I>>> == Code::S01_no_such_index);
static_assert(no_reduction<op::Reduce<r::Sum, I, I>, T<Dim<I>>> == Code::T02_index_twice);
static_assert(no_reduction<op::Reduce<r::Maximum, I>, T<Dim<I>, UX>> == Code::S02_other_kind);
static_assert(no_reduction<op::Reduce<r::Sum, I>, T<Dim<I>, MX>> == Code::S02_other_kind);
static_assert(no_reduction<op::Reduce<r::Product, I>, T<Dim<I, X>>> == Code::S03_split);
static_assert(reduces<op::Var<J>, T<Dim<I, X>>, T<Dim<I, X>, Dim<J>>>);
static_assert(reduces<op::StdDev<J>, T<Dim<I, X>>, Tensor<Z, Dim<I, X>, Dim<J>>>);
static_assert(no_reduction<op::Var<I>, T<Dim<I, X>, Dim<J>>> == Code::S03_split);
static_assert(no_reduction<op::Var<J>, T<Dim<I>, Dim<J>, UX>> == Code::S02_other_kind);
static_assert(no_reduction<op::StdDev<J>, Tensor<int, Dim<I>, Dim<J>>> == Code::P12_not_floating);
static_assert(no_reduction<op::Var<T<Dim<J>>>, T<Dim<I, X>, Dim<J>>> == Code::ok);
static_assert(no_reduction<op::Reduce<r::Any, I>, T<Dim<I>>> == Code::P11_condition);
static_assert(no_reduction<op::Reduce<r::Product, T<>>, T<Dim<I, X>>> == Code::ok);
static_assert(no_reduction<op::Reduce<r::Product, T<UX>>, T<Dim<I, X>>> ==
              Code::N04_nothing_unreduced);
static_assert(no_reduction<op::Reduce<r::Norm, I>, T<Dim<I, X>>> == Code::S03_split);
static_assert(no_reduction<op::Reduce<r::LogSumExp>, T<Dim<I>, UX>> == Code::S02_other_kind);
static_assert(no_reduction<op::Reduce<r::Maximum>, Tensor<Z, Dim<I>>> == Code::S04_no_order);
static_assert(no_reduction<op::Reduce<r::LogSumExp>, Tensor<Z, Dim<I>>> == Code::S04_no_order);
static_assert(no_reduction<op::Reduce<r::Norm>, Tensor<int, Dim<I>>> == Code::P12_not_floating);
static_assert(
    reduces<op::Reduce<r::Norm, J>, Tensor<float, Dim<I, X>>, Tensor<Z, Dim<I, X>, Dim<J>>>);
static_assert(reduces<op::Reduce<r::Norm1, I>, Tensor<float, UX>, Tensor<Z, Dim<I, X>>>);
static_assert(reduces<op::Reduce<r::NormInf, I>, T<MX>, T<Dim<I, X>>>);
// absolute values of summands or candidates do not give that of the sum or the maximum
static_assert(no_reduction<op::Reduce<r::Norm1, I>, T<Dim<I>, UX>> == Code::S02_other_kind);
static_assert(no_reduction<op::Reduce<r::NormInf, I>, T<Dim<I>, MX>> == Code::S02_other_kind);
static_assert(no_reduction<op::Reduce<r::Norm1, T<>>, T<Dim<I>, UX>> == Code::S02_other_kind);

// A named reduction over a split dim sends data of the size of the result, not of the operand.
struct L : Index<"L", 1000> {};
struct M : Index<"M", 12> {};
constexpr auto sent = [](auto op) {
  constexpr Plan p = plan(decltype(op){}, type<T<Dim<L, Y>, Dim<M>>>);
  static_assert(p.count(Collective::all_reduce) + p.count(Collective::reduce_scatter) == 1 &&
                p.collectives() == 1);
  return p.bytes_per_rank();
};
static_assert(sent(op::Sum<Dim<M>>{}) == 2 * 12 * 4 * 3 / 4);
static_assert(sent(op::Sum<Dim<M, Y>>{}) == 12 * 4 * 3 / 4);
static_assert(sent(op::Norm<Dim<M>>{}) == 2 * 12 * 8 * 3 / 4);
static_assert(sent(op::Prod<Dim<M>>{}) == 2 * 12 * 8 * 3 / 4);
static_assert(sent(op::LogSumExp<Dim<M, Y>>{}) == 12 * 8 * 3 / 4);
static_assert(sent(op::ArgMax<Dim<M>>{}) == 2 * 12 * 16 * 3 / 4);
static_assert(sent(op::ReproducibleSum<Dim<M>>{}) == 2 * 12 * 40 * 3 / 4);

// JAX 2.1: the rows that the assertions above do not cover.
using UY = Unreduced<Y>;
using UXY = Unreduced<X, Y>;
using RY = Reduced<Y>;
using RXY = Reduced<X, Y>;
using C = Tensor<Z, Dim<I>, UX>;
// add: U over different axes, JAX refuses
static_assert(gives<f::Add, T<Dim<I>, UXY>, T<Dim<I>, UXY>, T<Dim<I>, UXY>>);
static_assert(refusal_of<f::Add, T<Dim<I>, UXY>, T<Dim<I>, UX>> == Code::P05_unreduced_and_whole);
// mul: U times R, JAX over the same axes only; here each axis is checked on its own
static_assert(gives<f::Multiply, T<Dim<I>, UX>, T<Dim<I>, RX>, T<Dim<I>, UX>>);
static_assert(gives<f::Multiply, T<Dim<I>, UX, RY>, T<Dim<I>, UX>, T<Dim<I>, RY>>);
static_assert(refusal_of<f::Multiply, T<Dim<I>, UX>, T<Dim<I>, UXY>> == Code::P07_two_unreduced);
// div: numerator U by R as by I; a divisor U refused
static_assert(gives<f::Divide, T<Dim<I>, UX>, T<Dim<I>, UX>, T<Dim<I>, RX>>);
static_assert(gives<f::Divide, T<Dim<I>, UX>, T<Dim<I>, UX>, Number<float>>);
static_assert(refusal_of<f::Divide, T<Dim<I>, RX>, T<Dim<I>, UX>> == Code::P04_not_linear);
// neg, sub, real, imag, complex: not implemented for U, here linear. sqrt, exp and others: refused.
static_assert(gives<f::Real, T<Dim<I>, UX>, C>);
static_assert(gives<f::Imaginary, T<Dim<I>, UX>, C>);
static_assert(gives<f::Conjugate, C, C>);
static_assert(gives<f::Cast<Z>, C, T<Dim<I>, UX>>);
static_assert(refusal_of<f::Sqrt, T<Dim<I>, UX>> == Code::P04_not_linear);
static_assert(refusal_of<f::Square, T<Dim<I>, UX>> == Code::P04_not_linear);
// a number: JAX refuses u * 2, accepts r * 2
static_assert(gives<f::Multiply, T<Dim<I>, UX>, Number<int>, T<Dim<I>, UX>>);
static_assert(gives<f::Multiply, T<Dim<I>, RX>, T<Dim<I>, RX>, Number<int>>);
// convert_element_type, reduce_precision: casts, select: where; R passes
static_assert(gives<f::Cast<float>, T<Dim<I>, UX>, Tensor<double, Dim<I>, UX>>);
static_assert(gives<f::Cast<double>, Tensor<double, Dim<I>, RX>, T<Dim<I>, RX>>);
static_assert(gives<f::Where, T<Dim<I>, RX>, Tensor<bool, Dim<I>>, T<Dim<I>, RX>, T<Dim<I>, RX>>);
// ... JAX accepts U for every cast; here for casts that preserve sums
static_assert(gives<f::Cast<float>, T<Dim<I>, RX>, Tensor<std::int32_t, Dim<I>, RX>>);
static_assert(gives<f::Cast<std::int64_t>, Tensor<std::int64_t, Dim<I>, UX>,
                    Tensor<std::int32_t, Dim<I>, UX>>);
static_assert(refusal_of<f::Cast<std::int32_t>, Tensor<std::int64_t, Dim<I>, UX>> ==
              Code::P04_not_linear);
static_assert(refusal_of<f::Cast<double>, Tensor<std::int64_t, Dim<I>, UX>> ==
              Code::P04_not_linear);
static_assert(refusal_of<f::Cast<float>, Tensor<Z, Dim<I>, UX>> != Code::ok);
// ... of candidates for a maximum: JAX refuses both; here where is legal, a cast is not
static_assert(gives<f::Where, T<Dim<I>, MX>, Tensor<bool, Dim<I>>, T<Dim<I>, MX>, T<Dim<I>, MX>>);
static_assert(refusal_of<f::Cast<double>, T<Dim<I>, MX>> == Code::P08_kinds_differ);
// n-ary R: JAX requires all operands R over the same axes; here with I it is R, with S it is S
static_assert(gives<f::Add, T<Dim<I>, RX>, T<Dim<I>, RX>, T<Dim<I>, RX>>);
static_assert(gives<f::Add, T<Dim<I>, RXY>, T<Dim<I>, RX>, T<Dim<I>, RXY>>);
static_assert(gives<f::Add, T<Dim<I>, RX>, T<Dim<I>>, T<Dim<I>, RX>>);
static_assert(gives<f::Add, T<Dim<I, X>>, T<Dim<I, X>>, T<Dim<I>, RX>>);
// reduce_sum, out_sharding: U over axes of reduced dims or of the operand, the rest is reduced
template <class Op, class A>
constexpr Code named_reduction = Resolve<Op, A>::verdict.code;
template <class... Out>
constexpr Plan sum_plan = plan(op::Sum<Out...>{}, type<T<Dim<L, X>, Dim<M>, UY>>);
static_assert(reduces<op::Reduce<r::Sum, L>, T<Dim<M>, UXY>, T<Dim<L, X>, Dim<M>, UY>>);
static_assert(sum_plan<Dim<M>, UXY>.collectives() == 0);
static_assert(sum_plan<Dim<L, X>, UY>.collectives() == 0);
static_assert(sum_plan<Dim<M>, UX>.count(Collective::all_reduce) == 1);
static_assert(sum_plan<Dim<M>, UY>.count(Collective::all_reduce) == 1);  // JAX without out_sharding
static_assert(sum_plan<Dim<M>, UX>.collectives() == 1 && sum_plan<Dim<M>, UY>.collectives() == 1);
static_assert(named_reduction<op::Reduce<r::Sum, T<Dim<J>, UY>>, T<Dim<I, X>, Dim<J>>> ==
              Code::N04_nothing_unreduced);
// a sum over a split dim with a replicated named result: one all_reduce over its axis, the other
// dim stays split
constexpr Plan replicas = plan(op::Sum<Dim<M, Y>>{}, type<T<Dim<L, X>, Dim<M, Y>>>);
static_assert(replicas.collectives() == 1 && replicas.count(Collective::all_reduce) == 1);
static_assert(
    std::is_same_v<result_t<op::Reduce<r::Sum, Dim<M, Y>>, T<Dim<L, X>, Dim<M, Y>>>, T<Dim<M, Y>>>);
// ... R: JAX refuses; here the named result is resharded, and I to R is a free cast
static_assert(named_reduction<op::Reduce<r::Sum, T<Dim<J>, RX>>, T<Dim<I, X>, Dim<J>>> == Code::ok);
// reduce_max, reduce_min, out_sharding: U of the same kind
static_assert(named_reduction<op::Reduce<r::Maximum, T<Dim<J>, MX>>, T<Dim<I, X>, Dim<J>>> ==
              Code::ok);
static_assert(named_reduction<op::Reduce<r::Maximum, T<Dim<J>, UX>>, T<Dim<I, X>, Dim<J>>> ==
              Code::N03_wrong_kind);
static_assert(named_reduction<op::Reduce<r::Minimum, T<Dim<J>, MX>>, T<Dim<I, X>, Dim<J>>> ==
              Code::N03_wrong_kind);
static_assert(reduces<op::Reduce<r::Maximum, J>, T<Dim<I>, MX>, T<Dim<I>, Dim<J>, MX>>);
static_assert(named_reduction<op::Reduce<r::Maximum, T<Dim<J>>>, T<Dim<I>, Dim<J>, UX>> ==
              Code::S02_other_kind);
static_assert(reduces<op::Reduce<r::Maximum, J>, T<Dim<I>, RX>, T<Dim<I>, Dim<J>, RX>>);
static_assert(reduces<op::Reduce<r::Minimum, J>, T<Dim<I>, RX>, T<Dim<I>, Dim<J>, RX>>);
// everything else: U refused, R passes
static_assert(no_reduction<op::Reduce<r::Product, J>, T<Dim<I>, Dim<J>, UX>> ==
              Code::S02_other_kind);
static_assert(no_reduction<op::Reduce<r::PlaceOfMaximum, J>, T<Dim<I>, Dim<J>, UX>> ==
              Code::S02_other_kind);
static_assert(reduces<op::Reduce<r::Product, J>, T<Dim<I>, RX>, T<Dim<I>, Dim<J>, RX>>);

// to_partial and casts.
static_assert(std::is_same_v<result_t<op::ToPartial<X>, T<Dim<I, X>>>, T<Dim<I>, UX>>);
static_assert(std::is_same_v<result_t<op::ToPartial<X>, T<Dim<I>, RX>>, T<Dim<I>, UX>>);
static_assert(std::is_same_v<result_t<op::ToReduced<X>, T<Dim<I, Y>>>, T<Dim<I, Y>, RX>>);
static_assert(Resolve<op::ToPartial<X>, T<Dim<I, X, Y>>>::verdict.code == Code::K08_major_axis);
static_assert(Resolve<op::ToPartial<X>, T<Dim<I>, MX>>::verdict.code ==
              Code::K05_already_unreduced);
static_assert(Resolve<op::ToReduced<X>, T<Dim<I, X>>>::verdict.code == Code::K06_split);

// Softmax: the operand's own type; over split dims the named result follows the labels.
static_assert(reduces<op::Softmax<J>, T<Dim<I, X>, Dim<J>>, T<Dim<I, X>, Dim<J>>>);
static_assert(
    reduces<op::LogSoftmax<J, K>, T<Dim<J>, Dim<I, X>, Dim<K>>, T<Dim<J>, Dim<I, X>, Dim<K>>>);
static_assert(reduces<op::Softmax<>, T<Dim<J>>, T<Dim<J>>>);
static_assert(reduces<op::Softmax<J>, T<Dim<J>, RX>, T<Dim<J>, RX>>);
static_assert(no_reduction<op::Softmax<I>, T<Dim<I, X>, Dim<J>>> == Code::S03_split);
static_assert(no_reduction<op::Softmax<>, T<Dim<I, X>, Dim<J>>> == Code::S06_which_dims);
static_assert(no_reduction<op::LogSoftmax<>, T<Dim<I>, Dim<J>>> == Code::S06_which_dims);
static_assert(no_reduction<op::Softmax<Dim<I>, Dim<J>>, T<Dim<I>, Dim<J>>> == Code::S06_which_dims);
static_assert(reduces<op::Softmax<I, J>, T<Dim<I>, Dim<J>>, T<Dim<I>, Dim<J>>>);
static_assert(reduces<op::Softmax<>, T<>, T<>>);
static_assert(reduces<op::Softmax<Dim<J, X>>, T<Dim<J, X>>, T<Dim<J, X>>>);
static_assert(no_reduction<op::Softmax<K>, T<Dim<I, X>>> == Code::S01_no_such_index);
static_assert(no_reduction<op::Softmax<J, J>, T<Dim<J>>> == Code::T02_index_twice);
static_assert(no_reduction<op::LogSoftmax<J>, T<Dim<J>, UX>> == Code::S02_other_kind);
static_assert(no_reduction<op::Softmax<J>, Tensor<int, Dim<J>>> == Code::P12_not_floating);
static_assert(no_reduction<op::Softmax<J>, Tensor<Z, Dim<J>>> == Code::S04_no_order);
static_assert(
    reduces<op::Softmax<I, Dim<J, X>, Dim<I>>, T<Dim<J, X>, Dim<I>>, T<Dim<I, X>, Dim<J>>>);
static_assert(no_reduction<op::Softmax<I, Dim<J>>, T<Dim<I, X>, Dim<J>>> ==
              Code::R01_indices_differ);
static_assert(no_reduction<op::Softmax<J, Dim<J>, UX>, T<Dim<J>>> ==
              Code::R02_replicated_to_unreduced);
static_assert(no_reduction<op::Softmax<J, T<Dim<J>>>, T<Dim<J>, UX>> == Code::S02_other_kind);
static_assert(no_reduction<op::Softmax<J, Tensor<double, Dim<J>>>, T<Dim<J>>> ==
              Code::N05_element_type);

}  // namespace
