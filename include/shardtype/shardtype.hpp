#pragma once
/// Everything. For types, rules and plans alone, without MPI or Kokkos: shardtype/types.hpp.

// A user's global may have the name of a local variable of ours.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

// The sentences first: then compilers print no path of includes before them.
// clang-format off
#include <shardtype/check/sentences/access.hpp>
#include <shardtype/check/sentences/automatic.hpp>
#include <shardtype/check/sentences/gradients.hpp>
#include <shardtype/check/sentences/indexing.hpp>
#include <shardtype/check/sentences/manual.hpp>
#include <shardtype/check/sentences/moves.hpp>
#include <shardtype/check/sentences/pointwise.hpp>
#include <shardtype/check/sentences/products.hpp>
#include <shardtype/check/sentences/shapes.hpp>
#include <shardtype/check/sentences/types.hpp>
// clang-format on
#include <shardtype/autodiff/plan.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>
#include <shardtype/io/npy.hpp>
#include <shardtype/lazy/dry_run.hpp>
#include <shardtype/lazy/einsum.hpp>
#include <shardtype/lazy/evaluate.hpp>
#include <shardtype/lazy/explain.hpp>
#include <shardtype/lazy/several.hpp>
#include <shardtype/lazy/to_json.hpp>
#include <shardtype/manual/broadcast_from.hpp>
#include <shardtype/manual/collectives.hpp>
#include <shardtype/manual/control.hpp>
#include <shardtype/manual/dynamic.hpp>
#include <shardtype/manual/local.hpp>
#include <shardtype/manual/permute.hpp>
#include <shardtype/manual/ragged_all_to_all.hpp>
#include <shardtype/manual/raw.hpp>
#include <shardtype/manual/rotate.hpp>
#include <shardtype/manual/shard.hpp>
#include <shardtype/manual/shard_map.hpp>
#include <shardtype/manual/shard_map_lazy.hpp>
#include <shardtype/manual/unreduced.hpp>
#include <shardtype/manual/varying.hpp>
#include <shardtype/ops/all.hpp>
#include <shardtype/ops/all_gather.hpp>
#include <shardtype/ops/all_reduce.hpp>
#include <shardtype/ops/all_to_all.hpp>
#include <shardtype/ops/allclose.hpp>
#include <shardtype/ops/any.hpp>
#include <shardtype/ops/argmax.hpp>
#include <shardtype/ops/argsort.hpp>
#include <shardtype/ops/at.hpp>
#include <shardtype/ops/broadcast.hpp>
#include <shardtype/ops/concat.hpp>
#include <shardtype/ops/counted.hpp>
#include <shardtype/ops/cumsum.hpp>
#include <shardtype/ops/dynamic_slice.hpp>
#include <shardtype/ops/dynamic_update.hpp>
#include <shardtype/ops/einsum.hpp>
#include <shardtype/ops/einsum_plan.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/expand.hpp>
#include <shardtype/ops/explain.hpp>
#include <shardtype/ops/flip.hpp>
#include <shardtype/ops/full_like.hpp>
#include <shardtype/ops/halo_add.hpp>
#include <shardtype/ops/halo_exchange.hpp>
#include <shardtype/ops/logsumexp.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/matmul.hpp>
#include <shardtype/ops/max.hpp>
#include <shardtype/ops/mean.hpp>
#include <shardtype/ops/merge_dims.hpp>
#include <shardtype/ops/min.hpp>
#include <shardtype/ops/norm.hpp>
#include <shardtype/ops/one_hot.hpp>
#include <shardtype/ops/pad.hpp>
#include <shardtype/ops/prod.hpp>
#include <shardtype/ops/reduce_scatter.hpp>
#include <shardtype/ops/reduced.hpp>
#include <shardtype/ops/relabel.hpp>
#include <shardtype/ops/repeat.hpp>
#include <shardtype/ops/reproducible.hpp>
#include <shardtype/ops/reshard.hpp>
#include <shardtype/ops/roll.hpp>
#include <shardtype/ops/scatter_add.hpp>
#include <shardtype/ops/scatter_along.hpp>
#include <shardtype/ops/shift.hpp>
#include <shardtype/ops/slice.hpp>
#include <shardtype/ops/softmax.hpp>
#include <shardtype/ops/sort.hpp>
#include <shardtype/ops/split_dim.hpp>
#include <shardtype/ops/squeeze.hpp>
#include <shardtype/ops/stack.hpp>
#include <shardtype/ops/sum.hpp>
#include <shardtype/ops/take.hpp>
#include <shardtype/ops/take_along.hpp>
#include <shardtype/ops/tile.hpp>
#include <shardtype/ops/to_host.hpp>
#include <shardtype/ops/to_partial.hpp>
#include <shardtype/ops/top_k.hpp>
#include <shardtype/ops/transfer.hpp>
#include <shardtype/ops/transpose.hpp>
#include <shardtype/ops/tril.hpp>
#include <shardtype/ops/used_as.hpp>
#include <shardtype/ops/var.hpp>
#include <shardtype/runtime/environment.hpp>
#include <shardtype/runtime/mesh.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/tensor/pending.hpp>
#include <shardtype/tensor/ranges.hpp>
#include <shardtype/tensor/tensor.hpp>
#include <shardtype/types.hpp>
#include <shardtype/visualize/print.hpp>
#include <shardtype/visualize/visualize.hpp>

#pragma GCC diagnostic pop
