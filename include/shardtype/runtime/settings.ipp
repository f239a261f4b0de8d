#pragma once
/// Definitions of settings.hpp.

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include <shardtype/core/list.hpp>
#include <shardtype/core/printable.hpp>
#include <shardtype/runtime/settings.hpp>

namespace shardtype::detail {

/// The least number of letters to change, add or remove that makes one word the other.
SHARDTYPE_INLINE int letters_apart(std::string const& a, std::string const& b) {
  List<int> row;
  for (std::size_t k = 0; k <= b.size(); ++k) row.push_back(static_cast<int>(k));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int corner = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t k = 1; k <= b.size(); ++k) {
      int const changed = corner + (a[i - 1] == b[k - 1] ? 0 : 1);
      corner = row[k];
      row[k] = std::min({changed, row[k] + 1, row[k - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace shardtype::detail

namespace shardtype::runtime {

SHARDTYPE_INLINE std::string unknown_variable(std::string const& name) {
  if (!name.starts_with("SHARDTYPE_") || name == "SHARDTYPE_ROOT" || name == "SHARDTYPE_DIR")
    return {};
  std::string nearest;
  int least = 0;
  for (char const* const known : known_variables) {
    int const apart = detail::letters_apart(name, known);
    if (apart == 0) return {};
    if (nearest.empty() || apart < least) {
      nearest = known;
      least = apart;
    }
  }
  return detail::printable(name) +
         " is no variable of the library and has no effect; the one most like it is " + nearest;
}

SHARDTYPE_INLINE void warn_of_unknown_variables() {
  for (char const* const* at = environ; at != nullptr && *at != nullptr; ++at) {
    std::string const text = *at;
    std::string const said = unknown_variable(text.substr(0, text.find('=')));
    if (!said.empty()) std::fprintf(stderr, "[shardtype E05] %s\n", said.c_str());
  }
}

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
  read_words("SHARDTYPE_LINALG_EXCHANGE", "window or messages", [&](std::string_view word) {
    out.linalg_window = word == "window";
    return word == "window" || word == "messages";
  });
  read_words("SHARDTYPE_LINALG_AHEAD", "0 or 1", [&](std::string_view word) {
    out.linalg_ahead = word == "1";
    return word == "0" || word == "1";
  });
  read_words("SHARDTYPE_BFLOAT16", "floats or pairs", [&](std::string_view word) {
    out.bfloat16_pairs = word == "pairs";
    return word == "floats" || word == "pairs";
  });
  return out;
}

}  // namespace shardtype::runtime
