#pragma once
/// Definitions of program_page.hpp.

#include <shardtype/visualize/program_page.hpp>
#include <shardtype/visualize/program_style.hpp>
#include <shardtype/visualize/program_svg.hpp>

namespace shardtype::detail {

/// Builds the page of a plan.
class ProgramPage {
 public:
  explicit ProgramPage(PlannedProgram const& p)
      : program_(p), plan_(p.plan), texts_(p), colors_(p.plan.program.sizes, p.names.axes) {}

  std::string page() const {
    std::string const title = plan_.possible ? texts_.value(plan_.size - 1) : "no plan";
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
        html_text(title) + "</title>\n<style>\n" + std::string(program_style) +
        "</style>\n</head>\n<body>\n<main>\n";
    if (!plan_.possible) return out + "<h1>No plan keeps to the memory limit</h1>\n" + end();
    out += heading() + totals() + timeline();
    out += "<h2>What is made of what</h2>\n<div class=\"wide picture\">\n" +
           ProgramSvg(program_, texts_).draw() + "</div>\n";
    return out + "<h2>Step by step</h2>\n" + table() + machine() + end();
  }

 private:
  static std::string end() { return "</main>\n</body>\n</html>\n"; }
  static std::string tag(std::string const& name, std::string const& css_class,
                         std::string const& inner) {
    return "<" + name + (css_class.empty() ? "" : " class=\"" + css_class + "\"") + ">" + inner +
           "</" + name + ">";
  }
  /// The share of a step in the predicted time, in thousandths.
  int part(int step) const {
    planning::Rates const rates = program_.rates();
    auto const all = static_cast<double>(plan_.picoseconds(rates));
    if (all <= 0) return 0;
    return static_cast<int>(
        std::lround(static_cast<double>(plan_.picoseconds(step, rates)) / all * 1000));
  }
  static std::string percent(int thousandths) {
    return std::to_string(thousandths / 10) + "." + std::to_string(thousandths % 10) + "%";
  }
  bool runs(int step) const { return plan_.steps[step].kind != ProgramStep::Kind::given; }

