#pragma once
/// Definitions of collective_step.hpp.

#include <shardtype/execute/collective_step.hpp>

namespace shardtype::execute {

SHARDTYPE_INLINE char const* name_of(Collective c) {
  switch (c) {
    case Collective::all_gather:
      return "all_gather";
    case Collective::all_reduce:
      return "all_reduce";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::all_to_all:
      return "all_to_all";
    case Collective::permute:
      return "permute";
    case Collective::broadcast:
      return "broadcast";
    case Collective::neighbor:
      return "neighbor exchange";
    case Collective::none:
      break;
  }
  return "none";
}

}  // namespace shardtype::execute
