#pragma once
/// Named results of operations that compute on blocks, on the calling rank: operands are resharded
/// as the plan says, the operation computes, and its result is resharded to the named one.

#include <array>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/check/named.hpp>
#include <shardtype/execute/local_run.hpp>
#include <shardtype/execute/run.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/tensor/operand.hpp>
#include <shardtype/tensor/tensor.hpp>

namespace shardtype::execute {

/// The plan of the operation that `R` resolved for these sizes; made once.
template <class R>
Plan const& plan_of(Sizing const& z) {
  return plan_cache<R, void>.get(z, {R::S::names, z.element_bytes, &R::make_plan});
}

/// One run of the plan of a named result.
struct NamedRun {
  Plan const& plan;
  AxisMap const& axes;
  std::source_location const& where;

  /// `a`, as type `To`, after the plan's steps for the value in `slot`.
  template <class To, class A>
  To moved(Slot slot, A const& a) const {
    if constexpr (std::is_same_v<To, A>) {
      return a;
    } else {
      return To(a.mesh(), extents_as<To>(a),
                move<typename A::element, typename A::memory_space>(slot, a.mesh(), a.buffer()));
    }
  }
  /// The computed value, resharded to the named result. It has no other owner, so its memory is
  /// reused or released.
  template <class To, class A>
  To arrived(A made) const {
    if constexpr (std::is_same_v<To, A>) {
      return made;
    } else {
      MeshRef const mesh = made.mesh();
      std::array<std::int64_t, To::rank> const extents = extents_as<To>(made);
      Buffer block = made.buffer();
      static_cast<void>(A(std::move(made)));
      return To(mesh, extents,
                move<typename A::element, typename A::memory_space>(Slot::result, mesh,
                                                                    std::move(block)));
    }
  }
  /// The block `from` of the value in `slot` after the plan's steps for it; one instance per
  /// element type and memory space.
  template <class T, class Space>
  Buffer steps(Slot slot, MeshState& mesh, Buffer from) const {
    Sizing const z = plan.sizing_of(slot);
    Spec const* before = nullptr;
    for (Step const& s : plan)
      if (s.slot == slot && planning::moves_value(s) && before == nullptr) before = &s.before;
    if (before == nullptr) return from;
    return Executor<T, Space>(mesh, axes, z, where)
        .run_slot(plan, slot, execute::whole_value<T>(*before, z, axes.coords, std::move(from)));
  }

 private:
  template <class To, class A>
  static std::array<std::int64_t, To::rank> extents_as(A const& a) {
    std::array<std::int64_t, To::rank> extents{};
    using Both = Scope<To, A>;
    for (std::size_t d = 0; d < To::rank; ++d)
      extents[d] = a.extents()[static_cast<std::size_t>(
          Both::parsed[1].spec.find(Both::parsed[0].spec.dims[d].label))];
    return extents;
  }
  template <class T, class Space>
  Buffer move(Slot slot, MeshRef const& mesh, Buffer from) const {
    return mesh.here() ? steps<T, Space>(slot, mesh.state(), std::move(from)) : Buffer{};
  }
};

/// The extents of the labels of one call, including those of the operation's result. Errors: E23,
/// E24, E41, and the operation's own errors.
template <class R, class Op, class A, class... Bs>
Sizing named_sizing(Op const& op, AxisMap const& axes, A const& a, Bs const&... bs) {
  Names const& names = R::S::names;
  Sizing z{names.extents(), axes.sizes, R::element_bytes[0]};
  (detail::check_one_mesh(a.mesh(), bs.mesh()), ...);
  GivenExtents const given(a, bs...);
  for (int k = 0; k < R::operands; ++k)
    execute::note_extents(z.extents, names, R::S::parsed[k].spec, given.at[k],
                          k == 0   ? "the first operand"
                          : k == 1 ? "the second operand"
                                   : "another operand");
  std::int64_t made[max_dims]{};
  R::set_extents(op, axes.sizes, given.at, made);
  for (int d = 0; d < R::made.rank; ++d) {
    std::int64_t& known = z.extents.at[R::made.dims[d].label];
    if (known != dynamic && known != made[d])
      throw Error("E41",
                  "index " + std::string(names.label_name[R::made.dims[d].label]) +
                      " would get extent " + std::to_string(made[d]) + ", and has " +
                      std::to_string(known) +
                      "; where a named result is longer or shorter than its "
                      "operands it takes another index",
                  FailedOn::every_rank);
    known = made[d];
  }
  return z;
}

template <class Op>
struct Run;

/// Runs the named result of `op` that `R` resolved. `op.fill(made, operands...)` computes a tensor
/// `made`, without communication, from operands with the shardings of the plan; or `op.block`
/// returns its block.
template <class R, class Op, class A, class... Bs>
auto run_named(Op const& op, std::source_location const& where, A const& a, Bs const&... bs) {
  AxisMap const axes = runtime::map_axes(a.mesh().state(), R::S::names);
  Sizing const z = execute::named_sizing<R>(op, axes, a, bs...);
  Plan const& plan = execute::plan_of<R>(z);
  NamedRun const run{plan, axes, where};
  auto const by = [&]<int Candidate, int... K>(std::integral_constant<int, Candidate>,
                                               std::integer_sequence<int, K...>) {
    using Met = typename R::template met<Candidate>;
    using Made = typename Met::result;
    std::array<std::int64_t, Made::rank> extents{};
    for (std::size_t d = 0; d < Made::rank; ++d) extents[d] = z.extents[R::made.dims[d].label];
    auto const compute = [&]<class... Mets>(Mets const&... met) {
      if constexpr (MapsBlocks<Op, Mets...>) {
        return Made(a.mesh(), extents,
                    execute::local_block(op, where, R::S::names, Met::parsed.at, Met::made,
                                         Made::local_rows(a.mesh(), extents), run, met...));
      } else {
        Made made = shardtype::detail::uninitialized<Made>(a.mesh(), extents);
        if (a.mesh().here()) Run<Op>::fill(op, made, met...);
        return made;
      }
    };
    // frees operands that were moved before the result is resharded
    Made made = compute(
        run.template moved<typename Met::template operand<0, A>>(Slot::a, a),
        run.template moved<typename Met::template operand<K + 1, Bs>>(operand_slot(K + 1), bs)...);
    return run.template arrived<typename R::result>(std::move(made));
  };
  using Order = std::make_integer_sequence<int, static_cast<int>(sizeof...(Bs))>;
  if constexpr (R::candidates > 1)
    if (R::candidate(plan) == 1) return by(std::integral_constant<int, 1>{}, Order{});
  return by(std::integral_constant<int, 0>{}, Order{});
}

}  // namespace shardtype::execute
