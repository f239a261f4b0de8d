// A table looked up with numbers that are no integers.
// EXPECT: \[shardtype I01\] places are given by a tensor of std::int32_t or std::int64_t
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<V>, shardtype::Dim<D> ?>, shardtype::Tensor<float, shardtype::Dim<B> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};
using A = Tensor<float, Dim<V>, Dim<D>>;

#ifdef LEGAL
using Ids = Tensor<std::int32_t, Dim<B>>;
#else
using Ids = Tensor<float, Dim<B>>;
#endif

void ask() { (void)plan(op::Take<V>{}, type<A>, type<Ids>); }
