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
  Settings known;
  each_group(known, [&](auto const&, auto const& variables) {
    for (auto const& v : variables) {
      int const apart = detail::letters_apart(name, v.name);
      if (nearest.empty() || apart < least || (apart == least && nearest > v.name)) {
        nearest = v.name;
        least = apart;
      }
    }
  });
  if (least == 0) return {};
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
  each_group(out, [](auto& settings, auto const& variables) {
    for (auto const& v : variables) runtime::read_variable(v, settings);
  });
  return out;
}

}  // namespace shardtype::runtime