  std::string heading() const {
    std::string given;
    for (int k : texts_.given())
      given += (given.empty() ? "" : ", ") + tag("code", "", html_text(texts_.value(k)));
    return "<header>\n<div>\n<h1><code>" + html_text(texts_.value(plan_.size - 1)) +
           "</code></h1>\n<p>of " + given + "</p>\n<p class=\"quiet\">" +
           html_text(texts_.sizes()) + "</p>\n</div>\n" + mesh() + "</header>\n";
  }
  /// The ranks along the first two axes with more than one rank, in their colours.
  std::string mesh() const {
    Sizes const& sizes = plan_.program.sizes;
    AxisList shown;
    AxisSet set;
    for (int x = 0; x < program_.names.axes; ++x)
      if (sizes[x] > 1 && shown.size < 2) shown.push(x), set.insert(x);
    if (shown.size == 0) return "";
    constexpr int cell = 18;
    auto count = [&](int k) {
      return k < shown.size ? static_cast<int>(std::min<std::int64_t>(sizes[shown[k]], 8)) : 1;
    };
    auto coordinate = [&](int k, int c) {
      return k < shown.size ? c * (sizes[shown[k]] - 1) / std::max(count(k) - 1, 1) : 0;
    };
    auto axis = [&](int k) {
      return std::string(program_.names.axis[shown[k]].name) + " " +
             std::to_string(sizes[shown[k]]);
    };
    // rows are along the first axis
    int const left = shown.size > 0 ? 9 * static_cast<int>(axis(0).size()) + 8 : 0;
    int const w = left + std::max(count(1) * (cell + 2), 60);
    int const h = 22 + count(0) * (cell + 2);
    std::string out = "<figure><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                      std::to_string(w) + "\" height=\"" + std::to_string(h) +
                      "\" role=\"img\" aria-label=\"colours of the ranks\">";
    for (int r = 0; r < count(0); ++r)
      for (int c = 0; c < count(1); ++c) {
        Coords at;
        at.at[shown[0]] = coordinate(0, r);
        if (shown.size > 1) at.at[shown[1]] = coordinate(1, c);
        out += svg_rect(left + c * (cell + 2), 20 + r * (cell + 2), cell, cell,
                        "rx=\"4\" fill=\"" + colors_.color(set, at) + "\"");
      }
    out += svg_text(left - 8, 20 + h / 2 - 6, "dim end", axis(0));
    if (shown.size > 1) out += svg_text(left, 12, "dim", axis(1));
    return out + "</svg><figcaption>ranks</figcaption></figure>\n";
  }
  std::string totals() const {
    auto card = [](std::string const& value, std::string const& what) {
      return "<div>" + tag("b", "", html_text(value)) + tag("span", "", html_text(what)) +
             "</div>\n";
    };
    int const n = plan_.collectives();
    std::string out = "<section class=\"totals\">\n";
    out += card(std::to_string(n), n == 1 ? "collective" : "collectives");
    out += card(bytes_text(plan_.bytes_per_rank()), "sent per rank");
    out += card(bytes_text(plan_.peak_bytes()), "peak memory");
    out += card(flops_text(plan_.flops()), "in products, per rank");
    std::string const proof = detail::gap_text(plan_);
    out +=
        card(seconds_text(program_.seconds()), "predicted" + (proof.empty() ? "" : ", " + proof));
    if (auto const ratio = plan_.lower_bound_ratio()) {
      char text[32];
      std::snprintf(text, sizeof text, "%.3g×", *ratio);
      out += card(text, "of the least that must be sent");
    }
    return out + "</section>\n";
  }
  std::string timeline() const {
    std::string out = "<section class=\"time\" aria-label=\"predicted time by step\">\n";
    for (int k = 0; k < plan_.size; ++k) {
      if (!runs(k) || part(k) == 0) continue;
      out += "<div class=\"" + step_class(plan_, k) +
             "\" style=\"flex-grow:" + std::to_string(part(k)) + "\" title=\"" +
             html_text(std::to_string(line_of(plan_, k)) + " " + texts_.kind(k) + ": " +
                       seconds_text(program_.seconds(k))) +
             "\">" + (part(k) >= 40 ? std::to_string(line_of(plan_, k)) : "") + "</div>\n";
    }
    return out +
           "</section>\n<p class=\"legend quiet\"><i class=\"product\"></i> product "
           "<i class=\"send\"></i> collective <i class=\"local\"></i> other local work "
           "<i class=\"unreduced\"></i> unreduced: every rank holds a summand</p>\n";
  }
  std::string table() const {
    std::string out =
        "<div class=\"wide\">\n<table>\n<thead><tr><th>step</th><th></th>"
        "<th class=\"n\">time</th><th></th><th class=\"n\">sent</th>"
        "<th class=\"n\">messages</th><th class=\"n\">computed</th><th class=\"n\">memory</th>"
        "<th>what</th></tr></thead>\n<tbody>\n";
    List<std::int64_t> live;
    std::int64_t const given = plan_.given_bytes();
    plan_.for_live_bytes([&](int, std::int64_t bytes) { live.push_back(given + bytes); });
    for (int k = 0; k < plan_.size; ++k) {
      if (!runs(k)) continue;
      ProgramStep const& s = plan_.steps[k];
      bool const sends = s.collective != Collective::none;
      std::int64_t const flops = plan_.step_flops(k);
      out += "<tr><td class=\"n quiet\">" + std::to_string(line_of(plan_, k)) +
             "</td><td><span class=\"kind " + step_class(plan_, k) + "\">" +
             html_text(texts_.kind(k)) + "</span></td>";
      auto cell = [&](std::string const& text) { out += tag("td", "n", html_text(text)); };
      cell(seconds_text(program_.seconds(k)));
      out += "<td class=\"bar\"><i class=\"" + step_class(plan_, k) +
             "\" style=\"width:" + percent(part(k)) + "\"></i></td>";
      cell(sends ? bytes_text(plan_.step_bytes_per_rank(k)) : "");
      cell(sends ? std::to_string(step_messages(s.collective, plan_.program.sizes.product(s.axes)))
                 : "");
      cell(flops > 0 ? flops_text(flops) : "");
      cell(bytes_text(live[static_cast<std::size_t>(k)]));
      out += "<td><code>" + html_text(texts_.change(k)) + "</code></td></tr>\n";
    }
    return out + "</tbody>\n</table>\n</div>\n";
  }
  std::string machine() const {
    Machine const& m = program_.machine;
    auto link = [](double latency, double rate) {
      return seconds_text(latency) + " and " + bytes_text(static_cast<std::int64_t>(rate)) + "/s";
    };
    std::string text = "Machine: " + link(m.latency, m.bytes_per_second);
    for (AxisLink const& l : m.links)
      if (int const x = program_.names.find_axis(l.axis);
          l.axis != nullptr && x >= 0 && l.bytes_per_second > 0)
        text += ", along " + std::string(program_.names.axis[x].name) + " " +
                link(l.latency, l.bytes_per_second);
    text += " between ranks; " + flops_text(static_cast<std::int64_t>(m.flops_per_second)) +
            "/s in products of float, " +
            bytes_text(static_cast<std::int64_t>(m.memory_bytes_per_second)) +
            "/s of memory. All numbers are of the busiest rank; memory counts what is given too.";
    return "<p class=\"quiet\">" + html_text(text) + "</p>\n";
  }

  PlannedProgram const& program_;
  ProgramPlan const& plan_;
  StepTexts texts_;
  BlockColors colors_;
};

}  // namespace shardtype::detail

namespace shardtype {

namespace api {

SHARDTYPE_INLINE std::string to_html(core::Taken<PlannedProgram> program) {
  return detail::ProgramPage(program).page();
}

SHARDTYPE_INLINE void write_html(core::Taken<PlannedProgram> program, std::string const& path) {
  std::string const page = to_html(program);
  if (int const failed = runtime::replace_file(path, page); failed != 0)
    throw Error("E72", "cannot write " + path + ": " + runtime::file_fault_text(failed));
}

}  // namespace api

}  // namespace shardtype
