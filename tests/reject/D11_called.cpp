// Zeros may be padded.
// EXPECT: \[shardtype D11\] the tensor is still unreduced, so a pad value
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Unreduced<X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I>, Unreduced<X>>;

#ifdef LEGAL
auto widen(A const& a) { return pad<I>(a, 1, 1); }
#else
auto widen(A const& a) { return pad<I>(a, 1, 1, 2.0f); }
#endif

static_assert(std::is_class_v<decltype(widen(std::declval<A>()))>);
