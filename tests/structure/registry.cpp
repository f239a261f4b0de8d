// Every operation of the registries has a rule, a plan with operands and sizing, and a run, shown
// on one sample of operands each. The test is that this compiles. registry.py compares the
// registries with the objects in the headers, this file, the documents and the random programs.
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/fft/fft.hpp>
#include <shardtype/fft/four_step.hpp>
#include <shardtype/fft/registry.hpp>
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/linalg/registry.hpp>
#include <shardtype/manual/registry.hpp>
#include <shardtype/nn/nn.hpp>
#include <shardtype/nn/registry.hpp>
#include <shardtype/ops/registry.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/cases.hpp"
#include "harness/registered_gradients.hpp"
#include "harness/sample.hpp"

namespace samples {

struct Half : Index<"Half", 5> {};  // of J
struct Frequencies : Index<"Frequencies"> {};
using Waves = Tensor<Kokkos::complex<double>, Dim<I, X>, Dim<J>>;
using Planes = Tensor<Kokkos::complex<double>, Dim<I>, Dim<J>, Dim<K, Y>>;
using Halves = Tensor<Kokkos::complex<double>, Dim<I, X>, Dim<Half>>;

struct Rows : Index<"Rows", 6> {};
struct Cols : Index<"Cols", 6> {};
using Matrices = Tensor<double, Dim<I, X>, Dim<Rows>, Dim<Cols>>;
using RightSides = Tensor<double, Dim<I, X>, Dim<Rows>>;
using Pivots = Tensor<std::int32_t, Dim<I, X>, Dim<Cols>>;

using Vector = Tensor<double, Dim<J>>;
using Heads = Tensor<double, Dim<I, X>, Dim<J>, Dim<K, Y>, Dim<L>>;
using Experts = Tensor<double, Dim<L, X>, Dim<J>, Dim<K, Y>>;
using Sizes = Tensor<std::int64_t, Dim<L, X>>;

// One accepted call of each operation, except for those with a call beside their case.
template <>
inline constexpr auto sample<"All"> = on<Bools>(op::All<J>{});
template <>
inline constexpr auto sample<"AllGather"> = on<A>(op::AllGather<X>{});
template <>
inline constexpr auto sample<"AllReduce"> = on<Sums>(op::AllReduce<X>{});
template <>
inline constexpr auto sample<"AllToAll"> = on<A>(op::AllToAll<X, I, J>{});
template <>
inline constexpr auto sample<"Any"> = on<Bools>(op::Any<J>{});
template <>
inline constexpr auto sample<"ArgMax"> = on<A>(op::ArgMax<J>{});
template <>
inline constexpr auto sample<"ArgMin"> = on<A>(op::ArgMin<J>{});
template <>
inline constexpr auto sample<"ArgSort"> = on<A>(op::ArgSort<J>{});
template <>
inline constexpr auto sample<"Attention"> = on<Heads, Heads, Heads>(op::Attention<false>{});
template <>
inline constexpr auto sample<"Broadcast"> = on<A>(op::Broadcast<Dim<K, Y>>{{12}});
template <>
inline constexpr auto sample<"CausalMask"> = on<A>(op::CausalMask<I, J>{});
template <>
inline constexpr auto sample<"Cholesky"> = on<Matrices>(op::Cholesky<Rows, Cols>{});
template <>
inline constexpr auto sample<"CountedMax"> = on<A>(op::CountedMax<J>{});
template <>
inline constexpr auto sample<"CountedMin"> = on<A>(op::CountedMin<Dim<J>>{});
template <>
inline constexpr auto sample<"CountedProd"> = on<A>(op::CountedProd<J>{});
template <>
inline constexpr auto sample<"Dropout"> = on<A>(op::Dropout<>{RandomKey{1}, 0.1});
template <>
inline constexpr auto sample<"DynamicSlice"> = on<A>(op::DynamicSlice<J, Q>{4, 2});
template <>
inline constexpr auto sample<"DynamicUpdate"> = on<A, A>(op::DynamicUpdate<J>{0});
template <>
inline constexpr auto sample<"Einsum"> = on<A, B>(op::Einsum<I, K>{});
template <>
inline constexpr auto sample<"Expand"> = on<A>(op::Expand<One>{});
template <>
inline constexpr auto sample<"Fft"> = on<Waves>(op::Fft<J>{});
template <>
inline constexpr auto sample<"FftFourStep"> = on<Waves>(op::FftFourStep<I, P, L>{});
template <>
inline constexpr auto sample<"Fftn"> = on<Planes>(op::Fftn<I, J>{});
template <>
inline constexpr auto sample<"HaloAdd"> = on<Halo<A, I>>(op::HaloAdd<I>{1, 2});
template <>
inline constexpr auto sample<"Ifft"> = on<Waves>(op::Ifft<J>{});
template <>
inline constexpr auto sample<"IfftFourStep"> = on<Waves>(op::IfftFourStep<I, Frequencies>{});
template <>
inline constexpr auto sample<"Ifftn"> = on<Planes>(op::Ifftn<I, J>{});
template <>
inline constexpr auto sample<"Irfft"> = on<Halves>(op::Irfft<Half, J>{});
template <>
inline constexpr auto sample<"LayerNorm"> = on<A, Vector, Vector>(op::LayerNorm<J>{});
template <>
inline constexpr auto sample<"LogSumExp"> = on<A>(op::LogSumExp<J>{});
template <>
inline constexpr auto sample<"LuSolve"> =
    on<Matrices, Pivots, RightSides>(op::LuSolve<Rows, Cols, false>{});
template <>
inline constexpr auto sample<"Map"> = on<A, A>(op::Map<functions::Add>{});
template <>
inline constexpr auto sample<"Matmul"> = on<A, B>(op::Matmul<>{});
template <>
inline constexpr auto sample<"Max"> = on<A>(op::Max<J>{});
template <>
inline constexpr auto sample<"Mean"> = on<A>(op::Mean<J>{});
template <>
inline constexpr auto sample<"MergeDims"> = on<Split>(op::MergeDims<P, Q, J>{});
template <>
inline constexpr auto sample<"Min"> = on<A>(op::Min<J>{});
template <>
inline constexpr auto sample<"Norm"> = on<A>(op::Norm<J>{});
template <>
inline constexpr auto sample<"Norm1"> = on<A>(op::Norm1<J>{});
template <>
inline constexpr auto sample<"NormInf"> = on<A>(op::NormInf<J>{});
template <>
inline constexpr auto sample<"OneHot"> = on<Ids>(op::OneHot<V, double>{32});
template <>
inline constexpr auto sample<"Prod"> = on<A>(op::Prod<J>{});
template <>
inline constexpr auto sample<"ReduceScatter"> = on<Sums>(op::ReduceScatter<X, I>{});
template <>
inline constexpr auto sample<"Rfft"> = on<A>(op::Rfft<J, Half>{});
template <>
inline constexpr auto sample<"RaggedDot"> = on<A, Experts, Sizes>(op::RaggedDot<J>{});
template <>
inline constexpr auto sample<"Relabel"> = on<Small>(op::Relabel<J, L>{});
template <>
inline constexpr auto sample<"ReproducibleNorm"> = on<A>(op::ReproducibleNorm<J>{});
template <>
inline constexpr auto sample<"ReproducibleSum"> = on<A>(op::ReproducibleSum<J>{});
template <>
inline constexpr auto sample<"Reshard"> = on<A>(op::Reshard<Dim<I>, Dim<J, Y>>{});
template <>
inline constexpr auto sample<"RmsNorm"> = on<A, Vector>(op::RmsNorm<J>{});
template <>
inline constexpr auto sample<"Rotary"> = on<A>(op::Rotary<I, J>{});
template <>
inline constexpr auto sample<"ScatterAdd"> = on<A, Ids>(op::ScatterAdd<V>{32});
template <>
inline constexpr auto sample<"Solve"> = on<Matrices, RightSides>(op::Solve<Rows, Cols>{});
template <>
inline constexpr auto sample<"Sort"> = on<A>(op::Sort<J>{});
template <>
inline constexpr auto sample<"SplitDim"> = on<A>(op::SplitDim<J, P, Q>{{2, 4}});
template <>
inline constexpr auto sample<"Squeeze"> = on<Small>(op::Squeeze<One>{});
template <>
inline constexpr auto sample<"Stack"> = on<A, A>(op::Stack<P>{});
template <>
inline constexpr auto sample<"Sum"> = on<A>(op::Sum<J>{});
template <>
inline constexpr auto sample<"Take"> = on<Table, Ids>(op::Take<V>{});
template <>
inline constexpr auto sample<"TakeAlong"> = on<A, Along>(op::TakeAlong<J>{});
template <>
inline constexpr auto sample<"ToPartial"> = on<Whole>(op::ToPartial<X>{});
template <>
inline constexpr auto sample<"ToReduced"> = on<Whole>(op::ToReduced<X>{});
template <>
inline constexpr auto sample<"TopK"> = on<A>(op::TopK<J, P>{2});
template <>
inline constexpr auto sample<"Transfer"> = on<A>(op::Transfer<Mesh<Y>, Dim<I, Y>, Dim<J>>{});
template <>
inline constexpr auto sample<"Transpose"> = on<A>(op::Transpose<J, I>{});
template <>
inline constexpr auto sample<"TriangularSolve"> =
    on<Matrices, RightSides>(op::TriangularSolve<Rows, Cols>{});

}  // namespace samples

