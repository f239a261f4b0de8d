#pragma once
/// Structures of values, as functions take and give them: vectors, arrays, tuples, pairs and structs.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/autodiff/active_expression.hpp>
#include <shardtype/autodiff/aux.hpp>
#include <shardtype/autodiff/parameters.hpp>

namespace shardtype::autodiff {

/// How the values of a structure are visited. This primary template is for one value: `level`, how
/// often it is wrapped, and `each`, which calls `f` with it and with those at its position in other
/// structures.
template <class P>
struct Structure {
  static constexpr bool is_value = true;
  static constexpr int level = autodiff::level<P>;
  template <class F, class A, class... Bs>
  static constexpr void each(F const& f, A& a, Bs&... bs) {
    f(a, bs...);
  }
};
template <class P>
inline constexpr int structure_level = Structure<std::remove_const_t<P>>::level;
/// Calls `f` with every value of a structure, and with the values at its position in the others.
template <class F, class A, class... Bs>
constexpr void each_value(F const& f, A& a, Bs&... bs) {
  Structure<std::remove_const_t<A>>::each(f, a, bs...);
}

template <class P>
struct Structure<std::vector<P>> {
  static constexpr bool is_value = false;
  static constexpr int level = structure_level<P>;
  template <class F, class A, class... Bs>
  static constexpr void each(F const& f, A& a, Bs&... bs) {
    for (std::size_t k = 0; k < a.size(); ++k) autodiff::each_value(f, a[k], bs[k]...);
  }
};
template <class P, std::size_t N>
struct Structure<std::array<P, N>> : Structure<std::vector<P>> {};

template <class... Ps>
struct StructureOfMembers {
  static constexpr bool is_value = false;
  static constexpr int level = std::max({0, structure_level<Ps>...});
  template <class F, class A, class... Bs>
  static constexpr void each(F const& f, A& a, Bs&... bs) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (each_at<K>(f, a, bs...), ...);
    }(std::index_sequence_for<Ps...>{});
  }

 private:
  template <std::size_t K, class F, class A, class... Bs>
  static constexpr void each_at(F const& f, A& a, Bs&... bs) {
    autodiff::each_value(f, std::get<K>(a), std::get<K>(bs)...);
  }
};
template <class... Ps>
struct Structure<std::tuple<Ps...>> : StructureOfMembers<Ps...> {};
template <class A, class B>
struct Structure<std::pair<A, B>> : StructureOfMembers<A, B> {};

/// References to the members of a struct.
template <class S>
constexpr auto tied_members(S& s) {
  return autodiff::with_members(s, []<class... Ps>(Ps&... p) { return std::tuple<Ps&...>(p...); });
}
/// The level of the values of a struct that is a template of how it holds its members.
template <class S>
inline constexpr int level_of_struct = 0;
template <template <template <class> class> class M>
inline constexpr int level_of_struct<M<active_t>> = 1;
/// A struct that is a template of how it holds its members.
template <template <template <class> class> class M, template <class> class As>
struct Structure<M<As>> {
  static constexpr bool is_value = false;
  static constexpr int level = level_of_struct<M<As>>;
  template <class F, class A, class... Bs>
  static constexpr void each(F const& f, A& a, Bs&... bs) {
    tuples(f, autodiff::tied_members(a), autodiff::tied_members(bs)...);
  }

 private:
  template <class F, class... Ms, class... Bs>
  static constexpr void tuples(F const& f, std::tuple<Ms&...> a, Bs... bs) {
    StructureOfMembers<std::remove_const_t<Ms>...>::each(f, a, bs...);
  }
};
/// A struct `S` of level 1, which is a `Value` without gradients.
template <int Top, class S, class Value>
struct PlainStruct {
  static constexpr auto of(S const& s) {
    if constexpr (Top == 1) {
      return autodiff::with_members(s, []<class... Ps>(Ps const&... p) {
        return Value{autodiff::without_gradient<Top>(p)...};
      });
    } else {
      return s;
    }
  }
};
template <int Top, template <template <class> class> class M>
struct Plain<Top, M<active_t>> : PlainStruct<Top, M<active_t>, M<value_t>> {};

/// More than any level.
inline constexpr int no_level = 1 << 20;
/// A structure with its expressions computed. A copy value by value: g++ 12 copies an array of Dry
/// bytewise in constant evaluation.
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
template <class... Ps>
inline constexpr int highest_level = StructureOfMembers<Ps...>::level;

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
          a = A(a.value(), &leaf->slot);
        }
      },
      out);
  return out;
}

/// The results of a function that is one entry of the tape, of values `Out`: where their cotangents
/// are added up.
template <class Out, bool one = Structure<Out>::is_value>
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
            if (a.slot() != nullptr) out = out || a.slot()->ct != nullptr;
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
  if constexpr (Structure<Out>::is_value) {
    return is_differentiable<Out>;
  } else {
    return true;
  }
}

}  // namespace shardtype::autodiff
