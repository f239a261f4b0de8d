#pragma once
/// A plan as a picture: its values as cards, with the steps between them.

#include <algorithm>
#include <string>

#include <shardtype/core/escape.hpp>
#include <shardtype/lazy/step_texts.hpp>
#include <shardtype/visualize/program_layout.hpp>
#include <shardtype/visualize/tensor_svg.hpp>

namespace shardtype::detail {

/// The kind of a step's time, `send`, `product` or `local`, as a CSS class.
inline std::string step_class(ProgramPlan const& plan, int step) {
  ProgramStep const& s = plan.steps[step];
  if (s.collective != Collective::none) return "send";
  bool const product =
      s.kind == ProgramStep::Kind::make && plan.program.nodes[s.node].making == Making::product;
  return product ? "product" : "local";
}

/// Number of a step, from 1 as in `explain`; operands of the program have none.
inline int line_of(ProgramPlan const& plan, int step) {
  int line = 0;
  for (int k = 0; k <= step; ++k) line += plan.steps[k].kind == ProgramStep::Kind::given ? 0 : 1;
  return line;
}

/// The picture of a plan, as SVG, with operands above their readers.
class ProgramSvg {
 public:
  ProgramSvg(PlannedProgram const& p, StepTexts const& texts)
      : program_(p), plan_(p.plan), texts_(texts), tensors_(p, texts), layout_(p.plan) {
    // all cards have the same size, which fits the widest content
    int tallest = 0;
    card_width_ = 176;
    for (int k = 0; k < plan_.size; ++k) {
      Spec const s = plan_.spec(k);
      int const above = s.rank > 0 ? 7 * wide(tensors_.labelled(k, s.rank - 1)) : 0;
      card_width_ =
          std::max({card_width_, pill_width(k) + 16, 7 * wide(tensors_.outer(k)) + 20,
                    2 * (caption(k) / 2 + above / 2 + 8), caption(k) + tensors_.width(k) + 24});
      tallest = std::max(tallest, tensors_.height(k) + (s.rank > 2 ? 18 : 0));
    }
    card_height_ = top_part + tallest + 14;
  }

  std::string draw() const {
    int const w = layout_.columns() * (card_width_ + gap) - gap + 2 * margin + side();
    int const h = layout_.rows() * (card_height_ + between) - between + 2 * margin;
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(w) +
                      "\" height=\"" + std::to_string(h) + "\" viewBox=\"0 0 " + std::to_string(w) +
                      " " + std::to_string(h) +
                      "\" role=\"img\" aria-label=\"the plan as a picture\">\n" + definitions();
    for (int k = 0; k < plan_.size; ++k) out += arrows(k);
    for (int k = 0; k < plan_.size; ++k) out += "<g>" + card(k) + operation(k) + "</g>\n";
    return out + "</svg>\n";
  }

 private:
  static constexpr int gap = 28, between = 88, margin = 12, pill = 44, top_part = 54;

  /// Room for the label to the left of a tensor.
  int caption(int step) const {
    int const rank = plan_.spec(step).rank;
    if (rank < 2) return 0;
    std::string const text = tensors_.labelled(step, rank - 2);
    auto const split = text.find(' ');
    return 7 * std::max(wide(text.substr(0, split)), wide(text.substr(split))) + 7;
  }
  static int wide(std::string const& text) { return static_cast<int>(columns(text)); }
  /// Room for arrows at the sides of cards.
  int side() const {
    for (int k = 0; k < plan_.size; ++k)
      for (int m = 0; m < plan_.steps[k].inputs; ++m)
        if (layout_.row(k) > layout_.row(plan_.steps[k].input[m]) + 1) return gap;
    return 0;
  }
  static std::string definitions() {
    return "<defs>"
           "<pattern id=\"unreduced\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
           "patternTransform=\"rotate(45)\"><rect width=\"7\" height=\"7\" class=\"veil\"/>"
           "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\" class=\"hatch\"/></pattern>"
           "<marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
           "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" class=\"tip\"/>"
           "</marker></defs>\n";
  }
  int left(int step) const { return margin + layout_.column(step) * (card_width_ + gap); }
  int center(int step) const { return left(step) + card_width_ / 2; }
  int top(int step) const { return margin + layout_.row(step) * (card_height_ + between); }
  int pill_top(int step) const { return top(step) - pill - 14; }

