#pragma once
/// Copies of blocks to another memory.

#include <cstddef>

#include <shardtype/execute/call.hpp>
#include <shardtype/ops/memory.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::op {

template <class... Space>
template <class Out, class A>
void ToMemory<Space...>::fill(Out& out, A const& a) const {
  auto const bytes = static_cast<std::size_t>(a.local_size()) * sizeof(typename A::element);
  if (bytes > 0)
    runtime::copy_bytes<typename Out::memory_space, typename A::memory_space>(
        out.buffer().data(), a.buffer().data(), bytes);
}

}  // namespace shardtype::op
