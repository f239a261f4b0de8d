#pragma once
/// Structures of values, vectors, arrays, tuples, pairs and structs: how they are visited and made.
/// All that goes through the tensors of a model or of a function's arguments goes through
/// `Container`.

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/autodiff/members.hpp>
#include <shardtype/core/parsed_type.hpp>

namespace shardtype::autodiff {

/// The position of member `K` in the struct `S`; other positions are numbers.
template <class S, std::size_t K>
struct MemberOf {};

/// A structure `C`, with members of the types `members()`, each `copies` times:
/// `each(f, a, bs...)` calls `f(position, member...)` with every member of `a` and those at its
/// position in the others; `build<Out>(f, ss...)` is an `Out` of `f(Type<P>{}, position,
/// member...)` for each member, of type P in `C`, and those at its position in `ss`; `with<Of>` has
/// the types `Of<P>` (not of a struct, which is `M<Of>`). One value: `exists` is false.
template <class C>
struct Container {
  static constexpr bool exists = false;
};
template <class C>
inline constexpr bool is_structure = Container<std::remove_const_t<C>>::exists;
/// The types of a structure's members, as a Pack.
template <class C>
using members_t = decltype(Container<C>::members());

template <class P>
struct Sequence {
  static constexpr bool exists = true;
  static constexpr bool standard = true;
  static shardtype::detail::Pack<P> members();
  template <class F, class A, class... Bs>
  static constexpr void each(F const& f, A& a, Bs&... bs) {
    for (std::size_t k = 0; k < a.size(); ++k) f(k, a[k], bs[k]...);
  }
};
template <class P>
struct Container<std::vector<P>> : Sequence<P> {
  template <template <class> class Of>
  using with = std::vector<Of<P>>;
  template <class Out, class F, class S, class... Ss>
  static constexpr Out build(F const& f, S const& s, Ss const&... ss) {
    Out out;
    out.reserve(s.size());
    for (std::size_t k = 0; k < s.size(); ++k) out.push_back(f(Type<P>{}, k, s[k], ss[k]...));
    return out;
  }
};
/// `f` of member `K`, of type `P`, and of those at its position.
template <std::size_t K, class P, class F, class At, class... Ss>
constexpr auto build_at(F const& f, At const& at, Ss const&... ss) {
  return f(Type<P>{}, at, std::get<K>(ss)...);
}
template <class P, std::size_t N>
struct Container<std::array<P, N>> : Sequence<P> {
  static constexpr std::size_t copies = N;
  template <template <class> class Of>
  using with = std::array<Of<P>, N>;
  template <class Out, class F, class... Ss>
  static constexpr Out build(F const& f, Ss const&... ss) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return Out{autodiff::build_at<K, P>(f, K, ss...)...};
    }(std::make_index_sequence<N>{});
  }
};

template <class... Ps>
struct TupleContainer {
  static constexpr bool exists = true;
  static constexpr bool standard = true;
  static constexpr std::size_t copies = 1;
  static shardtype::detail::Pack<Ps...> members();
  template <class F, class A, class... Bs>
  static constexpr void each(F const& f, A& a, Bs&... bs) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (each_at<K>(f, K, a, bs...), ...);
    }(std::index_sequence_for<Ps...>{});
  }
  template <class Out, class F, class... Ss>
  static constexpr Out build(F const& f, Ss const&... ss) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return Out{autodiff::build_at<K, Ps>(f, K, ss...)...};
    }(std::index_sequence_for<Ps...>{});
  }
  template <std::size_t K, class F, class At, class... Ss>
  static constexpr void each_at(F const& f, At const& at, Ss&... ss) {
    f(at, std::get<K>(ss)...);
  }
};
template <class... Ps>
struct Container<std::tuple<Ps...>> : TupleContainer<Ps...> {
  template <template <class> class Of>
  using with = std::tuple<Of<Ps>...>;
};
template <class A, class B>
struct Container<std::pair<A, B>> : TupleContainer<A, B> {
  template <template <class> class Of>
  using with = std::pair<Of<A>, Of<B>>;
};

