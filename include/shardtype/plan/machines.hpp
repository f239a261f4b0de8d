#pragma once
/// Known machines, by published numbers, for plans and dry runs on machines that are not available.
///
/// A rank is a chip, a GPU or a node, as documented for each. Rates are peaks; programs reach less.
/// Products are predicted as flops over `flops_per_second`, the rate for `float` elements (other
/// elements count by their size). If a machine is rated for bfloat16, the rate here is the bfloat16
/// rate: tensors of `bfloat16` are predicted with it, and a program of `float` tensors with
/// `.element_bytes(2)` of the dry run, by which every element counts as two bytes. For a program
/// that really multiplies `float`, plan with `.at(rate)`.
///
/// Bandwidth is the bytes that a rank receives per second in a collective, while it sends as many.
/// A collective of p ranks costs one latency for each of its messages and one more. With `V` bytes
/// in all blocks together:
///
///     AllGather, ReduceScatter   V (p - 1) / p / bandwidth + p latency
///     AllReduce                  twice the bytes, 2 p - 1 latencies
///     AllToAll                   V / p (p - 1) / p / bandwidth + p latency through a switch,
///                                V / 4 / bandwidth + p latency on a ring, where ranks forward data

#include <cstdint>

#include <shardtype/plan/machine.hpp>

namespace shardtype::machines {

/// TPU v5e, a rank per chip: the torus of a pod, 16 x 16, whose axes are rings. Each axis has its
/// own links (ICI), 45 GB/s in each direction; a hop takes 1 us, and two messages travel at a time.
/// 197 Tflop/s of bfloat16, 819 GB/s of memory. Sources: cloud.google.com/tpu/docs/v5e (197
/// Tflop/s, 819 GB/s, 16 GB, 1600 Gbit/s of ICI over four links, 2D torus of 256); Austin et al.,
/// "How to Scale Your Model" (2025), parts 2 and 3: 4.5e10 B/s one way of these 5e10, 1 us a hop,
/// wraparound on axes of 16.
inline constexpr Machine tpu_v5e = [] {
  Machine m;
  m.latency = 0.5e-6;
  m.bytes_per_second = 9e10;
  m.flops_per_second = 1.97e14;
  m.memory_bytes_per_second = 8.2e11;
  m.cut_product = 1.0;
  m.torus = true;
  return m;
}();
/// Memory of a TPU v5e chip.
inline constexpr std::int64_t tpu_v5e_memory = 16'000'000'000;

/// A slice of a pod of TPU v5e in which the mesh axes `Lines` are shorter than 16: they are not
/// closed to rings, so data travel in one direction at a time, one hop per message.
template <class... Lines>
constexpr Machine tpu_v5e_slice() {
  Machine m = tpu_v5e;
  ((m = m.with<Lines>(1e-6, 4.5e10)), ...);
  return m;
}

/// Eight H100 (SXM) of one node, a rank per GPU: NVLink through a switch, 450 GB/s each way. 990
/// Tflop/s of bfloat16 without sparsity, 3.35 TB/s of memory. The latency is a round number.
/// Source: NVIDIA, H100 data sheet (1979 Tflop/s of bfloat16 with sparsity, half of it without; 900
/// GB/s of NVLink both ways together; 3.35 TB/s, 80 GB).
inline constexpr Machine h100_node = [] {
  Machine m;
  m.latency = 1e-6;
  m.bytes_per_second = 4.5e11;
  m.flops_per_second = 9.9e14;
  m.memory_bytes_per_second = 3.35e12;
  m.cut_product = 1.0;
  return m;
}();
/// Memory of an H100 (SXM).
inline constexpr std::int64_t h100_memory = 80'000'000'000;
/// Rates of an H100 (SXM) for products of float: in TF32 on its tensor cores, without sparsity, and
/// in full float.
inline constexpr double h100_tf32 = 4.95e14;
inline constexpr double h100_float = 6.7e13;

/// Nodes of eight H100 over InfiniBand NDR, a rank per GPU: mesh axis `Node` (8 ranks at most)
/// stays in the node, over NVLink; all other axes leave it, over the 400 Gbit/s of each GPU. The
/// latency is a round number. Sources: as h100_node; NVIDIA, DGX H100 data sheet (eight ConnectX-7
/// of 400 Gbit/s).
template <class Node>
constexpr Machine h100_cluster() {
  Machine m = h100_node;
  m.latency = 2e-6;
  m.bytes_per_second = 5e10;
  return m.with<Node>(h100_node.latency, h100_node.bytes_per_second);
}

/// Nodes of two AMD EPYC 7763 over InfiniBand HDR, a rank per node: 200 Gbit/s. 10 Tflop/s of float
/// (128 cores of 2.45 GHz, 32 flops a cycle), 409.6 GB/s of memory. The latency is a round number.
/// Sources: docs.lumi-supercomputer.eu, LUMI-C (2.45 GHz, two AVX2 FMA a cycle, 204.8 GB/s per
/// socket); HDR is 200 Gbit/s by its standard.
inline constexpr Machine epyc_cluster = [] {
  Machine m;
  m.latency = 2e-6;
  m.bytes_per_second = 2.5e10;
  m.flops_per_second = 1.0e13;
  m.memory_bytes_per_second = 4.096e11;
  return m;
}();

}  // namespace shardtype::machines
