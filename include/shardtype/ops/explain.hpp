#pragma once
/// What an operation on these tensors will do, as text, with their true sizes.

#include <string>
#include <tuple>
#include <type_traits>

#include <shardtype/core/text.hpp>
#include <shardtype/execute/named.hpp>
#include <shardtype/execute/run.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/plan/explain.hpp>
#include <shardtype/tensor/operand.hpp>

namespace shardtype {

namespace detail {

/// A plan with what the product's kernel takes of its own where it runs.
template <class T, class Exec>
Plan with_kernel(Plan plan) {
  using Product = kernels::Product<T, Exec>;
  plan.elements.any_strides = Product::any_strides;
  plan.workspace = Product::kernel_bytes(Exec(), plan.memory().gemm());
  return plan;
}

}  // namespace detail

/// The plan that this operation on these tensors (and numbers) runs, with their true sizes. Communicates nothing;
/// refuses what the operation refuses. Errors: E23, E24, and those of the operation.
template <class Op, class... As>
Plan plan_at(Op const& op, As const&... as) {
  using R = Resolve<Op, As...>;
  if constexpr (!R::verdict) {
    refusal<R, As...>{};
    return Plan{};
  } else {
    MeshRef const& mesh = detail::first_mesh(as...);
    AxisMap const axes = map_axes(mesh.state(), R::S::names);
    if constexpr (detail::says_its_plan<R, Op>) {
      (check_one_mesh(mesh, as.mesh()), ...);
      return R::plan_call(op, axes.sizes, execute::GivenExtents(as...).at);
    } else if constexpr (requires { R::element_bytes; }) {
      auto const z = execute::named_sizing<R>(op.unnamed(), axes, as...);
      return execute::plan_of<R>(z);
    } else if constexpr (requires { typename R::first; }) {
      return execute::plan_of<R>(detail::map_sizing<R>(axes, as...));
    } else {
      execute::Call const call =
          execute::call_of<R>(std::source_location::current(), Overlap::none, as...);
      Plan const& plan = call.plans.get(call.sizing(axes), call.planner);
      using A = std::tuple_element_t<0, std::tuple<As...>>;
      using T = typename A::element;
      if constexpr (sizeof...(As) == 2 && !std::is_same_v<T, bool>) {
        return detail::with_kernel<T, typename A::execution_space>(plan);
      } else {
        return plan;
      }
    }
  }
}

/// `explain(op::Matmul<Dim<I, X>, Dim<K, Y>>{}, a, b)`: the plan of `plan_at` as text.
template <class Op, class A, class... B>
std::string explain(Op const& op, A const& a, B const&... b) {
  return explain(plan_at(op, operand(a), operand(b)...),
                 Resolve<Op, operand_t<A>, operand_t<B>...>::S::names);
}

/// Where the calling rank stands along the axes of this operation, in the plan's numbering: the
/// argument of `plan_at(...).bytes(coords)`.
template <class Op, class A, class... B>
Coords coords_in(Op const&, A const& a, B const&... b) {
  return map_axes(detail::first_mesh(a, b...).state(), Resolve<Op, A, B...>::S::names).coords;
}

/// `bool`, `f32`, `f64`, `i32`, `i64`, `c64`, `c128`.
template <class T>
constexpr char const* element_name() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, float>) return "f32";
  if constexpr (std::is_same_v<T, double>) return "f64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "i32";
  if constexpr (std::is_same_v<T, std::int64_t>) return "i64";
  if constexpr (sizeof(T) == 8) return "c64";
  return "c128";
}

/// The type as text: `f32[I@X, J]{U:Y}`.
template <class A>
std::string type_name() {
  return element_name<typename A::element>() + spec_text(A::spec, Scope<A>::names);
}
/// The type with the tensor's extents: `f32[1500@X, 1100]{U:Y}`.
template <class A>
std::string type_name(A const& a) {
  Extents extents;
  for (std::size_t d = 0; d < A::rank; ++d) extents.at[A::spec.dims[d].label] = a.extents()[d];
  return element_name<typename A::element>() +
         spec_text(A::spec, Scope<operand_t<A>>::names, &extents);
}

}  // namespace shardtype
