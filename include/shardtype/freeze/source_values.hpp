#pragma once
/// The values of a plan as variables of a function of strict mode, their shardings as C++.

#include <cstddef>
#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/freeze/part_text.hpp>
#include <shardtype/lazy/planned_program.hpp>
#include <shardtype/lazy/step_texts.hpp>

namespace shardtype::freeze {

/// The variables of a printed function, and the statements that define them.
class SourceValues {
 public:
  using Parts = shardtype::detail::List<shardtype::detail::Owned<PartText const>>;

 protected:
  using Labels = planning::ProgramLabels;
  using List = shardtype::detail::List<std::string>;

  /// `parts`: those of the expression, by number.
  SourceValues(PlannedProgram const& p, SpelledNames const& spelled, Parts const& parts);

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

  /// What a variable is called, in small letters, and as no index or axis.
  std::string variable_name(std::string const& text) const;
  std::string label(int l) const;
  std::string axis(int x) const;
  std::string axes(AxisList const& list) const;
  std::string dim(int l, AxisList const& axes) const;
  /// `Dim<I, X>, Dim<J>, Unreduced<Y>`: a step's sharding, with its dims in this order.
  std::string sharding(int k, Labels const& order) const;
  /// The same as the arguments of a template: of a value without dims its type.
  std::string named(int k) const;
  std::string list(Labels const& labels) const;

  /// The variables of a step's inputs.
  List inputs(int k, int count) const;
  static std::string joined(List const& texts);
  /// The value of step `k` with its dims in this order, or in that of another value.
  std::string result(int k, Labels const& wanted) const;
  std::string in_order(int k, ProgramNode const& of) const;
  /// The order of dims that a function of elements gives: that of the operand with all of them.
  Labels order_of_map(int k) const;
  /// A written value with the sharding, dims and elements of step `k`, or -1.
  int find_like(int k) const;
  /// The value `from` repeated along the dims that it lacks of step `k`; `order`: the dims of that.
  std::string spread(int from, int k, Labels& order) const;

  void define(int k, std::string const& text, Labels const& order);
  void define(int k, ArgumentText const& expression, Labels const& order);
  /// The same value as an earlier one.
  void rename(int k, int as);

  ProgramPlan const& plan_;
  shardtype::detail::ProgramNames const& names_;
  shardtype::detail::StepTexts texts_;
  SpelledNames const& spelled_;
  Parts const& parts_;
  FunctionNames functions_;
  List variable_;
  shardtype::detail::List<Labels> order_;
  List lines_;                             ///< the statements
  List amounts_;                           ///< of each what it sends or computes
  shardtype::detail::List<int> versions_;  ///< of each value, of the moved ones
};

}  // namespace shardtype::freeze

#ifndef SHARDTYPE_COMPILED
#include <shardtype/freeze/source_values.ipp>
#endif
