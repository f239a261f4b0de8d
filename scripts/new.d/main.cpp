#include "columns.hpp"

using namespace shardtype;

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X> mesh(env.world());
  auto rows = arange<double, Dim<I, X>>(mesh, 9);
  Table a = full<double, Dim<I, X>, Dim<J>>(mesh, {9, 4}, 1.0) * rows;
  visualize(a, "A");
  print(column_means(a));
  print(centered(a));
}
