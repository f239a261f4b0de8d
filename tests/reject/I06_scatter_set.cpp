// Rows replaced by ids that are split, without a named result: which update wins is not known on a
// rank.
// EXPECT: \[shardtype I06\] an operand is unreduced over a mesh axis that splits the other
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <cstdint>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct V : Index<"V"> {};
struct B : Index<"B"> {};
using A = Tensor<float, Dim<V>>;
using Updates = Tensor<float, Dim<B, X>>;
using Ids = Tensor<std::int64_t, Dim<B, X>>;

void ask(A const& a, Updates const& updates, Ids const& ids) {
#ifdef LEGAL
  (void)scatter_set<V, Dim<V>>(a, updates, ids);
#else
  (void)scatter_set<V>(a, updates, ids);
#endif
}
