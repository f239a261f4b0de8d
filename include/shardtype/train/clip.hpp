#pragma once
/// The norm of a whole gradient.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <source_location>
#include <string_view>

#include <shardtype/kernels/norms.hpp>
#include <shardtype/kernels/reduce.hpp>
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

/// The sum of squares of the elements of a rank's block of an `A`, in double where elements are not
/// complex.
template <class A>
double squares_in(Pool& pool, typename A::element const* elements,
                  shardtype::kernels::Layout const& layout) {
  using R = SquaresOf<A>;
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

/// The same of a tensor on the first rank that holds the block; 0 on the others.
template <class A>
double first_squares_of(A const& a) {
  if (!a.mesh().here() || !shardtype::detail::first_holder(a)) return 0;
  shardtype::kernels::Layout block;
  block.rank = 1;
  block.extent[0] = a.local_size();
  return detail::squares_in<A>(a.mesh().state().pool(),
                               static_cast<typename A::element const*>(a.buffer().data()),
                               block.packed());
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

template <class A>
constexpr void check_complete() {
  static_assert(
      A::spec.unreduced.empty(),
      "a gradient is an unreduced sum: its norm is not that of the parts, and an optimizer "
      "cannot use it. all_reduce or reduce_scatter it, or store the parameter split");
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
  MeshRef const* mesh = nullptr;
  train::for_each_tensor(
      [&]<class A>(std::string_view, A const& a) {
        if constexpr (is_trained<A>) {
          detail::check_complete<A>();
          if (mesh != nullptr) shardtype::detail::check_one_mesh(*mesh, a.mesh());
          mesh = &a.mesh();
          sum += detail::first_squares_of(a);
        }
      },
      gradient);
  if (mesh == nullptr) return 0;
  runtime::MeshState& state = mesh->state();
  if (!state.here()) return 0;
  double total = 0;
  detail::sum_alike(state, "global_norm", where, &sum, &total, 1);
  return std::sqrt(total);
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
  if (!std::isfinite(norm) || norm <= most) return norm;
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
  return norm;
}

}  // namespace shardtype::train
