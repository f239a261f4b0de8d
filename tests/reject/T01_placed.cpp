// Rules of shardings that split two dims of one tensor over the same axis.
// EXPECT: \[shardtype T01\] a mesh axis is listed twice in one tensor type
// EXPECT: Dim<D, X>
// FORBID: Find<|Placed.*error
// NEEDS: full
#include <shardtype/shardtype.hpp>
#include <shardtype/train/shardings.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};

#ifdef LEGAL
using Rules = train::Shardings<train::Split<B, X>>;
#else
using Rules = train::Shardings<train::Split<B, X>, train::Split<D, X>>;
#endif

auto f(train::Placed<Rules, float, B, D> const& a) { return sum<D>(a); }
