#pragma once
/// Definitions of curves.hpp.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <shardtype/core/error.hpp>
#include <shardtype/core/escape.hpp>
#include <shardtype/runtime/files.hpp>
#include <shardtype/visualize/curves.hpp>

namespace shardtype {

namespace visualizing {

/// A range of numbers along one side of a picture.
struct Scale {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double from = 0, to = 0;  ///< where these two lie
  bool logarithmic = false;

  void take(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  double scaled(double v) const { return logarithmic ? std::log10(v) : v; }
  double at(double v) const {
    return from + (scaled(v) - scaled(low)) / (scaled(high) - scaled(low)) * (to - from);
  }
  /// Makes room where there is none, and ends at marks.
  void widen() {
    if (low > high) low = high = 1;
    if (logarithmic) {
      low = std::pow(10.0, std::floor(std::log10(low)));
      high = std::pow(10.0, std::ceil(std::log10(high)));
      if (high <= low) high = 10 * low;
    } else if (high <= low) {
      double const room = low == 0 ? 1 : std::abs(low) / 2;
      low -= room;
      high += room;
    }
  }
  /// Round numbers between both ends: powers of ten, or multiples of 1, 2 or 5 of one.
  std::vector<double> marks() const {
    std::vector<double> out;
    if (logarithmic) {
      double const tens = std::log10(high) - std::log10(low);
      double const step = std::pow(10.0, std::max(1.0, std::ceil(tens / 8)));
      for (double v = low; v <= high * 1.0001; v *= step) out.push_back(v);
      return out;
    }
    double const rough = (high - low) / 6;
    double const ten = std::pow(10.0, std::floor(std::log10(rough)));
    double step = 10 * ten;
    for (double const one : {5.0, 2.0, 1.0})
      if (one * ten >= rough) step = one * ten;
    for (double k = std::ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k)
      out.push_back(k * step + 0.0);  // no -0
    return out;
  }
};

/// A picture of curves.
class Curves {
 public:
  Curves(std::vector<Curve> const& curves, CurveOptions const& options)
      : curves_(curves), options_(options) {
    y_.logarithmic = options.logarithmic;
    for (Curve const& curve : curves) {
      if (!curve.steps.empty() && curve.steps.size() != curve.values.size())
        throw Error("E87", "no picture: the curve " + curve.name + " has " +
                               std::to_string(curve.values.size()) + " values and " +
                               std::to_string(curve.steps.size()) + " steps");
      for (std::size_t k = 0; k < curve.values.size(); ++k) {
        if (!shown(curve.values[k])) continue;
        x_.take(step(curve, k));
        y_.take(curve.values[k]);
      }
    }
    x_.widen();
    y_.widen();
    x_.from = 80;
    x_.to = 800;
    y_.from = 340;
    y_.to = 50;
  }

  std::string text() {
    out_ =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 400\" role=\"img\" "
        "aria-label=\"" +
        shardtype::detail::html_text(options_.title) +
        "\">\n<style>\n"
        "text { font: 13px system-ui, sans-serif; fill: #1c2430; } .quiet { fill: #667085; }\n"
        "line { stroke: #d5dae2; } polyline { fill: none; stroke-width: 1.8; }\n";
    // Colors that people with any color vision tell apart: M. Okabe and K. Ito, 2008.
    static constexpr std::array<char const*, kinds> colors{"#0072b2", "#d55e00", "#009e73",
                                                           "#cc79a7", "#56b4e9", "#e69f00"};
    for (std::size_t k = 0; k < kinds; ++k)
      out_ += ".c" + std::to_string(k) + " { stroke: " + colors[k] + "; }\n";
    out_ +=
        "@media (prefers-color-scheme: dark) { text { fill: #e6eaf0; } .quiet { fill: #94a0b3; }\n"
        "line { stroke: #364152; } .c0 { stroke: #7fb2ff; } }\n</style>\n";
    write(x_.from, 24, options_.title, "font-weight=\"600\"");
    grid();
    for (std::size_t k = 0; k < curves_.size(); ++k) draw(k);
    return out_ + "</svg>\n";
  }

