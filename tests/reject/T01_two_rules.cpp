// Two rules for one index.
// EXPECT: two rules split the same index: write all its mesh axes in one, Split<D, X, Y>
// EXPECT: Split<D, X>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/shardings.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct D : Index<"D"> {};

#ifdef LEGAL
using Rules = train::Shardings<train::Split<D, X, Y>>;
#else
using Rules = train::Shardings<train::Split<D, X>, train::Split<D, Y>>;
#endif

auto f(train::Placed<Rules, float, D> const& a) { return a + 1; }
