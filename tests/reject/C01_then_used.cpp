// One mistake, one message: what is done with the refused product adds none.
// EXPECT: \[shardtype C01\] the operands share no index
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I>, shardtype::Dim<J> ?>, shardtype::Tensor<float, shardtype::Dim<K>, shardtype::Dim<L> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
using A = Tensor<float, Dim<I>, Dim<J>>;
using C = Tensor<float, Dim<L>, Dim<J>>;
using D = Tensor<float, Dim<J>, Dim<L>>;

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<L>>;
#else
using B = Tensor<float, Dim<K>, Dim<L>>;
#endif

double use(A const& a, B const& b, C const& c, D const& d) {
  auto product = matmul(a, b);
  auto second = matmul(product, c);
  auto named = matmul<Dim<I, X>, Dim<J>>(product, c);
  auto again = einsum<I, L>(second, d);
  auto split = reshard<Dim<I, X>, Dim<L>>(again);
  auto whole = all_gather<X>(split);
  auto moved = all_to_all<X, I, L>(split);
  auto unreduced = matmul(moved, reshard<Dim<L, X>, Dim<J>>(c));
  (void)named.clone();
  (void)all_reduce<X>(unreduced);
  (void)reduce_scatter<X, I>(unreduced);
  whole.mutable_local()(0, 0) = 1;
  auto n = moved.extent<I>() * moved.local_extent<L>() + moved.global_index<I>(0);
  n += whole.extents()[0] + whole.ranges()[0].size() + whole.local_size();
  return product.shared() ? product.local()(0, 0) : static_cast<double>(n);
}
