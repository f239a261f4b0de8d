#pragma once
/// Functions whose gradient is given by hand, in a program of automatic mode: the values of forward
/// and backward are recorded, and the backward pass has copies of the latter.

#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/structure.hpp>
#include <shardtype/lazy/record.hpp>
#include <shardtype/plan/part_gradient.hpp>

namespace shardtype::autodiff {

/// A value of a program under way through which no gradient flows, in the place of an expression;
/// structures of such.
template <class A>
struct ConstantForm {
  using type = A;
};
template <class A>
  requires(shardtype::detail::is_under_way<A>)
struct ConstantForm<A> {
  using V = shardtype::detail::as_recorded_t<A>;
  using type =
      automatic_mode::RecordedValue<typename V::whole, typename V::pin, void, typename V::recorder>;
};
template <class A>
using constant_t = typename ConstantForm<A>::type;
template <StdContainer C>
struct ConstantForm<C> {
  using type = typename Container<C>::template with<constant_t>;
};
template <template <class> class As>
struct ConstantOf {
  template <class P>
  using of = constant_t<As<P>>;
};
template <template <template <class> class> class M, template <class> class As>
struct ConstantForm<M<As>> {
  using type = M<ConstantOf<As>::template of>;
};

/// A structure without gradients.
template <class A>
constant_t<A> as_constant(A const& a) {
  return autodiff::map_values<constant_t, A>(
      []<class V>(Type<V>, V const& v) -> constant_t<V> {
        if constexpr (shardtype::detail::is_under_way<V>) {
          auto const value = shardtype::detail::as_recorded(v);
          return {value.recording(), value.number()};
        } else {
          return v;
        }
      },
      a);
}

/// The form of what a function by hand gives: its results, through which a gradient flows as
/// `Varies` says, or what stands for their cotangents.
template <class R, class Varies>
struct ByHandForm {
  template <class A>
  struct Result {
    using type = A;
  };
  template <class A>
    requires(core::is_lazy<A>)
  struct Result<A> {
    using Whole = typename shardtype::detail::lazy_t<A>::whole;
    static constexpr bool floats = shardtype::detail::is_floating<element_t<Whole>>;
    using type =
        automatic_mode::RecordedValue<Whole, void, std::conditional_t<floats, Varies, void>, R>;
  };
  template <class A>
  using result = typename Result<A>::type;
  template <StdContainer C>
  struct Result<C> {
    using type = typename Container<C>::template with<result>;
  };
  template <class A>
  struct StandIn {
    using type = NoGradient;
  };
  template <class A>
    requires(core::is_lazy<A>)
  struct StandIn<A> {
    using Whole = typename shardtype::detail::lazy_t<A>::whole;
    static constexpr bool floats = shardtype::detail::is_floating<element_t<Whole>>;
    using type =
        std::conditional_t<floats, automatic_mode::RecordedValue<Whole, void, void, R>, NoGradient>;
  };
  template <class A>
  using stand_in = typename StandIn<A>::type;
  template <StdContainer C>
  struct StandIn<C> {
    using type = typename Container<C>::template with<stand_in>;
  };
};

/// How a structure of arguments varies: void, Flows, or HasNoGradient of one of them.
template <class P>
constexpr auto how_structure_varies();
template <class... Ps>
constexpr auto how_all_vary(shardtype::detail::Pack<Ps...>) {
  return Type<void>{};
}
/// Of two: HasNoGradient if one is, else Flows if one is.
template <class One, class Other>
constexpr auto how_both_vary(Type<One>, Type<Other>) {
  constexpr bool other =
      std::is_void_v<One> || (std::is_same_v<One, automatic_mode::Flows> && !std::is_void_v<Other>);
  return Type<std::conditional_t<other, Other, One>>{};
}
template <class P, class... Ps>
constexpr auto how_all_vary(shardtype::detail::Pack<P, Ps...>) {
  return autodiff::how_both_vary(autodiff::how_structure_varies<P>(),
                                 autodiff::how_all_vary(shardtype::detail::Pack<Ps...>{}));
}
template <class P>
constexpr auto how_structure_varies() {
  if constexpr (is_structure<P>) {
    return autodiff::how_all_vary(members_t<P>{});
  } else if constexpr (shardtype::detail::is_under_way<P>) {
    return Type<typename P::recorder::template varies<P>>{};
  } else {
    return Type<void>{};
  }
}

/// The refusal of the cotangent `C` of an argument `A`, X06, or void: another form, or other
/// indices.
template <class C, class A>
constexpr auto refused_cotangent();
template <class C, class A>
struct RefusedMembers {
  static constexpr auto find() { return Type<refused<Code::X06_other_cotangent, false, C, A>>{}; }
};
template <class... Cs, class... As>
  requires(sizeof...(Cs) == sizeof...(As))
struct RefusedMembers<shardtype::detail::Pack<Cs...>, shardtype::detail::Pack<As...>> {
  static constexpr auto find() {
    return RefusedMembers::first(autodiff::refused_cotangent<Cs, As>()...);
  }
  static constexpr auto first() { return Type<void>{}; }
  template <class R, class... Rest>
  static constexpr auto first(Type<R> r, Rest... rest) {
    if constexpr (std::is_void_v<R>) {
      return first(rest...);
    } else {
      return r;
    }
  }
};
/// The same of one value, whose cotangent is to be a `Wanted`.
template <class C, class Wanted>
struct RefusedIndices {
  static constexpr auto find() {
    return Type<refused<Code::X06_other_cotangent, false, C, Wanted>>{};
  }
};
template <class C, class Wanted>
  requires(is_tensor<C> || core::is_lazy<C>)
struct RefusedIndices<C, Wanted> {
  using Got = automatic_mode::whole_t<typename shardtype::detail::lazy_t<C>::whole>;
  static constexpr auto find() {
    return Type<std::conditional_t<std::is_same_v<Got, Wanted>, void,
                                   refused<Code::X06_other_cotangent, false, Got, Wanted>>>{};
  }
};
template <class C, class A>
constexpr auto refused_cotangent() {
  if constexpr (std::is_same_v<C, NoGradient>) {
    return Type<void>{};
  } else if constexpr (is_structure<A> && is_structure<C>) {
    return RefusedMembers<members_t<C>, members_t<A>>::find();
  } else if constexpr (!shardtype::detail::is_under_way<A>) {
    return Type<void>{};
  } else {
    return RefusedIndices<C, automatic_mode::whole_t<typename A::whole>>::find();
  }
}

/// The number of an expression's value.
template <class R, class E>
int number_of(R& to, E const& e) {
  auto const value = api::lazy(e);
  if constexpr (std::is_void_v<typename std::remove_cvref_t<decltype(value)>::recorder>) {
    return to.record(value);
  } else {
    return to.number_of(shardtype::detail::as_recorded(value));
  }
}

/// A function by hand of arguments that belong to a program under way, which `R` writes.
template <class R, class Varies>
class RecordedVjp {
  using Form = ByHandForm<R, Varies>;

