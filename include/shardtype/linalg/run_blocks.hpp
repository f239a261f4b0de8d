#pragma once
/// The blocks of operands as stacks of matrices, and what operations on them have in common.

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/linalg/kernels_own.hpp>
#include <shardtype/linalg/kernels_stack.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/run_time.hpp>
#include <shardtype/tensor/block_layout.hpp>

namespace shardtype {

namespace linalg {

namespace detail {

using namespace execute;

/// Error E79 where the program has no LAPACK.
inline void need_lapack(char const* what) {
  if (!kernels::have_lapack)
    throw Error("E79",
                std::string(what) +
                    " needs LAPACK, and this program has none; install libopenblas-dev or "
                    "liblapack-dev, and configure again",
                FailedOn::every_rank);
}

/// Requirements on elements: float, double, or their complex numbers, all of one type, in memory
/// that the host can access.
template <class A, class... Bs>
constexpr rules::Code elements() {
  using T = kernels::real_t<checking::element_t<A>>;
  if (!runtime::host_reads<typename A::memory_space>) return rules::Code::Q14_device_memory;
  if (!(std::is_same_v<checking::element_t<A>, checking::element_t<Bs>> && ...))
    return rules::Code::C10_element_types_differ;
  return std::is_same_v<T, float> || std::is_same_v<T, double> ? rules::Code::ok
                                                               : rules::Code::P12_not_floating;
}

/// The block of `b` as a stack whose matrices are numbered as those of `A`, a type with rows I and
/// columns J; `Row` is the label of b's rows, its other dims are columns.
template <class A, class I, class J, class Row, class T, class B>
kernels::Stack<T> stack_beside(B const& b, T* data) {
  using S = Scope<A, B, shardtype::detail::Bare<I, J, Row>>;
  constexpr auto matrix = S::template spec<0>;
  constexpr auto mine = S::template spec<1>;
  constexpr auto own = S::template spec<2>;
  kernels::Layout const block = shardtype::detail::block_layout(b.rows());
  kernels::Stack<T> out;
  out.data = data;
  kernels::Layout batch, cols;
  for (int d = 0; d < matrix.rank; ++d) {
    int const label = matrix.dims[d].label;
    if (label == own.dims[0].label || label == own.dims[1].label) continue;
    int const e = mine.find(label);
    batch.extent[batch.rank] = block.extent[e];
    batch.stride[batch.rank++] = block.stride[e];
  }
  for (int d = 0; d < mine.rank; ++d) {
    int const label = mine.dims[d].label;
    if (label == own.dims[2].label) {
      out.rows = block.extent[d];
      out.row_stride = block.stride[d];
    } else if (matrix.find(label) < 0 || label == own.dims[0].label || label == own.dims[1].label) {
      cols.extent[cols.rank] = block.extent[d];
      cols.stride[cols.rank++] = block.stride[d];
    }
  }
  out.count = batch.elements();
  out.width = cols.elements();
  out.batch = kernels::merged(batch);
  out.cols = kernels::merged(cols);
  return out;
}
/// The matrices of `a`, with rows I and columns J.
template <class I, class J, class A>
auto matrices(A const& a) {
  return detail::stack_beside<A, I, J, I>(a, execute::data_of(a));
}
/// Memory for `n` elements of T, from the pool of the mesh of `a`.
template <class T, class A>
Buffer room(A const& a, std::int64_t n) {
  return a.mesh().state().pool().template take<typename A::memory_space>(
      static_cast<std::size_t>(n) * sizeof(T));
}

/// " at B = 17", of matrix t of `a`; "" of one matrix.
template <class I, class J, class A>
std::string place_of(A const& a, std::int64_t t) {
  using S = Scope<A, shardtype::detail::Bare<I, J>>;
  constexpr auto matrix = S::template spec<0>;
  constexpr auto own = S::template spec<1>;
  std::string place;
  for (int d = matrix.rank - 1; d >= 0; --d) {
    if (own.find(matrix.dims[d].label) >= 0) continue;
    auto const& rows = a.rows()[static_cast<std::size_t>(d)];
    place = std::string(S::names.label_name[matrix.dims[d].label]) + " = " +
            std::to_string(rows[t % rows.size()]) + (place.empty() ? "" : ", ") + place;
    t /= rows.size();
  }
  return place.empty() ? "" : " at " + place;
}
/// Error `code` that names matrix t of `a` where SHARDTYPE_CHECK=values asks for it.
template <class I, class J, class A>
void report(A const& a, std::int64_t t, char const* code, std::string const& text) {
  if (run_time.settings.check_values)
    throw Error(code, "the matrix" + linalg::detail::place_of<I, J>(a, t) + " " + text);
}

/// Error E41 unless the operand's extents along its first two labels, rows and columns, are equal.
constexpr void check_square(ResultExtents const& c) {
  int const rows = c.a().find(c.from().dims[0].label), cols = c.a().find(c.from().dims[1].label);
  if (c.given[0][rows] != c.given[0][cols])
    ResultExtents::fail("index " + c.name(rows) + " has extent " +
                        std::to_string(c.given[0][rows]) + " and " + c.name(cols) + " " +
                        std::to_string(c.given[0][cols]) + "; the matrix is to be square");
}
/// Error E24 unless operand k has the extents of the first one along the labels that both have.
constexpr void check_shared(ResultExtents const& c, int k) {
  for (int d = 0; d < c.a().rank; ++d)
    if (int const e = c.operand(k).find(c.a().dims[d].label);
        e >= 0 && c.given[k][e] != c.given[0][d])
      ResultExtents::fail("index " + c.name(d) + " has extent " + std::to_string(c.given[0][d]) +
                              " in the matrix and " + std::to_string(c.given[k][e]) + " in b",
                          "E24");
}
/// Sets the result's extent of `to`, where `from` is the first operand's label of the same extent.
constexpr void set_extent(ResultExtents const& c, int label, std::int64_t n) {
  if (int const d = c.result.find(label); d >= 0) c.out[d] = n;
}
/// The extent of the first operand's rows.
constexpr std::int64_t order_of(ResultExtents const& c) {
  return c.given[0][c.a().find(c.from().dims[0].label)];
}
/// The extents of operand `b` with the columns, or with `transposed` the rows, in the place of what
/// it shares with a square matrix. Errors E24, E41.
constexpr void set_solution(ResultExtents const& c, int b, bool transposed = false) {
  check_square(c);
  check_shared(c, b);
  set_extent(c, c.from().dims[transposed ? 0 : 1].label, order_of(c));
}

/// The extent of the first operand's columns.
constexpr std::int64_t columns_of(ResultExtents const& c) {
  return c.given[0][c.a().find(c.from().dims[1].label)];
}
/// The extent of the first dim that the operation creates: the shorter one of rows and columns.
constexpr void set_shorter(ResultExtents const& c) {
  set_extent(c, c.to().dims[0].label, std::min(order_of(c), columns_of(c)));
}

/// Several results in the struct `Names`, whose template arguments are their types.
template <template <class...> class Names, class... Rs>
constexpr Names<Rs...> named_results(std::tuple<Rs...> results) {
  return std::apply([](Rs&... each) { return Names<Rs...>{std::move(each)...}; }, results);
}

/// Defaults of operations on matrices with rows I and columns J, which are whole on each rank.
template <class I, class J>
struct OnMatrices {
  using from = shardtype::detail::Bare<I, J>;
  template <class A, class... Bs>
  static constexpr rules::Code elements() {
    return detail::elements<A, Bs...>();
  }
};
/// The same of square matrices.
template <class I, class J>
struct OnSquareMatrices : OnMatrices<I, J> {
  constexpr void extents(ResultExtents const& c) const { check_square(c); }
};

/// The same, of operands a, its scaled factors (op::ScaledLu), and others.
template <class I, class J>
struct OnFactors : OnSquareMatrices<I, J> {
  static constexpr int results_from = 1, results_to = 4;
  template <class A, class F, class P, class E, class... Bs>
  static constexpr rules::Code elements() {
    return detail::elements<A, F, Bs...>();
  }
};

}  // namespace detail
}  // namespace linalg
}  // namespace shardtype
