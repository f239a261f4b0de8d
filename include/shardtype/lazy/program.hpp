#pragma once
/// From the type of an expression to its RecordedProgram.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/check/valid_on.hpp>
#include <shardtype/lazy/walk.hpp>
#include <shardtype/plan/owing.hpp>

namespace shardtype::automatic_mode {

/// Mesh axes that a program may use.
template <class... Xs>
struct Axes {};

/// The labels and axes of a program, in its numbering.
struct ProgramNames {
  int labels = 0;
  LabelPart label[max_program_labels]{};
  int axes = 0;
  AxisPart axis[max_axes]{};

  constexpr int find_axis(Identity id) const {
    for (int x = 0; x < axes; ++x)
      if (axis[x].id == id) return x;
    return -1;
  }
  constexpr int find_label(Identity id) const {
    for (int l = 0; l < labels; ++l)
      if (label[l].id == id) return l;
    return -1;
  }
  constexpr bool all_static() const {
    for (int l = 0; l < labels; ++l)
      if (label[l].extent == dynamic) return false;
    for (int x = 0; x < axes; ++x)
      if (axis[x].size == dynamic) return false;
    return true;
  }
};

}  // namespace shardtype::automatic_mode

namespace shardtype {

namespace detail {

/// The time of a multiplication and an addition of elements, in those of float.
template <class T>
constexpr int work_of() {
  if constexpr (is_complex<T>) {
    return static_cast<int>(sizeof(T));
  } else {
    return sizeof(T) < 4 ? 1 : static_cast<int>(sizeof(T) / 4);
  }
}

/// Which operands of a function may owe the same axis together; they have numbers from `slot` on.
template <class A>
struct OwedTogether {
  static constexpr planning::OwingSets sets(int& slot) {
    planning::OwingSets out;
    if constexpr (is_lazy<A>) out.add(1U << slot++);
    if constexpr (std::is_same_v<A, Number<op::Zero>>)
      out.size = 1;  // the empty set: it owes what it is
    return out;
  }
};
template <class F, class... Args>
struct OwedTogether<LazyMap<F, Args...>> {
  static constexpr planning::OwingSets sets(int& slot) {
    using common = typename ElementFor<F, argument_t<Args>...>::type;
    planning::OwingSets each[sizeof...(Args)];
    int k = 0;
    ((each[k++] = OwedTogether<Args>::sets(slot)), ...);
    return planning::owing_sets(LinearityOf<F, common>::value, each, k);
  }
};

/// Writes the program of an expression.
class ProgramWriter {
 public:
  planning::ProgramBuilder builder{};
  ProgramNames names{};
  Code fault = Code::ok;

  constexpr void add_axis(AxisPart const& x) {
    if (names.find_axis(x.id) >= 0) return;
    if (names.axes == max_axes) return refuse_with(Code::T07_too_many);
    builder.program.sizes.at[names.axes] = x.size;
    names.axis[names.axes++] = x;
    builder.program.axes = names.axes;
  }

