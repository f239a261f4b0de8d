// Long Fourier transforms on types: results, refusals, the lengths of the short transforms, and the
// plans, which gather nothing.
#include <cstdint>
#include <type_traits>

#include <shardtype/fft/types_four_step.hpp>
#include <shardtype/types.hpp>

// The types layer has no Kokkos; a complex number has two parts.
namespace Kokkos {
template <class Real>
class complex {
 public:
  using value_type = Real;
  Real real{}, imag{};
};
}  // namespace Kokkos

using namespace shardtype;
using namespace shardtype::rules;

namespace {

struct X : Axis<"X", 4> {};
struct Y : Axis<"Y", 2> {};
struct U : Axis<"U"> {};
struct I : Index<"I", 4096> {};
struct Prime : Index<"Prime", 4099> {};
struct J : Index<"J", 3> {};
struct P : Index<"P", 64> {};
struct Q : Index<"Q", 32> {};
struct K : Index<"K"> {};
struct K1 : Index<"K1"> {};
struct K2 : Index<"K2"> {};

using C = Kokkos::complex<double>;
using Forward = op::FftFourStep<I, K1, K2>;
using Inverse = op::IfftFourStep<K1, K2, I>;

template <class Op, class A>
constexpr Code code = checking::Resolve<Op, A>::verdict.code;
template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

// Results: labels, axes, states.
using Line = Tensor<C, Dim<I, X>>;
static_assert(same<result_t<Forward, Line>, Tensor<C, Dim<K1, X>, Dim<K2>>>);
static_assert(same<result_t<Inverse, Tensor<C, Dim<K1, X>, Dim<K2>>>, Line>);
static_assert(same<result_t<op::FftFourStep<I, K>, Line>, Tensor<C, Dim<K, X>>>);
static_assert(same<result_t<op::IfftFourStep<K, I>, Tensor<C, Dim<K, X>>>, Line>);
static_assert(same<result_t<Forward, Tensor<C, Dim<J>, Dim<I, X, Y>>>,
                   Tensor<C, Dim<J>, Dim<K1, X, Y>, Dim<K2>>>);
static_assert(same<result_t<Forward, Tensor<C, Dim<I, X>, Dim<J>, Unreduced<Y>>>,
                   Tensor<C, Dim<K1, X>, Dim<K2>, Dim<J>, Unreduced<Y>>>);
static_assert(same<result_t<Inverse, Tensor<C, Dim<K2>, Dim<J, Y>, Dim<K1, X>>>,
                   Tensor<C, Dim<J, Y>, Dim<I, X>>>);
static_assert(same<result_t<Forward, Tensor<C, Dim<I>>>, Tensor<C, Dim<K1>, Dim<K2>>>);
// an order is in the type: the natural and the transposed one do not mix
static_assert(!same<result_t<Forward, Line>, result_t<op::FftFourStep<I, K>, Line>>);

// Refusals.
static_assert(code<Forward, Tensor<double, Dim<I, X>>> == Code::F01_element_type);
static_assert(code<Forward, Tensor<C, Dim<J, X>>> == Code::D01_no_such_index);
static_assert(code<Forward, Tensor<C, Dim<I, X>, Dim<K2>>> == Code::D02_index_taken);
static_assert(code<op::FftFourStep<I, P, Q>, Line> == Code::D06_extents_contradict);
static_assert(code<op::FftFourStep<I, P, P>, Line> != Code::ok);
static_assert(code<op::FftFourStep<I, Q>, Line> == Code::D06_extents_contradict);
static_assert(code<op::FftFourStep<I>, Line> == Code::D07_names_incomplete);
static_assert(code<op::FftFourStep<I, K, K1, K2>, Line> == Code::D07_names_incomplete);
static_assert(code<Forward, Tensor<C, Dim<I, Cyclic<X, 2>>>> == Code::B03_through_cyclic);
static_assert(code<Forward, Tensor<C, Dim<I, X>, Dim<J, Cyclic<Y, 2>>>> == Code::ok);
static_assert(code<Forward, Tensor<C, Dim<I, X>, Unreduced<Max, Y>>> == Code::F03_extremum);
static_assert(code<Inverse, Tensor<C, Dim<K1>, Dim<K2, X>>> == Code::F05_transposed_order);
static_assert(code<Inverse, Tensor<C, Dim<K1, Cyclic<X, 4>>, Dim<K2>>> == Code::B03_through_cyclic);

// The lengths: factors with which all ranks have work, near each other; else Bluestein's algorithm.
using planning::four_step_lengths;
using planning::FourStepLengths;
static_assert(four_step_lengths(0, 4) == FourStepLengths{0, 1});
static_assert(four_step_lengths(1, 4) == FourStepLengths{1, 1});
static_assert(four_step_lengths(4096, 4) == FourStepLengths{64, 64});
static_assert(four_step_lengths(4096, 1) == FourStepLengths{1, 4096});
static_assert(four_step_lengths(4099, 4) == FourStepLengths{4099, 1});
static_assert(four_step_lengths(2 * 4099, 4) == FourStepLengths{2, 4099});  // half of the ranks
static_assert(four_step_lengths(2 * 4099, 64) == FourStepLengths{2 * 4099, 1});
constexpr bool all_lengths(std::int64_t p, std::int64_t first, std::int64_t last) {
  for (std::int64_t n = first; n <= last; ++n) {
    FourStepLengths const l = four_step_lengths(n, p);
    if (l.rows * l.columns != n || l.rows < 1) return false;
    FourStepLengths const m = planning::convolution_lengths(n, p);
    if (m.rows * m.columns < 2 * n - 1 || m.rows % p != 0 || m.columns % p != 0) return false;
    // for many rows little more than 2 n - 1
    if (n > 20 * p * p && m.rows * m.columns > 3 * n) return false;
  }
  return true;
}
static_assert(all_lengths(2, 2, 60) && all_lengths(3, 2, 60) && all_lengths(7, 2, 60));
static_assert(all_lengths(2, 997, 1025) && all_lengths(3, 997, 1025));
static_assert(all_lengths(4, 2, 60) && all_lengths(7, 997, 1025));
// no divisor is better
constexpr bool best_divisor(std::int64_t n, std::int64_t p) {
  FourStepLengths const best = planning::best_factors(n, p);
  for (std::int64_t rows = 2; rows < n; ++rows)
    if (n % rows == 0 && planning::better_lengths({rows, n / rows}, best, p)) return false;
  return best.columns > 1;
}
static_assert(best_divisor(720, 4) && best_divisor(1001, 8) && best_divisor(106, 8));

// Plans: two exchanges of the block, three for the natural order.
constexpr std::int64_t block = 16 * 4096 / 4;
constexpr Plan forward = plan(Forward{}, type<Line>);
static_assert(forward.collectives() == 2 && forward.count(Collective::all_to_all) == 2);
static_assert(forward.bytes_per_rank() == 2 * block * 3 / 4);
static_assert(forward.peak_bytes() == 4 * block);  // operand, result, two blocks
static_assert(forward.flops() == 2 * 5 * 1024 * 6 + 6 * 1024);
constexpr Plan inverse = plan(op::IfftFourStep<P, Q, K>{}, type<Tensor<C, Dim<P, X>, Dim<Q>>>);
static_assert(inverse.collectives() == 2 && inverse.bytes_per_rank() == 2 * 16 * 2048 / 4 * 3 / 4);
constexpr Plan natural = plan(op::FftFourStep<I, K>{}, type<Line>);
static_assert(natural.collectives() == 3 && natural.bytes_per_rank() == 3 * block * 3 / 4);
static_assert(natural.peak_bytes() == 4 * block);
// several axes, a batch
constexpr Plan both = plan(Forward{}, type<Tensor<C, Dim<J>, Dim<I, X, Y>>>);
static_assert(both.collectives() == 2 && both.bytes_per_rank() == 2 * 3 * (block / 2) * 7 / 8);
static_assert(plan(Forward{}, type<Tensor<C, Dim<I>>>).collectives() == 0);
// a prime: Bluestein's algorithm
constexpr Plan prime = plan(op::FftFourStep<Prime, K1, K2>{}, type<Tensor<C, Dim<Prime, X>>>);
static_assert(prime.count(Collective::all_gather) == 0 && prime.collectives() == 5);
static_assert(prime.bytes_per_rank() < 9 * 16 * 1025 && prime.flops() < 8 * forward.flops());
static_assert(plan(op::FftFourStep<Prime, K>{}, type<Tensor<C, Dim<Prime, X>>>).collectives() == 5);
// sizes that are not known: at most
static_assert(plan(Forward{}, type<Tensor<C, Dim<I, U>>>).collectives() == 5);
static_assert(plan(Forward{op::FftNorm::backward, op::FftLength::composite},
                   type<Tensor<C, Dim<I, U>>>)
                  .collectives() == 2);

}  // namespace
