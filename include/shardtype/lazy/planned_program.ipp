#pragma once
/// Definitions of planned_program.hpp.

#include <shardtype/lazy/planned_program.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE void check_countable(RecordedProgram const& p) {
  if (!p.countable())
    throw Error("E20", "the expression needs a value of more than 2^58 elements",
                FailedOn::every_rank);
}

}  // namespace shardtype::detail
