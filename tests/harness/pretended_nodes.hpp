// Other nodes than those that are there, for meshes that are made from now on.
#pragma once

#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace harness {

// While it exists, nodes have `ranks` ranks, as under SHARDTYPE_NODE_SIZE. All ranks make it.
class PretendedNodes {
 public:
  explicit PretendedNodes(int ranks) { look(ranks); }
  PretendedNodes(PretendedNodes const&) = delete;
  PretendedNodes& operator=(PretendedNodes const&) = delete;
  ~PretendedNodes() { look(before_); }

 private:
  static void look(int ranks) {
    shardtype::runtime::run_time.settings.node_size = ranks;
    shardtype::detail::look_at_node();
  }

  int before_ = shardtype::runtime::run_time.settings.node_size;
};

}  // namespace harness
