#pragma once
/// One tensor of a plan as a picture: its blocks, drawn to scale.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <shardtype/core/block.hpp>
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

  TensorSvg(PlannedProgram const& p, StepTexts const& texts)
      : plan_(p.plan), texts_(texts), colors_(p.plan.program.sizes, p.names.axes) {
    for (int l = 0; l < plan_.program.labels; ++l) {
      std::int64_t const n = std::max<std::int64_t>(plan_.program.extents[l], 1);
      least_ = l == 0 ? n : std::min(least_, n);
      most_ = std::max(most_, n);
    }
  }

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
  std::string draw(int step, int x, int y) const {
    Spec const s = plan_.spec(step);
    int const rows = s.rank - 2;
    int const columns = s.rank - 1;
    int const behind = 6 * (sheets(step) - 1);
    int const w = width(step) - behind;
    int const h = height(step) - behind;
    std::string out;
    for (int k = sheets(step) - 1; k >= 0; --k)
      out += blocks(step, rows, columns, k, x + 6 * k, y + behind - 6 * k, w, h);
    if (columns >= 0)
      out += svg_text(x + (w + behind) / 2, y - 7, "dim mid", labelled(step, columns));
    if (rows >= 0) {
      out += svg_text(x - 7, y + behind + h / 2 - 2, "dim end", dim(step, rows));
      out +=
          svg_text(x - 7, y + behind + h / 2 + 11, "dim end", std::to_string(extent(step, rows)));
    }
    if (s.rank == 0) out += svg_text(x + w / 2, y - 7, "dim mid", "scalar");
    return out;
  }
  /// `I@X`.
  std::string dim(int step, int d) const {
    return dim_text(plan_.spec(step).dims[d], texts_.names(step));
  }
  /// `I@X 1500`.
  std::string labelled(int step, int d) const {
    return dim(step, d) + " " + std::to_string(extent(step, d));
  }
  /// `B@X 64 × H 16`: the dims that the picture omits.
  std::string outer(int step) const {
    std::string out;
    for (int d = 0; d + 2 < plan_.spec(step).rank; ++d)
      out += (d == 0 ? "" : " × ") + labelled(step, d);
    return out;
  }

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
  int length(int step, int d) const {
    if (most_ == least_) return (shortest + longest) / 2;
    auto const n = static_cast<double>(std::max<std::int64_t>(extent(step, d), 1));
    double const part = std::log(n / static_cast<double>(least_)) /
                        std::log(static_cast<double>(most_) / static_cast<double>(least_));
    return shortest + static_cast<int>(std::lround(part * (longest - shortest)));
  }
  /// The blocks of a dim; if there are many, those of some coordinates along each axis, with equal
  /// lengths.
  List<Cut> cuts(int step, int d, int pixels) const {
    List<Cut> out;
    if (d < 0) {
      out.push_back({0, pixels, {}});
      return out;
    }
    AxisList const& axes = plan_.spec(step).dims[d].axes;
    Sizes const& sizes = plan_.program.sizes;
    Sizes shown;
    for (int k = 0; k < axes.size; ++k) shown.at[axes[k]] = sizes[axes[k]];
    while (shown.product(axes) > most_blocks) {
      int longest_axis = axes[0];
      for (int k = 1; k < axes.size; ++k)
        if (shown[axes[k]] > shown[longest_axis]) longest_axis = axes[k];
      shown.at[longest_axis] = (shown[longest_axis] + 1) / 2;
    }
    std::int64_t const n = shown.product(axes);
    bool const all = n == sizes.product(axes) && extent(step, d) > 0;
    for (std::int64_t k = 0; k < n; ++k) {
      Coords at = member(axes, shown, {}, k);
      for (int x = 0; x < max_axes; ++x)
        if (shown[x] > 1) at.at[x] = at[x] * (sizes[x] - 1) / (shown[x] - 1);
      Range const r = all ? block({0, extent(step, d)}, axes, sizes, at) : Range{k, k + 1};
      std::int64_t const of = all ? extent(step, d) : n;
      int const begin = static_cast<int>(r.begin * pixels / of);
      out.push_back({begin, static_cast<int>(r.end * pixels / of) - begin, at});
    }
    return out;
  }
  std::string blocks(int step, int rows, int columns, int sheet, int x, int y, int w, int h) const {
    Spec const s = plan_.spec(step);
    AxisSet split;
    for (int d = 0; d < s.rank; ++d)
      for (int k = 0; k < s.dims[d].axes.size; ++k) split.insert(s.dims[d].axes[k]);
    List<Cut> const deep = cuts(step, rows > 0 ? 0 : -1, 3);
    Coords const behind = deep[static_cast<std::size_t>(sheet) * (deep.size() - 1) / 2].at;
    std::string out;
    for (Cut const& r : cuts(step, rows, h))
      for (Cut const& c : cuts(step, columns, w)) {
        if (r.size == 0 || c.size == 0) continue;
        Coords at = behind;
        for (int a = 0; a < max_axes; ++a) at.at[a] += r.at[a] + c.at[a];
        bool const thin = r.size < 6 || c.size < 6;
        out += svg_rect(x + c.begin, y + r.begin, c.size, r.size,
                        std::string("class=\"block") + (thin ? " thin" : "") + "\" fill=\"" +
                            colors_.color(split, at) + "\"");
      }
    if (!s.unreduced.empty()) out += svg_rect(x, y, w, h, "fill=\"url(#unreduced)\"");
    return out + svg_rect(x, y, w, h, "class=\"edge\"");
  }

  ProgramPlan const& plan_;
  StepTexts const& texts_;
  BlockColors colors_;
  std::int64_t least_ = 1;
  std::int64_t most_ = 1;
};

}  // namespace shardtype::detail
