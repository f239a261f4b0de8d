// The engine for elements of bool, which are not multiplied.
#include <shardtype/execute/instances.hpp>

namespace shardtype::execute {
SHARDTYPE_MOVES(, bool);
}  // namespace shardtype::execute
