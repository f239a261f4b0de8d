// What the gradients of the registered operations are tested by.
#pragma once

#include <algorithm>
#include <string_view>

#include "harness/draw_gradients.hpp"

namespace registered_gradients {

// Operations without a gradient (X03): a table of docs/rules.md has the reasons.
inline constexpr std::string_view without_gradient[] = {
    "CountedMax",   "CountedMin", "CountedProd", "HaloAdd",
    "HaloExchange", "LuRcond",    "Quantile",    "Rcond",
};
template <class List>
constexpr bool is_in(std::string_view name, List const& list) {
  return std::ranges::find(list, name) != std::ranges::end(list);
}

// Those whose cotangents tests/unit/registered_cotangents.cpp enumerates, because programs do not
// draw them.
inline constexpr std::string_view enumerated_apart[] = {
    "BroadcastFrom",   "CumMax",      "CumMin",     "Fft",
    "FftFourStep",     "Fftn",        "Ifft",       "IfftFourStep",
    "Ifftn",           "Irfft",       "LogSoftmax", "Min",
    "NormInf",         "PadValue",    "Permute",    "ReproducibleNorm",
    "ReproducibleSum", "Rfft",        "Rotate",     "Shard",
    "StdDev",          "ToUnreduced", "ToVarying",
};
/// Operations whose cotangents are not enumerated, and why.
struct NotEnumerated {
  std::string_view object;
  std::string_view why;
};
inline constexpr NotEnumerated not_enumerated[] = {
    {"Named", "reshards around an operation: all of these are enumerated"},
    {"RaggedAllToAll", "the blocks vary over its axis, or it is refused; its transpose is itself"},
    {"Transfer", "its cotangent is on another mesh: tests/mpi/transfer.cpp"},
};

/// How many of the lists say how the cotangents of an operation are tested.
constexpr int times_enumerated(std::string_view object) {
  bool const drawn = std::ranges::any_of(gradient_programs::all_cases, [&](auto const& each) {
    return is_in(object, each.gradients_of);
  });
  bool const reason = std::ranges::any_of(not_enumerated, [&](NotEnumerated const& each) {
    return each.object == object && !each.why.empty();
  });
  return int{drawn} + int{reason} + int{is_in(object, enumerated_apart)};
}
/// Whether all that is listed is an operation.
template <class Is>
constexpr bool all_enumerated(Is is_operation) {
  using std::ranges::all_of;
  return all_of(gradient_programs::all_cases,
                [&](auto const& each) { return all_of(each.gradients_of, is_operation); }) &&
         all_of(enumerated_apart, is_operation) && all_of(without_gradient, is_operation) &&
         all_of(not_enumerated, is_operation, &NotEnumerated::object);
}

}  // namespace registered_gradients
