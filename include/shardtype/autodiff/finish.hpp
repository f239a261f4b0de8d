#pragma once
/// From the cotangent that a transposed operation gives to that of an operand.

#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/active.hpp>
#include <shardtype/manual/moves.hpp>
#include <shardtype/ops/blocks.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/reductions.hpp>

namespace shardtype::autodiff {

/// A pack of the axes of a list, named as in scope `S`.
template <class S, class P, std::size_t... N>
auto axes_in(std::index_sequence<N...>)
    -> decltype((shardtype::detail::Pack<>{} | ... |
                 decltype(shardtype::detail::axis_type<S, P::value[static_cast<int>(N)]>()){}));
template <class... Xs>
op::ToPartial<Xs...> to_partial_over(shardtype::detail::Pack<Xs...>);

/// The axes along which a cast brings a `Got` to the state `to` that `Want` has, as a Pack.
template <class Want, class Got, AxisState to>
struct Casts {
  using S = Scope<Want, Got>;
  static constexpr AxisList decide() {
    AxisList out;
    for (int x = 0; x < max_axes; ++x)
      if (S::template spec<0>.state(x) == to && S::template spec<1>.state(x) != to) out.push(x);
    return out;
  }
  struct Over {
    static constexpr AxisList value = decide();
  };
  using Axes = decltype(autodiff::axes_in<S, Over>(
      std::make_index_sequence<static_cast<std::size_t>(Over::value.size)>{}));
};
template <template <class...> class Op, class V, class... Xs>
constexpr auto cast_over(V const& v, shardtype::detail::Pack<Xs...>) {
  if constexpr (sizeof...(Xs) == 0) {
    return v;
  } else {
    return api::call(Op<Xs...>{}, std::source_location::current(), v);
  }
}
/// The cotangent `v` of a block as one of type `Want`, by casts.
template <class Want, class V>
constexpr auto finished_block(V const& v) {
  using Got = tensor_of<V>;
  auto const varies =
      autodiff::cast_over<op::ToVarying>(v, typename Casts<Want, Got, AxisState::varying>::Axes{});
  auto const summands = autodiff::cast_over<op::ToUnreduced>(
      varies, typename Casts<Want, Got, AxisState::unreduced>::Axes{});
  return autodiff::cast_over<op::ToReduced>(summands,
                                            typename Casts<Want, Got, AxisState::reduced>::Axes{});
}

/// The axes along which a Tensor `Got` is cast to the state `to` of `Want`, from varying or to it:
/// the manual ones.
template <class Want, class Got, AxisState to>
struct CastsAlongManual {
  using S = Scope<Want, Got>;
  static constexpr AxisList decide() {
    AxisList out;
    for (int x = 0; x < max_axes; ++x) {
      AxisState const given = S::template spec<1>.state(x);
      if (S::template spec<0>.state(x) == to && given != to &&
          (to == AxisState::varying || given == AxisState::varying))
        out.push(x);
    }
    return out;
  }
  struct Over {
    static constexpr AxisList value = decide();
  };
  using Axes = decltype(autodiff::axes_in<S, Over>(
      std::make_index_sequence<static_cast<std::size_t>(Over::value.size)>{}));
};
/// Whether a Tensor `Got` and `Want` vary over different axes, so that there are such casts.
template <class Want, class Got>
constexpr bool differs_along_manual() {
  using S = Scope<Want, Got>;
  return S::template spec<0>.varying != S::template spec<1>.varying;
}
/// Casts along manual axes first.
template <class Want, class V>
constexpr auto cast_along_manual(V const& v) {
  using Got = tensor_of<V>;
  auto const varies = autodiff::cast_over<op::ToVarying>(
      v, typename CastsAlongManual<Want, Got, AxisState::varying>::Axes{});
  return autodiff::cast_over<op::ToUnreduced>(
      varies, typename CastsAlongManual<Want, Got, AxisState::unreduced>::Axes{});
}

/// The cotangent `v` as one of type `Want`: a cast, a slice or zeros around a block; with
/// `communicates`, the transpose of a named movement.
template <class Want, bool communicates, class V>
constexpr auto finished(V const& v) {
  using Got = tensor_of<V>;
  if constexpr (std::is_same_v<Got, Want>) {
    return v;
  } else if constexpr (is_local<Want>) {
    return autodiff::finished_block<Want>(v);
  } else if constexpr (autodiff::differs_along_manual<Want, Got>()) {
    return autodiff::finished<Want, communicates>(autodiff::cast_along_manual<Want>(v));
  } else {
    using How = shardtype::detail::Finishes<Want, Got, communicates>;
    using Met = typename How::met;
    if constexpr (How::how.partial.size == 0) {
      return api::reshard<Want>(v);
    } else if constexpr (!std::is_same_v<Met, Got>) {
      return autodiff::finished<Want, communicates>(api::reshard<Met>(v));
    } else {
      using Numbers = std::make_index_sequence<static_cast<std::size_t>(How::how.partial.size)>;
      using Op = decltype(autodiff::to_partial_over(
          decltype(autodiff::axes_in<typename How::S, typename How::Partial>(Numbers{})){}));
      return autodiff::finished<Want, communicates>(
          api::call(Op{}, std::source_location::current(), v));
    }
  }
}

/// Whether the cotangent of type `Got` comes to `Want` by one reshard.
template <class Want, class Got>
constexpr bool moves_last() {
  if constexpr (std::is_same_v<Got, Want> || autodiff::differs_along_manual<Want, Got>()) {
    return false;
  } else {
    return shardtype::detail::Finishes<Want, Got, true>::how.partial.size == 0;
  }
}
/// The elements that the movement of `x` to the gradient `Want` takes of a bucket; 0: none joins.
template <class Want, class X>
constexpr std::int64_t room_in_bucket(X const& x) {
  using M = JoinedMove<Want, tensor_of<X>>;
  if constexpr (!M::move.exists()) {
    return 0;
  } else if constexpr (is_tensor<X>) {
    return M::room(x.extents().data(), runtime::map_axes(x.mesh().state(), M::S::names).sizes);
  } else if constexpr (X::sized) {
    return M::room(x.extents_data(), M::S::names.sizes());
  } else {
    return planning::room_in_bucket(M::move, M::got, M::want, M::S::names.extents(),
                                    M::S::names.sizes(), M::width);
  }
}
/// Adds `x` to the cotangent of a value `V`, in its sharding. The movement to a parameter's
/// gradient, which is the last, may be started.
template <bool communicates, class V, class X>
constexpr void add_finished(Slot<V>& to, X const& x) {
  using Want = cotangent_t<tensor_of<V>>;
  if constexpr (communicates && can_start<cotangent_value<V>>) {
    if constexpr (autodiff::moves_last<Want, tensor_of<X>>()) {
      if (to.starts) {
        if (to.buckets != nullptr) {
          if (std::int64_t const room = autodiff::room_in_bucket<Want>(x); room > 0)
            return to.join(x, room);
        }
        to.start(x);
        return;
      }
    }
  }
  to.add(autodiff::finished<Want, communicates>(x));
}

/// The dims of a tensor type, as a Pack.
template <class P>
struct DimIn {
  using type = shardtype::detail::Pack<>;
};
template <class I, class... Xs>
struct DimIn<Dim<I, Xs...>> {
  using type = shardtype::detail::Pack<Dim<I, Xs...>>;
};
template <class A>
struct DimsOf;
template <class T, class... Parts>
struct DimsOf<Tensor<T, Parts...>> {
  using type = decltype((shardtype::detail::Pack<>{} | ... | typename DimIn<Parts>::type{}));
};
template <class T, class... Parts>
struct DimsOf<Local<T, Parts...>> : DimsOf<Tensor<T, Parts...>> {};

/// The labels of a tensor type, in order, as a Pack.
template <class... Dims>
auto labels_of_dims(shardtype::detail::Pack<Dims...>)
    -> shardtype::detail::Pack<shardtype::detail::label_of_t<Dims>...>;
template <class A>
using labels_of_t = decltype(autodiff::labels_of_dims(typename DimsOf<A>::type{}));

template <class A, class I>
inline constexpr bool has_label = Scope<A>::names.find_label(identity<I>) >= 0;
/// The labels of the pack that `A` lacks, or has.
template <class A, bool has, class... Ls>
constexpr auto labels_where(shardtype::detail::Pack<Ls...>) {
  return (shardtype::detail::Pack<>{} | ... | std::conditional_t < has_label<A, Ls> == has,
          shardtype::detail::Pack<Ls>, shardtype::detail::Pack < >> {});
}

template <class V, class... Ls>
constexpr auto summed_over(V const& v, shardtype::detail::Pack<Ls...>) {
  if constexpr (sizeof...(Ls) == 0) {
    return v;
  } else if constexpr (execute::is_temporary<V>) {
    return api::call(op::Sum<Ls...>{}, std::source_location::current(), v);
  } else {
    return api::sum<Ls...>(v);
  }
}
template <class V, class... Ls>
constexpr auto in_order(V const& v, shardtype::detail::Pack<Ls...>) {
  if constexpr (std::is_same_v<labels_of_t<tensor_of<V>>, shardtype::detail::Pack<Ls...>>) {
    return v;
  } else {
    return api::transpose<Ls...>(v);
  }
}
/// The cotangent of an operand of type `A` that was repeated along the labels it lacks: the sum of
/// `v` over them, with the dims in A's order.
template <class A, class V>
constexpr auto unbroadcast(V const& v) {
  using Extra = decltype(autodiff::labels_where<A, false>(labels_of_t<tensor_of<V>>{}));
  return autodiff::in_order(autodiff::summed_over(v, Extra{}), labels_of_t<A>{});
}

/// The value that an expression stands for.
template <class V>
constexpr auto whole(V const& v) {
  return v.tensor();
}

}  // namespace shardtype::autodiff
