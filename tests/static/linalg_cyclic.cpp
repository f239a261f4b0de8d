// One matrix over many ranks on types: results, refusals, and plans, which gather nothing.
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <shardtype/linalg/types_cyclic.hpp>
#include <shardtype/linalg/types_cyclic_inverse.hpp>
#include <shardtype/linalg/types_cyclic_qr.hpp>
#include <shardtype/types.hpp>

using namespace shardtype;
using namespace shardtype::rules;

namespace {

struct X : Axis<"X", 4> {};
struct Y : Axis<"Y", 2> {};
struct Z : Axis<"Z"> {};
struct I : Index<"I", 2048> {};
struct J : Index<"J", 2048> {};
struct U : Index<"U", 2050> {};
struct V : Index<"V", 2050> {};
struct K : Index<"K", 3> {};
struct B : Index<"B", 5> {};
struct M : Index<"M"> {};
struct N : Index<"N"> {};

template <class L, class Axis, int n = 64>
using Split = Dim<L, Cyclic<Axis, n>>;

template <class Op, class... As>
constexpr Code code = checking::Resolve<Op, As...>::verdict.code;
template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

using A = Tensor<double, Dim<I>, Split<J, X>>;
using Turned = Tensor<float, Split<J, X, 8>, Dim<I>>;
using Solve = op::CyclicSolve<I, J>;
using Lu = op::CyclicLu<I, J>;
using Cholesky = op::CyclicCholesky<I, J>;

// Results: the rows' label becomes the columns', with their axes; other dims stay.
static_assert(same<result_t<Solve, A, Tensor<double, Dim<I>>>, Tensor<double, Split<J, X>>>);
static_assert(same<result_t<Solve, A, Tensor<double, Dim<K, Y>, Dim<I>>>,
                   Tensor<double, Dim<K, Y>, Split<J, X>>>);
static_assert(same<result_t<Solve, Turned, Tensor<float, Dim<I>, Dim<K>>>,
                   Tensor<float, Split<J, X, 8>, Dim<K>>>);
static_assert(same<result_t<Solve, A, Tensor<double, Dim<I>, Unreduced<Y>>>,
                   Tensor<double, Split<J, X>, Unreduced<Y>>>);
static_assert(same<result_t<Lu, A>, A> && same<result_t<Cholesky, Turned>, Turned>);
using Pivots = Tensor<std::int32_t, Dim<J>>;
static_assert(same<result_t<op::CyclicLuSolve<I, J>, A, Pivots, Tensor<double, Dim<I>, Dim<K>>>,
                   Tensor<double, Split<J, X>, Dim<K>>>);
static_assert(
    same<result_t<op::CyclicLuSolve<I, J, true>, A, Pivots, Tensor<double, Split<J, X>, Dim<K>>>,
         Tensor<double, Dim<I>, Dim<K>>>);

// Refusals of the matrix.
static_assert(code<Lu, Tensor<double, Dim<I, Y>, Split<J, X>>> == Code::Q01_matrix_split);
static_assert(code<Lu, Tensor<double, Dim<I>, Dim<J, X>>> == Code::Q01_matrix_split);
static_assert(code<Lu, Tensor<double, Dim<I>, Split<J, X>, Unreduced<Y>>> == Code::Q02_not_linear);
static_assert(code<Lu, Tensor<double, Split<I, Y, 32>, Split<J, X>>> == Code::Q03_both_cyclic);
static_assert(code<Lu, Tensor<double, Split<I, X>, Dim<J>>> == Code::Q04_rows_cyclic);
static_assert(code<Cholesky, Tensor<double, Split<I, X>, Dim<J>>> == Code::Q04_rows_cyclic);
static_assert(code<Lu, Tensor<double, Dim<B>, Dim<I>, Split<J, X>>> == Code::Q05_one_matrix);
static_assert(code<Lu, Tensor<double, Dim<I>, Dim<J>>> == Code::Q05_one_matrix);
static_assert(code<Lu, Tensor<double, Dim<K>, Split<J, X>>> == Code::D01_no_such_index);
static_assert(code<op::CyclicLu<K, J>, Tensor<double, Dim<K>, Split<J, X>>> ==
              Code::D06_extents_contradict);
static_assert(code<Lu, Tensor<std::int32_t, Dim<I>, Split<J, X>>> == Code::P12_not_floating);

// Refusals of the right-hand sides.
static_assert(code<Solve, A, Tensor<double, Dim<K>>> == Code::D01_no_such_index);
static_assert(code<Solve, A, Tensor<double, Dim<I>, Dim<J>>> == Code::D02_index_taken);
static_assert(code<Solve, A, Tensor<double, Split<I, X>>> == Code::Q05_one_matrix);
static_assert(code<Solve, A, Tensor<double, Dim<I>, Dim<K, X>>> == Code::Q05_one_matrix);
static_assert(code<Solve, A, Tensor<double, Dim<I>, Dim<K>, Dim<B>>> == Code::Q05_one_matrix);
static_assert(code<Solve, A, Tensor<double, Dim<I>, Unreduced<X>>> == Code::Q05_one_matrix);
static_assert(code<Solve, A, Tensor<double, Dim<I>, Unreduced<Max, Y>>> == Code::Q02_not_linear);
static_assert(code<Solve, A, Tensor<float, Dim<I>>> == Code::C10_element_types_differ);
static_assert(code<op::CyclicLuSolve<I, J, true>, A, Pivots, Tensor<double, Dim<J>>> ==
              Code::Q05_one_matrix);
static_assert(
    code<op::CyclicLuSolve<I, J>, A, Tensor<std::int32_t, Dim<J, X>>, Tensor<double, Dim<I>>> ==
    Code::Q05_one_matrix);

// Right-hand sides that the axis of the matrix splits, the inverse, and numbers of the factors.
using Own = op::CyclicLuSolveOwn<I, J>;
using OwnTurned = op::CyclicLuSolveOwn<I, J, true>;
using Determinant = op::CyclicLuProduct<I, J, linalg::detail::Product::logarithm>;
static_assert(same<result_t<Own, A, Pivots, Tensor<double, Dim<I>, Dim<K, X>>>,
                   Tensor<double, Dim<J>, Dim<K, X>>>);
static_assert(same<result_t<Own, A, Pivots, Tensor<double, Dim<K, Y, X>, Dim<I>>>,
                   Tensor<double, Dim<K, Y, X>, Dim<J>>>);
static_assert(same<result_t<OwnTurned, A, Pivots, Tensor<double, Dim<J>, Split<K, X, 2>>>,
                   Tensor<double, Dim<I>, Split<K, X, 2>>>);
static_assert(same<result_t<Own, A, Pivots, Tensor<double, Dim<I>, Dim<K, X>, Unreduced<Y>>>,
                   Tensor<double, Dim<J>, Dim<K, X>, Unreduced<Y>>>);
static_assert(
    same<result_t<op::CyclicInverse<I, J>, A, Pivots>, Tensor<double, Dim<J>, Split<I, X>>>);
static_assert(same<result_t<Determinant, A, Pivots>, Tensor<double>>);
static_assert(code<Own, A, Pivots, Tensor<double, Dim<I>, Dim<K, Y>>> == Code::Q05_one_matrix);
static_assert(code<Own, A, Pivots, Tensor<double, Dim<I, X>, Dim<K>>> == Code::Q05_one_matrix);
static_assert(code<Own, A, Pivots, Tensor<double, Dim<I>>> == Code::Q05_one_matrix);
static_assert(code<Own, A, Pivots, Tensor<double, Dim<J>, Dim<K, X>>> == Code::D01_no_such_index);
static_assert(code<Own, A, Pivots, Tensor<float, Dim<I>, Dim<K, X>>> ==
              Code::C10_element_types_differ);
static_assert(code<Own, A, Pivots, Tensor<double, Dim<I>, Dim<K, X>, Unreduced<Max, Y>>> ==
              Code::Q02_not_linear);
static_assert(code<op::CyclicInverse<I, J>, A, Tensor<double, Dim<J>>> ==
              Code::C10_element_types_differ);
static_assert(code<Determinant, A, Tensor<std::int32_t, Dim<J, X>>> == Code::Q05_one_matrix);

// Both factors come by: n + n_b rows of each block column, but for the own ones.
constexpr Plan of_inverse = plan(op::CyclicInverse<I, J>{}, type<A>, type<Pivots>);
static_assert(of_inverse.count(Collective::all_gather) == 0);
static_assert(of_inverse.count(Collective::broadcast) == 2 * 2048 / 64);
static_assert(of_inverse.bytes_per_rank() == 8LL * 2048 * (2048 + 64) * 3 / 4);
// the operands, the inverse, and two panels
static_assert(of_inverse.peak_bytes() <= 8LL * 2048 * (2 * 512 + 2 * 64) + 4 * 2048);
constexpr Plan of_own = plan(Own{}, type<A>, type<Pivots>, type<Tensor<double, Dim<I>, Dim<K, X>>>);
static_assert(of_own.bytes_per_rank() == of_inverse.bytes_per_rank());
constexpr Plan of_product = plan(Determinant{}, type<A>, type<Pivots>);
static_assert(of_product.collectives() == 1 && of_product.count(Collective::all_reduce) == 1);

// Plans. A panel of w columns from row k on: (n - k) w numbers, w pivots and one number more.
constexpr std::int64_t received(std::int64_t n, std::int64_t block, std::int64_t ranks,
                                std::int64_t rank) {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k * block < n; ++k) {
    std::int64_t const w = n - k * block < block ? n - k * block : block;
    if (k % ranks != rank) sum += 8 * ((n - k * block) * w + (4 * (w + 1) + 7) / 8);
  }
  return sum;
}
constexpr std::int64_t most_received(std::int64_t n, std::int64_t block, std::int64_t ranks) {
  std::int64_t most = 0;
  for (std::int64_t r = 0; r < ranks; ++r)
    most = received(n, block, ranks, r) > most ? received(n, block, ranks, r) : most;
  return most;
}

