#pragma once
/// The steps of a plan of a whole expression as text.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/core/text.hpp>
#include <shardtype/lazy/planned_program.hpp>
#include <shardtype/plan/explain.hpp>

namespace shardtype::detail {

/// `85.9 ms`, `2 µs`; three digits.
std::string seconds_text(double s);
/// "optimal", "within 0.003 % of the best possible"; nothing without a bound.
std::string gap_text(ProgramPlan const& plan);
/// Number of characters of a text, not of bytes.
std::size_t columns(std::string const& text);
inline std::string collectives_text(int n) {
  return std::to_string(n) + (n == 1 ? " collective" : " collectives");
}

/// Texts of each step. Operands are called A, B, ... in the order of the expression, computed
/// values T1, T2, ... in the order of the steps; a value keeps its name when it is moved or sliced.
/// Refers to the plan.
class StepTexts {
 public:
  explicit StepTexts(PlannedProgram const& p);

  /// `T1[I@X, K]{U:Y}`.
  std::string value(int step) const { return name(step) + sharding(step); }
  /// `T1`.
  std::string const& name(int step) const { return name_[static_cast<std::size_t>(step)]; }
  /// `[I@X, K]{U:Y}`.
  std::string sharding(int step) const { return spec_text(plan_.spec(step), names(step)); }
  /// The names of the axes, and of the labels of a step's dims.
  Names names(int step) const;
  /// `X,Y`: the axes over which a step sends.
  std::string group(int step) const;
  /// `given`, `product`, `map`, `reduction`, `relabel`, `transpose`, `slice`, `AllGather`, an
  /// operation's name; of the backward pass `pull`, `add`, `spread`, `ones`, `zeros`, too.
  std::string operation(int step) const;
  /// `AllGather X,Y`, `slice`, `product`, `lu_factor X`.
  std::string kind(int step) const {
    bool const sends =
        plan_.steps.at[step].collective != Collective::none || plan_.is_own_call(step);
    std::string const axes = sends ? group(step) : "";
    return operation(step) + (axes.empty() ? "" : " ") + axes;
  }
  /// The function of a step: `f`, `reduce`, an operation's name; of a pull `df`, `d softmax`.
  std::string function(int step) const;
  /// `B[J@Y, K] -> [J, K]`, `T1[I@X, K]{U:Y} = A[I@X, J@Y] · B[J@Y, K]`.
  std::string change(int step) const;
  /// Bytes moved by the busiest rank (`0.52 MB`) or flops it computes (`0.2 GFLOP`); `local` if
  /// neither.
  std::string amount(int step) const;
  /// The steps of the operands, in the order of the expression.
  List<int> given() const;
  /// `on X = 2, Y = 4; I = 1500, J = 1100`.
  std::string sizes() const;

 private:
  /// Whether a map is not part of the expression, but puts the dims of the result in the requested
  /// order.
  bool reorders(int node_number) const {
    ProgramNode const& n = plan_.program.nodes.at[node_number];
    return n.making == Making::map && n.origin < 0;
  }
  /// Number of operands further left in the expression.
  int given_before(int value) const;
  /// Whether a label before `l` has the same index and the same extent.
  bool said(int l) const;
  static std::string size(std::string_view name, std::int64_t n) {
    return std::string(name) + " = " + std::to_string(n);
  }
  static std::string letter(int k) {
    std::string out(1, static_cast<char>('A' + k % 19));  // up to S; T names computed values
    return k < 19 ? out : out + std::to_string(k / 19);
  }

  ProgramPlan const& plan_;
  ProgramNames const& names_;
  Names axes_{};
  List<std::string> name_;
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/lazy/step_texts.ipp>
#endif