  /// Arrows from the operands of a step to its operation, and from there to its value.
  std::string arrows(int step) const {
    ProgramStep const& s = plan_.steps[step];
    std::string out;
    auto path = [&](std::string const& d, char const* css_class, bool tip) {
      out += "<path d=\"" + d + "\" class=\"" + css_class +
             (tip ? "\" marker-end=\"url(#tip)\"/>\n" : "\"/>\n");
    };
    auto point = [](int x, int y) { return std::to_string(x) + " " + std::to_string(y); };
    for (int m = 0; m < s.inputs; ++m) {
      int const from = s.input[m];
      int const y = pill_top(step);
      if (layout_.row(from) + 1 == layout_.row(step)) {
        int const x = center(step) + spread(step, m);
        int const start = center(from);
        int const begin = top(from) + card_height_;
        path("M" + point(start, begin) +
                 (start == x ? " L" + point(x, y)
                             : " C" + point(start, begin + 26) + " " + point(x, y - 26) + " " +
                                   point(x, y)),
             layout_.reader(from) == step ? "arrow" : "arrow again", true);
      } else {  // operands further up: down between the columns
        int const x = left(from) + card_width_;
        int const begin = top(from) + card_height_ - 24;
        int const down = x + 8 + 6 * (from % 3);
        int const middle = y + pill / 2;
        int const side = down > center(step) ? 1 : -1;
        path("M" + point(x, begin) + " Q" + point(down, begin) + " " + point(down, begin + 12) +
                 " L" + point(down, middle - 12) + " Q" + point(down, middle) + " " +
                 point(down - 12 * side, middle) + " L" +
                 point(center(step) + side * pill_width(step) / 2, middle),
             "arrow again", true);
      }
    }
    if (s.kind != ProgramStep::Kind::given)
      path("M" + point(center(step), pill_top(step) + pill) + " L" + point(center(step), top(step)),
           "arrow", false);
    return out;
  }
  /// Position along the operation at which its m-th operand arrives, in the order of the operands.
  int spread(int step, int m) const {
    ProgramStep const& s = plan_.steps[step];
    int const from = layout_.column(s.input[m]);
    int const here = layout_.column(step);
    if (from == here) return 0;
    int further = 0;
    for (int k = 0; k < s.inputs; ++k) {
      int const other = layout_.column(s.input[k]);
      further += (from > here) == (other > here) && other != here &&
                         (from > here ? other < from : other > from)
                     ? 1
                     : 0;
    }
    int const way = std::min(pill_width(step) / 2 - 12, 34 + 18 * further);
    return from > here ? way : -way;
  }
  int pill_width(int step) const {
    return std::max({8 * wide(texts_.kind(step)) + 52, 7 * wide(cost(step)) + 20, 140});
  }

  std::string cost(int step) const {
    std::string const amount = texts_.amount(step);
    return (amount == "local" ? "" : amount + " · ") + seconds_text(program_.seconds(step));
  }
  /// Number of ranks that hold the same block.
  std::int64_t copies(int step) const {
    std::int64_t n = 1;
    for (int x = 0; x < plan_.program.axes; ++x)
      if (plan_.spec(step).state(x) == AxisState::replicated) n *= plan_.program.sizes[x];
    return n;
  }

  std::string card(int step) const {
    ProgramStep const& s = plan_.steps[step];
    int const x = left(step);
    int const y = top(step);
    bool const is_given = s.kind == ProgramStep::Kind::given;
    std::string out = "<title>" + html_text(texts_.change(step)) + "</title>";
    out += svg_rect(x, y, card_width_, card_height_,
                    std::string("rx=\"10\" class=\"card") +
                        (is_given                 ? " given"
                         : step == plan_.size - 1 ? " result"
                                                  : "") +
                        "\"");
    out += svg_text(x + 14, y + 23, "name", texts_.name(step));
    out += svg_text(x + card_width_ - 14, y + 22, "size end",
                    (copies(step) > 1 ? std::to_string(copies(step)) + " × " : "") +
                        bytes_text(plan_.block_bytes(step)));
    Spec const spec = plan_.spec(step);
    if (!spec.unreduced.empty()) {
      std::string const badge = std::string(spec.kind == ReduceKind::sum   ? "Σ "
                                            : spec.kind == ReduceKind::max ? "max "
                                                                           : "min ") +
                                axes_text(spec.unreduced, texts_.names(step));
      int const w = wide(badge) * 7 + 16;
      int const at = x + 22 + 10 * wide(texts_.name(step));
      out += svg_rect(at, y + 9, w, 18, "rx=\"9\" class=\"badge\"");
      out += svg_text(at + w / 2, y + 22, "summand mid", badge);
    }
    int const below = spec.rank > 2 ? 18 : 0;
    if (below > 0)
      out += svg_text(center(step), y + card_height_ - 12, "dim mid", tensors_.outer(step));
    int const room = card_height_ - top_part - 12 - below;
    return out + tensors_.draw(step, center(step) + (caption(step) - tensors_.width(step)) / 2,
                               y + top_part + (room - tensors_.height(step)) / 2);
  }
  std::string operation(int step) const {
    if (plan_.steps[step].kind == ProgramStep::Kind::given) return "";
    int const w = pill_width(step);
    int const x = center(step) - w / 2;
    int const y = pill_top(step);
    std::string const css_class = step_class(plan_, step);
    std::string out = svg_rect(x, y, w, pill, "rx=\"11\" class=\"pill " + css_class + "\"");
    out += svg_text(x + 12, y + 18, "number", std::to_string(line_of(plan_, step)));
    out += svg_text(center(step) + 6, y + 18, "what mid", texts_.kind(step));
    return out + svg_text(center(step), y + 35, "cost mid", cost(step));
  }

  PlannedProgram const& program_;
  ProgramPlan const& plan_;
  StepTexts const& texts_;
  TensorSvg tensors_;
  ProgramLayout layout_;
  int card_width_ = 0;
  int card_height_ = 0;
};

}  // namespace shardtype::detail
