// Extents, axis sizes and machines for tests of the reshard planner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <shardtype/types.hpp>

#include "harness/draw.hpp"

namespace settings {

struct Setting {
  std::string name;
  shardtype::planning::Sizing z{};
  shardtype::Machine m{};
};

inline shardtype::planning::Sizing sizing(std::int64_t px, std::int64_t py, std::int64_t pz,
                                          std::int64_t i, std::int64_t j, std::int64_t k = 1) {
  shardtype::planning::Sizing z;
  z.sizes = {{px, py, pz, 1}};
  z.extents = {{i, j, k}};
  z.element_bytes = 4;
  return z;
}

// Each byte costs more here, each message almost nothing.
inline shardtype::Machine slow_network() {
  shardtype::Machine m;
  m.latency = 1e-9;
  m.bytes_per_second = 1e8;
  return m;
}

// Axes of one to seven ranks; dims that are short, long, or divisible by all of them.
inline std::vector<Setting> drawn(unsigned seed, int count) {
  Draw draw(seed);
  std::vector<Setting> out;
  for (int k = 0; k < count; ++k) {
    std::int64_t const p[] = {1 + draw.below(6), 2 + draw.below(4), 2 + draw.below(6)};
    std::int64_t n[3];
    for (std::int64_t& extent : n) {
      int const kind = draw.below(3);
      extent = kind == 0   ? 1 + draw.below(12)
               : kind == 1 ? 1 + draw.below(4000)
                           : p[0] * p[1] * p[2] * (1 + draw.below(20));
    }
    Setting s{"", sizing(p[0], p[1], p[2], n[0], n[1], n[2]), {}};
    if (k % 3 == 1) s.m = slow_network();
    if (k % 3 == 2) {
      s.m.hops = 1.7;
      s.m.reducing = 1.3;
    }
    for (std::int64_t ranks : p) s.name += std::to_string(ranks) + " ";
    s.name += "ranks, extents";
    for (std::int64_t extent : n) s.name += " " + std::to_string(extent);
    s.name += ", machine " + std::to_string(k % 3);
    out.push_back(s);
  }
  return out;
}

}  // namespace settings
