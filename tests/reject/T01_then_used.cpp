// A type that breaks a law gives one message, however often it is used.
// EXPECT: \[shardtype T01\] a mesh axis is listed twice
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J, X> ?>, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using B = Tensor<float, Dim<J>, Dim<K>>;

#ifdef LEGAL
using A = Tensor<float, Dim<I, X>, Dim<J>>;
#else
using A = Tensor<float, Dim<I, X>, Dim<J, X>>;
#endif

std::int64_t use(A const& a, B const& b) {
  auto c = matmul(a, b);
  auto d = reshard<Dim<I>, Dim<K>>(c);
  (void)all_gather<X>(a);
  (void)d.local();
  return a.extent<I>() + d.extent<K>();
}
