#pragma once
/// The operands of elementwise expressions, without their types: copies of tensors, and where a
/// kernel reads them. What is here is compiled once, not once per combination of shardings.

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include <shardtype/core/compiled.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/runtime/small_blocks.hpp>
#include <shardtype/tensor/operand.hpp>

namespace shardtype {

namespace detail {

/// A tensor whose type is forgotten.
class FusedOperand : public HeldBlock {
 public:
  FusedOperand(HeldBlock const& block, int rank, std::int64_t const* extents, Rows const* rows);
  FusedOperand(FusedOperand const& other);
  FusedOperand(FusedOperand&& other) noexcept;
  FusedOperand& operator=(FusedOperand const&) = delete;
  FusedOperand& operator=(FusedOperand&&) = delete;
  ~FusedOperand() = default;

  int rank() const { return rank_; }
  std::int64_t const* extents() const { return extents_; }
  Rows const* rows() const { return rows_; }
  std::int64_t local_size() const;

 private:
  void keep(std::int64_t const* extents, Rows const* rows);

  int rank_;
  std::int64_t extents_[max_dims];
  Rows rows_[max_dims];
};

/// The operands of one expression, in the order of its kernel's slots.
class FusedOperands {
 public:
  explicit FusedOperands(int most);
  FusedOperands(FusedOperands const& other);
  FusedOperands(FusedOperands&& other) noexcept;
  FusedOperands& operator=(FusedOperands const&) = delete;
  FusedOperands& operator=(FusedOperands&&) = delete;
  ~FusedOperands() { clear(); }

  /// Adds a tensor.
  template <std::size_t rank>
  void add(HeldRows<rank> const& a) {
    add(a, static_cast<int>(rank), a.extents().data(), a.rows().data());
  }
  /// Adds those of an expression that becomes part of this one.
  void add(FusedOperands&& part);
  /// Releases the operands' memory.
  void clear() noexcept;

  int size() const { return size_; }
  FusedOperand const& operator[](int k) const { return at_[k]; }
  MeshRef const& mesh() const { return at_[0].mesh(); }

 private:
  void add(HeldBlock const& block, int rank, std::int64_t const* extents, Rows const* rows);

  FusedOperand* at_;
  int size_ = 0;
  int most_;
};

/// A tensor that may be absent, its type forgotten: the result of an expression.
class FusedResult {
 public:
  FusedResult() = default;
  FusedResult(FusedResult const& other);
  FusedResult(FusedResult&& other) noexcept;
  FusedResult& operator=(FusedResult const&) = delete;
  FusedResult& operator=(FusedResult&&) = delete;
  ~FusedResult();

  template <class A>
  void keep(A&& made) {
    at_ = ::new (runtime::take_small(sizeof(A))) A(static_cast<A&&>(made));
    copy_or_drop_ = &copy_or_drop<A>;
  }
  void* at() const { return at_; }

 private:
  template <class A>
  static void* copy_or_drop(void* at, bool copies) {
    auto* const a = static_cast<A*>(at);
    if (copies) return ::new (runtime::take_small(sizeof(A))) A(*a);
    a->~A();
    runtime::give_back_small(at, sizeof(A));
    return nullptr;
  }

  void* at_ = nullptr;
  void* (*copy_or_drop_)(void*, bool) = nullptr;
};

/// An operand's dims, from types: for each dim of the result, the one with the same label, or -1.
struct OperandDims {
  std::int8_t at[max_dims];
  std::int8_t element_bytes;
};

/// Writes the extents of the result that the operands give. Errors: E23, E24.
void fused_extents(FusedOperands const& in, OperandDims const* dims, Names const& names,
                   Spec const& result, std::int64_t* extents);

/// Whether no extent that the operands give differs from those of the result.
bool extents_agree(std::int64_t const* known, std::int64_t const* of_result, int rank);

/// An operand's block as a kernel reads it.
struct FusedBlock {
  void const* data;
  kernels::Layout layout;
  Rows rows[max_dims];

  explicit FusedBlock(FusedOperand const& a);
  /// Where a kernel whose result has these rows begins to read, and its strides.
  void place(OperandDims const& dims, int rank, Rows const* result, void const*& from,
             std::int64_t* stride) const;
};

/// Number of operands in the memory of `a`. Error E21 if one of them has other dims, as `alike`
/// says: writing `a` would then change elements that are still to be read.
int readers(FusedOperands const& in, bool const* alike, Buffer const& a, char const* name);

}  // namespace detail

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/execute/fused_operands.ipp>
#endif
