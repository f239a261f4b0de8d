#pragma once
/// Conversion between types and values: Tensor types to `Spec` (core/parsed_type.hpp), and back.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <boost/hana/type.hpp>

#include <shardtype/core/parsed_type.hpp>

namespace shardtype {

namespace detail {

template <std::size_t>
using Anything = void const*;
/// Selects the type after the first `sizeof...(K)` types.
template <class Before>
struct After;
template <std::size_t... K>
struct After<std::index_sequence<K...>> {
  template <class T>
  static T* pick(Anything<K>..., T*, ...);
};
/// A list of types, to select one by its index. Here and below types are passed as pointers to
/// their tags, for which compilers instantiate no classes.
template <class... Ts>
struct Listed {
  template <std::size_t K>
  using at = decltype(After<std::make_index_sequence<K>>::pick(static_cast<Type<Ts>*>(nullptr)...));
};

/// The parts of a Tensor, a Local or Mentions.
template <class A>
struct PartsOf;
template <class T, class... Parts>
struct PartsOf<Type<Tensor<T, Parts...>>*> : Listed<Parts...> {};
template <class T, class... Parts>
struct PartsOf<Type<Local<T, Parts...>>*> : Listed<Parts...> {};
template <class... Parts>
struct PartsOf<Type<Mentions<Parts...>>*> : Listed<Parts...> {};

/// The axes that a part lists.
template <class Part>
struct AxesOf;
template <class I, class... Xs>
struct AxesOf<Type<Dim<I, Xs...>>*> : Listed<typename AxisOf<Xs>::type...> {};
template <class... Xs>
struct AxesOf<Type<Varying<Xs...>>*> : Listed<Xs...> {};
template <class... Xs>
struct AxesOf<Type<Reduced<Xs...>>*> : Listed<Xs...> {};
template <class... Xs>
struct AxesOf<Type<Unreduced<Xs...>>*> : Listed<Xs...> {};
template <class... Xs>
struct AxesOf<Type<Unreduced<Max, Xs...>>*> : Listed<Xs...> {};
template <class... Xs>
struct AxesOf<Type<Unreduced<Min, Xs...>>*> : Listed<Xs...> {};

}  // namespace detail

template <class T>
inline constexpr bool is_tensor = false;
template <class T, class... Parts>
inline constexpr bool is_tensor<Tensor<T, Parts...>> = true;
template <class T, class... Parts>
inline constexpr bool is_tensor<Local<T, Parts...>> = true;
/// Whether `T` is a Local.
template <class T>
inline constexpr bool is_local = false;
template <class T, class... Parts>
inline constexpr bool is_local<Local<T, Parts...>> = true;

namespace core {

/// The scope of one operation: the names of the labels and axes of all its tensors, in order of
/// first appearance, and the tensors' specs in these numbers.
template <class... Tensors>
struct Scope {
  /// Number of types; each is a Tensor, a Local or Mentions.
  static constexpr int types = static_cast<int>(sizeof...(Tensors));
  /// The `K`-th type, as a pointer to its tag.
  template <std::size_t K>
  using type = typename detail::Listed<Tensors...>::template at<K>;
  /// The type tables, in order.
  static constexpr detail::Table tables[sizeof...(Tensors) + 1] = {detail::table<Tensors>..., {}};

 private:
  struct Read {
    Names names{};
    ParsedType parsed[sizeof...(Tensors) == 0 ? 1 : sizeof...(Tensors)]{};
  };
  static constexpr Read read_all() {
    Read out;
    for (int k = 0; k < types; ++k) out.parsed[k] = detail::read_table(out.names, tables[k]);
    // the extent of a block's dim is not the extent of its label
    bool in_blocks = false;
    for (int k = 0; k < types; ++k)
      in_blocks = in_blocks || out.parsed[k].spec.local ||
                  (out.parsed[k].real && !out.parsed[k].spec.varying.empty());
    if (in_blocks)
      for (std::int64_t& extent : out.names.label_extent) extent = dynamic;
    return out;
  }
  static constexpr Read all = read_all();

