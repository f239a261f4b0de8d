#pragma once
/// The settings of linear algebra.

#include <string_view>

#include <shardtype/runtime/variables.hpp>

namespace shardtype::runtime {

/// Settings of linear algebra, which the variables below set.
struct LinalgSettings {
  bool window = true;  ///< panels of one matrix over a mesh axis lie in shared memory
  bool ahead = true;   ///< its next panel is factorized before the rest of an update
};

inline constexpr Variable<LinalgSettings> linalg_variables[] = {
    {"SHARDTYPE_LINALG_EXCHANGE", "window or messages",
     [](LinalgSettings& s, std::string_view word) {
       return chosen(s.window, word, "window", "messages");
     },
     &LinalgSettings::window},
    {"SHARDTYPE_LINALG_AHEAD", "0 or 1",
     [](LinalgSettings& s, std::string_view word) { return chosen(s.ahead, word, "1", "0"); },
     &LinalgSettings::ahead},
};

}  // namespace shardtype::runtime
