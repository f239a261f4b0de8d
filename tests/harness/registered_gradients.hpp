// What the gradients of the registered operations are tested by.
#pragma once

#include <string_view>

#include "harness/gradient_operations.hpp"

namespace registered_gradients {

// Operations without a gradient (X03): a table of docs/rules.md has the reasons.
inline constexpr std::string_view without_gradient[] = {
    "CountedMax", "CountedMin", "CountedProd", "HaloAdd", "HaloExchange", "Transfer",
};
// Operations whose results are constants, of which no gradient is asked.
inline constexpr std::string_view constants[] = {
    "All", "Any", "ArgMax", "ArgMin", "ArgSort", "FullLike", "OneHot",
};
template <class List>
constexpr bool is_in(std::string_view name, List const& list) {
  bool found = false;
  for (std::string_view const each : list) found = found || each == name;
  return found;
}

using gradient_programs::Op;

/// An operation of the random programs with gradients, and the registered one that it calls. Their
/// cotangents are enumerated by tests/unit/cotangent_proofs.cpp.
struct Drawn {
  std::string_view object;
  Op op;
};
inline constexpr Drawn drawn[] = {
    {"AllGather", Op::all_gather},
    {"AllReduce", Op::all_reduce},
    {"AllToAll", Op::all_to_all},
    {"At", Op::last_of_two},
    {"Broadcast", Op::broadcast},
    {"Concat", Op::halves},
    {"CumProd", Op::running_product},
    {"CumSum", Op::running_sum},
    {"CumSum", Op::running_sum_back},
    {"DynamicSlice", Op::dynamic},
    {"DynamicUpdate", Op::replaced},
    {"Einsum", Op::contract},
    {"Einsum", Op::named_contract},
    {"Flip", Op::flip},
    {"LogSumExp", Op::logsumexp},
    {"LogSumExp", Op::named_logsumexp},
    {"Map", Op::absolute},
    {"Map", Op::add},
    {"Map", Op::chosen},
    {"Map", Op::half},
    {"Map", Op::larger},
    {"Map", Op::multiply},
    {"Map", Op::named_add},
    {"Map", Op::named_multiply},
    {"Map", Op::negate},
    {"Map", Op::quotient},
    {"Map", Op::sin},
    {"Map", Op::subtract},
    {"Map", Op::tanh},
    {"Matmul", Op::matrix_product},
    {"Max", Op::max},
    {"Max", Op::named_max},
    {"Mean", Op::mean},
    {"Mean", Op::named_mean},
    {"MergeDims", Op::reshaped},
    {"Norm", Op::named_norm},
    {"Norm", Op::norm},
    {"Norm1", Op::norm_1},
    {"Pad", Op::spread},
    {"Pad", Op::window},
    {"Prod", Op::named_prod},
    {"Prod", Op::prod},
    {"ReduceScatter", Op::reduce_scatter},
    {"Relabel", Op::renamed},
    {"Repeat", Op::repeated},
    {"Reshard", Op::reshard},
    {"Roll", Op::roll},
    {"ScatterAdd", Op::add_rows},
    {"ScatterAlong", Op::added_along},
    {"Shift", Op::shift},
    {"Shift", Op::wrapped},
    {"Slice", Op::window},
    {"Softmax", Op::softmax},
    {"Sort", Op::sorted},
    {"SplitDim", Op::reshaped},
    {"Stack", Op::last_of_two},
    {"Sum", Op::named_sum},
    {"Sum", Op::sum},
    {"Take", Op::look_up},
    {"TakeAlong", Op::look_along},
    {"Tile", Op::tiled},
    {"ToPartial", Op::to_partial},
    {"ToReduced", Op::reduced},
    {"TopK", Op::top},
    {"Transpose", Op::transpose},
    {"Tril", Op::triangle},
    {"UsedAs", Op::used_as},
    {"Var", Op::named_variance},
    {"Var", Op::variance},
};

/// Operations whose cotangents are not enumerated, and why.
struct NotEnumerated {
  std::string_view object;
  std::string_view why;
};
inline constexpr NotEnumerated not_enumerated[] = {
    {"Named", "reshards around an operation: all of these are enumerated"},
    {"RaggedAllToAll", "the blocks vary over its axis, or it is refused; its transpose is itself"},
};

}  // namespace registered_gradients
