// A plan is printed, or drawn, without the header.
// EXPECT: \[shardtype A15\] .*<shardtype/freeze/to_source.hpp> to_source
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>
#ifdef LEGAL
#include <shardtype/freeze/to_source.hpp>
#endif

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I", 8> {};
using A = Tensor<float, Dim<I, X>>;

auto text(Mesh<X> const& mesh, A const& a) {
  return to_source<"twice">(evaluate_to<A>, mesh, lazy(a) * 2.0F);
}
