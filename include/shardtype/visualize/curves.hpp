#pragma once
/// Curves over the steps of a training, such as losses, as a picture.

#include <string>
#include <vector>

#include <shardtype/core/compiled.hpp>

namespace shardtype {

/// Numbers over steps: `{"training", losses}`.
struct Curve {
  std::string name;
  std::vector<double> values;
  /// The step of each value, in ascending order; none: 0, 1, 2 and so on.
  std::vector<double> steps = {};
};

/// How `to_svg` and `write_svg` draw curves.
struct CurveOptions {
  std::string title = "loss";
  std::string steps = "step";
  /// Whether equal ratios have equal heights. Numbers that are not positive are left out then.
  bool logarithmic = false;
};

namespace api {

/// The curves as an SVG picture with axes and names, for light and dark screens. Where values are
/// NaN or infinite a curve has a gap. Of a curve of more than 1,000 values each part of equal
/// length is drawn from its smallest to its largest value. Sends nothing.
/// Error E87: a curve has another number of steps than of values.
std::string to_svg(std::vector<Curve> const& curves, CurveOptions const& options = {});

/// Writes that picture to the file at `path`; to be called on one rank. Errors E72: it cannot be
/// written; E87.
void write_svg(std::vector<Curve> const& curves, std::string const& path,
               CurveOptions const& options = {});

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/curves.ipp>
#endif
