// Counts of numbers that are not integers.
// EXPECT: \[shardtype I01\] places are given by a tensor
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<B> ?> ?>
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

#ifdef LEGAL
using A = Tensor<std::int32_t, Dim<B>>;
#else
using A = Tensor<float, Dim<B>>;
#endif

void ask(A const& a) { (void)bincount<V>(a, 10); }
