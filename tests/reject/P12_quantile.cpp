// A quantile of integers.
// EXPECT: \[shardtype P12\] this function is one of floating
// EXPECT: false, shardtype::Tensor<int, shardtype::Dim<V> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct V : Index<"V"> {};
struct B : Index<"B"> {};

#ifdef LEGAL
using A = Tensor<float, Dim<V>>;
#else
using A = Tensor<std::int32_t, Dim<V>>;
#endif

void ask(A const& a) { (void)quantile<V>(a, 0.1); }
