#pragma once
/// Curves over the steps of a training, such as losses, as a picture.

#include <initializer_list>
#include <string>
#include <vector>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/dim.hpp>

namespace shardtype {

/// Numbers over steps: `{"training", losses}`.
struct Curve {
  std::string name;
  std::vector<double> values;
  /// The step of each value, in ascending order; none: 0, 1, 2 and so on.
  std::vector<double> steps = {};
};

/// How `write_svg` draws curves.
struct CurveOptions {
  std::string title = "loss";
  std::string steps = "step";
  /// Whether equal ratios have equal heights. Numbers that are not positive are left out then.
  bool logarithmic = false;
};

namespace core {

/// Curves: a vector of them, or these in braces.
template <>
struct Taken<std::vector<Curve>> {
  Taken(std::vector<Curve> const& v) : value(v) {}  // NOLINT(google-explicit-constructor)
  Taken(std::initializer_list<Curve> v) : value(v) {}
  std::vector<Curve> value;
};

}  // namespace core

namespace api {

/// Writes the curves to the file at `path` as an SVG picture with axes and names, for light and
/// dark screens; to be called on one rank. Where values are NaN or infinite a curve has a gap. Of a
/// curve of more than 1,000 values each part of equal length is drawn from its smallest to its
/// largest value. Sends nothing. Errors: E72 it cannot be written, E87 a curve has another number
/// of steps than of values.
void write_svg(core::Taken<std::vector<Curve>> const& curves, std::string const& path,
               CurveOptions const& options = {});

}  // namespace api

namespace visualizing {

/// The picture of `write_svg`.
std::string curves_svg(std::vector<Curve> const& curves, CurveOptions const& options = {});

}  // namespace visualizing

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/curves.ipp>
#endif
