// Every operation has a rule, a plan with operands and sizing, and a run, shown on one sample of
// operands each; and a gradient that is tested, or a reason. The test is that this compiles.
// registry.py compares the samples with the objects in the headers, the documents and the random
// programs.
#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "harness/cases.hpp"
#include "harness/cases/samples.hpp"
#include "harness/registered_gradients.hpp"
#include "harness/sample.hpp"

// Calls are qualified: unqualified_calls.py compiles this beside functions of all names in the
// samples' namespaces.
namespace registry {

using namespace samples;
using samples::on;

// Collectives of both modes: on blocks they are other operations.
inline constexpr std::tuple block_samples{
    on<"AllGather", "all_gather", Block>(op::AllGather<X, I>{}),
    on<"AllReduce", "all_reduce", Block>(op::AllReduce<X>{}),
    on<"AllToAll", "all_to_all", Block>(op::AllToAll<X, I, J>{}),
    on<"ReduceScatter", "reduce_scatter", Block>(op::ReduceScatter<X, I>{}),
    on<"ToReduced", "reduced", Same>(op::ToReduced<X>{})};

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
            (p.size > 0 || registry::only_cast(p.operands[0], result)) &&
            p.peak_bytes() >= p.given_bytes();
  for (int k = 0; k < p.operand_count; ++k)
    ok = ok && registry::sized(p, planning::operand_slot(k), p.operands[k]);
  return ok && registry::sized(p, planning::Slot::result, result);
}

