// Solutions of stacks of small systems, against LAPACK's gesv of one after another.
// NEEDS: LAPACK
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "paired.hpp"
#include "yield.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_solve_batch [--rounds=21] [--benchmark_filter=CASE]\n"
    "linalg::solve of stacks of n x n systems with one right-hand side, against packing, getrf and "
    "getrs of each; cholesky\n"
    "against packing and potrf. Each rank has as many as make 16 million multiplications. Last "
    "lines: ratio solve_batch CASE RANKS\n"
    "MEDIAN Q1 Q3, ours over LAPACK in time.\n";
