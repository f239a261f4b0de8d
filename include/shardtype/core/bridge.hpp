#pragma once
/// The one bridge between types and values: Tensor types to `Spec` (core/reading.hpp), and back.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <boost/hana/type.hpp>

#include <shardtype/core/reading.hpp>

namespace shardtype {

namespace detail {

// The labels and axes a type names, with repeats, as packs to pick from.
template <class I, class... Xs>
constexpr Pack<I> labels_of(hana::basic_type<Dim<I, Xs...>>) {
  return {};
}
template <class Other>
constexpr Pack<> labels_of(hana::basic_type<Other>) {
  return {};
}
template <class I, class... Xs>
constexpr Pack<typename AxisOf<Xs>::type...> axes_of(hana::basic_type<Dim<I, Xs...>>) {
  return {};
}
template <class... Xs>
constexpr Pack<Xs...> axes_of(hana::basic_type<Unreduced<Xs...>>) {
  return {};
}
template <class... Xs>
constexpr Pack<Xs...> axes_of(hana::basic_type<Unreduced<Max, Xs...>>) {
  return {};
}
template <class... Xs>
constexpr Pack<Xs...> axes_of(hana::basic_type<Unreduced<Min, Xs...>>) {
  return {};
}
template <class... Xs>
constexpr Pack<Xs...> axes_of(hana::basic_type<Reduced<Xs...>>) {
  return {};
}
template <class... Xs>
constexpr Pack<Xs...> axes_of(hana::basic_type<Varying<Xs...>>) {
  return {};
}
template <class Other>
constexpr Pack<> axes_of(hana::basic_type<Other>) {
  return {};
}
// Of a Tensor, a Local or Mentions; an element type has none.
template <template <class...> class Any, class... Parts>
constexpr auto all_labels(hana::basic_type<Any<Parts...>>) {
  return (Pack<>{} + ... + detail::labels_of(hana::basic_type<Parts>{}));
}
template <template <class...> class Any, class... Parts>
constexpr auto all_axes(hana::basic_type<Any<Parts...>>) {
  return (Pack<>{} + ... + detail::axes_of(hana::basic_type<Parts>{}));
}

template <std::size_t K, class T>
struct Leaf {};
template <class Seq, class... Ts>
struct Leaves;
template <std::size_t... K, class... Ts>
struct Leaves<std::index_sequence<K...>, Ts...> : Leaf<K, Ts>... {};
template <std::size_t K, class T>
Pack<T> pick(Leaf<K, T>);

/// The type in the pack that has this identity.
template <class... Ts>
constexpr std::size_t index_of(Pack<Ts...>, Identity id) {
  Identity const ids[] = {identity<Ts>..., nullptr};
  std::size_t k = 0;
  while (ids[k] != nullptr && ids[k] != id) ++k;
  return k;
}
template <std::size_t K, class... Ts>
constexpr auto pick_from(Pack<Ts...>) {
  return decltype(pick<K>(Leaves<std::index_sequence_for<Ts...>, Ts...>{})){};
}

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

/// The scope of one operation: the names of all its tensors' labels and axes, in order of first
/// appearance, and their specs in these numbers.
template <class... Tensors>
struct Scope {
 private:
  struct Read {
    Names names{};
    Reading readings[sizeof...(Tensors) + 1]{};
  };
  static constexpr Read read_all() {
    Read out;
    int k = 0;
    ((out.readings[k++] = detail::read_tensor(out.names, boost::hana::basic_type<Tensors>{})), ...);
    // a block of a dim has not the extent of its label
    if ((is_local<Tensors> || ...))
      for (std::int64_t& extent : out.names.label_extent) extent = dynamic;
    return out;
  }
  static constexpr Read all = read_all();

