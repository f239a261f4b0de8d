#pragma once
/// A plan as a picture: its values as cards, with the steps between them.

#include <algorithm>
#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/escape.hpp>
#include <shardtype/lazy/step_texts.hpp>
#include <shardtype/visualize/program_layout.hpp>
#include <shardtype/visualize/tensor_svg.hpp>

namespace shardtype::detail {

/// The kind of a step's time, `send`, `product` or `local`, as a CSS class.
std::string step_class(ProgramPlan const& plan, int step);

/// Number of a step, from 1 as in `explain`; operands of the program have none.
int line_of(ProgramPlan const& plan, int step);

/// The picture of a plan, as SVG, with operands above their readers.
class ProgramSvg {
 public:
  ProgramSvg(PlannedProgram const& p, StepTexts const& texts);

  std::string draw() const;

 private:
  static constexpr int gap = 28, between = 88, margin = 12, pill = 44, top_part = 54;

  /// Room for the label to the left of a tensor.
  int caption(int step) const;
  static int wide(std::string const& text) { return static_cast<int>(columns(text)); }
  /// Room for arrows at the sides of cards.
  int side() const;
  static std::string definitions();
  int left(int step) const { return margin + layout_.column(step) * (card_width_ + gap); }
  int center(int step) const { return left(step) + card_width_ / 2; }
  int top(int step) const { return margin + layout_.row(step) * (card_height_ + between); }
  int pill_top(int step) const { return top(step) - pill - 14; }

  /// Arrows from the operands of a step to its operation, and from there to its value.
  std::string arrows(int step) const;
  /// Position along the operation at which its m-th operand arrives, in the order of the operands.
  int spread(int step, int m) const;
  int pill_width(int step) const {
    return std::max({8 * wide(texts_.kind(step)) + 52, 7 * wide(cost(step)) + 20, 140});
  }

  std::string cost(int step) const {
    std::string const amount = texts_.amount(step);
    return (amount == "local" ? "" : amount + " · ") + seconds_text(program_.seconds(step));
  }
  /// Number of ranks that hold the same block.
  std::int64_t copies(int step) const;

  std::string card(int step) const;
  std::string operation(int step) const;

  PlannedProgram const& program_;
  ProgramPlan const& plan_;
  StepTexts const& texts_;
  TensorSvg tensors_;
  ProgramLayout layout_;
  int card_width_ = 0;
  int card_height_ = 0;
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/program_svg.ipp>
#endif
