#pragma once
/// Execution of products of three and more given tensors, and their plans with actual sizes.

#include <array>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include <shardtype/execute/call.hpp>
#include <shardtype/ops/products.hpp>
#include <shardtype/ops/run_explain.hpp>
#include <shardtype/plan/function_plan.hpp>
#include <shardtype/runtime/machine_file.hpp>

namespace shardtype {

namespace execute {

/// A product of several operands pair by pair; what a pair gave goes when the next has read it.
template <class R, class Op, class A, class B, class... Rest>
typename R::result product_by_pairs(Op const& op, std::source_location const& where,
                                    std::optional<A> a, B const& b, Rest const&... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    return api::call(op, where, *a, b);
  } else {
    std::optional made = api::call(typename R::pair_operation{}, where, *a, b);
    a.reset();
    return execute::product_by_pairs<typename R::next>(op, where, std::move(made), rest...);
  }
}

}  // namespace execute

namespace op {

template <class... Out>
template <class R, class A, class B, class C, class... More>
typename R::result Einsum<Out...>::run(std::source_location const& where, A const& a, B const& b,
                                       C const& c, More const&... more) const {
  if constexpr (R::communicates) {
    return R::run(where, a, b, c, more...);
  } else {
    return execute::product_by_pairs<R>(*this, where, std::optional<A>(a), b, c, more...);
  }
}

}  // namespace op

namespace execute {

/// A tensor of type `A`, given or made by a pair, of which the plan knows the extents.
template <class A>
struct SizedTensor {
  std::array<std::int64_t, A::rank> extents{};
};

/// The plan of one pair, which `R` resolved, and the extents of what it makes.
template <class R, class A, class B>
auto plan_of_pair(MeshRef const& mesh, SizedTensor<A> const& a, SizedTensor<B> const& b,
                  Plan& plan) {
  Names const& names = R::S::names;
  Sizing z{names.extents(), map_axes(mesh.state(), names).sizes,
           static_cast<std::int64_t>(sizeof(typename A::element))};
  execute::note_extents(z.extents, names, R::S::parsed[0].spec, a.extents.data(),
                        "the first operand");
  execute::note_extents(z.extents, names, R::S::parsed[1].spec, b.extents.data(),
                        "the second operand");
  plan = execute::with_kernel<typename A::element, typename A::execution_space>(
      Planner{names, z.element_bytes, &R::make_plan}(z));
  SizedTensor<typename R::result> made;
  for (std::size_t d = 0; d < made.extents.size(); ++d)
    made.extents[d] = z.extents[R::verdict.result.dims[d].label];
  return made;
}

/// Calls `use(plan, names, bytes)` for the plan of each pair, from left to right; `bytes` are
/// those of the block that it makes.
template <class R, class Use, class A, class B, class... Rest>
void for_pairs(MeshRef const& mesh, Use const& use, SizedTensor<A> const& a,
               SizedTensor<B> const& b, SizedTensor<Rest> const&... rest) {
  Plan plan;
  if constexpr (sizeof...(Rest) == 0) {
    static_cast<void>(execute::plan_of_pair<R>(mesh, a, b, plan));
    use(plan, R::S::names, plan.block_bytes(plan.result, Slot::result));
  } else {
    using Pair = typename R::pair;
    auto const made = execute::plan_of_pair<Pair>(mesh, a, b, plan);
    use(plan, Pair::S::names, plan.block_bytes(plan.result, Slot::result));
    execute::for_pairs<typename R::next>(mesh, use, made, rest...);
  }
}

/// The bytes of the calling rank's block of a tensor, at most.
template <class A>
std::int64_t given_bytes(A const& a) {
  Extents extents;
  for (std::size_t d = 0; d < A::rank; ++d) extents.at[A::spec.dims[d].label] = a.extents()[d];
  Sizes const sizes = runtime::map_axes(a.mesh().state(), core::Scope<A>::names).sizes;
  return core::mul_sat(core::largest_elements(A::spec, extents, sizes),
                       static_cast<std::int64_t>(sizeof(typename A::element)));
}

/// Calls `use` as `for_pairs` if a strict product of several operands is legal.
template <class... Out, class Use, class A, class... As>
void for_pairs_of(op::Einsum<Out...> const&, Use const& use, A const& a, As const&... as) {
  using R = Resolve<op::Einsum<Out...>, A, As...>;
  using Judged = shardtype::detail::judged_t<R, A, As...>;
  if constexpr (!shardtype::detail::accepts<Judged>) {
    static_cast<void>(Judged{});
  } else {
    (shardtype::detail::check_one_mesh(a.mesh(), as.mesh()), ...);
    execute::for_pairs<R>(a.mesh(), use, SizedTensor<A>{a.extents()},
                          SizedTensor<As>{as.extents()}...);
  }
}

}  // namespace execute

namespace api {

/// The plan of a strict einsum of three and more operands on these tensors: that of its pairs, one
/// after the other. Communicates nothing. Refusals and errors as the product.
template <class... Out, class A, class B, class C, class... More>
  requires(detail::all_labels_named<Out...>)
FunctionPlan plan_at(op::Einsum<Out...> const& op, core::Argument<A> const& a, B const& b,
                     C const& c, More const&... more) {
  planning::FunctionWriter recorder(runtime::run_time.machine);
  for (std::int64_t const bytes :
       {execute::given_bytes(detail::operand(a.self())), execute::given_bytes(detail::operand(b)),
        execute::given_bytes(detail::operand(c)), execute::given_bytes(detail::operand(more))...})
    static_cast<void>(recorder.hold(bytes));
  int before = -1;
  execute::for_pairs_of(
      op,
      [&](Plan const& plan, core::Names const& names, std::int64_t bytes) {
        recorder.note("einsum", plan, names);
        int const made = recorder.hold(bytes);
        if (before >= 0) recorder.release(before);
        before = made;
      },
      detail::operand(a.self()), detail::operand(b), detail::operand(c), detail::operand(more)...);
  return recorder.plan();
}

/// The same as text: one after the other.
template <class... Out, class A, class B, class C, class... More>
  requires(detail::all_labels_named<Out...>)
std::string explain(op::Einsum<Out...> const& op, core::Argument<A> const& a, B const& b,
                    C const& c, More const&... more) {
  std::string text;
  execute::for_pairs_of(
      op,
      [&](Plan const& plan, core::Names const& names, std::int64_t) {
        text += explain(plan, names);
      },
      detail::operand(a.self()), detail::operand(b), detail::operand(c), detail::operand(more)...);
  return text;
}

}  // namespace api

}  // namespace shardtype