 public:
  static constexpr Names const& names = all.names;
  /// The types as values, in order.
  static constexpr Reading const* readings = all.readings;
  /// The `K`-th tensor's type as a value.
  template <int K>
  static constexpr Reading reading = all.readings[K];
  template <int K>
  static constexpr Spec spec = all.readings[K].spec;
};

namespace detail {

/// The labels and axes of a scope, with repeats, as packs to pick from.
template <class S>
struct NamesOf;
template <class... Tensors>
struct NamesOf<Scope<Tensors...>> {
  using Labels = decltype((Pack<>{} + ... + detail::all_labels(hana::basic_type<Tensors>{})));
  using Axes = decltype((Pack<>{} + ... + detail::all_axes(hana::basic_type<Tensors>{})));
};

template <class S, int Label>
constexpr auto label_type() {
  return pick_from<index_of(typename NamesOf<S>::Labels{}, S::names.label_id[Label])>(
      typename NamesOf<S>::Labels{});
}
template <class S, int Axis>
constexpr auto axis_type() {
  return pick_from<index_of(typename NamesOf<S>::Axes{}, S::names.axis_id[Axis])>(
      typename NamesOf<S>::Axes{});
}

/// The Dim of a label and its axes; the one axis deals out `Turn` indices at a time, or none.
template <std::int64_t Turn>
struct DimFrom {
  template <class I, class X>
  static Dim<I, Cyclic<X, Turn>> make(Pack<I, X>);
};
template <>
struct DimFrom<0> {
  template <class... Ts>
  static Dim<Ts...> make(Pack<Ts...>);
};
template <template <class...> class Attribute, class... Ts>
Attribute<Ts...> listed_in(Pack<Ts...>);

template <class S, class P, int D, std::size_t... K>
constexpr auto dim_pack(std::index_sequence<K...>) {
  using Parts = decltype((label_type<S, P::value.dims[D].label>() + ... +
                          axis_type<S, P::value.dims[D].axes.at[K]>()));
  return Pack<decltype(DimFrom<P::value.dims[D].axes.cyclic>::make(Parts{}))>{};
}
template <class S, class P, std::size_t... D>
constexpr auto dim_packs(std::index_sequence<D...>) {
  return (Pack<>{} + ... +
          dim_pack<S, P, static_cast<int>(D)>(
              std::make_index_sequence<static_cast<std::size_t>(P::value.dims[D].axes.size)>{}));
}

/// The axes of a set in order of name.
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
inline constexpr AxisList attribute_axes = sorted_by_name(P::value.*Which, S::names);

template <class S, class P, AxisSet Spec::* Which, std::size_t... K>
constexpr auto axes_pack(std::index_sequence<K...>) {
  return (Pack<>{} + ... + axis_type<S, attribute_axes<S, P, Which>.at[K]>());
}
/// The attribute that lists a set of axes, as a pack; none where it is empty.
template <class S, class P, AxisSet Spec::* Which, template <class...> class Attribute>
constexpr auto attribute_pack() {
  constexpr auto n = static_cast<std::size_t>((P::value.*Which).size());
  if constexpr (n == 0) {
    return Pack<>{};
  } else {
    using Axes = decltype(axes_pack<S, P, Which>(std::make_index_sequence<n>{}));
    return Pack<decltype(listed_in<Attribute>(Axes{}))>{};
  }
}
template <class S, class P>
constexpr auto attribute_packs() {
  constexpr auto n = static_cast<std::size_t>(P::value.unreduced.size());
  auto unreduced = [] {
    if constexpr (n == 0) {
      return Pack<>{};
    } else {
      using Kind = std::conditional_t<
          P::value.kind == ReduceKind::sum, Pack<>,
          std::conditional_t<P::value.kind == ReduceKind::max, Pack<Max>, Pack<Min>>>;
      using Axes =
          decltype(Kind{} + axes_pack<S, P, &Spec::unreduced>(std::make_index_sequence<n>{}));
      return Pack<decltype(listed_in<Unreduced>(Axes{}))>{};
    }
  };
  return attribute_pack<S, P, &Spec::varying, Varying>() + unreduced() +
         attribute_pack<S, P, &Spec::reduced, Reduced>();
}

/// The type like `Like`, a Tensor or a Local, with other elements and parts.
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
  return (Pack<>{} + ... + detail::memory_pack(hana::basic_type<Parts>{}));
}

}  // namespace detail

/// The Tensor type with the Spec `P::value`, in the names of scope `S`, element type `T` and the
/// memory of tensor `Like`.
template <class S, class P, class T, class Like>
using tensor_from_spec = typename detail::Only<decltype(detail::as_tensor<Like, T>(
    detail::dim_packs<S, P>(std::make_index_sequence<static_cast<std::size_t>(P::value.rank)>{}),
    detail::attribute_packs<S, P>() + detail::memory_of(boost::hana::basic_type<Like>{})))>::type;

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
/// `Tensor` itself accepts nothing else.
template <class T, class... Parts>
using tensor_t = typename detail::Canonical<T, Parts...>::type;

}  // namespace shardtype
