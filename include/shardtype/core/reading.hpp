#pragma once
/// Tensor types as values: what each part of one says, and the first thing wrong with its spelling.
///
/// Every part is a constant (`part<Dim<I, Xs...>>`), so that a new attribute is one of these more, and a
/// type is a table of them; values do the reading, the sets and the sorting.

#include <boost/hana/type.hpp>

#include <shardtype/core/dim.hpp>
#include <shardtype/core/scope.hpp>

namespace shardtype::core {

/// What can be wrong with the spelling of a Tensor type, before any law about its values.
enum class Malformed : std::int8_t {
  none,
  unknown_part,   ///< a part is no Dim and no attribute
  not_a_label,    ///< the first argument of a Dim is no Index
  not_an_axis,    ///< an axis position holds something else
  not_canonical,  ///< attributes out of order, or their axes not sorted by name, or empty
  repeated_axis,  ///< one attribute names an axis twice
  not_here,       ///< Varying in a Tensor, or a split dim in a Local
  not_alone,      ///< a Cyclic stands beside other axes of its dim
  turn            ///< a Cyclic deals out no indices at a time, or too many
};

/// A Tensor type as a value: its Spec, and the first thing wrong with its spelling.
struct Reading {
  Spec spec{};
  bool real = true;  ///< no mere list of labels and axes that an operation mentions
  Malformed malformed = Malformed::none;
  int axis = -1;  ///< at fault, when one is
  int last = 0;   ///< rank of the last part in the canonical order
  bool too_many = false;
  Identity memory = nullptr;  ///< the space of its Memory, if it has one

  constexpr void fault(Malformed what, int at = -1) {
    if (malformed == Malformed::none) malformed = what, axis = at;
  }
  /// Parts stand in the order Dim, Varying, Unreduced, Reduced, Memory, each attribute once.
  constexpr void order(int part) {
    if (part < last || (part == last && part != 0)) fault(Malformed::not_canonical);
    last = part;
  }
};

}  // namespace shardtype::core

