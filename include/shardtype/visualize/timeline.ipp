#pragma once
/// Definitions of timeline.hpp.

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include <shardtype/core/error.hpp>
#include <shardtype/core/escape.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/core/text.hpp>
#include <shardtype/lazy/explain.hpp>
#include <shardtype/lazy/step_texts.hpp>
#include <shardtype/runtime/files.hpp>
#include <shardtype/visualize/timeline.hpp>

namespace shardtype {

namespace visualizing {

/// A picture of the steps of a plan along its predicted time.
class Timeline {
 public:
  explicit Timeline(PlannedProgram const& p) : p_(p), texts_(p) {
    double at = 0;
    for (int k = 0; k < p.plan.size; ++k) {
      begin_.push_back(at);
      at += p.seconds(k);
    }
    begin_.push_back(at);
  }

  std::string text() {
    out_ =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 300\" role=\"img\" "
        "aria-label=\"the plan along its predicted time\">\n<style>\n"
        "text { font: 12px system-ui, sans-serif; fill: #1c2430; } .quiet { fill: #667085; }\n"
        ".product { fill: #1d58b8; } .map { fill: #93a4ba; } .send { fill: #b4341f; }\n"
        ".held { fill: #1d58b833; stroke: #1d58b8; } line { stroke: #d5dae2; }\n"
        "@media (prefers-color-scheme: dark) { text { fill: #e6eaf0; } .quiet { fill: #94a0b3; }\n"
        ".product { fill: #7fb2ff; } .map { fill: #61718a; } .send { fill: #ff8a73; }\n"
        ".held { fill: #7fb2ff33; stroke: #7fb2ff; } line { stroke: #364152; } }\n</style>\n";
    title();
    time_axis();
    steps();
    held();
    return out_ + "</svg>\n";
  }

 private:
  static constexpr double left = 96;
  static constexpr double width = 848;
  double x(double seconds) const { return left + (total() > 0 ? seconds / total() * width : 0); }
  double total() const { return begin_.back(); }
  static std::string number(double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", v);
    return text;
  }
  void write(double at_x, double at_y, std::string const& text, char const* options) {
    out_ += "<text x=\"" + number(at_x) + "\" y=\"" + number(at_y) + "\" " + options + ">" +
            shardtype::detail::html_text(text) + "</text>\n";
  }
  void rectangle(char const* kind, int step, double y, double height) {
    double const from = x(begin_[static_cast<std::size_t>(step)]);
    double const to = x(begin_[static_cast<std::size_t>(step) + 1]);
    out_ += std::string("<rect class=\"") + kind + "\" x=\"" + number(from) + "\" y=\"" +
            number(y) + "\" width=\"" + number(std::max(to - from, 0.3)) + "\" height=\"" +
            number(height) + "\"><title>" +
            shardtype::detail::html_text(texts_.kind(step) + ": " + texts_.change(step) + ", " +
                                         shardtype::detail::seconds_text(p_.seconds(step))) +
            "</title></rect>\n";
  }
  void title() {
    ProgramPlan const& plan = p_.plan;
    write(left, 20,
          shardtype::detail::seconds_text(total()) + " predicted, " +
              shardtype::detail::collectives_text(plan.collectives()) + ", " +
              shardtype::detail::bytes_text(plan.bytes_per_rank()) + "/rank, peak " +
              shardtype::detail::bytes_text(plan.peak_bytes()),
          "");
  }
  void time_axis() {
    for (int k = 0; k <= 4; ++k) {
      double const at = total() * k / 4;
      out_ += "<line x1=\"" + number(x(at)) + "\" y1=\"34\" x2=\"" + number(x(at)) +
              "\" y2=\"272\"/>\n";
      write(x(at), 290, k == 0 ? "0 s" : shardtype::detail::seconds_text(at),
            k == 4 ? "class=\"quiet\" text-anchor=\"end\"" : "class=\"quiet\"");
    }
  }
  void steps() {
    write(left - 10, 62, "computes", "text-anchor=\"end\"");
    write(left - 10, 106, "sends", "text-anchor=\"end\"");
    ProgramPlan const& plan = p_.plan;
    for (int k = 0; k < plan.size; ++k) {
      if (plan.steps[k].kind == planning::ProgramStep::Kind::given || p_.seconds(k) <= 0) continue;
      bool const sends = plan.steps[k].collective != Collective::none || plan.is_own_call(k);
      if (sends)
        rectangle("send", k, 88, 28);
      else
        rectangle(plan.step_flops(k) > 0 ? "product" : "map", k, 44, 28);
    }
  }
  void held() {
    ProgramPlan const& plan = p_.plan;
    std::int64_t const given = plan.peak_bytes() - plan.temporary_bytes();
    std::int64_t const most = std::max<std::int64_t>(plan.peak_bytes(), 1);
    double const bottom = 272;
    double const height = 130;
    auto const y = [&](std::int64_t bytes) {
      return bottom - static_cast<double>(bytes) / static_cast<double>(most) * height;
    };
    write(left - 10, y(most) + 10, shardtype::detail::bytes_text(most), "text-anchor=\"end\"");
    write(left - 10, y(given) + 4, "operands", "class=\"quiet\" text-anchor=\"end\"");
    std::string points = number(left) + "," + number(bottom);
    plan.for_live_bytes([&](int k, std::int64_t live) {
      double const from = x(begin_[static_cast<std::size_t>(k)]);
      double const to = x(begin_[static_cast<std::size_t>(k) + 1]);
      std::string const at = "," + number(y(given + live));
      points += " " + number(from) + at + " " + number(to) + at;
    });
    points += " " + number(left + width) + "," + number(bottom);
    out_ += "<polygon class=\"held\" points=\"" + points +
            "\"><title>bytes that a rank holds</title>"
            "</polygon>\n";
  }

  PlannedProgram const& p_;
  shardtype::detail::StepTexts texts_;
  shardtype::detail::List<double> begin_;
  std::string out_;
};

}  // namespace visualizing

namespace api {

SHARDTYPE_INLINE std::string to_svg(core::Taken<PlannedProgram> program) {
  return visualizing::Timeline(program.value).text();
}
SHARDTYPE_INLINE void write_svg(core::Taken<PlannedProgram> program, std::string const& path) {
  std::string const picture = api::to_svg(program.value);
  if (int const failed = runtime::replace_file(path, picture); failed != 0)
    throw Error("E72", "cannot write " + path + ": " + runtime::file_fault_text(failed));
}

}  // namespace api

}  // namespace shardtype