using namespace samples;

namespace {

// Collectives of both modes: on blocks they are other operations.
template <Name object>
constexpr auto block_sample = NoSample{};
template <>
constexpr auto block_sample<"AllGather"> = on<Block>(op::AllGather<X, I>{});
template <>
constexpr auto block_sample<"AllReduce"> = on<Block>(op::AllReduce<X>{});
template <>
constexpr auto block_sample<"AllToAll"> = on<Block>(op::AllToAll<X, I, J>{});
template <>
constexpr auto block_sample<"ReduceScatter"> = on<Block>(op::ReduceScatter<X, I>{});
template <>
constexpr auto block_sample<"ToReduced"> = on<Same>(op::ToReduced<X>{});

// Whether a value of a plan has extents and an element size.
constexpr bool sized(Plan const& p, planning::Slot slot, Spec const& s) {
  planning::Sizing const z = p.sizing_of(slot);
  bool ok = z.element_bytes > 0;
  for (int d = 0; d < s.rank; ++d) ok = ok && z.extents[s.dims[d].label] > 0;
  for (int x = 0; x < core::max_axes; ++x)
    if (s.dim_of(x) >= 0) ok = ok && z.sizes[x] > 0;
  return ok;
}
// A replicated value that is typed as reduced needs no step.
constexpr bool only_cast(Spec s, Spec const& result) {
  s.reduced = result.reduced;
  return s == result;
}
constexpr bool says_all(Plan const& p, int operands, Spec const& result) {
  bool ok = p.operand_count == operands && p.given_bytes() > 0 &&
            (p.size > 0 || only_cast(p.operands[0], result)) && p.peak_bytes() >= p.given_bytes();
  for (int k = 0; k < p.operand_count; ++k)
    ok = ok && sized(p, planning::operand_slot(k), p.operands[k]);
  return ok && sized(p, planning::Slot::result, result);
}

// The plan of a sample. Blocks get extents, because their types have none.
template <class Op, class... As>
consteval Plan planned(Sample<Op, As...> const& s) {
  if constexpr ((is_local<As> || ...)) {
    return plan(s.op, type<As>...).at({16, 8});
  } else {
    return plan(s.op, type<As>...);
  }
}

template <class Op>
constexpr bool is_transfer = false;
template <class... Out>
constexpr bool is_transfer<op::Transfer<Out...>> = true;

// Instantiates the run of an accepted call; nobody calls it.
template <class R, class Op, class... As>
void compiled(Op const& op, std::source_location const& where, As const&... as) {
  if constexpr ((is_local<As> || ...)) {
    static_cast<void>(execute::RunBlocks<Op>::template run<R>(op, where, as...));
  } else {
    static_cast<void>(execute::Run<Op>::template run<R>(op, where, as...));
  }
}

template <auto const& of, class Op, class... As>
constexpr bool stands(Sample<Op, As...> const&) {
  using R = checking::Resolve<Op, As...>;
  static_assert(Operation<Op>);
  static_assert(bool(R::verdict), "the rule refuses the sample");
  if constexpr (R::verdict) {
    if constexpr (is_transfer<Op>) {
      // the common ranks of two meshes are known only at run time
      static_assert(requires(Op const& op, A const& a) { plan_at(op, a); });
    } else {
      static_assert(says_all(planned(of), sizeof...(As), R::verdict.result));
    }
    static_assert(&compiled<R, Op, As...> != nullptr);
  }
  return true;
}

template <auto const& registry, std::size_t... Entry>
constexpr bool all_stand(std::index_sequence<Entry...>) {
  static_assert(
      (!std::is_same_v<decltype(sample<Name(registry[Entry].object)>), NoSample const> && ...),
      "an operation of the registry has no sample here");
  return (stands<sample<Name(registry[Entry].object)>>(sample<Name(registry[Entry].object)>) &&
          ...);
}
template <auto const& registry>
constexpr bool every_operation_stands = all_stand<registry>(
    std::make_index_sequence<std::extent_v<std::remove_reference_t<decltype(registry)>>>{});

using registered_gradients::constants;
using registered_gradients::is_in;
using registered_gradients::without_gradient;

template <class Op>
constexpr bool has_derivative = autodiff::Vjp<Op>::exists;
template <class F>
constexpr bool has_derivative<op::Map<F>> = autodiff::Derivative<F>::exists;

// Whether the lists say of an operation what its Vjp does.
template <class Op, class... As>
constexpr bool told(std::string_view name, Sample<Op, As...> const&) {
  using V = typename checking::Resolve<Op, As...>::result::element;
  bool constant = !detail::is_floating<V> || autodiff::is_constant<Op>;
  if (name == "OneHot") constant = true;  // of ids
  return constant == is_in(name, constants) &&
         (!constant && !has_derivative<Op>) == is_in(name, without_gradient);
}
template <auto const& registry, std::size_t... Entry>
constexpr bool all_told(std::index_sequence<Entry...>) {
  static_assert((told(registry[Entry].object, sample<Name(registry[Entry].object)>) && ...),
                "an operation has neither a Vjp nor a place among those without gradient");
  return true;
}
template <auto const& registry>
constexpr bool every_gradient_is_told = all_told<registry>(
    std::make_index_sequence<std::extent_v<std::remove_reference_t<decltype(registry)>>>{});

static_assert(every_gradient_is_told<op::strict_operations>);
static_assert(every_gradient_is_told<op::manual_operations>);
static_assert(every_gradient_is_told<op::fourier_operations>);
static_assert(every_gradient_is_told<op::nn_operations>);
static_assert(every_gradient_is_told<op::linalg_operations>);

// The registries of all folders; those of optional folders are added if the folders exist.
static_assert(every_operation_stands<op::strict_operations>);
static_assert(every_operation_stands<op::manual_operations>);
static_assert(every_operation_stands<op::fourier_operations>);
static_assert(every_operation_stands<op::nn_operations>);
static_assert(every_operation_stands<op::linalg_operations>);
static_assert(stands<block_sample<"AllGather">>(block_sample<"AllGather">));
static_assert(stands<block_sample<"AllReduce">>(block_sample<"AllReduce">));
static_assert(stands<block_sample<"AllToAll">>(block_sample<"AllToAll">));
static_assert(stands<block_sample<"ReduceScatter">>(block_sample<"ReduceScatter">));
static_assert(stands<block_sample<"ToReduced">>(block_sample<"ToReduced">));

}  // namespace
