// A refused plan of a function that must be a constant: one error, also on clang.
// EXPECT: \[shardtype C02\] the contracted index is split over a mesh axis in one operand only
// FORBID: must be initialized by a constant
// FORBID: error:.*error:
// MAX-LINES: 11
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 4> {};
struct I : Index<"I", 64> {};
struct J : Index<"J", 8> {};
struct K : Index<"K", 16> {};
template <class... Parts>
using T = Tensor<double, Parts...>;

inline constexpr auto product = [](auto a, auto b) { return matmul(a, b); };
#ifdef LEGAL
using B = T<Dim<J, X>, Dim<K>>;
#else
using B = T<Dim<J>, Dim<K>>;
#endif
constexpr auto p = plan(product, type<T<Dim<I>, Dim<J, X>>>, type<B>);
