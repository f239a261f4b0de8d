#pragma once
/// The norm of a whole gradient.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <source_location>
#include <string_view>

#include <shardtype/kernels/norms.hpp>
#include <shardtype/kernels/reduce.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/run_to_host.hpp>
#include <shardtype/plan/reduction_plan.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/tensor.hpp>
#include <shardtype/train/kernels_update.hpp>
#include <shardtype/train/settings.hpp>
#include <shardtype/train/structures.hpp>

namespace shardtype::train {

namespace detail {

/// The reducer of the squares of a tensor's elements, which are summed in double.
template <class A>
using SquaresOf = shardtype::kernels::NormReducer<typename A::element>;
/// The bytes that squares_of takes for A besides the block: the total, and what its reduction plans
/// to need.
template <class A>
constexpr std::int64_t squares_bytes() {
  constexpr auto total = static_cast<std::int64_t>(sizeof(typename SquaresOf<A>::Total));
  Spec const number{};
  planning::OwnSizing const own{};
  planning::CallSizing call;  // of one number to one number
  call.operands = &number;
  call.count = 1;
  call.given = &own;
  return core::add_sat(total, planning::reduction_plan("global_norm", call, total).workspace);
}

/// What the reducer R totals of the elements of a rank's block of an `A`.
template <class R, class A>
double total_in(Pool& pool, typename A::element const* elements,
                shardtype::kernels::Layout const& layout) {
  using Space = typename A::memory_space;
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  shardtype::kernels::Layout block = layout;
  if (layout.contiguous()) {
    block = {};
    block.rank = 1;
    block.extent[0] = layout.elements();
    block = block.packed();
  }
  auto const plan = shardtype::kernels::plan_reduce<R>(exec, block, 0);
  Buffer const total = pool.template take<Space>(sizeof(typename R::Total));
  Buffer const workspace = shardtype::kernels::take_workspace<Space>(pool, plan);
  shardtype::kernels::reduce_to_totals<R>(
      exec, plan, elements, static_cast<typename R::Total*>(total.data()), workspace.data());
  runtime::fence(exec);
  typename R::Total out{};
  runtime::copy_bytes<Kokkos::HostSpace, Space>(&out, total.data(), sizeof out);
  return static_cast<double>(out);
}

/// The sum of squares of the elements of a rank's block of an `A`, in double where elements are not
/// complex.
template <class A>
double squares_in(Pool& pool, typename A::element const* elements,
                  shardtype::kernels::Layout const& layout) {
  return detail::total_in<SquaresOf<A>, A>(pool, elements, layout);
}

/// What R totals of a tensor's block on the first rank that holds it; 0 on the others.
template <class R, class A>
double first_total_of(A const& a) {
  if (!a.mesh().here() || !shardtype::detail::first_holder(a)) return 0;
  shardtype::kernels::Layout block;
  block.rank = 1;
  block.extent[0] = a.local_size();
  return detail::total_in<R, A>(a.mesh().state().pool(),
                                static_cast<typename A::element const*>(a.buffer().data()),
                                block.packed());
}
template <class A>
double first_squares_of(A const& a) {
  return detail::first_total_of<SquaresOf<A>>(a);
}
/// The sum of |x|^p of a block's elements, or for p = inf the largest |x|: what the norm of order p
/// joins over ranks. Magnitudes are double where p is not 1, 2 or inf, so that no power overflows
/// that a double can hold.
template <class A>
double first_power_of(A const& a, double p) {
  using E = typename A::element;
  if (p == 2) return detail::first_squares_of(a);
  if (p == 1) return detail::first_total_of<shardtype::kernels::Norm1Reducer<E>>(a);
  if (std::isinf(p)) {
    double const most = detail::first_total_of<shardtype::kernels::NormInfReducer<E>>(a);
    // the largest number of several ranks, of which one is no number, would depend on MPI
    return std::isnan(most) ? p : most;
  }
  if (!a.mesh().here()) return 0;
  return detail::first_squares_of(
      shardtype::pow(shardtype::cast<double>(shardtype::abs(a)), p / 2).tensor());
}

template <class A>
constexpr void check_complete() {
  static_assert(
      A::spec.unreduced.empty(),
      "a gradient is an unreduced sum: its norm is not that of the parts, and an optimizer "
      "cannot use it. all_reduce or reduce_scatter it, or store the parameter split");
}

/// Calls `f(tensor)` of each trained tensor of a gradient, and returns the mesh of all; null: there
/// is no tensor.
template <class Gradient, class F>
MeshRef const* each_of_gradient(Gradient const& gradient, F const& f) {
  MeshRef const* mesh = nullptr;
  train::for_each_tensor(
      [&]<class A>(std::string_view, A const& a) {
        if constexpr (is_trained<A>) {
          detail::check_complete<A>();
          if (mesh != nullptr) shardtype::detail::check_one_mesh(*mesh, a.mesh());
          mesh = &a.mesh();
          f(a);
        }
      },
      gradient);
  return mesh;
}

/// Multiplies all tensors of a gradient by most / norm, if that is below 1.
template <class Gradient>
void scale_to(Gradient& gradient, double most, double norm, std::source_location const& where) {
  if (!std::isfinite(norm) || norm <= most) return;
  train::for_each_tensor(
      [&]<class A>(std::string_view, A& a) {
        if constexpr (is_trained<A>) {
          if (!a.mesh().here()) return;
          using C = shardtype::detail::computed_t<typename A::element>;
          auto const view = a.mutable_local(where);
          kernels::scale(runtime::instance<typename A::execution_space>(), view.data(),
                         a.local_size(), static_cast<C>(most / norm));
        }
      },
      gradient);
}

/// Sums of `n` numbers over a mesh, the same bits on all ranks.
inline void sum_alike(runtime::MeshState& state, char const* what,
                      std::source_location const& where, double const* own, double* sums,
                      std::int64_t n) {
  state.agreement().agree(what, where);
  state.whole().all_reduce(own, sums, n, ReduceKind::sum);
  // an AllReduce may add in another order on another rank
  state.whole().broadcast(sums, n, 0);
}

}  // namespace detail

/// The 2-norm of all tensors of a structure together, each element once however it is replicated:
/// one AllReduce of one number over the mesh. The sum is the same on all ranks. Collective over the
/// mesh of the tensors, which is one (Error E23). Not a number, or infinite, if an element is.
template <class Gradient>
double global_norm(Gradient const& gradient,
                   std::source_location const& where = std::source_location::current()) {
  core::RunningCall const running("global_norm", where);
  double sum = 0;
  MeshRef const* const mesh = detail::each_of_gradient(
      gradient, [&]<class A>(A const& a) { sum += detail::first_squares_of(a); });
  if (mesh == nullptr) return 0;
  runtime::MeshState& state = mesh->state();
  if (!state.here()) return 0;
  double total = 0;
  detail::sum_alike(state, "global_norm", where, &sum, &total, 1);
  return std::sqrt(total);
}
/// The norm of order p of all tensors of a structure together: the sum of |x|^p to the power 1 / p,
/// or for p = inf (`std::numeric_limits<double>::infinity()`) the largest |x|. `global_norm(g, 1)`.
/// Communicates as global_norm of order 2; of order inf the AllReduce is a maximum. An order that
/// is not 1, 2 or inf takes memory for the magnitudes of one tensor, in double. Infinite, or not a
/// number, if an element is. Error E85 an order that is not above 0.
template <class Gradient>
double global_norm(Gradient const& gradient, double p,
                   std::source_location const& where = std::source_location::current()) {
  if (!(p > 0)) detail::throw_setting("the order of a norm", p, "it is above 0");
  core::RunningCall const running("global_norm", where);
  bool const largest = std::isinf(p);
  double own = 0;
  MeshRef const* const mesh = detail::each_of_gradient(gradient, [&]<class A>(A const& a) {
    double const part = detail::first_power_of(a, p);
    own = largest ? std::max(own, part) : own + part;
  });
  if (mesh == nullptr || !mesh->state().here()) return 0;
  runtime::MeshState& state = mesh->state();
  double total = 0;
  if (largest) {
    state.agreement().agree("global_norm", where);
    state.whole().all_reduce(&own, &total, 1, ReduceKind::max);
    return total;
  }
  detail::sum_alike(state, "global_norm", where, &own, &total, 1);
  return p == 1 ? total : std::pow(total, 1 / p);
}

/// Multiplies all tensors of a gradient by one number, so that its norm is at most `most`; returns
/// the norm before. A norm that is not finite changes nothing. Communicates as global_norm. As
/// torch.nn.utils.clip_grad_norm_ and optax.clip_by_global_norm. Errors: E21 another tensor shares
/// the memory of one; E85 a norm that is negative or NaN.
template <class Gradient>
double clip_by_global_norm(Gradient& gradient, double most,
                           std::source_location const& where = std::source_location::current()) {
  if (!(most >= 0)) detail::throw_setting("the largest norm", most, "it is 0 or more");
  double const norm = train::global_norm(gradient, where);
  detail::scale_to(gradient, most, norm, where);
  return norm;
}
/// The same by the norm of order p, as `norm_type` of torch.nn.utils.clip_grad_norm_.
template <class Gradient>
double clip_by_global_norm(Gradient& gradient, double most, double p,
                           std::source_location const& where = std::source_location::current()) {
  if (!(most >= 0)) detail::throw_setting("the largest norm", most, "it is 0 or more");
  double const norm = train::global_norm(gradient, p, where);
  detail::scale_to(gradient, most, norm, where);
  return norm;
}

}  // namespace shardtype::train
