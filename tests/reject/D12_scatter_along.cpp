// Updates that are split otherwise than their ids.
// EXPECT: \[shardtype D12\] the operands must have the same indices in the same order
// EXPECT: false, .*, J>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using Ids = Tensor<std::int32_t, Dim<I, X>, Dim<J, Y>>;

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;
#else
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#endif

void ask(A const& a, Ids const& ids) { (void)scatter_along<K, J>(a, ids, 7); }
