#pragma once
/// Plans of whole expressions as HTML pages.

// A user's global may have the name of a local variable of ours.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/dim.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/runtime/files.hpp>
#include <shardtype/visualize/program_style.hpp>
#include <shardtype/visualize/program_svg.hpp>

namespace shardtype {

namespace checking {
struct PageHeader {};  // check/elsewhere.hpp
}  // namespace checking

namespace detail {

/// Builds the page of a plan.
class ProgramPage {
 public:
  explicit ProgramPage(PlannedProgram const& p)
      : program_(p), plan_(p.plan), texts_(p), colors_(p.plan.program.sizes, p.names.axes) {}

  std::string page() const;

 private:
  static std::string end() { return "</main>\n</body>\n</html>\n"; }
  static std::string tag(std::string const& name, std::string const& css_class,
                         std::string const& inner) {
    return "<" + name + (css_class.empty() ? "" : " class=\"" + css_class + "\"") + ">" + inner +
           "</" + name + ">";
  }
  /// The share of a step in the predicted time, in thousandths.
  int part(int step) const;
  static std::string percent(int thousandths) {
    return std::to_string(thousandths / 10) + "." + std::to_string(thousandths % 10) + "%";
  }
  bool runs(int step) const { return plan_.steps[step].kind != ProgramStep::Kind::given; }

  std::string heading() const;
  /// The ranks along the first two axes with more than one rank, in their colours.
  std::string mesh() const;
  std::string totals() const;
  std::string timeline() const;
  std::string table() const;
  std::string machine() const;

  PlannedProgram const& program_;
  ProgramPlan const& plan_;
  StepTexts texts_;
  BlockColors colors_;
};

}  // namespace detail

namespace api {

/// The plan as one self-contained HTML page: the text of `explain`, a picture of the values, their
/// shardings and the steps between them, and the predicted time per step. Blocks have the colours
/// of the ranks that hold them; unreduced values are hatched.
inline std::string to_html(core::Taken<PlannedProgram> program) {
  return detail::ProgramPage(program).page();
}

/// Writes that page to the file at `path`; to be called on one rank. Error E72: it cannot be
/// written.
void write_html(core::Taken<PlannedProgram> program, std::string const& path);

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/program_page.ipp>
#endif

#pragma GCC diagnostic pop
