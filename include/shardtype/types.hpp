#pragma once
/// Types, rules and plans, without MPI or Kokkos: everything that is decided at compile time.

// A user's global may have the name of a local variable of ours.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

// First, for compilers list the headers by which they came to a sentence.
// clang-format off
#include <shardtype/check/sentences.hpp>
// clang-format on
#include <shardtype/check/abstract.hpp>
#include <shardtype/check/cotangent.hpp>
#include <shardtype/check/counted.hpp>
#include <shardtype/check/create.hpp>
#include <shardtype/check/elementwise.hpp>
#include <shardtype/check/manual.hpp>
#include <shardtype/check/manual_axes.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/check/plan_of.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/check/transfer.hpp>
#include <shardtype/check/valid_on.hpp>
#include <shardtype/core/block.hpp>
#include <shardtype/core/bridge.hpp>
#include <shardtype/ops/blocks.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/ops/counts.hpp>
#include <shardtype/ops/dims.hpp>
#include <shardtype/ops/dynamic_windows.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/matrices.hpp>
#include <shardtype/ops/memory.hpp>
#include <shardtype/ops/products.hpp>
#include <shardtype/ops/quantiles.hpp>
#include <shardtype/ops/reductions.hpp>
#include <shardtype/ops/reshape.hpp>
#include <shardtype/ops/rows.hpp>
#include <shardtype/ops/scatter.hpp>
#include <shardtype/ops/shared_top_k.hpp>
#include <shardtype/ops/sorting.hpp>
#include <shardtype/ops/unique.hpp>
#include <shardtype/ops/windows.hpp>

#pragma GCC diagnostic pop