 public:
  explicit RecordedVjp(R& to) : to_(to) {}

  /// The results that `forward` gave.
  template <class Out>
  auto results(Out const& out) {
    shardtype::detail::List<int> numbers;
    autodiff::each_value(
        [&]<class A>(A const& a) {
          if constexpr (core::is_lazy<A>) numbers.push_back(autodiff::number_of(to_, a));
        },
        out);
    std::size_t next = 0;
    return autodiff::map_values<Form::template result, Out>(
        [&]<class A>(Type<A>, A const& a) -> typename Form::template result<A> {
          if constexpr (core::is_lazy<A>) {
            int const value = to_.alias(numbers[next++]);
            if constexpr (Form::template Result<A>::floats) by_.results.push_back(value);
            return {to_, value};
          } else {
            return a;
          }
        },
        out);
  }
  /// What stands for the cotangents of these results.
  template <class Out>
  auto stand_ins(Out const& out) {
    std::size_t next = 0;
    return autodiff::map_values<Form::template stand_in, Out>(
        [&]<class A>(Type<A>, A const&) -> typename Form::template stand_in<A> {
          if constexpr (std::is_same_v<typename Form::template stand_in<A>, NoGradient>) {
            return {};
          } else {
            int const value = to_.alias(by_.results[next++]);
            by_.stand_ins.push_back(value);
            return {to_, value};
          }
        },
        out);
  }
  /// The cotangent that `backward` gave for an argument.
  template <class A, class C>
  void cotangent(A const& argument, C const& ct) {
    if constexpr (!std::is_same_v<C, NoGradient>)
      autodiff::each_value(
          [&]<class V, class X>(V const& v, X const& x) {
            if constexpr (shardtype::detail::is_under_way<V> && !std::is_same_v<X, NoGradient>) {
              if constexpr (std::is_same_v<typename R::template varies<V>, automatic_mode::Flows>) {
                by_.arguments.push_back(to_.number_of(shardtype::detail::as_recorded(v)));
                by_.cotangents.push_back(autodiff::number_of(to_, x));
              }
            }
          },
          argument, ct);
  }
  void finish() { to_.pull_by_hand(std::move(by_)); }

 private:
  R& to_;
  planning::PullByHand by_;
};

}  // namespace shardtype::autodiff
