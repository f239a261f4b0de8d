#pragma once
/// Writes a plan of a whole expression as a function of strict mode.

#include <string>
#include <string_view>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/freeze/source_values.hpp>

namespace shardtype::freeze {

/// Writes the steps of a plan as statements, each of which computes a value in the sharding that it
/// has in the plan.
class SourceWriter : SourceValues {
 public:
  using SourceValues::Parts;

  SourceWriter(PlannedProgram const& p, SpelledNames const& spelled, Parts const& parts)
      : SourceValues(p, spelled, parts), planned_(p) {}

  /// A class of this name, whose call is the plan, and an assertion of its bytes.
  std::string text(std::string_view name);

 private:
  void write_given(int k);
  void write_steps();
  /// Whether a step's inputs, and a value like it if it begins a cotangent, are written.
  bool can_write(int k) const;
  bool is_part_of_operation(int k) const;
  void write_step(int k);
  void write_move(int k);
  void write_map(int k);
  void write_relabel(int k);
  void write_operation(int k);
  /// Whether an operation makes dims that are split, which no operand tells.
  bool makes_split_dims(int k) const;
  /// Input `m` of an operation, the value of step `in`, with its dims in the order of its type.
  std::string input_of_operation(int k, int m, int in) const;
  /// Of an operation with several results: names the first one, beside all of them.
  void name_results(int k);
  void write_backward(int k);
  /// A value that is one number everywhere.
  void write_filled(int k, char const* function);
  void write_pull(int k);
  /// The value of the operation whose operand's cotangent a step computes.
  int pulled_value(int k) const;
  /// The sharding in which step `k` would read a value, by those that it does read.
  Spec read_like(int k, int value) const;
  /// A variable that has the type and the extents of a value that step `k` does not read; or none.
  std::string stand_in(int k, int value) const;

  bool is_join(int k) const;
  /// Adds the texts of the results that step `k` reads.
  void add_results(int k, List& to) const;
  std::string parameters(bool types) const;
  /// Whether the type of an operand leaves a size open, so that a plan by types alone does.
  bool has_open_operand() const;

  PlannedProgram const& planned_;
  shardtype::detail::List<int> given_;
  List parameter_;  ///< names of the operands
  /// Whether each collective is called by its name: of a reshard of open sizes strict mode knows
  /// but a bound.
  bool moves_alike_ = true;
};

}  // namespace shardtype::freeze

#ifndef SHARDTYPE_COMPILED
#include <shardtype/freeze/source_writer.ipp>
#endif
