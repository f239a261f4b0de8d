// What the gradients of the registered operations are tested by.
#pragma once

#include <string_view>

#include "harness/draw_gradients.hpp"

namespace registered_gradients {

// Operations without a gradient (X03): a table of docs/rules.md has the reasons.
inline constexpr std::string_view without_gradient[] = {
    "CountedMax",   "CountedMin", "CountedProd", "HaloAdd",
    "HaloExchange", "LuRcond",    "Rcond",       "Transfer",
};
template <class List>
constexpr bool is_in(std::string_view name, List const& list) {
  bool found = false;
  for (std::string_view const each : list) found = found || each == name;
  return found;
}

// Those whose cotangents tests/unit/registered_cotangents.cpp enumerates, because programs do not draw them.
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
};

/// How many of the lists say how the cotangents of an operation are tested.
constexpr int times_enumerated(std::string_view object) {
  bool drawn = false;
  for (auto const& each : gradient_programs::all_cases)
    drawn = drawn || is_in(object, each.gradients_of);
  bool reason = false;
  for (auto const& each : not_enumerated)
    reason = reason || (each.object == object && !each.why.empty());
  return int{drawn} + int{reason} + int{is_in(object, enumerated_apart)};
}
/// Whether all that is listed is an operation.
template <class Is>
constexpr bool all_enumerated(Is is_operation) {
  bool ok = true;
  for (auto const& each : gradient_programs::all_cases)
    for (std::string_view const object : each.gradients_of) ok = ok && is_operation(object);
  for (std::string_view const object : enumerated_apart) ok = ok && is_operation(object);
  for (std::string_view const object : without_gradient) ok = ok && is_operation(object);
  for (auto const& each : not_enumerated) ok = ok && is_operation(each.object);
  return ok;
}

}  // namespace registered_gradients
