#pragma once
/// Manual mode on types: what a collective makes of a Local, and what goes in and out of shard_map.

#include <cstdint>
#include <tuple>
#include <type_traits>

#include <shardtype/check/functions.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/check/shape.hpp>
#include <shardtype/rules/manual.hpp>

namespace shardtype {

/// A movement of manual mode as an operation, for probing: which one, the state it leads to, and what
/// the call names: `Max`, `Min` or `Mean`, then mesh axes, then indices.
template <Movement how, AxisState to, class... Named>
struct MoveBlock {
  using operation = MoveBlock;
};

namespace detail {

template <class T>
inline constexpr bool is_kind =
    std::is_same_v<T, Max> || std::is_same_v<T, Min> || std::is_same_v<T, Mean>;

/// What a collective of manual mode names, sorted.
template <class... Named>
struct NamedParts {
  template <class T>
  static constexpr auto axis() {
    if constexpr (MeshAxis<T>) {
      return Pack<T>{};
    } else {
      return Pack<>{};
    }
  }
  template <class T>
  static constexpr auto label() {
    if constexpr (IndexLabel<T>) {
      return Pack<T>{};
    } else {
      return Pack<>{};
    }
  }
  using Axes = decltype((Pack<>{} | ... | axis<Named>()));
  using Labels = decltype((Pack<>{} | ... | label<Named>()));
  /// The kind comes first, if at all; then axes; then indices.
  static constexpr bool in_order() {
    int const place[] = {(is_kind<Named>      ? 0
                          : MeshAxis<Named>   ? 1
                          : IndexLabel<Named> ? 2
                                              : -1)...,
                         3};
    for (std::size_t k = 0; k < sizeof...(Named); ++k)
      if (place[k] < 0 || place[k] > place[k + 1] || (place[k] == 0 && k > 0)) return false;
    return true;
  }
  static constexpr bool mean = (std::is_same_v<Named, Mean> || ...);
  static constexpr bool names_kind = (is_kind<Named> || ...);
  static constexpr ReduceKind kind = (std::is_same_v<Named, Max> || ...)   ? ReduceKind::max
                                     : (std::is_same_v<Named, Min> || ...) ? ReduceKind::min
                                                                           : ReduceKind::sum;
};
template <class... Ls, class... Xs>
Mentions<Dim<Ls>..., Reduced<Xs...>>* mentioned(Pack<Ls...>, Pack<Xs...>);

/// How many indices a movement names.
constexpr int labels_named(Movement how) {
  switch (how) {
    case Movement::all_gather:
    case Movement::reduce_scatter:
    case Movement::shard:
      return 1;
    case Movement::all_to_all:
      return 2;
    default:
      return 0;
  }
}

/// Puts a dim of `label` before the others.
constexpr Verdict with_first(Spec const& s, int label) {
  if (s.rank == max_dims) return refuse(Code::T07_too_many);
  Spec out = s;
  out.rank = 0;
  out.add(label);
  for (int d = 0; d < s.rank; ++d) out.add(s.dims[d].label);
  return accept(out);
}
constexpr Spec without_dim(Spec s, int d) {
  for (; d + 1 < s.rank; ++d) s.dims[d] = s.dims[d + 1];
  s.dims[--s.rank] = {};
  return s;
}

template <Movement how, AxisState to, class A, class... Named>
struct BlockMove {
  using Parts = NamedParts<Named...>;
  using S = Scope<A, std::remove_pointer_t<decltype(mentioned(typename Parts::Labels{},
                                                              typename Parts::Axes{}))>>;
  static constexpr bool communicates = how != Movement::shard && how != Movement::cast;
  static constexpr bool reduces = how == Movement::all_reduce || how == Movement::reduce_scatter;
  static constexpr Spec given = S::template spec<0>;
  static constexpr Spec named = S::template spec<1>;
  /// The axes in the order of the call.
  static constexpr AxisList axes() {
    AxisList out;
    each_axis([&](int x) { out.push(x); }, typename Parts::Axes{});
    return out;
  }
  template <class Use, class... Xs>
  static constexpr void each_axis([[maybe_unused]] Use use, Pack<Xs...>) {
    (use(S::names.find_axis(identity<Xs>)), ...);
  }
  /// Positions, in the operand, of the indices named; -1 for one it lacks.
  static constexpr int dim(int which) { return given.find(named.dims[which].label); }

