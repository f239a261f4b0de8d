// Two different indices of one product are called "J".
// EXPECT: \[shardtype T06\] two different types of one operation have the same name
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<other::J>, shardtype::Dim<K> ?>, other::J>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
namespace other {
struct J : Index<"J"> {};
}  // namespace other
using A = Tensor<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<K>>;
#else
using B = Tensor<float, Dim<other::J>, Dim<K>>;
#endif

void multiply(A const& a, B const& b) { (void)matmul(a, b); }
