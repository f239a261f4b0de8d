#pragma once
/// The settings in a program's environment variables.

#include <cstdlib>
#include <string>
#include <string_view>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/error.hpp>

namespace shardtype::runtime {

/// How a rank waits for others. `by_cores`: depends on the cores of its node.
enum class Waiting { by_cores, yield, spin };

/// How FFTW finds a plan for a new shape: by a guess, or by trying some or many.
enum class FftwPlanning { estimate, measure, patient };

/// The values of SHARDTYPE_CHECK, SHARDTYPE_WAIT, SHARDTYPE_FINALIZE, SHARDTYPE_AGREE_SECONDS,
/// SHARDTYPE_BFLOAT16, SHARDTYPE_FFTW, SHARDTYPE_FFTW_WISDOM, SHARDTYPE_FFT_EXCHANGE,
/// SHARDTYPE_LINALG_EXCHANGE and SHARDTYPE_LINALG_AHEAD.
struct Settings {
  bool check_agree = false;   ///< ranks compare their next steps (runtime/agreement.hpp)
  bool check_values = false;  ///< operations check values, such as ids outside of the table
  Waiting waiting = Waiting::by_cores;
  bool ends_with_barrier = false;  ///< instead of MPI_Finalize
  double agree_seconds = 10;       ///< a rank that does not arrive within this time is missing
  FftwPlanning fftw = FftwPlanning::estimate;
  std::string fftw_wisdom{};   ///< the file that keeps what FFTW has measured; empty: none
  bool fft_window = true;      ///< Fourier transforms exchange in shared memory where they can
  bool linalg_window = true;   ///< panels of one matrix over a mesh axis lie in shared memory
  bool linalg_ahead = true;    ///< its next panel is factorized before the rest of an update
  bool bfloat16_pairs = true;  ///< products of bfloat16 by AVX512_BF16 where all ranks have it
};

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

/// All variables that a program reads.
inline constexpr char const* known_variables[] = {
    "SHARDTYPE_AGREE_SECONDS", "SHARDTYPE_BFLOAT16",     "SHARDTYPE_CHECK",
    "SHARDTYPE_FFTW",          "SHARDTYPE_FFTW_WISDOM",  "SHARDTYPE_FFT_EXCHANGE",
    "SHARDTYPE_FINALIZE",      "SHARDTYPE_LINALG_AHEAD", "SHARDTYPE_LINALG_EXCHANGE",
    "SHARDTYPE_MACHINE",       "SHARDTYPE_TRACE",        "SHARDTYPE_WAIT"};
/// What a `name` of another variable is told (E05): the known one that is the most like it; empty if
/// it is known, does not begin with SHARDTYPE_, or is the SHARDTYPE_ROOT or SHARDTYPE_DIR with which
/// CMake and modules find the library.
std::string unknown_variable(std::string const& name);
/// Prints this of each variable of the environment.
void warn_of_unknown_variables();

/// Reads the settings from the environment. Error E05: an unknown word, or not a number.
Settings read_settings();

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/settings.ipp>
#endif
