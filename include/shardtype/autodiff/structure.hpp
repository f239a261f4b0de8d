#pragma once
/// Structures of values, as functions take and give them: vectors, arrays, tuples, pairs and
/// structs.

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/active_expression.hpp>
#include <shardtype/autodiff/aux.hpp>
#include <shardtype/autodiff/parameters.hpp>
#include <shardtype/lazy/recorded_value.hpp>

namespace shardtype::autodiff {

/// The highest level of a structure's values. That of a struct follows from its form alone.
template <class P>
constexpr int find_level() {
  if constexpr (!is_structure<P>) {
    return level<P>;
  } else if constexpr (is_struct<P>) {
    return std::is_same_v<typename PlainOf<P>::type, P> ? 0 : 1;
  } else {
    return []<class... Ps>(shardtype::detail::Pack<Ps...>) {
      return std::max({0, autodiff::find_level<Ps>()...});
    }(members_t<P>{});
  }
}
template <class P>
inline constexpr int structure_level = autodiff::find_level<std::remove_const_t<P>>();
template <class... Ps>
inline constexpr int highest_level = std::max({0, structure_level<Ps>...});

/// A struct of level 1 is one of plain values without gradients.
template <int Top, template <template <class> class> class M, template <class> class As>
struct Plain<Top, M<As>> {
  static constexpr auto of(M<As> const& s) {
    if constexpr (Top == 1 && structure_level<M<As>> == 1) {
      return Container<M<As>>::template build<plain_of<M<As>>>(
          []<class P>(Type<P>, auto const&, P const& p) {
            return autodiff::without_gradient<Top>(p);
          },
          s);
    } else {
      return s;
    }
  }
};

/// Whether a value of an argument belongs to a program of automatic mode that is being written.
template <class P>
constexpr bool find_under_way() {
  bool out = false;
  autodiff::each_leaf_type<P>([&]<class A>(Type<A>) {
    out = out || shardtype::detail::is_under_way<std::remove_const_t<A>>;
  });
  return out;
}
template <class P>
inline constexpr bool has_under_way = autodiff::find_under_way<P>();
/// What writes that program: of the first value that there is, else null.
template <class P, class... Ps>
constexpr auto find_recorder_among();
template <class P>
constexpr auto find_recorder() {
  if constexpr (!is_structure<P>) {
    return Type<typename P::recorder>{};
  } else {
    return []<class... Ps>(shardtype::detail::Pack<Ps...>) {
      return autodiff::find_recorder_among<std::remove_const_t<Ps>...>();
    }(members_t<P>{});
  }
}
template <class P, class... Ps>
constexpr auto find_recorder_among() {
  if constexpr (has_under_way<P>) {
    return autodiff::find_recorder<P>();
  } else {
    return autodiff::find_recorder_among<Ps...>();
  }
}
template <class... As>
auto* recorder_in(As const&... as) {
  typename decltype(autodiff::find_recorder_among<As...>())::type* out = nullptr;
  auto const look = [&]<class A>(A const& a) {
    if constexpr (shardtype::detail::is_under_way<A>)
      if (out == nullptr) out = &shardtype::detail::recorder_of(a);
  };
  (autodiff::each_value(look, as), ...);
  return out;
}

/// More than any level.
inline constexpr int no_level = 1 << 20;
/// A structure with its expressions computed. A copy value by value: g++ 12 copies an array of
/// Abstract bytewise in constant evaluation.
template <class P>
constexpr auto computed(P const& p) {
  return autodiff::without_gradient<no_level>(p);
}
template <class P>
using computed_t = std::remove_cvref_t<decltype(autodiff::computed(std::declval<P const&>()))>;
/// A structure one level down: its values of level `Top` without their gradients.
template <int Top, class P>
using lowered_t =
    std::remove_cvref_t<decltype(autodiff::without_gradient<(Top > 0 ? Top : no_level)>(
        std::declval<P const&>()))>;
/// The tape of the arguments of level `Top`; null if all are constants. Error E73: an argument of
/// another differentiation.
template <int Top, class... Ps>
constexpr Tape* tape_of(std::string_view what, Ps const&... ps) {
  Tape* tape = nullptr;
  int k = 0;
  auto const look = [&]<class A>(A const& a) {
    if constexpr (level<A> == Top) {
      if (a.slot() == nullptr) return;
      if (tape != nullptr && a.slot()->tape != tape)
        throw_other_differentiation("argument " + std::to_string(k) + " of " + std::string(what),
                                    "the arguments before it");
      tape = a.slot()->tape;
    }
  };
  ((autodiff::each_value(look, ps), ++k), ...);
  return tape;
}

/// A copy of arguments of level `Top` on another tape; constants stay constants.
template <int Top, class P>
constexpr P on_tape(P const& p, Tape* tape) {
  P out = autodiff::computed(p);
  autodiff::each_value(
      [&]<class A>(A& a) {
        if constexpr (level<A> == Top) {
          if (a.slot() == nullptr) return;
          auto* const leaf = autodiff::make_small<Leaf<typename A::inner>>(tape);
          tape->push_leaf(leaf);
          leaf->slot.starts = a.slot()->starts;
          leaf->slot.buckets = a.slot()->buckets;
          a = A(a.value(), &leaf->slot);
        }
      },
      out);
  return out;
}

/// The results of a function that is one entry of the tape, of values `Out`: where their cotangents
/// are added up.
template <class Out, bool one = !is_structure<Out>>
struct Results {
  using active = typename Parameters<Out>::active;
  using Cotangent = typename Parameters<Out>::gradient;
  active values;
  constexpr Results(Tape* tape, Out const& out) : values(Parameters<Out>::lift(out, tape)) {}
  constexpr active given(Out const&) const { return autodiff::computed(values); }
  constexpr bool any() {
    bool out = false;
    autodiff::each_value(
        [&]<class A>(A& a) {
          if constexpr (level<A> > 0)
            if (a.slot() != nullptr) out = out || a.slot()->any();
        },
        values);
    return out;
  }
  /// The cotangents; zeros of results that nothing reads.
  constexpr Cotangent taken() const { return Parameters<Out>::take(values); }
  /// Adds the cotangents to those of `made`, the same results of level `Top`.
  template <int Top, class Made>
  constexpr void move_to(Made const& made) {
    autodiff::each_value(
        []<class A, class B>(A const& to, B const& from) {
          if constexpr (level<A> == Top && level<B> > 0)
            if (to.slot() != nullptr && from.slot()->ct != nullptr)
              to.slot()->add(from.slot()->taken());
        },
        made, values);
  }
};
/// One result. Its value is not kept.
template <class V>
struct Results<V, true> {
  using active = Active<V>;
  using Cotangent = cotangent_value<V>;
  Slot<V> slot;
  constexpr Results(Tape* tape, V const&) : slot(tape) {}
  constexpr active given(V const& value) { return active(value, &slot); }
  constexpr bool any() const { return slot.ct != nullptr; }
  constexpr Cotangent taken() { return slot.taken(); }
  template <int Top, class Made>
  constexpr void move_to(Made const& made) {
    if constexpr (level<Made> == Top)
      if (made.slot() != nullptr) made.slot()->add(slot.taken());
  }
};
/// Whether one of the results has a gradient.
template <class Out>
constexpr bool has_gradients() {
  if constexpr (!is_structure<Out>) {
    return is_differentiable<Out>;
  } else {
    return true;
  }
}

}  // namespace shardtype::autodiff
