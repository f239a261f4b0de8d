#pragma once
/// Writes a plan of a whole expression as a function of strict mode.

#include <cstdint>
#include <string>
#include <string_view>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/freeze/part_text.hpp>
#include <shardtype/lazy/planned_program.hpp>
#include <shardtype/lazy/step_texts.hpp>

namespace shardtype::freeze {

/// Writes the steps of a plan as statements, each of which computes a value in the sharding that it
/// has in the plan.
class SourceWriter {
 public:
  using Parts = shardtype::detail::List<shardtype::detail::Owned<PartText const>>;

  /// `parts`: those of the expression, by number.
  SourceWriter(PlannedProgram const& p, SpelledNames const& spelled, Parts const& parts);

  /// A class of this name, whose call is the plan, and an assertion of its bytes.
  std::string text(std::string_view name);

 private:
  using Labels = planning::ProgramLabels;
  using List = shardtype::detail::List<std::string>;

  ProgramStep const& step(int k) const { return plan_.steps.at[k]; }
  ProgramNode const& node(int k) const { return plan_.program.nodes.at[step(k).node]; }
  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  std::string const& variable(int k) const { return variable_[at(k)]; }
  /// The dims of a step's value in the order that it has in the printed function.
  Labels const& order(int k) const { return order_[at(k)]; }
  Labels labels_of(int k) const;
  /// The part of the expression that a step computes, or whose cotangents it computes.
  PartText const& part(int k) const;
  PartText const& part_of_elements(int k) const;
  TextOf text_of(int k);

  std::string label(int l) const;
  std::string axis(int x) const;
  std::string axes(AxisList const& list, char const* after = "") const;
  std::string dim(int l, AxisList const& axes) const;
  /// `Dim<I, X>, Dim<J>, Unreduced<Y>`: a step's sharding, with its dims in this order.
  std::string sharding(int k, Labels const& order) const;
  /// The same as the arguments of a template: of a value without dims its type.
  std::string named(int k) const;
  std::string list(Labels const& labels) const;

  void write_step(int k);
  void write_move(int k);
  void write_map(int k);
  void write_backward(int k);
  void write_relabel(int k);
  void write_operation(int k);
  /// Of an operation with several results: names the first one, beside all of them.
  void name_results(int k);
  void write_pull(int k);
  /// The value of the operation whose operand's cotangent a step computes.
  int pulled_value(int k) const;
  /// The sharding in which step `k` would read a value, by those that it does read.
  Spec read_like(int k, int value) const;
  /// A variable that has the type and the extents of a value that step `k` does not read; or none.
  std::string stand_in(int k, int value) const;
  /// The value of step `k` with its dims in the order of another one.
  std::string in_order(int k, ProgramNode const& of) const;
  /// Whether a step's inputs, and a value like it if it begins a cotangent, are written.
  bool can_write(int k) const;
  void write_steps();
  bool is_part_of_operation(int k) const;
  /// A written value with the sharding, dims and elements of step `k`, or -1.
  int find_like(int k) const;
  /// A value that is one number everywhere.
  void write_filled(int k, char const* function);
  /// The block of `from` repeated along the dims that it lacks; `order`: the dims of that.
  std::string spread(int from, int k, Labels& order) const;
  /// The variables of a step's inputs.
  List inputs(int k, int count) const;
  static std::string joined(List const& texts);
  /// Input `m` of an operation, with its dims in the order of its type.
  std::string input_of_operation(int k, int m) const;
  void define(int k, std::string const& text, Labels const& order);
  void define(int k, ArgumentText const& expression, Labels const& order);
  /// The same value as an earlier one.
  void rename(int k, int as);
  /// The order of dims that a function of elements gives: that of the operand with all of them.
  Labels order_of_map(int k) const;
  bool is_join(int k) const;
  /// Adds the texts of the results that step `k` reads.
  void add_results(int k, List& to) const;
  /// The value of step `k` with its dims in this order.
  std::string result(int k, Labels const& wanted) const;
  std::string parameters(bool types) const;
  /// Whether the type of an operand leaves a size open, so that a plan by types alone does.
  bool has_open_operand() const;
  void write_given(int k);

  PlannedProgram const& planned_;
  ProgramPlan const& plan_;
  shardtype::detail::ProgramNames const& names_;
  shardtype::detail::StepTexts texts_;
  SpelledNames const& spelled_;
  Parts const& parts_;
  FunctionNames functions_;
  List variable_;
  shardtype::detail::List<Labels> order_;
  List lines_;
  List amounts_;
  shardtype::detail::List<int> given_;
  List parameter_;                         ///< names of the operands
  shardtype::detail::List<int> versions_;  ///< of each value, of the moved ones
};

}  // namespace shardtype::freeze

#ifndef SHARDTYPE_COMPILED
#include <shardtype/freeze/source_writer.ipp>
#endif
