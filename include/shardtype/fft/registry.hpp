#pragma once
/// The operations of fft/. `rfftn` and `irfftn` are Rfft and Irfft of several dims; `fftshift` and
/// `ifftshift` are Shift; frequencies have no operand.

#include <shardtype/check/registered.hpp>

namespace shardtype::op {

// clang-format off
/// The operations of fft/, sorted by name. A family of operations is listed by its aliases.
inline constexpr Registered fourier_operations[] = {
    {"Fft", "fft"},
    {"FftFourStep", "fft_four_step"},
    {"Fftn", "fftn"},
    {"Ifft", "ifft"},
    {"IfftFourStep", "ifft_four_step"},
    {"Ifftn", "ifftn"},
    {"Irfft", "irfft"},
    {"Rfft", "rfft"},
};
// clang-format on

}  // namespace shardtype::op