namespace shardtype {

namespace detail {

namespace hana = boost::hana;

template <class... Ts>
struct Pack {};

/// One after the other. By an operator that tensors do not have: compilers would look at all of theirs.
template <class... A, class... B>
constexpr Pack<A..., B...> operator|(Pack<A...>, Pack<B...>) {
  return {};
}

/// How an axis position of a Dim is spelled: the axis, and what it deals out at a time (0: a block).
template <class X>
struct AxisOf {
  using type = X;
  static constexpr std::int64_t turn = 0;
  static constexpr bool cyclic = false;
};
template <class X, std::int64_t Block>
struct AxisOf<Cyclic<X, Block>> {
  using type = X;
  static constexpr std::int64_t turn = Block;
  static constexpr bool cyclic = true;
};

// One value per label, axis and part of the program, so that a tensor type costs the compiler little more
// than a table of these.
template <class I>
constexpr LabelPart make_label_part() {
  if constexpr (IndexLabel<I>) {
    return {identity<I>, I::name, I::extent};
  } else {
    return {};
  }
}
template <class I>
inline constexpr LabelPart label_part = make_label_part<I>();
template <class Position>
constexpr AxisPart make_axis_part() {
  using Of = AxisOf<Position>;
  using X = typename Of::type;
  if constexpr (MeshAxis<X>) {
    return {identity<X>, X::name, X::size, Of::cyclic, Of::turn};
  } else {
    return {nullptr, {}, dynamic, Of::cyclic, Of::turn};
  }
}
template <class Position>
inline constexpr AxisPart axis_part = make_axis_part<Position>();
template <class... Positions>
inline constexpr AxisPart const* axis_parts[sizeof...(Positions) + 1] = {&axis_part<Positions>...,
                                                                         nullptr};

/// A part of a tensor type as a value: which kind it is, and what it lists.
struct Part {
  enum class Kind : std::int8_t { none, dim, varying, unreduced, reduced, memory };
  Kind kind = Kind::none;
  ReduceKind owed = ReduceKind::sum;
  LabelPart const* label = nullptr;       ///< of a dim
  AxisPart const* const* axes = nullptr;  ///< up to a null pointer
  Identity memory = nullptr;              ///< the space of a Memory
};
template <class P>
inline constexpr Part part{};
template <class I, class... Xs>
inline constexpr Part part<Dim<I, Xs...>>{Part::Kind::dim, {}, &label_part<I>, axis_parts<Xs...>};
template <class... Xs>
inline constexpr Part part<Varying<Xs...>>{Part::Kind::varying, {}, nullptr, axis_parts<Xs...>};
template <class... Xs>
inline constexpr Part part<Unreduced<Xs...>>{Part::Kind::unreduced, {}, nullptr, axis_parts<Xs...>};
template <class... Xs>
inline constexpr Part part<Unreduced<Max, Xs...>>{Part::Kind::unreduced, ReduceKind::max, nullptr,
                                                  axis_parts<Xs...>};
template <class... Xs>
inline constexpr Part part<Unreduced<Min, Xs...>>{Part::Kind::unreduced, ReduceKind::min, nullptr,
                                                  axis_parts<Xs...>};
template <class... Xs>
inline constexpr Part part<Reduced<Xs...>>{Part::Kind::reduced, {}, nullptr, axis_parts<Xs...>};
template <class Space>
inline constexpr Part part<Memory<Space>>{.kind = Part::Kind::memory, .memory = identity<Space>};

constexpr int read_axis(Reading& r, Names& n, AxisPart const& axis) {
  if (axis.id != nullptr) return n.add(axis);
  r.fault(Malformed::not_an_axis);
  return -1;
}

/// Notes the Cyclic of a dim whose axes are read.
constexpr void read_turn(Reading& r, AxisList& axes, AxisPart const& part, int positions) {
  if (!part.cyclic) return;
  int const axis = axes.size > 0 ? axes[0] : -1;
  if (positions > 1) return r.fault(Malformed::not_alone, axis);
  if (part.turn < 1 || part.turn > 0x7fffffff) return r.fault(Malformed::turn, axis);
  if (axis >= 0) axes.cyclic = static_cast<std::int32_t>(part.turn);
}

constexpr void read_dim(Reading& r, Names& n, LabelPart const& label,
                        AxisPart const* const* parts) {
  r.order(0);
  if (label.id == nullptr) return r.fault(Malformed::not_a_label);
  AxisList axes;
  int positions = 0;
  for (; parts[positions] != nullptr; ++positions) {
    int const axis = read_axis(r, n, *parts[positions]);
    if (axes.size == max_axes) {
      r.too_many = true;
    } else if (axis >= 0) {
      axes.push(axis);
    }
  }
  for (int k = 0; k < positions; ++k) read_turn(r, axes, *parts[k], positions);
  if (r.spec.rank == max_dims) {
    r.too_many = true;
  } else {
    r.spec.add(n.add(label), axes);
  }
}

/// Axes of an attribute as a set; sorted by name and each once.
constexpr AxisSet read_set(Reading& r, Names& n, AxisPart const* const* parts) {
  AxisSet set;
  int previous = -1;
  if (*parts == nullptr) r.fault(Malformed::not_canonical);
  for (; *parts != nullptr; ++parts) {
    if ((*parts)->cyclic) r.fault(Malformed::not_an_axis);
    int const axis = (*parts)->cyclic ? -1 : read_axis(r, n, **parts);
    if (axis < 0) continue;
    if (set.contains(axis)) r.fault(Malformed::repeated_axis, axis);
    if (previous >= 0 && n.axis_name[axis] < n.axis_name[previous])
      r.fault(Malformed::not_canonical, axis);
    set.insert(axis);
    previous = axis;
  }
  return set;
}

constexpr void read_part(Reading& r, Names& n, Part const& part) {
  switch (part.kind) {
    case Part::Kind::none:
      return r.fault(Malformed::unknown_part);
    case Part::Kind::dim:
      r.order(0);
      return read_dim(r, n, *part.label, part.axes);
    case Part::Kind::varying:
      r.order(1);
      r.spec.varying = read_set(r, n, part.axes);
      return;
    case Part::Kind::unreduced:
      r.order(2);
      r.spec.unreduced = read_set(r, n, part.axes);
      r.spec.kind = part.owed;
      return;
    case Part::Kind::reduced:
      r.order(3);
      r.spec.reduced = read_set(r, n, part.axes);
      return;
    case Part::Kind::memory:
      r.order(4);
      r.memory = part.memory;
      return;
  }
}

/// A Tensor, a Local or Mentions as a table of its parts.
struct Table {
  enum class Kind : std::int8_t { none, tensor, local, mentions };
  Kind kind = Kind::none;
  Part const* const* parts = nullptr;  ///< up to a null pointer
};
template <class... Parts>
inline constexpr Part const* parts[sizeof...(Parts) + 1] = {&part<Parts>..., nullptr};
template <class A>
inline constexpr Table table{};
template <class T, class... Parts>
inline constexpr Table table<Tensor<T, Parts...>>{Table::Kind::tensor, detail::parts<Parts...>};
template <class T, class... Parts>
inline constexpr Table table<Local<T, Parts...>>{Table::Kind::local, detail::parts<Parts...>};
template <class... Parts>
inline constexpr Table table<Mentions<Parts...>>{Table::Kind::mentions, detail::parts<Parts...>};

constexpr Reading read_table(Names& n, Table const& table) {
  Reading r;
  r.real = table.kind != Table::Kind::mentions;
  r.spec.local = table.kind == Table::Kind::local;
  for (Part const* const* part = table.parts; *part != nullptr; ++part) read_part(r, n, **part);
  if (table.kind == Table::Kind::tensor && !r.spec.varying.empty()) r.fault(Malformed::not_here);
  if (table.kind == Table::Kind::local)
    for (int d = 0; d < r.spec.rank; ++d)
      if (r.spec.dims[d].axes.size > 0) r.fault(Malformed::not_here, r.spec.dims[d].axes[0]);
  return r;
}

}  // namespace detail

}  // namespace shardtype
