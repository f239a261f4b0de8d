// A window that begins at a number that is no integer.
// EXPECT: \[shardtype I01\] places are given by a tensor
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<V> ?, shardtype::Dim<D> ?>, shardtype::Tensor<float> ?>
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
using Start = Tensor<std::int32_t>;
#else
using Start = Tensor<float>;
#endif

void ask(A const& a, Start const& s) { (void)dynamic_slice<V>(a, s, 2); }