constexpr Plan lu = plan(Lu{}, type<A>);
static_assert(lu.count(Collective::broadcast) == 32 && lu.collectives() == 32);
static_assert(lu.bytes_per_rank() == most_received(2048, 64, 4));
// half of the matrix, but what a rank has of it, and the pivots
static_assert(lu.bytes_per_rank() <= 8LL * 2048 * 2048 / 2 * 3 / 4 * 107 / 100);
static_assert(lu.peak_bytes() <= 8LL * (2 * 2048 * 512 + 3 * (2048 * 64 + 33)) + 4 * 2050);
static_assert(lu.flops() >= 2LL * 2048 * 2048 * 2048 / 3 / 4);

// Panels are factorized and sent beside updates: but for the first one, and for the time in which
// their ranks do so.
constexpr double one_after_the_other(Plan p) {
  for (int k = 0; k < p.repeat_count; ++k) {
    planning::Repeat loop = p.repeats[k];
    loop.ahead = {};
    p.repeats.put(k, loop);
  }
  return p.seconds();
}
static_assert(lu.seconds() < 0.98 * one_after_the_other(lu));

using Uneven = Tensor<double, Dim<U>, Split<V, X>>;
constexpr Plan uneven = plan(op::CyclicLu<U, V>{}, type<Uneven>);
static_assert(uneven.count(Collective::broadcast) == 33);
static_assert(uneven.bytes_per_rank() == most_received(2050, 64, 4));

