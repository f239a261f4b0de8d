// Fourier transforms on types: results, refusals, and the plans of slabs and pencils, whose bytes
// are those of the published formulas: of a block of n bytes, n (1 - 1 / p) per exchange of slabs
// (Frigo and Johnson, "FFTW", MPI transposes) and n (1 - 1 / px) + n (1 - 1 / py) of pencils
// (Pekurovsky, "P3DFFT", SIAM J. Sci. Comput. 34, 2012; Dalcin, Mortensen and Keyes, J. Parallel
// Distrib. Comput. 128, 2019). Nothing is gathered on any mesh.
#include <cstdint>
#include <type_traits>

#include <shardtype/fft/types_operations.hpp>
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
struct Z : Axis<"Z", 8> {};
struct U : Axis<"U"> {};
struct I : Index<"I", 16> {};
struct J : Index<"J", 16> {};
struct K : Index<"K", 16> {};
struct H : Index<"H", 9> {};
struct B : Index<"B", 4> {};
struct P : Index<"P"> {};
struct Q : Index<"Q"> {};
struct F : Index<"F"> {};

using C = Kokkos::complex<double>;
using Cf = Kokkos::complex<float>;

template <class Op, class A>
constexpr Code code = checking::Resolve<Op, A>::verdict.code;
template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

// Results: the labels, the element types, the states of axes.
using Whole = Tensor<C, Dim<I>, Dim<J, X>>;
static_assert(same<result_t<op::Fft<I>, Whole>, Whole>);
static_assert(same<result_t<op::Ifft<I>, Whole>, Whole>);
static_assert(same<result_t<op::Fft<I, F>, Whole>, Tensor<C, Dim<F>, Dim<J, X>>>);
static_assert(same<result_t<op::Rfft<I, H>, Tensor<double, Dim<I>, Dim<J, X>>>,
                   Tensor<C, Dim<H>, Dim<J, X>>>);
static_assert(
    same<result_t<op::Rfft<P>, Tensor<float, Dim<P>, Dim<Q, X>>>, Tensor<Cf, Dim<P>, Dim<Q, X>>>);
static_assert(same<result_t<op::Irfft<H, I>, Tensor<Cf, Dim<H>, Dim<J, X>>>,
                   Tensor<float, Dim<I>, Dim<J, X>>>);
static_assert(same<result_t<op::Rfftn<I, K, H>, Tensor<float, Dim<I>, Dim<J, X>, Dim<K>>>,
                   Tensor<Cf, Dim<I>, Dim<J, X>, Dim<H>>>);
static_assert(same<result_t<op::Fftn<I, K>, Tensor<C, Dim<I>, Dim<J, X>, Dim<K>, Unreduced<Y>>>,
                   Tensor<C, Dim<I>, Dim<J, X>, Dim<K>, Unreduced<Y>>>);
static_assert(same<result_t<op::Fft<I>, Tensor<C, Dim<I>, Dim<J, Cyclic<X, 2>>>>,
                   Tensor<C, Dim<I>, Dim<J, Cyclic<X, 2>>>>);

// Refusals.
static_assert(code<op::Fft<I>, Tensor<C, Dim<I, X>, Dim<J>>> == Code::F02_along_split);
static_assert(code<op::Fftn<J, I>, Tensor<C, Dim<I, X>, Dim<J>>> == Code::F02_along_split);
static_assert(code<op::Fft<I>, Tensor<C, Dim<I, Cyclic<X, 2>>, Dim<J>>> ==
              Code::B03_through_cyclic);
static_assert(code<op::Fft<K>, Whole> == Code::D01_no_such_index);
static_assert(code<op::Fft<I, J>, Whole> == Code::D02_index_taken);
static_assert(code<op::Fft<I, H>, Whole> == Code::D06_extents_contradict);
static_assert(code<op::Fftn<I, I>, Tensor<C, Dim<I>>> == Code::T02_index_twice);
static_assert(code<op::Rfft<I>, Tensor<double, Dim<I>>> == Code::D05_extent_changes);
static_assert(code<op::Rfft<I, J>, Tensor<double, Dim<I>>> == Code::D06_extents_contradict);
static_assert(code<op::Irfft<I, H>, Tensor<C, Dim<I>>> == Code::D06_extents_contradict);
static_assert(code<op::Fft<I>, Tensor<double, Dim<I>>> == Code::F01_element_type);
static_assert(code<op::Fft<I>, Tensor<std::int64_t, Dim<I>>> == Code::F01_element_type);
static_assert(code<op::Rfft<P>, Tensor<C, Dim<P>>> == Code::F01_element_type);
static_assert(code<op::Rfft<P>, Tensor<std::int32_t, Dim<P>>> == Code::F01_element_type);
static_assert(code<op::Rfft<P>, Tensor<float, Dim<P>, Unreduced<Max, X>>> == Code::F03_extremum);

// Named results, and their refusals.
template <class Op, class... Out>
using Named = op::Named<Op, Out...>;
using Slab = Tensor<C, Dim<I, X>, Dim<J>, Dim<K>>;
using All = op::Fftn<I, J, K>;
static_assert(same<result_t<Named<All, Dim<I>, Dim<J, X>, Dim<K>>, Slab>,
                   Tensor<C, Dim<I>, Dim<J, X>, Dim<K>>>);
static_assert(code<Named<All, Dim<I>, Dim<J, X>>, Slab> == Code::R01_indices_differ);
static_assert(code<Named<All, Tensor<double, Dim<I>, Dim<J, X>, Dim<K>>>, Slab> ==
              Code::N05_element_type);
