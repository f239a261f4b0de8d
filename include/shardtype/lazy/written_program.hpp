#pragma once
/// Converts the type of an expression to its RecordedProgram.

#include <cstddef>
#include <cstdint>

#include <shardtype/core/held.hpp>
#include <shardtype/lazy/program.hpp>
#include <shardtype/lazy/walk.hpp>

namespace shardtype::detail {

/// The program of an expression, or the code of its refusal.
struct WrittenProgram {
  RecordedProgram program{};
  ProgramNames names{};
  Code fault = Code::ok;
};

/// Collects the axes that the tensors of an expression mention.
class AxisFinder {
 public:
  ProgramWriter& to;
  template <class A>
  constexpr void look(Type<A>) {
    using S = Scope<A>;
    for (int x = 0; x < S::names.axes; ++x)
      to.add_axis({S::names.axis_id[x], S::names.axis_name[x], S::names.axis_size[x]});
  }
  template <class E>
  constexpr int visit(E const*, WalkedOperands const&) {
    if constexpr (!std::is_void_v<pin_t<E>>) look(Type<pin_t<E>>{});
    return 0;
  }
  constexpr bool found(Identity, int&) const { return false; }
  constexpr void remember(Identity, int) const {}
  constexpr bool is_known(Identity, void const*, int&) const { return false; }
  constexpr int share(Identity, void const*, int) { return 0; }
  constexpr void read_again(int) const {}
};

/// The program of expression `E` for a result of type `Out`. It may use the axes `Xs`; if there are
/// none, or more than a program can have, the axes that it mentions.
template <class E, class Out, class... Xs>
constexpr WrittenProgram write_program() {
  ProgramWriter w;
  if constexpr (sizeof...(Xs) > 0 && sizeof...(Xs) <= searched_axes) {
    (w.add_axis(axis_part<Xs>), ...);
  } else {
    AxisFinder finder{w};
    detail::walk(finder, static_cast<E const*>(nullptr));
    finder.look(Type<Out>{});
    if constexpr (sizeof...(Xs) > 0)
      for (int x = 0; x < w.names.axes; ++x)
        if (((w.names.axis[x].id != identity<Xs>) && ...))
          w.refuse_with(Code::M01_axis_not_in_mesh);
  }
  w.template finish<Out>(detail::walk(w, static_cast<E const*>(nullptr)));
  return {static_cast<RecordedProgram&&>(w.builder.program), w.names, w.fault};
}

/// The same as a constant, whose arrays have exactly the room that they need.
template <class E, class Out, class... Xs>
struct ProgramConstant {
  struct Counts {
    std::size_t nodes = 0, uses = 0, labels = 0, calls = 0, splits = 0;
  };
  static constexpr Counts counts = [] {
    WrittenProgram const w = detail::write_program<E, Out, Xs...>();
    RecordedProgram const& p = w.program;
    Counts out;
    out.nodes = static_cast<std::size_t>(p.nodes.size());
    out.uses = static_cast<std::size_t>(p.uses.size());
    out.labels = static_cast<std::size_t>(p.labels);
    out.calls = static_cast<std::size_t>(p.own_call.size());
    out.splits = static_cast<std::size_t>(p.cyclic_split.size());
    return out;
  }();
  struct Values {
    ProgramNode nodes[counts.nodes + 1]{};
    std::int32_t uses[counts.uses + 1]{};
    std::int64_t extents[counts.labels + 1]{};
    planning::OwnCall own_call[counts.calls + 1]{};
    planning::CyclicSplit cyclic_split[counts.splits + 1]{};
    LabelPart label[counts.labels + 1]{};
    bool made[counts.labels + 1]{};
    WrittenProgram rest;

    constexpr Values() : rest(detail::write_program<E, Out, Xs...>()) {
      take(rest.program.nodes, nodes);
      take(rest.program.uses, uses);
      take(rest.program.extents, extents);
      take(rest.program.own_call, own_call);
      take(rest.program.cyclic_split, cyclic_split);
      take(rest.names.label, label);
      take(rest.names.made, made);
    }

   private:
    template <class T>
    static constexpr void take(Held<T>& from, T* to) {
      for (int k = 0; k < from.size(); ++k) to[k] = from[k];
      from = Held<T>();
    }
  };
  static constexpr Values values{};
  static constexpr WrittenProgram value = [] {
    WrittenProgram out = values.rest;
    out.program.nodes = {values.nodes, counts.nodes};
    out.program.uses = {values.uses, counts.uses};
    out.program.extents = {values.extents, counts.labels};
    out.program.own_call = {values.own_call, counts.calls};
    out.program.cyclic_split = {values.cyclic_split, counts.splits};
    out.names.label = {values.label, counts.labels};
    out.names.made = {values.made, counts.labels};
    return out;
  }();
};

}  // namespace shardtype::detail