 private:
  static constexpr std::size_t kinds = 6;
  static constexpr std::size_t most = 1000;  // parts of a curve

  bool shown(double v) const { return std::isfinite(v) && (!options_.logarithmic || v > 0); }
  static double step(Curve const& curve, std::size_t k) {
    return curve.steps.empty() ? static_cast<double>(k) : curve.steps[k];
  }
  static std::string number(double v, char const* format = "%.2f") {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), format, v);
    return text.data();
  }
  void write(double x, double y, std::string const& text, char const* options) {
    out_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + options + ">" +
            shardtype::detail::html_text(text) + "</text>\n";
  }
  void line(double x1, double y1, double x2, double y2, std::string const& options = "") {
    out_ += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
            "\" y2=\"" + number(y2) + "\"" + options + "/>\n";
  }
  void grid() {
    for (double const v : y_.marks()) {
      line(x_.from, y_.at(v), x_.to, y_.at(v));
      write(x_.from - 8, y_.at(v) + 4, number(v, "%.6g"), "class=\"quiet\" text-anchor=\"end\"");
    }
    for (double const v : x_.marks())
      write(x_.at(v), y_.from + 20, number(v, "%.6g"), "class=\"quiet\" text-anchor=\"middle\"");
    write((x_.from + x_.to) / 2, y_.from + 42, options_.steps,
          "class=\"quiet\" text-anchor=\"middle\"");
  }
  /// The points so far as one line; a single one as a dot.
  void end_of_line(std::string& points, std::size_t count, std::string const& color) {
    if (count == 1) points += " " + points;
    if (count > 0)
      out_ += "<polyline stroke-linecap=\"round\" class=\"" + color + "\" points=\"" + points +
              "\"/>\n";
    points.clear();
  }
  void draw(std::size_t number_of_curve) {
    Curve const& curve = curves_[number_of_curve];
    std::string const color = "c" + std::to_string(number_of_curve % kinds);
    std::size_t const n = curve.values.size();
    std::size_t const parts = std::min(n, most);
    std::string points;
    std::size_t count = 0;
    auto const add = [&](std::size_t k) {
      points += (count++ > 0 ? " " : "") + number(x_.at(step(curve, k))) + "," +
                number(y_.at(curve.values[k]));
    };
    for (std::size_t part = 0; part < parts; ++part) {
      std::size_t low = n;
      std::size_t high = n;
      for (std::size_t k = part * n / parts; k < (part + 1) * n / parts; ++k) {
        if (!shown(curve.values[k])) continue;
        if (low == n || curve.values[k] < curve.values[low]) low = k;
        if (high == n || curve.values[k] > curve.values[high]) high = k;
      }
      if (low == n) {
        end_of_line(points, count, color);
        count = 0;
        continue;
      }
      add(std::min(low, high));
      if (low != high) add(std::max(low, high));
    }
    end_of_line(points, count, color);
    double const y = 58 + 22 * static_cast<double>(number_of_curve);
    line(x_.to + 14, y - 4, x_.to + 38, y - 4, " class=\"" + color + "\" stroke-width=\"3\"");
    write(x_.to + 46, y, curve.name, "");
  }

  std::vector<Curve> const& curves_;
  CurveOptions const& options_;
  Scale x_, y_;
  std::string out_;
};

SHARDTYPE_INLINE std::string curves_svg(std::vector<Curve> const& curves,
                                        CurveOptions const& options) {
  return Curves(curves, options).text();
}

}  // namespace visualizing

namespace api {

SHARDTYPE_INLINE void write_svg(core::Taken<std::vector<Curve>> const& curves,
                                std::string const& path, CurveOptions const& options) {
  if (int const failed =
          runtime::replace_file(path, visualizing::curves_svg(curves.value, options));
      failed != 0)
    throw Error("E72", "cannot write " + path + ": " + runtime::file_fault_text(failed));
}

}  // namespace api

}  // namespace shardtype