/// A struct that is a template of how it holds its members.
template <template <template <class> class> class M, template <class> class As>
struct Container<M<As>> {
  using S = M<As>;
  static constexpr bool exists = true;
  static constexpr std::size_t copies = 1;
  template <class Self = S>
  static decltype(autodiff::with_members(std::declval<Self&>(), PackOfMembers{})) members();
  template <class F, class A, class... Bs>
  static constexpr void each(F const& f, A& a, Bs&... bs) {
    each_of(std::make_index_sequence<members_of<S>>{}, f, autodiff::tied_members(a),
            autodiff::tied_members(bs)...);
  }
  template <class Out, class F, class... Ss>
  static constexpr Out build(F const& f, Ss const&... ss) {
    return build_of<Out>(std::make_index_sequence<members_of<S>>{}, members_t<S>{}, f,
                         autodiff::tied_members(ss)...);
  }

 private:
  template <std::size_t... K, class F, class... Ts>
  static constexpr void each_of(std::index_sequence<K...>, F const& f, Ts... ts) {
    (TupleContainer<>::each_at<K>(f, MemberOf<S, K>{}, ts...), ...);
  }
  template <class Out, std::size_t... K, class... Ps, class F, class... Ts>
  static constexpr Out build_of(std::index_sequence<K...>, shardtype::detail::Pack<Ps...>,
                                F const& f, Ts const&... ts) {
    return Out{autodiff::build_at<K, Ps>(f, MemberOf<S, K>{}, ts...)...};
  }
};

template <class C>
inline constexpr bool is_struct = false;
template <template <template <class> class> class M, template <class> class As>
inline constexpr bool is_struct<M<As>> = true;
/// Containers of the standard library.
template <class C>
concept StdContainer = requires { Container<C>::standard; };

/// Calls `f` with every value of a structure, and with the values at its position in the others.
template <class F, class A, class... Bs>
constexpr void each_value(F const& f, A& a, Bs&... bs) {
  if constexpr (is_structure<A>) {
    Container<std::remove_const_t<A>>::each(
        [&](auto const&, auto& m, auto&... ms) { autodiff::each_value(f, m, ms...); }, a, bs...);
  } else {
    f(a, bs...);
  }
}
/// A structure whose type says how many values it has.
template <class C>
concept SizedStructure = requires { Container<C>::copies; };
/// Calls `f(Type<P>{})` with the type of every value of a structure `S`; a vector is one.
template <class S, class F>
constexpr void each_type(F const& f) {
  if constexpr (SizedStructure<S>) {
    for (std::size_t k = 0; k < Container<S>::copies; ++k)
      [&]<class... Ps>(shardtype::detail::Pack<Ps...>) {
        (autodiff::each_type<Ps>(f), ...);
      }(members_t<S>{});
  } else {
    f(Type<S>{});
  }
}
/// Calls `f(Type<A>{})` with the type of every value of a structure, of those of a vector once.
template <class P, class F>
constexpr void each_leaf_type(F const& f) {
  if constexpr (is_structure<P>) {
    [&]<class... Ps>(shardtype::detail::Pack<Ps...>) {
      (autodiff::each_leaf_type<Ps>(f), ...);
    }(members_t<P>{});
  } else {
    f(Type<P>{});
  }
}
/// The structure `Of<S>`, of the form of `S`: of `f(Type<P>{}, value...)` for every value, of type
/// P in `S`, and those at its position in `ss`.
template <template <class> class Of, class S, class F, class... Ss>
constexpr Of<S> map_values(F const& f, Ss const&... ss) {
  if constexpr (is_structure<S>) {
    return Container<S>::template build<Of<S>>(
        [&]<class P>(Type<P>, auto const&, auto const&... m) {
          return autodiff::map_values<Of, P>(f, m...);
        },
        ss...);
  } else {
    return f(Type<S>{}, ss...);
  }
}

}  // namespace shardtype::autodiff
