// Two rules for one index.
// EXPECT: \[shardtype T13\] two rules of these train::Shardings split the same index
// EXPECT: Split<D, X>
// NEEDS: full
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
