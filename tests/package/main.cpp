#include <shardtype/shardtype.hpp>

int main(int argc, char** argv) {
  shardtype::Environment env(argc, argv);
  int size = 0;
  MPI_Comm_size(env.world(), &size);
  return size == 2 ? 0 : 1;
}
