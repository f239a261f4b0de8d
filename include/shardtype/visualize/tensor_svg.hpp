#pragma once
/// One tensor of a plan as a picture: its blocks, drawn to scale.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <shardtype/core/block.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/escape.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/lazy/step_texts.hpp>
#include <shardtype/visualize/block_colors.hpp>

namespace shardtype::detail {

inline std::string svg_rect(int x, int y, int w, int h, std::string const& rest) {
  return "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
         std::to_string(w) + "\" height=\"" + std::to_string(h) + "\" " + rest + "/>";
}
inline std::string svg_text(int x, int y, std::string const& css_class, std::string const& text) {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" class=\"" +
         css_class + "\">" + html_text(text) + "</text>";
}

/// Draws the values of a plan. Dims with the same label have the same length in all of them.
class TensorSvg {
 public:
  static constexpr int shortest = 34, longest = 76, most_blocks = 24;

  TensorSvg(PlannedProgram const& p, StepTexts const& texts);

  /// Size of the blocks of a step's value in pixels: across and down.
  int width(int step) const {
    int const rank = plan_.spec(step).rank;
    return (rank > 0 ? length(step, rank - 1) : 26) + 6 * (sheets(step) - 1);
  }
  int height(int step) const {
    int const rank = plan_.spec(step).rank;
    return (rank > 1 ? length(step, rank - 2) : 26) + 6 * (sheets(step) - 1);
  }
  /// Draws the value of a step, with its blocks' corner at (x, y); labels are above and to the
  /// left.
  std::string draw(int step, int x, int y) const;
  /// `I@X`.
  std::string dim(int step, int d) const {
    return dim_text(plan_.spec(step).dims[d], texts_.names(step));
  }
  /// `I@X 1500`.
  std::string labelled(int step, int d) const {
    return dim(step, d) + " " + std::to_string(extent(step, d));
  }
  /// `B@X 64 × H 16`: the dims that the picture omits.
  std::string outer(int step) const;

 private:
  struct Cut {
    int begin, size;  // in the picture
    Coords at;        // of the block
  };

  int sheets(int step) const { return plan_.spec(step).rank > 2 ? 3 : 1; }
  std::int64_t extent(int step, int d) const {
    ProgramNode const& n = plan_.program.nodes[plan_.steps[step].node];
    return plan_.program.extents[n.labels[d]];
  }
  int length(int step, int d) const;
  /// The blocks of a dim; if there are many, those of some coordinates along each axis, with equal
  /// lengths.
  List<Cut> cuts(int step, int d, int pixels) const;
  std::string blocks(int step, int rows, int columns, int sheet, int x, int y, int w, int h) const;

  ProgramPlan const& plan_;
  StepTexts const& texts_;
  BlockColors colors_;
  std::int64_t least_ = 1;
  std::int64_t most_ = 1;
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/tensor_svg.ipp>
#endif