// A solve sends in addition the sums of a ring: of the blocks behind each, of at most 3.
constexpr Plan solve = plan(Solve{}, type<A>, type<Tensor<double, Dim<I>, Dim<K>>>);
static_assert(solve.count(Collective::all_gather) == 0 && solve.count(Collective::permute) == 31);
static_assert(solve.bytes_per_rank() <= lu.bytes_per_rank() + 8LL * 3 * 2048 * 3 / 4);

constexpr Plan chol = plan(Cholesky{}, type<A>);
static_assert(chol.count(Collective::broadcast) == 32 && chol.collectives() == 32);
static_assert(chol.bytes_per_rank() == lu.bytes_per_rank());

// On one rank nothing moves.
struct One : Axis<"One", 1> {};
constexpr Plan alone = plan(Lu{}, type<Tensor<double, Dim<I>, Split<J, One>>>);
static_assert(alone.bytes_per_rank() == 0);

// Of unknown sizes: no gather at all, any number of broadcasts.
using Open = Tensor<double, Dim<M>, Split<N, Z>>;
constexpr auto open = plan(op::CyclicSolve<M, N>{}, type<Open>, type<Tensor<double, Dim<M>>>);
static_assert(open.count(Collective::all_gather) == 0 && open.count(Collective::all_reduce) == 0);
static_assert(open.count(Collective::broadcast) == planning::unbounded);

