#pragma once
/// Tensor types as values: what each part of one says, and the first thing wrong with its spelling.
///
/// Hana gives the tags (`basic_type<Dim<I, Xs...>>` picks an overload, so a new attribute is one
/// overload more), the language gives the folds, values do the sets and sorting.

#include <boost/hana/type.hpp>

#include <shardtype/core/dim.hpp>
#include <shardtype/core/scope.hpp>

namespace shardtype {

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

  constexpr void fault(Malformed what, int at = -1) {
    if (malformed == Malformed::none) malformed = what, axis = at;
  }
  /// Parts stand in the order Dim, Varying, Unreduced, Reduced, Memory, each attribute once.
  constexpr void order(int part) {
    if (part < last || (part == last && part != 0)) fault(Malformed::not_canonical);
    last = part;
  }
};

namespace detail {

namespace hana = boost::hana;

template <class... Ts>
struct Pack {};

template <class... A, class... B>
constexpr Pack<A..., B...> operator+(Pack<A...>, Pack<B...>) {
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

// One value per label and axis of the program, so that a tensor type costs the compiler little more than
// a table of these.
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

constexpr void read_dim(Reading& r, Names& n, LabelPart const& label, AxisPart const* parts,
                        int positions) {
  r.order(0);
  if (label.id == nullptr) return r.fault(Malformed::not_a_label);
  AxisList axes;
  for (int k = 0; k < positions; ++k) {
    int const axis = read_axis(r, n, parts[k]);
    if (axes.size == max_axes) {
      r.too_many = true;
    } else if (axis >= 0) {
      axes.push(axis);
    }
  }
  for (int k = 0; k < positions; ++k) read_turn(r, axes, parts[k], positions);
  if (r.spec.rank == max_dims) {
    r.too_many = true;
  } else {
    r.spec.add(n.add(label), axes);
  }
}

/// Axes of an attribute as a set; sorted by name and each once.
constexpr AxisSet read_set(Reading& r, Names& n, AxisPart const* parts, int positions) {
  AxisSet set;
  int previous = -1;
  for (int k = 0; k < positions; ++k) {
    if (parts[k].cyclic) r.fault(Malformed::not_an_axis);
    int const axis = parts[k].cyclic ? -1 : read_axis(r, n, parts[k]);
    if (axis < 0) continue;
    if (set.contains(axis)) r.fault(Malformed::repeated_axis, axis);
    if (previous >= 0 && n.axis_name[axis] < n.axis_name[previous])
      r.fault(Malformed::not_canonical, axis);
    set.insert(axis);
    previous = axis;
  }
  if (positions == 0) r.fault(Malformed::not_canonical);
  return set;
}

template <class I, class... Xs>
constexpr void read(Reading& r, Names& n, hana::basic_type<Dim<I, Xs...>>) {
  AxisPart const parts[] = {axis_part<Xs>..., {}};
  read_dim(r, n, label_part<I>, parts, static_cast<int>(sizeof...(Xs)));
}
template <class... Xs>
constexpr AxisSet read_axes(Reading& r, Names& n) {
  AxisPart const parts[] = {axis_part<Xs>..., {}};
  return read_set(r, n, parts, static_cast<int>(sizeof...(Xs)));
}
template <class... Xs>
constexpr void read(Reading& r, Names& n, hana::basic_type<Varying<Xs...>>) {
  r.order(1);
  r.spec.varying = read_axes<Xs...>(r, n);
}
template <class... Xs>
constexpr void read(Reading& r, Names& n, hana::basic_type<Unreduced<Xs...>>) {
  r.order(2);
  r.spec.unreduced = read_axes<Xs...>(r, n);
}
template <class... Xs>
constexpr void read(Reading& r, Names& n, hana::basic_type<Unreduced<Max, Xs...>>) {
  r.order(2);
  r.spec.unreduced = read_axes<Xs...>(r, n);
  r.spec.kind = ReduceKind::max;
}
template <class... Xs>
constexpr void read(Reading& r, Names& n, hana::basic_type<Unreduced<Min, Xs...>>) {
  r.order(2);
  r.spec.unreduced = read_axes<Xs...>(r, n);
  r.spec.kind = ReduceKind::min;
}
template <class... Xs>
constexpr void read(Reading& r, Names& n, hana::basic_type<Reduced<Xs...>>) {
  r.order(3);
  r.spec.reduced = read_axes<Xs...>(r, n);
}
template <class Space>
constexpr void read(Reading& r, Names&, hana::basic_type<Memory<Space>>) {
  r.order(4);
}
template <class Other>
constexpr void read(Reading& r, Names&, hana::basic_type<Other>) {
  r.fault(Malformed::unknown_part);
}

template <class T, class... Parts>
constexpr Reading read_tensor(Names& n, hana::basic_type<Tensor<T, Parts...>>) {
  Reading r;
  (detail::read(r, n, hana::basic_type<Parts>{}), ...);
  if (!r.spec.varying.empty()) r.fault(Malformed::not_here);
  return r;
}
template <class... Parts>
constexpr Reading read_tensor(Names& n, hana::basic_type<Mentions<Parts...>>) {
  Reading r;
  r.real = false;
  (detail::read(r, n, hana::basic_type<Parts>{}), ...);
  return r;
}
template <class T, class... Parts>
constexpr Reading read_tensor(Names& n, hana::basic_type<Local<T, Parts...>>) {
  Reading r;
  r.spec.local = true;
  (detail::read(r, n, hana::basic_type<Parts>{}), ...);
  for (int d = 0; d < r.spec.rank; ++d)
    if (r.spec.dims[d].axes.size > 0) r.fault(Malformed::not_here, r.spec.dims[d].axes[0]);
  return r;
}

}  // namespace detail

}  // namespace shardtype
