#pragma once
/// What the environment variables of a program say.

#include <cstdlib>
#include <string>
#include <string_view>

#include <shardtype/core/error.hpp>

namespace shardtype::runtime {

/// How a rank waits for others. `by_cores`: as the cores of its node suggest.
enum class Waiting { by_cores, yield, spin };

/// The words of SHARDTYPE_CHECK, SHARDTYPE_WAIT and SHARDTYPE_FINALIZE, and the number of
/// SHARDTYPE_AGREE_SECONDS.
struct Settings {
  bool check_agree = false;  ///< ranks compare what they are about to do (runtime/agreement.hpp)
  bool check_values =
      false;  ///< operations look at the values they are given, such as ids outside the table
  Waiting waiting = Waiting::by_cores;
  bool ends_with_barrier = false;  ///< in place of MPI_Finalize
  double agree_seconds = 10;       ///< a rank that does not come for longer is missing
};

/// Those of this program. Set once, by Environment.
inline Settings settings;

/// Calls `take` for each of the words of `variable`, which commas part. Error E05 where it takes one not.
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

/// What the environment says. Error E05: a word that the variable does not have, or no number.
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
  return out;
}

}  // namespace shardtype::runtime
