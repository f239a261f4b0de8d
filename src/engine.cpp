// The parts of the engine that do not depend on element types.
#include <shardtype/execute/executor.ipp>
#include <shardtype/execute/fused_operands.ipp>
#include <shardtype/execute/run.ipp>
#include <shardtype/execute/take_rows.ipp>
#include <shardtype/kernels/few_terms.ipp>
#include <shardtype/kernels/launch.ipp>
#include <shardtype/kernels/launch_name.ipp>
#include <shardtype/kernels/row_moves.ipp>
#include <shardtype/kernels/thin_product.ipp>
#include <shardtype/manual/local.ipp>
#include <shardtype/manual/ragged_all_to_all.ipp>
#include <shardtype/manual/shard_map.ipp>
#include <shardtype/overlap/policy.ipp>
#include <shardtype/tensor/tensor_base.ipp>
#include <shardtype/tensor/wrap.ipp>
