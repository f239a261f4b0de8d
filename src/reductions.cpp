// Reductions of floating-point elements, and softmax.
#include <shardtype/execute/reduce_instances.hpp>

namespace shardtype::kernels {
SHARDTYPE_NORMALIZED(, float, false);
SHARDTYPE_NORMALIZED(, float, true);
SHARDTYPE_NORMALIZED(, double, false);
SHARDTYPE_NORMALIZED(, double, true);
}  // namespace shardtype::kernels

namespace shardtype::execute {
SHARDTYPE_REDUCTIONS(, float);
SHARDTYPE_REDUCTIONS(, double);
}  // namespace shardtype::execute