  static constexpr Verdict elements() {
    using T = element_t<A>;
    if (!reduces) return {};
    if (Parts::mean && !is_floating<T>) return refuse(Code::P12_not_floating);
    if (Parts::kind == ReduceKind::sum && std::is_same_v<T, bool>)
      return refuse(Code::C11_not_numbers);
    if (Parts::kind != ReduceKind::sum && is_complex<T>) return refuse(Code::S04_no_order);
    return {};
  }
  static constexpr Verdict dims(Spec s) {
    if (labels_named(how) == 0) return accept(s);
    int const first = named.dims[0].label;
    if (how == Movement::all_gather && s.find(first) < 0) return with_first(s, first);
    if (s.find(first) < 0) return refuse(Code::K04_no_such_index, first, -1, axes()[0]);
    if (how == Movement::all_to_all && s.find(named.dims[1].label) < 0)
      return with_first(without_dim(s, s.find(first)), named.dims[1].label);
    return accept(s);
  }
  static constexpr Verdict decide() {
    if (S::names.overflow) return refuse(Code::T07_too_many);
    if (Verdict v = rules::well_formed(S::readings[0]); !v) return v;
    if (!Parts::in_order() || axes().size == 0 || named_count() != labels_named(how))
      return refuse(Code::T05_not_an_axis);
    bool const may_owe = reduces || (to == AxisState::unreduced && !Parts::mean);
    if (Parts::names_kind && !may_owe) return refuse(Code::T05_not_an_axis);
    if (S::readings[1].malformed == Malformed::repeated_axis)
      return refuse(Code::T01_axis_twice, -1, -1, S::readings[1].axis);
    if (Verdict v = rules::well_named(S::names); !v) return v;
    Verdict v = accept(given);
    AxisList const over = axes();
    for (int k = 0; k < over.size && v; ++k)
      v = rules::move(v.result, how, over[k], to, Parts::kind);
    if (!v) return v;
    if (Verdict e = elements(); !e) return e;
    return dims(v.result);
  }
  /// One label may be named twice: split and put together along the same dim.
  static constexpr int named_count() { return static_cast<int>(count(typename Parts::Labels{})); }
  template <class... Ls>
  static constexpr std::size_t count(Pack<Ls...>) {
    return sizeof...(Ls);
  }
  static constexpr Verdict verdict = decide();
};
template <class Rule, class A, bool ok = bool(Rule::verdict)>
struct BlockMoveResult : Rule {
  struct Holder {
    static constexpr Spec value = Rule::verdict.result;
  };
  using result = tensor_from_spec<typename Rule::S, Holder, element_t<A>, A>;
};
template <class Rule, class A>
struct BlockMoveResult<Rule, A, false> : Rule {};

template <Movement how, AxisState to, class A, class... Named>
constexpr auto resolve_move() {
  if constexpr (is_local<A>) {
    return Type<BlockMoveResult<BlockMove<how, to, A, Named...>, A>>{};
  } else if constexpr (is_tensor<A>) {
    return Type<Plainly<Code::V01_mixed>>{};
  } else {
    return Type<NotATensor<A>>{};
  }
}

/// The verdict on a block whose element becomes a C++ value.
template <class L>
struct Read {
  using S = Scope<L>;
  static constexpr Verdict decide() {
    constexpr Spec s = S::template spec<0>;
    if (s.rank > 0) return refuse(Code::A01_item_has_dims);
    for (int x = 0; x < max_axes; ++x) {
      if (s.unreduced.contains(x)) return refuse(Code::A02_still_unreduced, -1, -1, x);
      if (s.varying.contains(x)) return refuse(Code::V13_condition_varies, -1, -1, x);
    }
    return {};
  }
  static constexpr Verdict verdict = decide();
};

// In and out of shard_map.

template <class A>
struct LikeLocal;
template <template <class, class...> class Any, class T, class... Parts>
struct LikeLocal<Any<T, Parts...>> {
  using local = Local<T, Parts...>;
  using tensor = Tensor<T, Parts...>;
};

/// An argument of shard_map: its block's type, or why its blocks are not equal.
template <class A>
struct Input {
  using S = Scope<A>;
  static constexpr Spec given = S::template spec<0>;
  static constexpr Verdict decide() {
    if (Verdict v = rules::lawful(S::names, S::readings, 1); !v) return v;
    if (int d = given.cyclic_dim(); d >= 0)
      return refuse(Code::B03_through_cyclic, given.dims[d].label, -1, given.dims[d].axes[0]);
    for (int d = 0; d < given.rank; ++d) {
      std::int64_t const n = S::names.label_extent[given.dims[d].label];
      std::int64_t pieces = 1;
      for (int k = 0; k < given.dims[d].axes.size; ++k) {
        std::int64_t const p = S::names.axis_size[given.dims[d].axes[k]];
        pieces = p == dynamic || pieces == dynamic ? dynamic : pieces * p;
      }
      if (n != dynamic && pieces != dynamic && n % pieces != 0)
        return refuse(Code::V10_uneven, given.dims[d].label, -1, given.dims[d].axes[0]);
    }
    return accept(rules::block_of_tensor(given));
  }
  static constexpr Verdict verdict = decide();
  struct Holder {
    static constexpr Spec value = verdict.result;
  };
};
template <class A>
using block_type = tensor_from_spec<Scope<A>, typename Input<A>::Holder, element_t<A>,
                                    typename LikeLocal<A>::local>;

/// What the function of shard_map returned, of type `L`, as the tensor `Out`.
template <class L, class Out>
struct Output {
  static constexpr Verdict law = rules::lawful(Scope<Out>::names, Scope<Out>::readings, 1);
  using S = std::conditional_t<bool(law), Scope<L, Out>, Scope<Out>>;
  static constexpr Verdict decide() {
    if (!law) return law;
    if (Verdict v = rules::well_named(S::names); !v) return v;
    if (!same_element<L, Out>) return refuse(Code::N05_element_type);
    return rules::output(S::readings[0].spec, S::readings[1].spec);
  }
  static constexpr Verdict verdict = decide();
  using result = Out;
};

/// The Tensor that the parts of a named output stand for, where the function returned an `L`.
template <class L, class... Out>
using output_type = typename NamedAs<element_t<L>, typename LikeLocal<L>::tensor, Out...>::type;

}  // namespace detail

template <Movement how, AxisState to, class... Named, class A>
struct Resolve<MoveBlock<how, to, Named...>, A>
    : decltype(detail::resolve_move<how, to, A, Named...>())::type {};

/// The block of a Tensor of type `A` as the function of shard_map gets it: `f32[I@X, J]{U:Y}` ->
/// `Local f32[I, J]{V:X}{U:Y}`.
template <class A>
using local_t = detail::block_type<A>;

/// The types of several outputs of shard_map: `shard_map<Outs<Tensor<...>, Tensor<...>>>(f, a)`.
template <class... Tensors>
struct Outs {};

}  // namespace shardtype
