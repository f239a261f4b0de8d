#pragma once
/// The operations of strict and named mode.
///
/// Not listed, because they have no rule or no plan: `item`, `to_host`, `allclose`, `array_equal`
/// and printing (they give C++ values), file input and output (by slabs), creation and random numbers (no operand; their plan
/// is in check/create.hpp). Elementwise functions are tags of `Map` (check/functions.hpp).

#include <shardtype/check/registered.hpp>

namespace shardtype::op {

/// The operations of ops/, sorted by name. A family of operations is listed by its aliases.
inline constexpr Registered strict_operations[] = {
    {"All", "all"},
    {"AllGather", "all_gather"},
    {"AllReduce", "all_reduce"},
    {"AllToAll", "all_to_all"},
    {"Any", "any"},
    {"ArgMax", "argmax"},
    {"ArgMin", "argmin"},
    {"ArgSort", "argsort"},
    {"At", "at"},
    {"Broadcast", "broadcast"},
    {"Concat", "concat"},
    {"CumMax", "cummax"},
    {"CumMin", "cummin"},
    {"CumProd", "cumprod"},
    {"CumSum", "cumsum"},
    {"DynamicSlice", "dynamic_slice"},
    {"DynamicUpdate", "dynamic_update"},
    {"Einsum", "einsum"},
    {"Expand", "expand"},
    {"Flip", "flip"},
    {"FullLike", "full_like"},
    {"HaloExchange", "halo_exchange"},
    {"LogSoftmax", "log_softmax"},
    {"LogSumExp", "logsumexp"},
    {"Map", "map"},
    {"Matmul", "matmul"},
    {"Max", "max"},
    {"Mean", "mean"},
    {"MergeDims", "merge_dims"},
    {"Min", "min"},
    {"Named", "call(op::Named)"},
    {"Norm", "norm"},
    {"Norm1", "norm_1"},
    {"NormInf", "norm_inf"},
    {"OneHot", "one_hot"},
    {"Pad", "pad"},
    {"PadValue", "pad"},
    {"Prod", "prod"},
    {"ReduceScatter", "reduce_scatter"},
    {"Relabel", "relabel"},
    {"Repeat", "repeat"},
    {"ReproducibleNorm", "norm(a, reproducible)"},
    {"ReproducibleSum", "sum(a, reproducible)"},
    {"Reshard", "reshard"},
    {"Roll", "roll"},
    {"ScatterAdd", "scatter_add"},
    {"Shift", "shift"},
    {"Slice", "slice"},
    {"Softmax", "softmax"},
    {"Sort", "sort"},
    {"SplitDim", "split_dim"},
    {"Squeeze", "squeeze"},
    {"Stack", "stack"},
    {"StdDev", "stddev"},
    {"Sum", "sum"},
    {"Take", "take"},
    {"TakeAlong", "take_along"},
    {"Tile", "tile"},
    {"ToPartial", "to_partial"},
    {"ToReduced", "reduced"},
    {"TopK", "top_k"},
    {"Transfer", "transfer"},
    {"Transpose", "transpose"},
    {"Tril", "tril"},
    {"Triu", "triu"},
    {"Var", "var"},
};

}  // namespace shardtype::op
