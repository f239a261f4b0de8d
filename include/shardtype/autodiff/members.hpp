#pragma once
/// The members of an aggregate, by structured bindings.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/core/parsed_type.hpp>

namespace shardtype {

/// A struct of parameters is a template, whose argument says in which form it holds its members:
///
///     template <template <class> class As>
///     struct Mlp { As<W1> w1; std::vector<As<W2>> layers; };
///
/// `Mlp<value_t>` holds tensors, `Mlp<active_t>` the values in a function that is differentiated,
/// and `Mlp<gradient_t>` their gradients.
template <class V>
using value_t = V;

namespace autodiff {

/// Converts to any member.
struct AnyMember {
  template <class T>
  constexpr operator T() const;
};
template <class S, std::size_t... K>
constexpr bool takes_members(std::index_sequence<K...>) {
  return requires { S{((void)K, AnyMember{})...}; };
}
/// The number of members of an aggregate, at most 32. From above, because to make it of fewer
/// values would ask for the others' defaults, and a tensor's is refused (T14).
template <class S, std::size_t N = 33>
constexpr std::size_t members() {
  if constexpr (autodiff::takes_members<S>(std::make_index_sequence<N>{})) {
    return N;
  } else {
    return autodiff::members<S, N - 1>();
  }
}
/// The number of members of a struct. Of a template of how it holds its members, counted once for
/// all.
template <class S>
inline constexpr std::size_t members_of = autodiff::members<S>();
template <template <template <class> class> class M, template <class> class As>
inline constexpr std::size_t members_of<M<As>> = autodiff::members<M<value_t>>();
/// Calls `f` with the members of a struct.
template <class S, class F>
constexpr auto with_members(S& s, F const& f) {
  constexpr std::size_t n = members_of<std::remove_const_t<S>>;
  static_assert(
      n <= 32,
      "a struct of parameters has at most 32 members: put some of them into a struct or a "
      "std::array of their own");
  // clang-format off
  if constexpr (n == 1) { auto& [m1] = s; return f(m1); }
  else if constexpr (n == 2) { auto& [m1, m2] = s; return f(m1, m2); }
  else if constexpr (n == 3) { auto& [m1, m2, m3] = s; return f(m1, m2, m3); }
  else if constexpr (n == 4) { auto& [m1, m2, m3, m4] = s; return f(m1, m2, m3, m4); }
  else if constexpr (n == 5) { auto& [m1, m2, m3, m4, m5] = s; return f(m1, m2, m3, m4, m5); }
  else if constexpr (n == 6) { auto& [m1, m2, m3, m4, m5, m6] = s; return f(m1, m2, m3, m4, m5, m6); }
  else if constexpr (n == 7) { auto& [m1, m2, m3, m4, m5, m6, m7] = s; return f(m1, m2, m3, m4, m5, m6, m7); }
  else if constexpr (n == 8) { auto& [m1, m2, m3, m4, m5, m6, m7, m8] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8); }
  else if constexpr (n == 9) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9); }
  else if constexpr (n == 10) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10); }
  else if constexpr (n == 11) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11); }
  else if constexpr (n == 12) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12); }
  else if constexpr (n == 13) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13); }
  else if constexpr (n == 14) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14); }
  else if constexpr (n == 15) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15); }
  else if constexpr (n == 16) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16); }
  else if constexpr (n == 17) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17); }
  else if constexpr (n == 18) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18); }
  else if constexpr (n == 19) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19); }
  else if constexpr (n == 20) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20); }
  else if constexpr (n == 21) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21); }
  else if constexpr (n == 22) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22); }
  else if constexpr (n == 23) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23); }
  else if constexpr (n == 24) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24); }
  else if constexpr (n == 25) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25); }
  else if constexpr (n == 26) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26); }
  else if constexpr (n == 27) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27); }
  else if constexpr (n == 28) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28); }
  else if constexpr (n == 29) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29); }
  else if constexpr (n == 30) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30); }
  else if constexpr (n == 31) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31); }
  else if constexpr (n == 32) { auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32] = s; return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32); }
  // clang-format on
}
/// References to the members of a struct.
template <class S>
constexpr auto tied_members(S& s) {
  return autodiff::with_members(s, []<class... Ps>(Ps&... p) { return std::tuple<Ps&...>(p...); });
}
struct PackOfMembers {
  template <class... Ps>
  constexpr shardtype::detail::Pack<Ps...> operator()(Ps const&...) const {
    return {};
  }
};

}  // namespace autodiff

}  // namespace shardtype
