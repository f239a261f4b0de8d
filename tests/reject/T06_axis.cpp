// Two different mesh axes of one product are called "X".
// EXPECT: \[shardtype T06\] two different types of one operation have the same name
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<J>, shardtype::Dim<K, other::X> ?>, other::X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
namespace other {
struct X : Axis<"X", 2> {};
}  // namespace other
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<K>>;
#else
using B = Tensor<float, Dim<J>, Dim<K, other::X>>;
#endif

void ask() { (void)plan(op::Matmul<>{}, type<A>, type<B>); }
