// Ties over a split dim, without a named result; what is made of both results says no more.
// EXPECT: \[shardtype S03\] the reduction runs over a split dim
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>, I, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;

#ifdef LEGAL
void share(A const& a) {
  auto const [most, ties] = counted_max<Dim<J>>(a);
  (void)(most / ties).tensor();
}
#else
void share(A const& a) {
  auto const [most, ties] = counted_max<I>(a);
  (void)(most / ties).tensor();
}
#endif
