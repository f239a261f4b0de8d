// The replicas of a model, compared between ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <shardtype/shardtype.hpp>
#include <shardtype/train/structures.hpp>

#include "harness/host_block.hpp"

namespace harness {

// Whether all ranks that hold an element of a replicated tensor have the same bits.
template <class M>
bool replicas_agree(M const& model) {
  bool same = true;
  shardtype::train::for_each_tensor(
      [&]<class A>(std::string_view, A const& a) {
        if constexpr (shardtype::train::is_trained<A>) {
          auto const whole = shardtype::to_host(a);
          if constexpr (A::spec.mentioned().size() == 0) {
            auto const block = harness::host_block(a);
            for (std::size_t k = 0; k < whole.size(); ++k)
              same = same && std::memcmp(&whole[k], block.data() + k, sizeof whole[k]) == 0;
          }
        }
      },
      model);
  std::int64_t const all = shardtype::detail::reduce_number(MPI_COMM_WORLD, same ? 1 : 0, MPI_MIN);
  return all == 1;
}

}  // namespace harness