 public:
  static constexpr auto const& names = all.names;
  /// The parsed types, in order.
  static constexpr ParsedType const* parsed = all.parsed;
  /// The sharding of the `K`-th type.
  template <int K>
  static constexpr Spec spec = all.parsed[K].spec;
};

}  // namespace core

namespace detail {

/// Position of a part or axis among the types of a scope.
struct Place {
  int type = -1;  ///< -1: in no type
  std::size_t part = 0;
  std::size_t position = 0;  ///< index of an axis in the part
};
/// Index of the part of a type that is the Dim of a label, or -1.
constexpr int part_of_label(Table const& type, Identity id) {
  for (int p = 0; type.parts[p] != nullptr; ++p)
    if (type.parts[p]->label != nullptr && type.parts[p]->label->id == id) return p;
  return -1;
}
constexpr Place place_of_label(Table const* types, Identity id) {
  for (int k = 0;; ++k)
    if (int const p = part_of_label(types[k], id); p >= 0) return {k, static_cast<std::size_t>(p)};
}
constexpr Place place_of_axis(Table const* types, Identity id) {
  for (int k = 0;; ++k)
    for (std::size_t p = 0; types[k].parts[p] != nullptr; ++p) {
      AxisPart const* const* const axes = types[k].parts[p]->axes;
      for (std::size_t x = 0; axes != nullptr && axes[x] != nullptr; ++x)
        if (axes[x]->id == id) return {k, p, x};
    }
}
/// Position of a dim among the types of a scope that have exactly this dim, label and axes.
constexpr Place place_of_dim(Table const* types, ParsedType const* parsed, int count,
                             Names const& names, DimSpec const& dim) {
  for (int k = 0; k < count; ++k) {
    int const d = parsed[k].spec.find(dim.label);
    if (d >= 0 && parsed[k].spec.dims[d] == dim)
      return {k, static_cast<std::size_t>(part_of_label(types[k], names.label_id[dim.label]))};
  }
  return {};
}

/// The part at a position of a scope's types.
template <class S, int Type, std::size_t Part>
using part_at =
    typename PartsOf<typename S::template type<static_cast<std::size_t>(Type)>>::template at<Part>;

template <class... Ts>
Pack<Ts...> packed(Type<Ts>*...);
template <class I, class... Xs>
Pack<I> label_of(Type<Dim<I, Xs...>>*);

template <class S, int Label>
constexpr auto label_type() {
  constexpr Place at = detail::place_of_label(S::tables, S::names.label_id[Label]);
  return decltype(detail::label_of(part_at<S, at.type, at.part>())){};
}
template <class S, int Axis>
inline constexpr Place axis_place = detail::place_of_axis(S::tables, S::names.axis_id[Axis]);
/// A pointer to the tag of an axis.
template <class S, int Axis>
using axis_at =
    typename AxesOf<part_at<S, axis_place<S, Axis>.type, axis_place<S, Axis>.part>>::template at<
        axis_place<S, Axis>.position>;
template <class S, int Axis>
constexpr auto axis_type() {
  return decltype(detail::packed(axis_at<S, Axis>())){};
}

/// Builds the Dim of a label and its axes; block-cyclic with block size `Turn`, unless that is 0.
template <std::int64_t Turn>
struct DimFrom {
  template <class I, class X>
  static Type<Dim<I, Cyclic<X, Turn>>>* make(Pack<I>, Type<X>*);
};
template <>
struct DimFrom<0> {
  template <class I, class... Xs>
  static Type<Dim<I, Xs...>>* make(Pack<I>, Type<Xs>*...);
};
template <class S, class P, int D, std::size_t... K>
auto new_dim(std::index_sequence<K...>) -> decltype(DimFrom<P::value.dims[D].axes.cyclic>::make(
    detail::label_type<S, P::value.dims[D].label>(), axis_at<S, P::value.dims[D].axes.at[K]>()...));
/// A pointer to the tag of a dim of a result: a dim of an operand if one is equal, else a new one.
template <class S, class P, int D>
constexpr auto dim_at() {
  constexpr Place at =
      detail::place_of_dim(S::tables, S::parsed, S::types, S::names, P::value.dims[D]);
  if constexpr (at.type >= 0) {
    return part_at<S, at.type, at.part>();
  } else {
    using Axes = std::make_index_sequence<static_cast<std::size_t>(P::value.dims[D].axes.size)>;
    return decltype(detail::new_dim<S, P, D>(Axes()))();
  }
}
template <class S, class P, std::size_t... D>
auto dim_packs(std::index_sequence<D...>)
    -> decltype(detail::packed(detail::dim_at<S, P, static_cast<int>(D)>()...));

/// The axes of a set, sorted by name.
constexpr AxisList sorted_by_name(AxisSet set, Names const& names) {
  AxisList out;
  while (!set.empty()) {
    int first = -1;
    for (int x = 0; x < names.axes; ++x)
      if (set.contains(x) && (first < 0 || names.axis_name[x] < names.axis_name[first])) first = x;
    out.push(first);
    set.erase(first);
  }
  return out;
}
template <class S, class P, AxisSet Spec::* Which>
inline constexpr AxisList attribute_axes = detail::sorted_by_name(P::value.*Which, S::names);

template <template <class...> class Attribute, class... Xs>
Pack<Attribute<Xs...>> listed_in(Type<Xs>*...);
/// The attribute that lists a set of axes, as a pack; empty for an empty set.
template <class S, class P, AxisSet Spec::* Which, template <class...> class Attribute>
Pack<> attribute_pack(std::index_sequence<>);
// with a trailing return type, nvcc finds no function
template <class S, class P, AxisSet Spec::* Which, template <class...> class Attribute,
          std::size_t First, std::size_t... K>
constexpr auto attribute_pack(std::index_sequence<First, K...>) {
  return decltype(detail::listed_in<Attribute>(
      axis_at<S, attribute_axes<S, P, Which>.at[First]>(),
      axis_at<S, attribute_axes<S, P, Which>.at[K]>()...)){};
}
template <AxisSet Spec::* Which, class P>
using Listing = std::make_index_sequence<static_cast<std::size_t>((P::value.*Which).size())>;

template <class... Xs>
using UnreducedMax = Unreduced<Max, Xs...>;
template <class... Xs>
using UnreducedMin = Unreduced<Min, Xs...>;
template <class S, class P>
constexpr auto unreduced_pack() {
  using Axes = Listing<&Spec::unreduced, P>;
  if constexpr (P::value.kind == ReduceKind::max) {
    return decltype(detail::attribute_pack<S, P, &Spec::unreduced, UnreducedMax>(Axes())){};
  } else if constexpr (P::value.kind == ReduceKind::min) {
    return decltype(detail::attribute_pack<S, P, &Spec::unreduced, UnreducedMin>(Axes())){};
  } else {
    return decltype(detail::attribute_pack<S, P, &Spec::unreduced, Unreduced>(Axes())){};
  }
}
template <class S, class P>
constexpr auto attribute_packs() {
  if constexpr (P::value.varying.empty() && P::value.reduced.empty()) {
    return detail::unreduced_pack<S, P>();
  } else {
    return decltype(detail::attribute_pack<S, P, &Spec::varying, Varying>(
                        Listing<&Spec::varying, P>()) |
                    detail::unreduced_pack<S, P>() |
                    detail::attribute_pack<S, P, &Spec::reduced, Reduced>(
                        Listing<&Spec::reduced, P>())){};
  }
}

/// A type of the same kind as `Like`, a Tensor or a Local, with other elements and parts.
template <class Like>
struct Relike {
  template <class T, class... Parts>
  using type = Tensor<T, Parts...>;
};
template <class U, class... Ps>
struct Relike<Local<U, Ps...>> {
  template <class T, class... Parts>
  using type = Local<T, Parts...>;
};
template <class Like, class T, class... Parts, class... Extra>
Pack<typename Relike<Like>::template type<T, Parts..., Extra...>> as_tensor(Pack<Parts...>,
                                                                            Pack<Extra...>);
template <class P>
struct Only;
template <class T>
struct Only<Pack<T>> {
  using type = T;
};

/// The Memory attribute of a tensor, as a pack of one or none.
template <class Space>
constexpr Pack<Memory<Space>> memory_pack(hana::basic_type<Memory<Space>>) {
  return {};
}
template <class Other>
constexpr Pack<> memory_pack(hana::basic_type<Other>) {
  return {};
}
template <template <class, class...> class Any, class T, class... Parts>
constexpr auto memory_of(hana::basic_type<Any<T, Parts...>>) {
  return (Pack<>{} | ... | detail::memory_pack(hana::basic_type<Parts>{}));
}

}  // namespace detail

namespace core {

/// The Tensor type with the Spec `P::value`, in the names of scope `S`, element type `T` and the
/// memory space of tensor `Like`.
template <class S, class P, class T, class Like>
using tensor_from_spec = typename detail::Only<decltype(detail::as_tensor<Like, T>(
    detail::dim_packs<S, P>(std::make_index_sequence<static_cast<std::size_t>(P::value.rank)>{}),
    detail::attribute_packs<S, P>() | detail::memory_of(boost::hana::basic_type<Like>{})))>::type;

}  // namespace core

namespace detail {

template <class T, class... Parts>
struct Canonical {
  using S = Scope<Tensor<T, Parts...>>;
  struct P {
    static constexpr Spec value = S::template spec<0>;
  };
  using type = tensor_from_spec<S, P, T, Tensor<T, Parts...>>;
};

}  // namespace detail

/// The canonical spelling: attributes in order, their axes sorted by name. For generic code;
/// `Tensor` accepts only the canonical spelling.
template <class T, class... Parts>
using tensor_t = typename detail::Canonical<T, Parts...>::type;

}  // namespace shardtype
