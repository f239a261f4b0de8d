// A pool of no rows.
// EXPECT: \[shardtype D25\] the stride, the dilation and the extent of a window are at least 1
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/nn/pool.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct N : Index<"N"> {};
struct H : Index<"H"> {};
using A = Tensor<float, Dim<N, X>, Dim<H>>;

#ifdef LEGAL
using Rows = nn::Pool<H, 2>;
#else
using Rows = nn::Pool<H, 0, nn::same>;
#endif

void pool(A const& a) { (void)nn::max_pool<Rows>(a); }
