#pragma once
/// Host: elementwise expressions that are computed while they are read, whatever way their operands
/// lie.

#include <cstdint>

#include <shardtype/kernels/expression.hpp>

namespace shardtype::kernels {

/// An expression of operands `Types`, whose elements are computed in the order of its packed result
/// by blocks, each as `evaluate` computes it.
template <class T, class E, class Types>
class ExpressionBlocks : detail::OperandRuns<Types> {
  using Base = detail::OperandRuns<Types>;
  using Part = typename Base::Part;

 public:
  /// `result`: its extents.
  ExpressionBlocks(E const& e, Layout const& result, Sources<Types::count> const& operands)
      : ExpressionBlocks(e, merged_operands(result, operands)) {}

  /// Reads this expression, which must outlive what is returned.
  ElementBlocks<T> elements() const { return {this, &write, 0}; }

 private:
  struct Merged {
    Layout result;
    Sources<Types::count> operands;
  };
  static Merged merged_operands(Layout const& result, Sources<Types::count> operands) {
    // one without elements is read nowhere
    Layout const given = result.elements() == 0 ? Layout{} : result;
    Layout const merged = detail::merge_dims(given, operands);
    return {merged, operands};
  }
  ExpressionBlocks(E const& e, Merged const& merged)
      : Base(merged.result, merged.operands), expression_(e) {}

  static void write(void const* self, std::int64_t begin, std::int64_t n, T* to) {
    static_cast<ExpressionBlocks const*>(self)->compute(begin, n, to);
  }
  void compute(std::int64_t begin, std::int64_t n, T* to) const {
    alignas(64) typename Base::Buffer buffers[Base::slots];
    void const* from[Base::slots];
    std::int64_t row = begin / Base::length;
    std::int64_t first = begin % Base::length;
    while (n > 0) {
      Part part = rows_at(row / Base::rows);
      part.row = row % Base::rows;
      std::int64_t m = 1;  // rows
      part.n = Base::length - first < n ? Base::length - first : n;
      if (first == 0 && part.n == Base::length && Base::together > 1) {
        m = n / Base::length < Base::together ? n / Base::length : Base::together;
        if (Base::rows - part.row < m) m = Base::rows - part.row;
      } else if (part.n > Base::run) {
        part.n = Base::run;
      }
      for (int k = 0; k < Base::count; ++k)
        part.offset[k] += first * Base::in.stride[k][Base::shape.rank - 1];
      Base::place(from, part, part.row, m, true, buffers);
      std::int64_t const made = m * part.n;
      detail::compute_run(expression_, from, 0, made, to);
      to += made;
      n -= made;
      first += part.n;
      if (first == Base::length) {
        first = 0;
        row += m;
      }
    }
  }
  /// The part whose rows are those of number `outer` of the dims before them.
  Part rows_at(std::int64_t outer) const {
    Part p{};
    for (int d = Base::shape.rank - 3; d >= 0; --d) {
      std::int64_t const at = outer % Base::shape.extent[d];
      outer /= Base::shape.extent[d];
      for (int k = 0; k < Base::count; ++k) p.offset[k] += at * Base::in.stride[k][d];
    }
    return p;
  }

  E expression_;
};

}  // namespace shardtype::kernels
