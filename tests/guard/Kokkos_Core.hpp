#pragma once
// Stands in front of Kokkos' own header, in an include directory that is searched first: the same
// Kokkos, whose default execution space is the guarded device (device.hpp).
#pragma GCC system_header  // of #include_next compilers warn
#define DefaultExecutionSpace InstalledDefaultExecutionSpace
#include <Kokkos_Core_fwd.hpp>
#undef DefaultExecutionSpace

#include "guard/device.hpp"

namespace Kokkos {
using DefaultExecutionSpace = guard::Device;
}  // namespace Kokkos

#include_next <Kokkos_Core.hpp>

#include "guard/backend.hpp"