  /// The labels of a tensor type in the program's numbers.
  template <class A>
  constexpr planning::ProgramLabels program_labels() {
    using S = Scope<A>;
    Spec const s = S::template spec<0>;
    planning::ProgramLabels out;
    for (int d = 0; d < s.rank; ++d) {
      int const l = s.dims[d].label;
      int number = names.find_label(S::names.label_id[l]);
      if (number < 0) {
        number = builder.label(S::names.label_extent[l]);
        names.label[number] = {S::names.label_id[l], S::names.label_name[l],
                               S::names.label_extent[l]};
        names.labels = builder.program.labels;
      }
      out.push(number);
    }
    return out;
  }
  /// The sharding of a tensor type in the program's axes, its dims in the order of `labels`.
  template <class A>
  constexpr Spec spec_of(planning::ProgramLabels const& labels) {
    using S = Scope<A>;
    Spec const s = S::template spec<0>;
    planning::ProgramLabels const mine = program_labels<A>();
    if (s.cyclic_dim() >= 0) refuse_with(Code::L02_cyclic);
    int axis[max_axes]{};
    for (int x = 0; x < S::names.axes; ++x) {
      axis[x] = names.find_axis(S::names.axis_id[x]);
      if (axis[x] < 0) refuse_with(Code::M01_axis_not_in_mesh), axis[x] = 0;
    }
    Spec out;
    for (int d = 0; d < s.rank; ++d) {
      int from = 0;
      while (mine.at[from] != labels.at[d]) ++from;
      AxisList list;
      for (int k = 0; k < s.dims[from].axes.size; ++k) list.push(axis[s.dims[from].axes[k]]);
      out.add(d, list);
    }
    for (int x = 0; x < S::names.axes; ++x)
      if (s.unreduced.contains(x)) out.unreduced.insert(axis[x]);
    if (!out.unreduced.empty()) out.kind = s.kind;
    return out;
  }

  // What walk() calls.
  template <class A, class E>
  constexpr int given(Type<A>, E const*) {
    planning::ProgramLabels const labels = program_labels<A>();
    using T = element_t<A>;
    return originate(builder.given(labels, spec_of<A>(labels), sizeof(T), work_of<T>()));
  }
  template <class Whole>
  constexpr int product(Type<Whole>, WalkedOperands const& operands) {
    int const before = builder.program.size;
    planning::ProgramLabels const labels = program_labels<Whole>();
    int const value = builder.product(operands.at, operands.size, labels);
    for (int k = before; k < builder.program.size; ++k)
      builder.program.nodes[k].origin = static_cast<std::int16_t>(origin_);
    ++origin_;
    return value;
  }
  template <class F, class... Args>
  constexpr int map(Type<LazyMap<F, Args...>>, WalkedOperands const& operands,
                    LazyMap<F, Args...> const*) {
    using M = LazyMap<F, Args...>;
    using T = element_t<typename M::whole>;
    int slot = 0;
    return originate(builder.map(operands.at, operands.size, program_labels<typename M::whole>(),
                                 OwedTogether<M>::sets(slot), sizeof(T), work_of<T>()));
  }
  template <class F, class Whole, class A>
  constexpr int reduction(Type<LazyReduction<F, Whole, A>>, int operand) {
    using T = element_t<Whole>;
    int const value = builder.reduction(operand, program_labels<Whole>(), F::kind);
    builder.program.nodes[value].element_bytes = sizeof(T);
    return originate(value);
  }
  template <class Whole, class A>
  constexpr int relabel(Type<LazyRelabel<Whole, A>>, int operand) {
    // the operand's dims may stand in another order than its type says: a transpose moves nothing
    planning::ProgramLabels const from = program_labels<typename A::whole>();
    planning::ProgramLabels const to = program_labels<Whole>();
    ProgramNode const& n = builder.program.nodes[operand];
    planning::ProgramLabels labels;
    for (int d = 0; d < n.rank; ++d)
      for (int e = 0; e < from.size; ++e)
        if (from.at[e] == n.labels[d]) labels.push(to.at[e]);
    return originate(builder.relabel(operand, labels));
  }
  template <class Pin>
  constexpr int constrain(Type<Pin>, int operand) {
    planning::ProgramLabels labels;
    ProgramNode const& n = builder.program.nodes[operand];
    for (int d = 0; d < n.rank; ++d) labels.push(n.labels[d]);
    Spec const spec = spec_of<Pin>(labels);
    int const value = builder.constrain(operand, spec);
    check_kind(value, spec);
    return value;
  }
  /// What is asked for.
  template <class Out>
  constexpr void finish(int root) {
    planning::ProgramLabels const order = program_labels<Out>();
    Spec const wanted = spec_of<Out>(order);
    builder.finish(root, order, wanted);
    if (builder.program.overflow) return refuse_with(Code::L03_too_large);
    check_kind(builder.program.root, wanted);
    if (fault != Code::ok) return;
    if (!planning::OwingReach(builder.program).holds())
      refuse_with(Code::R02_replicated_to_unreduced);
    else if (kinds_differ_)
      refuse_with(Code::R04_kind_differs);
  }
  constexpr bool is_known(Identity tag, void const*, int& value) {
    for (int k = 0; k < shared_; ++k) {
      if (tag_[k] != tag) continue;
      value = node_[k];
      builder.share(value);
      return true;
    }
    return false;
  }
  constexpr int share(Identity tag, void const*, int value) {
    if (shared_ == most_shared) {
      refuse_with(Code::L03_too_large);
      return value;
    }
    builder.share(value);
    tag_[shared_] = tag;
    node_[shared_++] = value;
    return value;
  }
  constexpr void refuse_with(Code code) {
    if (fault == Code::ok) fault = code;
  }

