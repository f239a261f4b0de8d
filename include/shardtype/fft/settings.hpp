#pragma once
/// The settings of Fourier transforms.

#include <string>
#include <string_view>

#include <shardtype/runtime/variables.hpp>

namespace shardtype::runtime {

/// The way in which FFTW finds a plan for a new shape: by a guess, or by trying some or many.
enum class FftwPlanning { estimate, measure, patient };

/// The settings that the variables below set.
struct FourierSettings {
  FftwPlanning planning = FftwPlanning::estimate;
  std::string wisdom{};  ///< the file that keeps what FFTW has measured; empty: none
  bool window = true;    ///< transforms exchange in shared memory where they can
};

inline constexpr Variable<FourierSettings> fourier_variables[] = {
    {"SHARDTYPE_FFTW", "estimate, measure or patient",
     [](FourierSettings& s, std::string_view word) {
       s.planning = word == "measure"   ? FftwPlanning::measure
                    : word == "patient" ? FftwPlanning::patient
                                        : FftwPlanning::estimate;
       return s.planning != FftwPlanning::estimate || word == "estimate";
     }},
    {"SHARDTYPE_FFTW_WISDOM", nullptr,
     [](FourierSettings& s, std::string_view path) {
       s.wisdom = path;
       return true;
     }},
    {"SHARDTYPE_FFT_EXCHANGE", "window or messages",
     [](FourierSettings& s, std::string_view word) {
       return chosen(s.window, word, "window", "messages");
     },
     &FourierSettings::window},
};

}  // namespace shardtype::runtime
