#include <shardtype/shardtype.hpp>

#ifndef SHARDTYPE_COMPILED
#error "the target shardtype::compiled does not define SHARDTYPE_COMPILED"
#endif

struct X : shardtype::Axis<"X"> {};
struct I : shardtype::Index<"I"> {};

int main(int argc, char** argv) {
  shardtype::Environment env(argc, argv);
  shardtype::Mesh<X> mesh(env.world());
  auto const a = shardtype::full<float, shardtype::Dim<I, X>>(mesh, {5}, 2.0F);
  return shardtype::item(shardtype::sum<shardtype::Tensor<float>>(a)) == 10.0F ? 0 : 1;
}
