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

#ifdef LEGAL
using B = Tensor<float, Dim<J>, Dim<L>>;
#else
using B = Tensor<float, Dim<K>, Dim<L>>;
#endif

double use(A const& a, B const& b) {
  auto c = matmul(a, b);
  auto d = matmul(c, b);
  auto e = einsum<I, L>(a, d);
  auto f = reshard<Dim<I, X>, Dim<L>>(e);
  auto g = all_gather<X>(f);
  auto h = all_to_all<X, I, L>(f);
  (void)matmul<Dim<I>, Dim<L>>(a, c);
  (void)all_reduce<X>(c);
  (void)reduce_scatter<X, I>(c);
  (void)g.clone().ranges();
  std::int64_t n = h.extent<I>() * h.local_extent<L>() + h.global_index<I>(0);
  double sum = c.local()(0, 0) + c.local_size() + c.extents()[0];
  g.mutable_local()(0, 0) = 1;
  return c.shared() ? sum : static_cast<double>(n);
}