// QR: of any shape; two passes of panels, a matrix of reflectors and its triangle each.
using Qr = op::CyclicQr<I, J, K>;
static_assert(same<result_t<Qr, A>, Tensor<double, Dim<I>, Split<K, X>>>);
static_assert(same<result_t<op::CyclicQr<I, J, M>, Turned>, Tensor<float, Split<M, X, 8>, Dim<I>>>);
static_assert(same<result_t<op::CyclicQr<I, J, K, true>, A>, Tensor<double, Dim<K>, Split<J, X>>>);
using Tall = Tensor<double, Dim<M>, Split<J, X>>;
static_assert(code<op::CyclicQr<M, J, N>, Tall> == Code::ok);
static_assert(code<op::CyclicQr<I, J, I>, A> == Code::D02_index_taken);
static_assert(code<op::CyclicQr<I, J, J>, A> == Code::D02_index_taken);
static_assert(code<Qr, Tensor<double, Dim<I, Y>, Split<J, X>>> == Code::Q01_matrix_split);
static_assert(code<Qr, Tensor<double, Dim<I>, Split<J, X>, Unreduced<Y>>> == Code::Q02_not_linear);
static_assert(code<Qr, Tensor<double, Split<I, Y>, Split<J, X>>> == Code::Q03_both_cyclic);
static_assert(code<Qr, Tensor<double, Split<I, X>, Dim<J>>> == Code::Q04_rows_cyclic);
static_assert(code<Qr, Tensor<double, Dim<B>, Dim<I>, Split<J, X>>> == Code::Q05_one_matrix);
static_assert(code<Qr, Tensor<int, Dim<I>, Split<J, X>>> == Code::P12_not_floating);

struct P : Index<"P", 2048> {};
constexpr Plan qr = plan(op::CyclicQr<I, J, P>{}, type<A>);
static_assert(qr.count(Collective::all_gather) == 0 && qr.count(Collective::broadcast) == 64);
static_assert(qr.collectives() == 64);
constexpr std::int64_t reflectors(std::int64_t rank) {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < 32; ++k)
    if (k % 4 != rank) sum += 2 * 8 * (2048 - 64 * k + 64) * 64;
  return sum;
}
static_assert(qr.bytes_per_rank() == reflectors(3));
// n^2 (1 - 1 / p) numbers, and those of the blocks on the diagonal
static_assert(qr.bytes_per_rank() <= 8LL * (2048 * 2048 + 4 * 2048 * 64) * 3 / 4);
// the matrix, q and r, two panels, and what a panel is multiplied with
static_assert(qr.peak_bytes() <= 8LL * (3 * 2048 * 512 + 2 * (2048 + 64) * 64 + 3 * 64 * 512));
static_assert(qr.flops() >= 4LL * 2048 * 2048 * 2048 * 2 / 3 / 4);
constexpr auto open_qr = plan(op::CyclicQr<M, N, K>{}, type<Open>);
static_assert(open_qr.count(Collective::broadcast) == planning::unbounded &&
              open_qr.count(Collective::all_gather) == 0);

