// One mistake, one message: also when the refused product is read.
// EXPECT: \[shardtype C01\] the operands share no index
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<K>, shardtype::Dim<L> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<L>>;
#else
using B = Tensor<float, Dim<K>, Dim<L>>;
#endif

double read(A const& a, B const& b) {
  auto product = matmul(a, b);
  std::vector<float> whole = to_host(product);
  auto again = to_host(product);
  save_npy(product, "product.npy");
  return whole[0] + again[0] + 2 * item(einsum<>(product, product));
}
