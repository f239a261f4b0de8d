// The program of the README.
// RANKS: 8
// clang-format off
#include <shardtype/shardtype.hpp>
using namespace shardtype;

struct X : Axis<"X", 2> {}; struct Y : Axis<"Y", 4> {};                          // mesh axes
struct I : Index<"I"> {}; struct J : Index<"J"> {}; struct K : Index<"K"> {};    // dimensions

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X, Y> mesh(env.world());                                                  // 2 x 4 ranks
  auto a = full<float, Dim<I, X>, Dim<J, Y>>(mesh, {1500, 1100}, 1.0F);
  auto b = full<float, Dim<J, Y>, Dim<K>>(mesh, {1100, 900}, 2.0F);
  auto c = matmul<Dim<I, X>, Dim<K, Y>>(a, b);        // compiles: one ReduceScatter over Y
  // matmul(a, full<float, Dim<J, Y>, Dim<K, X>>(mesh, {1100, 900}, 2.0F));      does not compile
  visualize(c, "C");
}
