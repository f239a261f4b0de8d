#pragma once
/// Elements of type bool in memory.

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace shardtype::kernels {

/// Elements of type bool, read as bytes, because g++ does not vectorise loads of bool.
struct Truths {
  void const* data;

  KOKKOS_FUNCTION bool operator[](std::int64_t k) const {
    return static_cast<unsigned char const*>(data)[k] != 0;
  }
  KOKKOS_FUNCTION Truths operator+(std::int64_t by) const {
    return {static_cast<unsigned char const*>(data) + by};
  }
};

}  // namespace shardtype::kernels
