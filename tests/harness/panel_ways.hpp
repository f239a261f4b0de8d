// The ways in which panels of one matrix over a mesh axis travel: in the node's shared window or by messages, with look-ahead
// or without.
#pragma once

#include <cstdint>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "shim/pmpi.hpp"

namespace panel_ways {

struct Way {
  bool window = true;
  bool ahead = true;
};
inline constexpr Way all[] = {{true, true}, {true, false}, {false, true}, {false, false}};

// Panels travel in this way while it exists.
class Travel {
 public:
  explicit Travel(Way const& way) {
    auto& s = shardtype::runtime::run_time.settings;
    s.linalg_window = way.window;
    s.linalg_ahead = way.ahead;
  }
  Travel(Travel const&) = delete;
  Travel& operator=(Travel const&) = delete;
  ~Travel() {
    auto& s = shardtype::runtime::run_time.settings;
    s.linalg_window = was_.window;
    s.linalg_ahead = was_.ahead;
  }

 private:
  Way was_{shardtype::runtime::run_time.settings.linalg_window,
           shardtype::runtime::run_time.settings.linalg_ahead};
};

// `body(way)` in each of them.
template <class Body>
void in_each(Body body) {
  for (Way const& way : all) {
    INFO((way.window ? "in the window" : "by messages") << (way.ahead ? "" : ", no look-ahead"));
    Travel const travel(way);
    body(way);
  }
}

// Growing the window of a mesh sends messages: makes it large enough before bytes are counted.
template <class Mesh>
void prepare(Mesh const& mesh) {
  mesh.state().window().reserve(1 << 23);
}

// What ranks give each other: by messages, by the shim's count, and in windows.
class Counted {
 public:
  Counted() { shim::reset(); }
  std::int64_t messages() const { return shim::bytes(); }
  std::int64_t windows() const {
    return shardtype::runtime::run_time.exchanged_in_windows - before_;
  }
  std::int64_t bytes() const { return messages() + windows(); }

 private:
  std::int64_t before_ = shardtype::runtime::run_time.exchanged_in_windows;
};

}  // namespace panel_ways
