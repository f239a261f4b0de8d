#pragma once
/// Operations on shapes, on types.

#include <shardtype/check/resolve.hpp>
#include <shardtype/rules/along.hpp>

namespace shardtype {

/// A shape operation as an object, for plan() and probing: `From` has the labels it works on, `To`
/// the dims it makes, each as the parts of a tensor type.
template <rules::Shape Op, class From, class To>
struct ShapeTo {};

namespace detail {

/// Bare labels as dims that nothing splits.
template <class... Ls>
using Bare = Mentions<Dim<Ls>...>;

/// A label or a Dim, as a Dim.
template <class P>
struct DimOf {
  using type = Dim<P>;
  static constexpr bool bare = true;
};
template <class I, class... Xs>
struct DimOf<Dim<I, Xs...>> {
  using type = Dim<I, Xs...>;
  static constexpr bool bare = false;
};
template <class P>
using dim_of_t = typename DimOf<P>::type;

/// Old and new labels of pairs; one that is left over has no new one.
template <class Old, class New, class... Rest>
struct Pairs {
  using from = Old;
  using to = New;
};
template <class... Old, class... New, class I, class K, class... Rest>
struct Pairs<Pack<Old...>, Pack<New...>, I, K, Rest...>
    : Pairs<Pack<Old..., I>, Pack<New..., K>, Rest...> {};
template <class... Old, class... New, class I>
struct Pairs<Pack<Old...>, Pack<New...>, I> : Pairs<Pack<Old..., I>, Pack<New...>> {};
template <class... Ls>
Bare<Ls...> bare_of(Pack<Ls...>);
template <class... Ls>
using Renaming = Pairs<Pack<>, Pack<>, Ls...>;

using rules::Shape;

template <class... Ls>
using Transpose = ShapeTo<Shape::transpose, Bare<>, Bare<Ls...>>;
template <class... Ls>
using Relabel = ShapeTo<Shape::relabel, decltype(bare_of(typename Renaming<Ls...>::from{})),
                        decltype(bare_of(typename Renaming<Ls...>::to{}))>;
template <class... Ls>
using Squeeze = ShapeTo<Shape::squeeze, Bare<Ls...>, Bare<>>;
template <class... Ls>
using Expand = ShapeTo<Shape::expand, Bare<>, Bare<Ls...>>;
template <class... Dims>
using Broadcast = ShapeTo<Shape::broadcast, Bare<>, Mentions<dim_of_t<Dims>...>>;
template <class I, class A, class B>
using Split = ShapeTo<DimOf<A>::bare && DimOf<B>::bare ? Shape::hand_out : Shape::split, Bare<I>,
                      Mentions<dim_of_t<A>, dim_of_t<B>>>;
template <class A, class B, class K>
using Merge = ShapeTo<Shape::merge, Bare<A, B>, Bare<K>>;
template <class I>
using Stack = ShapeTo<Shape::stack, Bare<>, Bare<I>>;
template <Shape Op, class I, class... Result>
using Along = ShapeTo<Op, Bare<I>, Bare<Result...>>;

/// Whether `<` orders the elements; complex numbers have no order.
template <class T>
inline constexpr bool is_ordered = requires(T x) { x < x; };

template <Shape Op, class From, class To, class A, class... Bs>
struct ShapeVerdict {
  using S = Scope<A, Bs..., From, To>;
  static constexpr int count = 1 + static_cast<int>(sizeof...(Bs));

