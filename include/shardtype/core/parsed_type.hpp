#pragma once
/// Parsed tensor types: the value of each part of a type, and the type's first spelling error.
///
/// Each part is a constant (`part<Dim<I, Xs...>>`), and a type table lists the parts of one type. A
/// new attribute needs one more such constant. Sets, sorting and checks work on these values.

#include <boost/hana/type.hpp>

#include <shardtype/core/dim.hpp>
#include <shardtype/core/scope.hpp>

namespace shardtype::core {

/// Spelling errors of a Tensor type, checked before any law about its values.
enum class Malformed : std::int8_t {
  none,
  unknown_part,   ///< a part is neither a Dim nor an attribute
  not_a_label,    ///< the first argument of a Dim is not an Index
  not_an_axis,    ///< an argument in the position of an axis is not an axis
  not_canonical,  ///< attributes out of order, or empty, or with axes not sorted by name
  repeated_axis,  ///< one attribute names an axis twice
  not_here,       ///< Varying in a Tensor, or a split dim in a Local
  not_alone,      ///< a Cyclic next to other axes of its dim
  block_size      ///< a Cyclic with block size below 1 or too large
};

/// A parsed type: its Spec, and its first spelling error.
struct ParsedType {
  Spec spec{};
  bool real = true;  ///< false for Mentions, a mere list of labels and axes that an operation names
  Malformed malformed = Malformed::none;
  int axis = -1;  ///< the axis at fault, if any
  int last = 0;   ///< the last part's number in the canonical order
  bool too_many = false;
  Identity memory = nullptr;  ///< the space of its Memory attribute, if any

  constexpr void fault(Malformed what, int at = -1) {
    if (malformed == Malformed::none) malformed = what, axis = at;
  }
  /// Checks the order Dim, Varying, Unreduced, Reduced, Memory, each attribute at most once.
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

/// Concatenates packs. The operator is one that tensors do not have: else compilers would consider
/// all of theirs.
template <class... A, class... B>
constexpr Pack<A..., B...> operator|(Pack<A...>, Pack<B...>) {
  return {};
}

/// An argument in the position of an axis of a Dim: the axis, and the block size if it is Cyclic (0
/// otherwise).
template <class X>
struct AxisOf {
  using type = X;
  static constexpr std::int64_t block_size = 0;
  static constexpr bool cyclic = false;
};
template <class X, std::int64_t Block>
struct AxisOf<Cyclic<X, Block>> {
  using type = X;
  static constexpr std::int64_t block_size = Block;
  static constexpr bool cyclic = true;
};

// One constant per label, axis and part in the program, so that a tensor type costs little more
// compile time than a table of them.
template <class I>
constexpr LabelPart make_label_part() {
  if constexpr (IndexLabel<I>) {
    return {identity<I>, I::name, I::extent};
  } else {
    return {};
  }
}
template <class I>
inline constexpr LabelPart label_part = detail::make_label_part<I>();
template <class Position>
constexpr AxisPart make_axis_part() {
  using Of = AxisOf<Position>;
  using X = typename Of::type;
  if constexpr (MeshAxis<X>) {
    return {identity<X>, X::name, X::size, Of::cyclic, Of::block_size};
  } else {
    return {nullptr, {}, dynamic, Of::cyclic, Of::block_size};
  }
}
template <class Position>
inline constexpr AxisPart axis_part = detail::make_axis_part<Position>();
template <class... Positions>
inline constexpr AxisPart const* axis_parts[sizeof...(Positions) + 1] = {&axis_part<Positions>...,
                                                                         nullptr};

/// A part of a tensor type as a value: its kind, and the label or axes that it lists.
struct Part {
  enum class Kind : std::int8_t { none, dim, varying, unreduced, reduced, memory };
  Kind kind = Kind::none;
  ReduceKind unreduced_kind = ReduceKind::sum;
  LabelPart const* label = nullptr;       ///< if it is a dim
  AxisPart const* const* axes = nullptr;  ///< ends with a null pointer
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

constexpr int read_axis(ParsedType& r, Names& n, AxisPart const& axis) {
  if (axis.id != nullptr) return n.add(axis);
  r.fault(Malformed::not_an_axis);
  return -1;
}

/// Records the Cyclic of a dim whose axes are being parsed.
constexpr void read_block_size(ParsedType& r, AxisList& axes, AxisPart const& part, int positions) {
  if (!part.cyclic) return;
  int const axis = axes.size > 0 ? axes[0] : -1;
  if (positions > 1) return r.fault(Malformed::not_alone, axis);
  if (part.block_size < 1 || part.block_size > 0x7fffffff)
    return r.fault(Malformed::block_size, axis);
  if (axis >= 0) axes.cyclic = static_cast<std::int32_t>(part.block_size);
}

constexpr void read_dim(ParsedType& r, Names& n, LabelPart const& label,
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
  for (int k = 0; k < positions; ++k) read_block_size(r, axes, *parts[k], positions);
  if (r.spec.rank == max_dims) {
    r.too_many = true;
  } else {
    r.spec.add(n.add(label), axes);
  }
}

/// Axes of an attribute as a set; checks that they are sorted by name and distinct.
constexpr AxisSet read_set(ParsedType& r, Names& n, AxisPart const* const* parts) {
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

constexpr void read_part(ParsedType& r, Names& n, Part const& part) {
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
      r.spec.kind = part.unreduced_kind;
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

/// The type table of a Tensor, a Local or Mentions: its parts.
struct Table {
  enum class Kind : std::int8_t { none, tensor, local, mentions };
  Kind kind = Kind::none;
  Part const* const* parts = nullptr;  ///< ends with a null pointer
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

constexpr ParsedType read_table(Names& n, Table const& table) {
  ParsedType r;
  r.real = table.kind != Table::Kind::mentions;
  r.spec.local = table.kind == Table::Kind::local;
  for (Part const* const* part = table.parts; *part != nullptr; ++part) read_part(r, n, **part);
  if (table.kind == Table::Kind::local)
    for (int d = 0; d < r.spec.rank; ++d)
      if (r.spec.dims[d].axes.size > 0) r.fault(Malformed::not_here, r.spec.dims[d].axes[0]);
  return r;
}

}  // namespace detail

}  // namespace shardtype
