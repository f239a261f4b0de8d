// Ids that are a number.
// EXPECT: \[shardtype T09\] an operand is not a Tensor
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};
using A = Tensor<float, Dim<V>, Dim<D>>;

#ifdef LEGAL
using Ids = Tensor<std::int32_t>;
#else
using Ids = int;
#endif

void ask(A const& a, Ids const& ids) { (void)take<V>(a, ids); }
