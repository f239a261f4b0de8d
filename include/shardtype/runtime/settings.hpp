#pragma once
/// The settings in a program's environment variables.

#include <cstdlib>
#include <string>
#include <string_view>

#include <shardtype/core/compiled.hpp>
#include <shardtype/fft/settings.hpp>
#include <shardtype/linalg/settings.hpp>
#include <shardtype/runtime/variables.hpp>

namespace shardtype::runtime {

/// The way in which a rank waits for others. `by_cores`: depends on the cores of its node.
enum class Waiting { by_cores, yield, spin };

/// The settings of the running program: what the variables below set, and those of each family.
struct Settings {
  bool check_agree = false;   ///< ranks compare their next steps (runtime/agreement.hpp)
  bool check_values = false;  ///< operations check values, such as ids outside of the table
  Waiting waiting = Waiting::by_cores;
  bool ends_with_barrier = false;  ///< instead of MPI_Finalize
  double agree_seconds = 10;       ///< a rank that does not arrive within this time is missing
  int node_size = 0;               ///< ranks of a pretended node; 0: nodes are what they are
  bool bfloat16_pairs = true;      ///< products of bfloat16 by AVX512_BF16 where all ranks have it
  bool watch = true;               ///< whether a process watches the ranks of a host (watcher.hpp)
  bool device_messages = true;     ///< whether MPI gets blocks of a device, where it says it can
  FourierSettings fft{};
  LinalgSettings linalg{};
};

inline constexpr Variable<Settings> own_variables[] = {
    {"SHARDTYPE_CHECK", "agree, values, or both with a comma between",
     [](Settings& s, std::string_view word) {
       s.check_agree = s.check_agree || word == "agree";
       s.check_values = s.check_values || word == "values";
       return word == "agree" || word == "values";
     }},
    {"SHARDTYPE_WAIT", "yield or spin",
     [](Settings& s, std::string_view word) {
       s.waiting = word == "yield" ? Waiting::yield : Waiting::spin;
       return word == "yield" || word == "spin";
     }},
    {"SHARDTYPE_FINALIZE", "barrier",
     [](Settings& s, std::string_view word) {
       s.ends_with_barrier = word == "barrier";
       return s.ends_with_barrier;
     }},
    {"SHARDTYPE_AGREE_SECONDS", "a number above 0",
     [](Settings& s, std::string_view word) {
       std::string const text(word);
       char* end = nullptr;
       s.agree_seconds = std::strtod(text.c_str(), &end);
       return *end == '\0' && s.agree_seconds > 0;  // false for a NaN
     }},
    {"SHARDTYPE_NODE_SIZE", "a number of ranks, at least 1",
     [](Settings& s, std::string_view word) {
       std::string const text(word);
       char* end = nullptr;
       long const n = std::strtol(text.c_str(), &end, 10);
       s.node_size = static_cast<int>(n);
       return *end == '\0' && n >= 1 && n == s.node_size;
     }},
    {"SHARDTYPE_BFLOAT16", "floats or pairs",
     [](Settings& s, std::string_view word) {
       return chosen(s.bfloat16_pairs, word, "pairs", "floats");
     }},
    {"SHARDTYPE_WATCH", "on or off",
     [](Settings& s, std::string_view word) { return chosen(s.watch, word, "on", "off"); },
     &Settings::watch},
    {"SHARDTYPE_DEVICE_MESSAGES", "direct or staged",
     [](Settings& s, std::string_view word) {
       return chosen(s.device_messages, word, "direct", "staged");
     }},
    {"SHARDTYPE_MACHINE", nullptr, nullptr},
    {"SHARDTYPE_TRACE", nullptr, nullptr},
};

/// Calls `f(settings, variables)` for these and for each family's.
template <class F>
void each_group(Settings& s, F f) {
  f(s, own_variables);
  f(s.fft, fourier_variables);
  f(s.linalg, linalg_variables);
}

/// The warning (E05) about an environment variable `name`, with the known variable most like it;
/// empty if it is known, does not begin with SHARDTYPE_, or is the SHARDTYPE_ROOT or SHARDTYPE_DIR
/// with which CMake and modules find the library.
std::string unknown_variable(std::string const& name);
/// Prints this of each variable of the environment.
void warn_of_unknown_variables();

/// Reads the settings from the environment. Error E05: an unknown word, or not a number.
Settings read_settings();

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/settings.ipp>
#endif
