#pragma once
/// The steps of a plan of a whole expression as text.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <shardtype/core/list.hpp>
#include <shardtype/core/text.hpp>
#include <shardtype/lazy/planned_program.hpp>
#include <shardtype/plan/explain.hpp>

namespace shardtype::detail {

/// `85.9 ms`, `2 µs`; three digits.
inline std::string seconds_text(double s) {
  char const* const units[] = {"s", "ms", "µs", "ns"};
  int u = 0;
  while (s < 0.9995 && s > 0 && u < 3) s *= 1000, ++u;
  char out[32];
  std::snprintf(out, sizeof out, "%.3g %s", s, units[u]);
  return out;
}
/// Number of characters of a text, not of bytes.
inline std::size_t columns(std::string const& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}
inline std::string collectives_text(int n) {
  return std::to_string(n) + (n == 1 ? " collective" : " collectives");
}

/// Texts of each step. Operands are called A, B, ... in the order of the expression, computed
/// values T1, T2, ... in the order of the steps; a value keeps its name when it is moved or sliced.
/// Refers to the plan.
class StepTexts {
 public:
  explicit StepTexts(PlannedProgram const& p) : plan_(p.plan), names_(p.names) {
    for (int x = 0; x < names_.axes; ++x) {
      axes_.axis_name[x] = names_.axis[x].name;
      axes_.axis_id[x] = names_.axis[x].id;
    }
    axes_.axes = names_.axes;
    int made = 0;
    for (int k = 0; k < plan_.size; ++k) {
      ProgramStep const& s = plan_.steps[k];
      if (s.kind == ProgramStep::Kind::move) {
        name_[k] = name_[s.input[0]];
      } else if (s.kind == ProgramStep::Kind::given) {
        name_[k] = letter(given_before(s.node));
      } else {
        name_[k] = "T" + std::to_string(++made);
      }
    }
  }

  /// `T1[I@X, K]{U:Y}`.
  std::string value(int step) const { return name_[step] + sharding(step); }
  /// `T1`.
  std::string const& name(int step) const { return name_[step]; }
  /// `[I@X, K]{U:Y}`.
  std::string sharding(int step) const { return spec_text(plan_.spec(step), names(step)); }
  /// The names of the axes, and of the labels of a step's dims.
  Names names(int step) const {
    Names names = axes_;
    ProgramNode const& n = plan_.program.nodes[plan_.steps[step].node];
    for (int d = 0; d < n.rank; ++d) names.label_name[d] = names_.label[n.labels[d]].name;
    names.labels = n.rank;
    return names;
  }
  /// `X,Y`: the group of a collective.
  std::string group(int step) const {
    ProgramStep const& s = plan_.steps[step];
    std::string out;
    for (int k = 0; k < s.axes.size; ++k)
      out += (k == 0 ? "" : ",") + std::string(names_.axis[s.axes[k]].name);
    return out;
  }
  /// `given`, `product`, `map`, `reduction`, `relabel`, `transpose`, `slice`, `AllGather`, an operation's name.
  std::string operation(int step) const {
    ProgramStep const& s = plan_.steps[step];
    if (s.kind == ProgramStep::Kind::given) return "given";
    if (s.kind == ProgramStep::Kind::move)
      return s.collective == Collective::none ? "slice" : collective_text(s.collective);
    switch (plan_.program.nodes[s.node].making) {
      case Making::product:
        return "product";
      case Making::map:
        return reorders(s.node) ? "transpose" : "map";
      case Making::reduction:
        return "reduction";
      case Making::operation:
      case Making::shard_map:
        return plan_.program.nodes[s.node].name;
      default:
        return "relabel";
    }
  }
  /// `AllGather X,Y`, `slice`, `product`.
  std::string kind(int step) const {
    std::string const out = operation(step);
    return plan_.steps[step].collective == Collective::none ? out : out + " " + group(step);
  }
  /// `B[J@Y, K] -> [J, K]`, `T1[I@X, K]{U:Y} = A[I@X, J@Y] · B[J@Y, K]`.
  std::string change(int step) const {
    ProgramStep const& s = plan_.steps[step];
    if (s.kind == ProgramStep::Kind::given) return value(step);
    if (s.kind == ProgramStep::Kind::move) return value(s.input[0]) + " -> " + sharding(step);
    Making const making = plan_.program.nodes[s.node].making;
    if (making == Making::relabel || reorders(s.node))
      return value(step) + " = " + value(s.input[0]);
    bool const product = making == Making::product;
    std::string out =
        value(step) + " = " +
        (product                                                      ? ""
         : making == Making::operation || making == Making::shard_map ? operation(step) + "("
         : making == Making::reduction                                ? "reduce("
                                                                      : "f(");
    for (int k = 0; k < s.inputs; ++k)
      out += (k == 0 ? "" : product ? " · " : ", ") + value(s.input[k]);
    return out + (product ? "" : ")");
  }
  /// Bytes moved by the busiest rank (`0.52 MB`) or flops it computes (`0.2 GFLOP`); `local` if
  /// neither.
  std::string amount(int step) const {
    if (plan_.steps[step].collective != Collective::none)
      return bytes_text(plan_.step_bytes_per_rank(step));
    if (std::int64_t const flops = plan_.step_flops(step); flops > 0) return flops_text(flops);
    return "local";
  }
  /// The steps of the operands, in the order of the expression.
  List<int> given() const {
    List<int> out;
    for (int of = 0; of < plan_.program.size; ++of)
      for (int k = 0; k < plan_.size; ++k)
        if (plan_.steps[k].node == of && plan_.steps[k].kind == ProgramStep::Kind::given)
          out.push_back(k);
    return out;
  }
  /// `on X = 2, Y = 4; I = 1500, J = 1100`.
  std::string sizes() const {
    std::string out;
    for (int x = 0; x < names_.axes; ++x)
      out += (x == 0 ? "on " : ", ") + size(names_.axis[x].name, plan_.program.sizes[x]);
    char const* between = out.empty() ? "" : "; ";
    for (int l = 0; l < names_.labels; ++l) {
      if (said(l)) continue;
      out += between + size(names_.label[l].name, plan_.program.extents[l]);
      between = ", ";
    }
    return out;
  }

 private:
  /// Whether a map is not part of the expression, but puts the dims of the result in the requested
  /// order.
  bool reorders(int node_number) const {
    ProgramNode const& n = plan_.program.nodes[node_number];
    return n.making == Making::map && n.origin < 0;
  }
  /// Number of operands further left in the expression.
  int given_before(int value) const {
    int n = 0;
    for (int k = 0; k < value; ++k) n += plan_.program.nodes[k].making == Making::given ? 1 : 0;
    return n;
  }
  /// Whether a label before `l` has the same index and the same extent.
  bool said(int l) const {
    for (int k = 0; k < l; ++k)
      if (names_.label[k].id == names_.label[l].id &&
          plan_.program.extents[k] == plan_.program.extents[l])
        return true;
    return false;
  }
  static std::string size(std::string_view name, std::int64_t n) {
    return std::string(name) + " = " + std::to_string(n);
  }
  static std::string letter(int k) {
    std::string out(1, static_cast<char>('A' + k % 19));  // up to S; T names computed values
    return k < 19 ? out : out + std::to_string(k / 19);
  }

  ProgramPlan const& plan_;
  ProgramNames const& names_;
  Names axes_{};
  std::string name_[max_program_steps];
};

}  // namespace shardtype::detail
