// The same with a named result, of the logarithm.
// EXPECT: \[shardtype S06\] softmax and log_softmax of several dims name those that they run over
// EXPECT: shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>.*, J ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

auto rows(Tensor<float, Dim<I, X>, Dim<J>> const& a) {
#ifdef LEGAL
  return log_softmax<I, J, Dim<I, X>, Dim<J>>(a);
#else
  return log_softmax<Dim<I, X>, Dim<J>>(a);
#endif
}
