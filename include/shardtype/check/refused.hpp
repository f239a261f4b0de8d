#pragma once
/// A refusal as the compiler prints it (check/sentences/).
///
/// One specialisation per code, named directly by the entry point. Its arguments are the operands,
/// then the index and the axis at fault, so compilers print them in the user's own types. The
/// condition is a bool parameter because a comparison would be printed too.

#include <shardtype/check/poisoned.hpp>
#include <shardtype/rules/verdict.hpp>

namespace shardtype::checking {

/// A refused operation on `YourTypes`; see docs/errors.md for each code.
template <Code, bool legal, class... YourTypes>
struct refused {};

}  // namespace shardtype::checking
