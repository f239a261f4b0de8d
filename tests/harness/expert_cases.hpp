#pragma once
/// Sizes of mixtures of experts, and where tokens go.

#include <cstdint>
#include <vector>

namespace expert_cases {

/// Sizes, and the expert of choice k of token s.
struct Case {
  std::int64_t tokens, experts, choices;
  std::int64_t (*expert)(Case const&, std::int64_t, std::int64_t);
  std::int64_t features = 5, hidden = 6;
  std::vector<std::int64_t> ids() const {
    std::vector<std::int64_t> out;
    for (std::int64_t s = 0; s < tokens; ++s)
      for (std::int64_t k = 0; k < choices; ++k) out.push_back(expert(*this, s, k));
    return out;
  }
};
inline std::int64_t mixed(Case const& c, std::int64_t s, std::int64_t k) {
  return (s * 7 + s / 3 + k) % c.experts;
}
inline std::int64_t all_to_last(Case const& c, std::int64_t, std::int64_t) { return c.experts - 1; }

}  // namespace expert_cases