 private:
  static constexpr int most_shared = 32;
  constexpr int originate(int value) {
    builder.program.nodes[value].origin = static_cast<std::int16_t>(origin_++);
    return value;
  }

  constexpr void check_kind(int value, Spec const& asked) {
    if (!asked.unreduced.empty() && asked.kind != builder.program.nodes[value].owes)
      kinds_differ_ = true;
  }

  bool kinds_differ_ = false;
  int origin_ = 0;
  int shared_ = 0;
  Identity tag_[most_shared]{};
  int node_[most_shared]{};
};

/// A program as it is written; why there is none, if there is none.
struct WrittenProgram {
  RecordedProgram program{};
  ProgramNames names{};
  Code fault = Code::ok;
};

/// The axes that the tensors of an expression mention.
class AxisFinder {
 public:
  ProgramWriter& to;
  template <class A>
  constexpr void look(Type<A>) {
    using S = Scope<A>;
    for (int x = 0; x < S::names.axes; ++x)
      to.add_axis({S::names.axis_id[x], S::names.axis_name[x], S::names.axis_size[x]});
  }
  template <class A, class E>
  constexpr int given(Type<A> a, E const*) {
    return look(a), 0;
  }
  template <class Pin>
  constexpr int constrain(Type<Pin> pin, int) {
    return look(pin), 0;
  }
  template <class Whole>
  constexpr int product(Type<Whole>, WalkedOperands const&) {
    return 0;
  }
  template <class M>
  constexpr int map(Type<M>, WalkedOperands const&, M const*) {
    return 0;
  }
  template <class M>
  constexpr int reduction(Type<M>, int) {
    return 0;
  }
  template <class R>
  constexpr int relabel(Type<R>, int) {
    return 0;
  }
  constexpr bool is_known(Identity, void const*, int&) const { return false; }
  constexpr int share(Identity, void const*, int) { return 0; }
};

/// The program of expression `E` for a result of type `Out`, which may use the axes `Xs`; where there are none,
/// or more than a program can have, those that it mentions.
template <class E, class Out, class... Xs>
constexpr WrittenProgram write_program() {
  ProgramWriter w;
  if constexpr (sizeof...(Xs) > 0 && sizeof...(Xs) <= max_axes) {
    (w.add_axis(axis_part<Xs>), ...);
  } else {
    AxisFinder finder{w};
    walk(finder, Type<E>{}, static_cast<E const*>(nullptr));
    finder.look(Type<Out>{});
    if constexpr (sizeof...(Xs) > 0)
      for (int x = 0; x < w.names.axes; ++x)
        if (((w.names.axis[x].id != identity<Xs>) && ...))
          w.refuse_with(Code::M01_axis_not_in_mesh);
  }
  w.template finish<Out>(walk(w, Type<E>{}, static_cast<E const*>(nullptr)));
  return {w.builder.program, w.names, w.fault};
}

}  // namespace detail

}  // namespace shardtype