// The plan of a sample. Blocks get extents, because their types have none.
template <Name object, Name function, class Op, class... As>
consteval Plan planned(Sample<object, function, Op, As...> const& s) {
  if constexpr ((is_local<As> || ...)) {
    return shardtype::plan(s.op, type<As>...).at({16, 8});
  } else {
    return shardtype::plan(s.op, type<As>...);
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

template <auto const& list, std::size_t Entry, Name object, Name function, class Op, class... As>
constexpr bool stands(Sample<object, function, Op, As...> const&) {
  using R = checking::Resolve<Op, As...>;
  static_assert(Operation<Op>);
  static_assert(bool(R::verdict), "the rule refuses the sample");
  if constexpr (R::verdict) {
    if constexpr (is_transfer<Op>) {
      // the common ranks of two meshes are known only at run time
      static_assert(requires(Op const& op, A const& a) { shardtype::plan_at(op, a); });
    } else {
      static_assert(registry::says_all(registry::planned(std::get<Entry>(list)), sizeof...(As),
                                       R::verdict.result));
    }
    static_assert(&compiled<R, Op, As...> != nullptr);
  }
  return true;
}

using registered_gradients::is_in;

template <class Op>
constexpr bool has_derivative = autodiff::Vjp<Op>::exists;
template <class F>
constexpr bool has_derivative<op::Map<F>> = autodiff::Derivative<F>::exists;
template <detail::HasResults Op>
constexpr bool has_derivative<Op> = autodiff::Vjp<autodiff::ResultOf<Op, 0>>::exists;

// Whether an operation has a gradient that the proofs of cotangents enumerate, gives constants, or
// stands among those without a gradient: one of these.
template <Name object, Name function, class Op, class... As>
constexpr bool told(Sample<object, function, Op, As...> const&, bool enumerated) {
  using V = typename checking::Resolve<Op, As...>::result::element;
  constexpr bool constant =
      !detail::is_floating<V> || autodiff::is_constant<Op> || object.view() == "OneHot";  // of ids
  constexpr bool has_gradient = !constant && has_derivative<Op>;
  return (!constant && !has_gradient) ==
             registered_gradients::is_in(object.view(), registered_gradients::without_gradient) &&
         (!enumerated ||
          registered_gradients::times_enumerated(object.view()) == (has_gradient ? 1 : 0));
}

template <auto const& list>
using Entries = std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(list)>>>;
template <auto const& list, std::size_t... Entry>
constexpr bool all_stand(std::index_sequence<Entry...>) {
  return (registry::stands<list, Entry>(std::get<Entry>(list)) && ...);
}
template <auto const& list>
constexpr bool every_operation_stands = registry::all_stand<list>(Entries<list>{});
template <auto const& list>
constexpr bool every_gradient_is_told(bool enumerated) {
  return std::apply([&](auto const&... s) { return (registry::told(s, enumerated) && ...); }, list);
}

#ifdef REGISTRY_GRADIENTS
// Calls an operation as a user does.
template <class Op, class... As>
auto called(Op const& op, std::source_location const& where, As const&... as) {
  return shardtype::call(op, where, as...);
}
template <class F, class... As>
auto called(op::Map<F> const&, std::source_location const&, As const&... as) {
  return shardtype::map(F{}, as...);
}
// The operands with a gradient: the floating ones, but not the factors of lu_solve.
template <class Op, class A>
constexpr bool has_cotangent = detail::is_floating<typename A::element>;
template <class R, class C, bool transposed, class A>
constexpr bool has_cotangent<op::LuSolve<R, C, transposed>, A> = std::is_same_v<A, RightSides>;
template <class Op, class... As>
consteval auto floating() {
  std::array<int, (0 + ... + std::size_t{has_cotangent<Op, As>})> numbers{};
  std::size_t found = 0;
  int number = 0;
  for (bool const is : {has_cotangent<Op, As>...}) {
    if (is) numbers[found++] = number;
    ++number;
  }
  return numbers;
}
// Instantiates the gradient of an accepted call with respect to its floating operands; nobody calls
// it.
template <std::size_t... N, class Op, class... As>
void differentiated(std::index_sequence<N...>, Op const& op, std::source_location const& where,
                    As const&... as) {
  auto const function = [&](auto const&... x) {
    auto result = registry::called(op, where, x...);
    if constexpr (detail::HasResults<Op>) {
      return std::get<0>(result);
    } else {
      return result;
    }
  };
  auto const made = shardtype::vjp<registry::floating<Op, As...>()[N]...>(function, as...);
  cotangent_t<std::remove_cvref_t<decltype(made.value)>> const* ct = nullptr;
  static_cast<void>(made.pullback(*ct));
}
template <class Op>
constexpr bool is_map = false;
template <class F>
constexpr bool is_map<op::Map<F>> = true;
template <class R, class Op, class... As>
struct JudgedSample {
  using type = autodiff::Judged<1, Op, typename R::result, As...>;
};
// Of several results the first.
template <class R, detail::HasResults Op, class... As>
struct JudgedSample<R, Op, As...> {
  using type = autodiff::Judged<1, autodiff::ResultOf<Op, 0>, typename R::results, As...>;
};
// Whether the gradient of an operation is accepted for these shardings.
template <class Op, class... As>
consteval bool is_accepted() {
  using R = checking::Resolve<Op, As...>;
  if constexpr (!has_derivative<Op> || autodiff::is_constant<Op> ||
                !detail::is_floating<typename R::result::element> ||
                registry::floating<Op, As...>().size() == 0 || (is_local<As> || ...)) {
    return false;
  } else if constexpr (is_map<Op> || requires { typename R::pair; }) {
    return true;
  } else {
    using J = typename JudgedSample<
        R, Op,
        std::remove_cvref_t<typename autodiff::Lifted<has_cotangent<Op, As>, As>::type>...>::type;
    return bool(J::verdict);
  }
}
template <Name object, Name function, class Op, class... As>
constexpr bool compiles_gradient(Sample<object, function, Op, As...> const&) {
  if constexpr (registry::is_accepted<Op, As...>()) {
    using Numbers = std::make_index_sequence<registry::floating<Op, As...>().size()>;
    void (*const instance)(Numbers, Op const&, std::source_location const&, As const&...) =
        &differentiated;
    return instance != nullptr;
  }
  return true;
}
constexpr bool compile_gradients(auto const&... s) {
  return (registry::compiles_gradient(s) && ...);
}
static_assert(std::apply([](auto const&... s) { return registry::compile_gradients(s...); },
                         std::tuple_cat(along_samples, other_samples, manual_samples, fft_samples,
                                        nn_samples, linalg_samples)));
#endif

static_assert(every_operation_stands<along_samples>);
static_assert(every_operation_stands<other_samples>);
static_assert(every_operation_stands<manual_samples>);
static_assert(every_operation_stands<fft_samples>);
static_assert(every_operation_stands<nn_samples>);
static_assert(every_operation_stands<linalg_samples>);
static_assert(every_operation_stands<block_samples>);

static_assert(every_gradient_is_told<along_samples>(true));
static_assert(every_gradient_is_told<other_samples>(true));
static_assert(every_gradient_is_told<manual_samples>(true));
static_assert(every_gradient_is_told<fft_samples>(true));
static_assert(every_gradient_is_told<nn_samples>(false));      // tests/mpi/nn*.cpp
static_assert(every_gradient_is_told<linalg_samples>(false));  // tests/mpi/linalg*.cpp
static_assert(every_gradient_is_told<block_samples>(true));

// What the proofs enumerate are operations.
constexpr int samples_of(std::string_view object) {
  return std::apply([&](auto const&... s) { return (0 + ... + int{s.object.view() == object}); },
                    std::tuple_cat(along_samples, other_samples, manual_samples, fft_samples,
                                   nn_samples, linalg_samples));
}
constexpr bool is_operation(std::string_view object) { return registry::samples_of(object) == 1; }
static_assert(registered_gradients::all_enumerated(is_operation));
static_assert(
    std::apply([](auto const&... s) { return (registry::is_operation(s.object.view()) && ...); },
               std::tuple_cat(along_samples, other_samples, manual_samples, fft_samples,
                              nn_samples)),
    "an operation has two samples");

}  // namespace registry
