#pragma once
/// The settings in a program's environment variables.

#include <cstdlib>
#include <string>
#include <string_view>

#include <shardtype/core/error.hpp>

namespace shardtype::runtime {

/// How a rank waits for others. `by_cores`: depends on the cores of its node.
enum class Waiting { by_cores, yield, spin };

/// How FFTW finds a plan for a new shape: by a guess, or by trying some or many.
enum class FftwPlanning { estimate, measure, patient };

/// The values of SHARDTYPE_CHECK, SHARDTYPE_WAIT, SHARDTYPE_FINALIZE, SHARDTYPE_AGREE_SECONDS and
/// SHARDTYPE_FFTW.
struct Settings {
  bool check_agree = false;   ///< ranks compare their next steps (runtime/agreement.hpp)
  bool check_values = false;  ///< operations check values, such as ids outside of the table
  Waiting waiting = Waiting::by_cores;
  bool ends_with_barrier = false;  ///< instead of MPI_Finalize
  double agree_seconds = 10;       ///< a rank that does not arrive within this time is missing
  FftwPlanning fftw = FftwPlanning::estimate;
};

/// The settings of this program. Set once, by Environment.
inline Settings settings;

/// Calls `take` for each comma-separated word of `variable`. Error E05 if `take` does not accept a
/// word.
template <class Take>
void read_words(char const* variable, char const* words, Take take) {
  char const* const set = std::getenv(variable);
  std::string_view rest = set == nullptr ? "" : set;
  std::string const all(rest);
  while (!rest.empty()) {
    std::string_view const word = rest.substr(0, rest.find(','));
    if (!word.empty() && !take(word))
      throw Error("E05",
                  std::string(variable) + "=" + all + ": it does not know '" + std::string(word) +
                      "'; it takes " + words,
                  FailedOn::every_rank);
    rest.remove_prefix(word.size() + (word.size() < rest.size() ? 1 : 0));
  }
}

/// Reads the settings from the environment. Error E05: an unknown word, or not a number.
inline Settings read_settings() {
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
  return out;
}

}  // namespace shardtype::runtime
