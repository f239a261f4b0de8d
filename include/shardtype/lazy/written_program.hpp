#pragma once
/// Converts the type of an expression to its RecordedProgram.

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
  return {w.builder.program, w.names, w.fault};
}

}  // namespace shardtype::detail
