#pragma once
/// Everything. For types, rules and plans alone, without MPI or Kokkos: shardtype/types.hpp.

#include <shardtype/check/sentences.hpp>
#include <shardtype/io/npy.hpp>
#include <shardtype/ops/along.hpp>
#include <shardtype/ops/dynamic_slice.hpp>
#include <shardtype/ops/explain.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/math.hpp>
#include <shardtype/ops/matmul.hpp>
#include <shardtype/ops/norms.hpp>
#include <shardtype/ops/partial.hpp>
#include <shardtype/ops/reduce.hpp>
#include <shardtype/ops/reproducible.hpp>
#include <shardtype/ops/reshard.hpp>
#include <shardtype/ops/shape.hpp>
#include <shardtype/ops/shift.hpp>
#include <shardtype/ops/sort.hpp>
#include <shardtype/ops/to_host.hpp>
#include <shardtype/ops/transfer.hpp>
#include <shardtype/runtime/environment.hpp>
#include <shardtype/runtime/mesh.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/tensor/tensor.hpp>
#include <shardtype/types.hpp>
#include <shardtype/visualize/print.hpp>
#include <shardtype/visualize/visualize.hpp>