static_assert(code<Named<All, Dim<I>, Dim<J>, Dim<K>, Unreduced<X>>, Slab> ==
              Code::R03_split_to_unreduced);
static_assert(code<Named<op::Fft<I>, Dim<I>, Dim<J, X>>, Tensor<C, Dim<I, Cyclic<X, 2>>, Dim<J>>> ==
              Code::B03_through_cyclic);
static_assert(code<Named<op::Fft<I>, Dim<I, X>>, Tensor<C, Dim<I, X>>> == Code::F04_no_other_dim);
static_assert(code<Named<op::Fft<I>, Dim<I>>, Tensor<C, Dim<I, X>>> == Code::F04_no_other_dim);
static_assert(code<Named<op::Fft<I>, Dim<I>>, Tensor<C, Dim<I>>> == Code::ok);
static_assert(code<Named<op::Fft<I>, Dim<I, X>>, Tensor<C, Dim<I>>> == Code::ok);
static_assert(code<Named<op::Fft<I>, Dim<I, X>, Dim<J, Cyclic<Y, 2>>>,
                   Tensor<C, Dim<I, X>, Dim<J, Cyclic<Y, 2>>>> == Code::F04_no_other_dim);
// the axis moves before the batch becomes cyclic
static_assert(plan(Named<op::Fft<I>, Dim<I, X>, Dim<J, Cyclic<Y, 2>>>{},
                   type<Tensor<C, Dim<I, X>, Dim<J>>>)
                  .count(Collective::all_gather) == 0);

// Plans: the number of exchanges, and the bytes of the busiest rank.
constexpr std::int64_t whole = 16 * 16 * 16 * 16;  // bytes
template <class Op, class A>
constexpr bool exchanges(int n, std::int64_t bytes) {
  constexpr Plan p = plan(Op{}, type<A>);
  std::int64_t block = 0;
  for (planning::Step const& s : p)
    for (Spec const& one : {s.before, s.after})
      if (std::int64_t const b = p.block_bytes(one, s.slot); b > block) block = b;
  std::int64_t const made = p.block_bytes(p.result, planning::Slot::result);
  return p.count(Collective::all_gather) == 0 && p.collectives() == n &&
         p.count(Collective::all_to_all) == n && p.bytes_per_rank() == bytes &&
         p.peak_bytes() <= p.given_bytes() + made + 2 * block;
}
// slabs: (1 - 1 / p) of the block
static_assert(exchanges<Named<All, Dim<I>, Dim<J, X>, Dim<K>>, Slab>(1, whole / 4 * 3 / 4));
static_assert(exchanges<Named<All, Dim<I>, Dim<J>, Dim<K, X>>, Slab>(1, whole / 4 * 3 / 4));
// the original order, at its price
static_assert(exchanges<Named<All, Dim<I, X>, Dim<J>, Dim<K>>, Slab>(2, 2 * whole / 4 * 3 / 4));
// the inverse undoes the new order
static_assert(exchanges<Named<op::Ifftn<I, J, K>, Dim<I, X>, Dim<J>, Dim<K>>,
                        Tensor<C, Dim<I>, Dim<J, X>, Dim<K>>>(1, whole / 4 * 3 / 4));
// pencils: (1 - 1 / px) + (1 - 1 / py) of the block
using Pencil = Tensor<C, Dim<I, X>, Dim<J, Y>, Dim<K>>;
constexpr std::int64_t pencils = whole / 8 * 3 / 4 + whole / 8 / 2;
static_assert(exchanges<Named<All, Dim<I>, Dim<J, X>, Dim<K, Y>>, Pencil>(2, pencils));
// the original order, at its price
static_assert(exchanges<Named<All, Dim<I, X>, Dim<J, Y>, Dim<K>>, Pencil>(4, 2 * pencils));
static_assert(exchanges<Named<op::Ifftn<I, J, K>, Dim<I, X>, Dim<J, Y>, Dim<K>>,
                        Tensor<C, Dim<I>, Dim<J, X>, Dim<K, Y>>>(2, pencils));
// several axes on one dim
static_assert(exchanges<Named<All, Dim<I>, Dim<J, X, Y>, Dim<K>>,
                        Tensor<C, Dim<I, X, Y>, Dim<J>, Dim<K>>>(1, whole / 8 * 7 / 8));
// two dims on a mesh of two axes
static_assert(plan(Named<op::Fftn<I, J>, Dim<I, X>, Dim<J, Y>>{},
                   type<Tensor<C, Dim<I, X>, Dim<J, Y>>>)
                  .count(Collective::all_gather) == 0);
// one dim beside a batch, which takes its axis
static_assert(plan(Named<op::Fft<I>, Dim<I>, Dim<B, X>>{}, type<Tensor<C, Dim<I, X>, Dim<B>>>)
                  .count(Collective::all_to_all) == 1);
// more ranks than planes
static_assert(plan(Named<op::Fftn<I, B>, Dim<I, Z>, Dim<B>>{}, type<Tensor<C, Dim<I>, Dim<B, Z>>>)
                  .count(Collective::all_gather) == 0);
// real transforms send their half
constexpr Plan real = plan(Named<op::Rfftn<I, J, K, H>, Dim<I>, Dim<J, X>, Dim<H, Y>>{},
                           type<Tensor<double, Dim<I, X>, Dim<J, Y>, Dim<K>>>);
static_assert(real.count(Collective::all_to_all) == 2 && real.collectives() == 2);
static_assert(real.bytes_per_rank() < pencils * 3 / 4);

}  // namespace
