// A function of one position for two dims.
// EXPECT: \[shardtype T11\] .*from_function one std::int64_t per dim
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using M = Mesh<X, Y>;

#ifdef LEGAL
auto ask(M const& mesh) {
  return from_function<A>(mesh, {4, 6}, [](auto i, auto j) { return i + j; });
}
#else
auto ask(M const& mesh) {
  return from_function<A>(mesh, {4, 6}, [](auto i) { return i; });
}
#endif
