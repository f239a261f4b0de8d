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
#include <shardtype/check/sentences/linear_algebra.hpp>
#include <shardtype/check/sentences/manual.hpp>
#include <shardtype/check/sentences/moves.hpp>
#include <shardtype/check/sentences/networks.hpp>
#include <shardtype/check/sentences/pointwise.hpp>
#include <shardtype/check/sentences/products.hpp>
#include <shardtype/check/sentences/shapes.hpp>
#include <shardtype/check/sentences/training.hpp>
#include <shardtype/check/sentences/types.hpp>
// clang-format on
#include <shardtype/autodiff/check_grads.hpp>
#include <shardtype/autodiff/custom_vjp.hpp>
#include <shardtype/autodiff/evaluate_gradient.hpp>
#include <shardtype/autodiff/plan.hpp>
#include <shardtype/autodiff/prefetch_layers.hpp>
#include <shardtype/autodiff/pull.hpp>
#include <shardtype/autodiff/remat.hpp>
#include <shardtype/autodiff/value_and_grad.hpp>
#include <shardtype/autodiff/vjp_function.hpp>
#include <shardtype/check/elsewhere.hpp>
#include <shardtype/io/npy.hpp>
#include <shardtype/lazy/dry_run.hpp>
#include <shardtype/lazy/einsum.hpp>
#include <shardtype/lazy/evaluate.hpp>
#include <shardtype/lazy/explain.hpp>
#include <shardtype/lazy/several.hpp>
#include <shardtype/lazy/to_json.hpp>
#include <shardtype/manual/control.hpp>
#include <shardtype/manual/dynamic.hpp>
#include <shardtype/manual/local.hpp>
#include <shardtype/manual/manual_axes.hpp>
#include <shardtype/manual/moves.hpp>
#include <shardtype/manual/ragged_all_to_all.hpp>
#include <shardtype/manual/raw.hpp>
#include <shardtype/manual/shard_map.hpp>
#include <shardtype/manual/shard_map_lazy.hpp>
#include <shardtype/ops/blocks.hpp>
#include <shardtype/ops/chosen_rows.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/dynamic_windows.hpp>
#include <shardtype/ops/elementwise.hpp>
#include <shardtype/ops/masked_reductions.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/matrices.hpp>
#include <shardtype/ops/memory.hpp>
#include <shardtype/ops/products.hpp>
#include <shardtype/ops/reductions.hpp>
#include <shardtype/ops/reshape.hpp>
#include <shardtype/ops/rows.hpp>
#include <shardtype/ops/run_allclose.hpp>
#include <shardtype/ops/run_collectives.hpp>
#include <shardtype/ops/run_counts.hpp>
#include <shardtype/ops/run_dynamic_windows.hpp>
#include <shardtype/ops/run_elementwise.hpp>
#include <shardtype/ops/run_explain.hpp>
#include <shardtype/ops/run_full_like.hpp>
#include <shardtype/ops/run_indexing.hpp>
#include <shardtype/ops/run_memory.hpp>
#include <shardtype/ops/run_products.hpp>
#include <shardtype/ops/run_quantiles.hpp>
#include <shardtype/ops/run_reductions.hpp>
#include <shardtype/ops/run_shared_top_k.hpp>
#include <shardtype/ops/run_sorting.hpp>
#include <shardtype/ops/run_to_host.hpp>
#include <shardtype/ops/run_unique.hpp>
#include <shardtype/ops/run_windows.hpp>
#include <shardtype/ops/scatter.hpp>
#include <shardtype/ops/scatter_set.hpp>
#include <shardtype/runtime/environment.hpp>
#include <shardtype/runtime/mesh.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/tensor/pending.hpp>
#include <shardtype/tensor/ranges.hpp>
#include <shardtype/tensor/tensor.hpp>
#include <shardtype/tensor/wrap.hpp>
#include <shardtype/types.hpp>
#include <shardtype/visualize/print.hpp>
#include <shardtype/visualize/visualize.hpp>

#pragma GCC diagnostic pop
