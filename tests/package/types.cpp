#include <shardtype/types.hpp>

int main() { return 0; }
