#pragma once
/// Definitions of source_values.hpp.

#include <algorithm>
#include <cctype>

#include <shardtype/freeze/source_values.hpp>

namespace shardtype::freeze {

SHARDTYPE_INLINE SourceValues::SourceValues(PlannedProgram const& p, SpelledNames const& spelled,
                                            Parts const& parts)
    : plan_(p.plan),
      names_(p.names),
      texts_(p),
      spelled_(spelled),
      parts_(parts),
      variable_(at(p.plan.size)),
      order_(at(p.plan.size)),
      versions_(at(p.plan.program.size), 0) {}

SHARDTYPE_INLINE planning::ProgramLabels SourceValues::labels_of(int k) const {
  Labels out;
  for (int d = 0; d < node(k).rank; ++d) out.push(node(k).labels[d]);
  return out;
}
SHARDTYPE_INLINE PartText const& SourceValues::part(int k) const {
  ProgramNode const& n = node(k);
  return *parts_[at(n.backward == planning::Backward::pull ? n.pulled : n.origin)];
}
SHARDTYPE_INLINE PartText const& SourceValues::part_of_elements(int k) const {
  RecordedProgram const& p = plan_.program;
  int value = step(k).node;
  while (p.nodes[value].origin < 0) value = p.operand(value, 0, 0);
  return *parts_[at(p.nodes[value].origin)];
}
SHARDTYPE_INLINE TextOf SourceValues::text_of(int k) {
  ProgramNode const& n = node(k);
  return {&functions_, n.backward == planning::Backward::pull ? n.pulled : n.origin};
}

SHARDTYPE_INLINE std::string SourceValues::variable_name(std::string const& text) const {
  std::string out = text;
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  while (spelled_.has(out)) out += "_";
  return out;
}
SHARDTYPE_INLINE std::string SourceValues::label(int l) const {
  std::string const* const known = spelled_.find(names_.label[l].id);
  return known != nullptr ? *known : std::string(names_.label[l].name);
}
SHARDTYPE_INLINE std::string SourceValues::axis(int x) const {
  std::string const* const known = spelled_.find(names_.axis[x].id);
  return known != nullptr ? *known : std::string(names_.axis[x].name);
}
SHARDTYPE_INLINE std::string SourceValues::axes(AxisList const& list) const {
  std::string out;
  for (int k = 0; k < list.size; ++k) out += (k > 0 ? ", " : "") + axis(list[k]);
  return out;
}
SHARDTYPE_INLINE std::string SourceValues::dim(int l, AxisList const& split) const {
  std::string out = "Dim<" + label(l);
  for (int k = 0; k < split.size; ++k)
    out += ", " + (split.cyclic > 0
                       ? "Cyclic<" + axis(split[k]) + ", " + std::to_string(split.cyclic) + ">"
                       : axis(split[k]));
  return out + ">";
}
SHARDTYPE_INLINE std::string SourceValues::sharding(int k, Labels const& order) const {
  Spec const s = plan_.spec(k);
  std::string out;
  for (int d = 0; d < order.size; ++d)
    out += (d > 0 ? ", " : "") +
           dim(order.at[d], s.dims[plan_.program.find(step(k).node, order.at[d])].axes);
  if (s.unreduced.empty()) return out;
  // attributes list their axes in the order of their names
  shardtype::detail::List<int> unreduced;
  for (int x = 0; x < max_axes; ++x)
    if (s.unreduced.contains(x)) unreduced.push_back(x);
  std::sort(unreduced.begin(), unreduced.end(),
            [&](int x, int y) { return names_.axis[x].name < names_.axis[y].name; });
  out += out.empty() ? "Unreduced<" : ", Unreduced<";
  if (s.kind != ReduceKind::sum) out += s.kind == ReduceKind::max ? "Max, " : "Min, ";
  for (std::size_t x = 0; x < unreduced.size(); ++x)
    out += (x > 0 ? ", " : "") + axis(unreduced[x]);
  return out + ">";
}
SHARDTYPE_INLINE std::string SourceValues::named(int k) const {
  std::string const out = sharding(k, labels_of(k));
  return out.empty() ? "Tensor<" + part_of_elements(k).element() + ">" : out;
}
SHARDTYPE_INLINE std::string SourceValues::list(Labels const& labels) const {
  std::string out;
  for (int d = 0; d < labels.size; ++d) out += (d > 0 ? ", " : "") + label(labels.at[d]);
  return out;
}

SHARDTYPE_INLINE SourceValues::List SourceValues::inputs(int k, int count) const {
  List out;
  for (int m = 0; m < count; ++m) out.push_back(variable(step(k).input[m]));
  return out;
}
SHARDTYPE_INLINE std::string SourceValues::joined(List const& texts) {
  std::string out;
  for (std::size_t k = 0; k < texts.size(); ++k) out += (k > 0 ? ", " : "") + texts[k];
  return out;
}
SHARDTYPE_INLINE void SourceValues::define(int k, std::string const& text, Labels const& order) {
  std::string name = texts_.name(k);
  int const version = ++versions_[at(step(k).node)];
  bool const given = node(k).making == Making::given;
  if (version > 1 || given) name += "_" + std::to_string(given ? version + 1 : version);
  name = variable_name(name);
  variable_[at(k)] = name;
  order_[at(k)] = order;
  lines_.push_back("auto const " + name + " = " + text + ";");
  std::string const amount = texts_.amount(k);
  amounts_.push_back(amount == "local" ? std::string() : amount);
}
SHARDTYPE_INLINE void SourceValues::define(int k, ArgumentText const& expression,
                                           Labels const& order) {
  // a block has its dims in the order that it has in the plan, in which sums add its elements
  Labels const wanted = labels_of(k);
  for (int d = 0; d < wanted.size; ++d)
    if (wanted.at[d] != order.at[d])
      return define(k, "transpose<" + list(wanted) + ">(" + expression.text + ")", wanted);
  define(k, freeze::bracketed(expression.text, expression.binding, Binding::whole) + ".tensor()",
         order);
}
SHARDTYPE_INLINE void SourceValues::rename(int k, int as) {
  variable_[at(k)] = variable(as);
  order_[at(k)] = order(as);
}

SHARDTYPE_INLINE planning::ProgramLabels SourceValues::order_of_map(int k) const {
  for (int m = 0; m < step(k).inputs; ++m)
    if (order(step(k).input[m]).size == node(k).rank) return order(step(k).input[m]);
  return labels_of(k);
}
SHARDTYPE_INLINE int SourceValues::find_like(int k) const {
  for (int j = 0; j < plan_.size; ++j) {
    if (j == k || variable(j).empty() || !(plan_.spec(j) == plan_.spec(k))) continue;
    bool same = node(j).rank == node(k).rank &&
                part_of_elements(j).element() == part_of_elements(k).element();
    for (int d = 0; d < node(k).rank && same; ++d) same = node(j).labels[d] == node(k).labels[d];
    if (same) return j;
  }
  return -1;
}
SHARDTYPE_INLINE std::string SourceValues::spread(int from, int k, Labels& out) const {
  Labels const& have = order(from);
  Spec const s = plan_.spec(k);
  std::string dims;
  std::string extents;
  bool open = false;
  for (int d = 0; d < node(k).rank; ++d) {
    int const l = node(k).labels[d];
    if (have.contains(l)) continue;
    dims += (dims.empty() ? "" : ", ") + dim(l, s.dims[d].axes);
    extents += (extents.empty() ? "" : ", ") + std::to_string(plan_.program.extents[l]);
    open = open || names_.label[l].extent == dynamic;
    out.push(l);
  }
  for (int d = 0; d < have.size; ++d) out.push(have.at[d]);
  if (dims.empty()) return "transpose<" + list(out = labels_of(k)) + ">(" + variable(from) + ")";
  return "broadcast<" + dims + ">(" + variable(from) + (open ? ", {" + extents + "}" : "") + ")";
}
SHARDTYPE_INLINE std::string SourceValues::in_order(int k, ProgramNode const& of) const {
  Labels wanted;
  for (int d = 0; d < of.rank; ++d) wanted.push(of.labels[d]);
  return result(k, wanted);
}
SHARDTYPE_INLINE std::string SourceValues::result(int k, Labels const& wanted) const {
  for (int d = 0; d < wanted.size; ++d)
    if (wanted.at[d] != order(k).at[d])
      return "transpose<" + list(wanted) + ">(" + variable(k) + ")";
  return variable(k);
}

}  // namespace shardtype::freeze
