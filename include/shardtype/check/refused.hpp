#pragma once
/// A refusal as the compiler tells it (check/sentences/).
///
/// One specialisation per code, named by the front door itself: the operands, then the index and
/// the axis at fault, are its arguments, so compilers print them in the user's own types. The
/// condition is a bool parameter because a comparison would be printed too.

#include <shardtype/check/poisoned.hpp>
#include <shardtype/rules/verdict.hpp>

namespace shardtype::checking {

/// A refused operation on `YourTypes`; see docs/errors.md for each code.
template <Code, bool legal, class... YourTypes>
struct refused {};

}  // namespace shardtype::checking
