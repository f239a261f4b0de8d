#pragma once
/// Definitions of settings.hpp.

#include <shardtype/runtime/settings.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE Settings read_settings() {
  Settings out;
  read_words("SHARDTYPE_CHECK", "agree, values, or both with a comma between",
             [&](std::string_view word) {
               out.check_agree = out.check_agree || word == "agree";
               out.check_values = out.check_values || word == "values";
               return word == "agree" || word == "values";
             });
  read_words("SHARDTYPE_WAIT", "yield or spin", [&](std::string_view word) {
    out.waiting = word == "yield" ? Waiting::yield : Waiting::spin;
    return word == "yield" || word == "spin";
  });
  read_words("SHARDTYPE_FINALIZE", "barrier", [&](std::string_view word) {
    out.ends_with_barrier = word == "barrier";
    return out.ends_with_barrier;
  });
  read_words("SHARDTYPE_AGREE_SECONDS", "a number above 0", [&](std::string_view word) {
    std::string const text(word);
    char* end = nullptr;
    out.agree_seconds = std::strtod(text.c_str(), &end);
    return *end == '\0' && out.agree_seconds > 0;  // false for a NaN
  });
  read_words("SHARDTYPE_FFTW", "estimate, measure or patient", [&](std::string_view word) {
    out.fftw = word == "measure"   ? FftwPlanning::measure
               : word == "patient" ? FftwPlanning::patient
                                   : FftwPlanning::estimate;
    return word == "estimate" || word == "measure" || word == "patient";
  });
  if (char const* const file = std::getenv("SHARDTYPE_FFTW_WISDOM")) out.fftw_wisdom = file;
  read_words("SHARDTYPE_FFT_EXCHANGE", "window or messages", [&](std::string_view word) {
    out.fft_window = word == "window";
    return word == "window" || word == "messages";
  });
  return out;
}

}  // namespace shardtype::runtime