// Least squares: q^H b and r, without q. Each rank has some of the columns of b, unless they are in
// turn; panels are sent once.
using Least = op::CyclicQrWithRight<I, J, P>;
using R = Tensor<double, Dim<P>, Split<J, X>>;
template <class Op, class... As>
using results = typename checking::Resolve<Op, As...>::results;
static_assert(
    same<results<Least, A, Tensor<double, Dim<I>>>, std::tuple<Tensor<double, Dim<P>>, R>>);
static_assert(same<results<Least, A, Tensor<double, Dim<K>, Dim<I>>>,
                   std::tuple<Tensor<double, Dim<K, X>, Dim<P>>, R>>);
static_assert(same<results<Least, A, Tensor<double, Dim<I>, Dim<K, Y>, Unreduced<Z>>>,
                   std::tuple<Tensor<double, Dim<P>, Dim<K, Y, X>, Unreduced<Z>>, R>>);
static_assert(same<results<Least, A, Tensor<double, Dim<I>, Split<K, Y, 2>>>,
                   std::tuple<Tensor<double, Dim<P>, Split<K, Y, 2>>, R>>);
using Whole = Tensor<double, Dim<I>>;
static_assert(code<op::CyclicQrWithRight<I, J, I>, A, Whole> == Code::D02_index_taken);
static_assert(code<Least, A, Tensor<double, Dim<I>, Dim<P>>> == Code::D02_index_taken);
static_assert(code<Least, A, Tensor<double, Dim<I>, Dim<J>>> == Code::D02_index_taken);
static_assert(code<Least, A, Tensor<double, Dim<K>>> == Code::D01_no_such_index);
static_assert(code<Least, Tensor<double, Split<I, X>, Dim<J>>, Whole> == Code::Q04_rows_cyclic);
static_assert(code<Least, A, Tensor<double, Dim<I, Y>>> == Code::Q05_one_matrix);
static_assert(code<Least, A, Tensor<double, Dim<I>, Dim<K, X>>> == Code::Q05_one_matrix);
static_assert(code<Least, A, Tensor<double, Dim<I>, Unreduced<X>>> == Code::Q05_one_matrix);
static_assert(code<Least, A, Tensor<double, Dim<I>, Dim<K>, Dim<B>>> == Code::Q05_one_matrix);
static_assert(code<op::CyclicQrWithRight<I, V, K>, Tensor<double, Dim<I>, Split<V, X>>, Whole> ==
              Code::Q09_wide_matrix);
static_assert(code<Least, A, Tensor<float, Dim<I>>> == Code::C10_element_types_differ);

constexpr Plan least = plan(Least{}, type<A>, type<Whole>);
static_assert(least.collectives() == 32 && least.count(Collective::broadcast) == 32);
static_assert(least.bytes_per_rank() == reflectors(3) / 2);
static_assert(least.flops() >= 4LL * 2048 * 2048 * 2048 / 3 / 4 &&
              least.flops() < qr.flops() * 5 / 8);
// what is returned, the factors, b, two panels, and what a panel is multiplied with
static_assert(least.peak_bytes() <=
              8LL * (3 * 2048 * 512 + 3 * 2048 + 2 * (2048 + 64) * 64 + 2 * 64 * 512));
// the columns of b are spread over the ranks
struct Many : Index<"Many", 2048> {};
constexpr Plan many = plan(Least{}, type<A>, type<Tensor<double, Dim<I>, Dim<Many>>>);
static_assert(many.bytes_per_rank() == least.bytes_per_rank());
static_assert(many.flops() - least.flops() <= 2LL * 2048 * (2048 + 2 * 64) * 511);

// An inverse by the factors: the pass of L skips the leading zeros of the identity.
constexpr std::int64_t cube = 2048LL * 2048 * 2048;
static_assert(of_inverse.flops() >= cube * 4 / 3 / 4 && of_inverse.flops() <= cube * 3 / 2 / 4);
static_assert(plan(op::CyclicInverse<I, J, true>{}, type<A>, type<Pivots>).flops() <=
              cube * 7 / 4 / 4);

}  // namespace