  static constexpr Verdict decide() {
    if (Verdict v = rules::lawful(S::names, S::readings, count + 2); !v) return v;
    if (!(same_element<A, Bs> && ...)) return refuse(Code::C10_element_types_differ);
    if ((Op == Shape::scan_max || Op == Shape::scan_min) && !is_ordered<element_t<A>>)
      return refuse(Code::D15_element_type);
    if (Op == Shape::scan_sum && std::is_same_v<element_t<A>, bool>)
      return refuse(Code::D15_element_type);
    return ask(std::make_integer_sequence<int, count>{});
  }
  template <int... K>
  static constexpr Verdict ask(std::integer_sequence<int, K...>) {
    Spec const operands[] = {S::template spec<K>...};
    return in_manual_mode<S, count>(
        rules::shape(Op, {operands, count, S::template spec<count>, S::template spec<count + 1>,
                          S::names.extents(), S::names.sizes()}));
  }
  static constexpr Verdict verdict = decide();
};

template <class V, class A, bool ok = bool(V::verdict)>
struct ShapeResult : V {
  struct Holder {
    static constexpr Spec value = V::verdict.result;
  };
  using result = tensor_from_spec<typename V::S, Holder, element_t<A>, A>;
};
template <class V, class A>
struct ShapeResult<V, A, false> : V {};

/// The local ones have a plan, of no collectives; what shift, halo and scan send depends on
/// arguments or is one formula (plan/window.hpp).
template <Shape Op, class V, class A>
struct ShapePlan : ShapeResult<V, A> {};
template <Shape Op, class V, class A>
  requires(Op < Shape::shift)
struct ShapePlan<Op, V, A> : ShapeResult<V, A> {
  static constexpr bool communicates = false;
  static constexpr Plan make_plan(Sizing const& z, Machine const& = {}) {
    Plan out;
    out.sizing = z;
    out.operand_count = 1;
    out.operands[0] = V::S::template spec<0>;
    out.result = V::verdict.result;
    return out;
  }
};

template <Shape Op, class From, class To, class A, class... Bs>
constexpr auto resolve_shape() {
  if constexpr (is_tensor<A> && (is_tensor<Bs> && ...)) {
    return Type<ShapePlan<Op, ShapeVerdict<Op, From, To, A, Bs...>, A>>{};
  } else {
    return Type<NotATensor<A, Bs...>>{};
  }
}

}  // namespace detail

template <rules::Shape Op, class From, class To, class A, class... Bs>
struct Resolve<ShapeTo<Op, From, To>, A, Bs...>
    : decltype(detail::resolve_shape<Op, From, To, A, Bs...>())::type {};

/// The local operations of ops/shape.hpp and ops/along.hpp as objects.
template <class... Ls>
inline constexpr detail::Transpose<Ls...> transpose_to{};
template <class... Ls>
inline constexpr detail::Relabel<Ls...> relabel_to{};
template <class... Ls>
inline constexpr detail::Squeeze<Ls...> squeeze_to{};
template <class... Ls>
inline constexpr detail::Expand<Ls...> expand_to{};
template <class... Dims>
inline constexpr detail::Broadcast<Dims...> broadcast_to{};
template <class I, class A, class B>
inline constexpr detail::Split<I, A, B> split_to{};
template <class A, class B, class K>
inline constexpr detail::Merge<A, B, K> merge_to{};
template <class I, class... Result>
inline constexpr detail::Along<rules::Shape::slice, I, Result...> slice_to{};
/// pad with zeros; `pad_value_to` with another value.
template <class I, class... Result>
inline constexpr detail::Along<rules::Shape::pad_zero, I, Result...> pad_to{};
template <class I, class... Result>
inline constexpr detail::Along<rules::Shape::pad_value, I, Result...> pad_value_to{};
template <class I, class... Result>
inline constexpr detail::Along<rules::Shape::repeat, I, Result...> repeat_to{};
template <class I, class... Result>
inline constexpr detail::Along<rules::Shape::tile, I, Result...> tile_to{};
template <class I>
inline constexpr detail::Along<rules::Shape::flip, I> flip_to{};
template <class I>
inline constexpr detail::Along<rules::Shape::roll, I> roll_to{};
template <class I, class... Result>
inline constexpr detail::Along<rules::Shape::concat, I, Result...> concat_to{};
template <class I>
inline constexpr detail::Stack<I> stack_to{};

}  // namespace shardtype
