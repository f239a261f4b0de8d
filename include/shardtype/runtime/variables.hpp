#pragma once
/// Variables of the environment as tables: what each takes, and what it sets.

#include <cstdlib>
#include <string>
#include <string_view>

#include <shardtype/core/error.hpp>

namespace shardtype::runtime {

/// A variable of the environment that sets something in an `S`.
template <class S>
struct Variable {
  char const* name;
  char const* words;  ///< it takes, for error E05, with commas between; null: it takes a whole text
  /// Sets what a word says; false: it is none of them. Null: it is read elsewhere.
  bool (*take)(S& to, std::string_view word);
  /// A flag that is alike on all ranks: it holds where it holds on each.
  bool S::* alike = nullptr;
};

/// For a `take` of two words: whether it is one of them.
inline bool chosen(bool& flag, std::string_view word, std::string_view on, std::string_view off) {
  flag = word == on;
  return flag || word == off;
}

/// Reads the variable from the environment. Error E05: a word that it does not take.
template <class S>
void read_variable(Variable<S> const& v, S& to) {
  char const* const set = v.take != nullptr ? std::getenv(v.name) : nullptr;
  if (set == nullptr) return;
  std::string_view rest = set;
  if (v.words == nullptr) v.take(to, rest);
  while (v.words != nullptr && !rest.empty()) {
    std::string_view const word = rest.substr(0, rest.find(','));
    if (!word.empty() && !v.take(to, word))
      throw Error("E05",
                  std::string(v.name) + "=" + set + ": it does not know '" + std::string(word) +
                      "'; it takes " + v.words,
                  FailedOn::every_rank);
    rest.remove_prefix(word.size() + (word.size() < rest.size() ? 1 : 0));
  }
}

}  // namespace shardtype::runtime
