#pragma once
/// Definitions of source_writer.hpp.

#include <algorithm>

#include <shardtype/core/error.hpp>
#include <shardtype/freeze/source_writer.hpp>
#include <shardtype/lazy/explain.hpp>

namespace shardtype::freeze {

SHARDTYPE_INLINE void SourceWriter::write_move(int k) {
  ProgramStep const& s = step(k);
  Labels const& in = order(s.input[0]);
  Spec const before = plan_.spec(s.input[0]);
  Spec const after = plan_.spec(k);
  std::string const from = variable(s.input[0]);
  auto const minor = [&](Spec const& of, int d) {
    AxisList const& list = of.dims[d].axes;
    return list.cyclic == 0 && list.size > 0 && list[list.size - 1] == s.axes[0];
  };
  auto const of_dim = [&](int d) { return label(node(k).labels[d]); };
  std::string const x = s.axes.size > 0 ? axis(s.axes[0]) : "";
  bool const one = s.axes.size == 1;
  switch (s.collective) {
    case Collective::all_gather:
      if (one && minor(before, s.from)) return define(k, "all_gather<" + x + ">(" + from + ")", in);
      break;
    case Collective::all_reduce:
      return define(k, "all_reduce<" + axes(s.axes) + ">(" + from + ")", in);
    case Collective::reduce_scatter:
      if (one && minor(after, s.to))
        return define(k, "reduce_scatter<" + x + ", " + of_dim(s.to) + ">(" + from + ")", in);
      break;
    case Collective::all_to_all:
      if (one && s.from != s.to && minor(before, s.from) && minor(after, s.to))
        return define(
            k, "all_to_all<" + x + ", " + of_dim(s.from) + ", " + of_dim(s.to) + ">(" + from + ")",
            in);
      break;
    default:
      break;
  }
  moves_alike_ = moves_alike_ && s.collective == Collective::none;
  std::string const to = sharding(k, in);
  define(k, "reshard<" + (to.empty() ? named(k) : to) + ">(" + from + ")", in);
}

SHARDTYPE_INLINE void SourceWriter::write_map(int k) {
  if (node(k).origin < 0)
    return define(k, "transpose<" + list(labels_of(k)) + ">(" + variable(step(k).input[0]) + ")",
                  labels_of(k));
  define(k, part(k).made(text_of(k), inputs(k, step(k).inputs)), order_of_map(k));
}
SHARDTYPE_INLINE void SourceWriter::write_relabel(int k) {
  int const in = step(k).input[0];
  Labels const from = labels_of(in);
  Labels const to = labels_of(k);
  std::string pairs;
  for (int d = 0; d < from.size; ++d)
    if (names_.label[from.at[d]].id != names_.label[to.at[d]].id)
      pairs += (pairs.empty() ? "" : ", ") + label(from.at[d]) + ", " + label(to.at[d]);
  Labels moved;
  for (int d = 0; d < from.size; ++d)
    for (int e = 0; e < from.size; ++e)
      if (from.at[e] == order(in).at[d]) moved.push(to.at[e]);
  if (!pairs.empty()) return define(k, "relabel<" + pairs + ">(" + variable(in) + ")", moved);
  rename(k, in);
  order_[at(k)] = moved;
}
SHARDTYPE_INLINE std::string SourceWriter::input_of_operation(int k, int m, int in) const {
  ProgramNode const& from = node(in);
  Labels wanted;
  bool same = true;
  for (int d = 0; d < from.rank; ++d) {
    wanted.push(from.labels[node(k).place(m, d)]);
    same = same && wanted.at[d] == order(in).at[d];
  }
  return same ? variable(in) : "transpose<" + list(wanted) + ">(" + variable(in) + ")";
}
SHARDTYPE_INLINE bool SourceWriter::makes_split_dims(int k) const {
  Spec const s = plan_.spec(k);
  for (int d = 0; d < node(k).rank; ++d) {
    bool made = node(k).making == Making::operation && s.dims[d].axes.size > 0;
    for (int m = 0; m < step(k).inputs; ++m)
      made = made && plan_.program.find(step(step(k).input[m]).node, node(k).labels[d]) < 0;
    if (made) return true;
  }
  return false;
}
SHARDTYPE_INLINE void SourceWriter::write_operation(int k) {
  ProgramNode const& n = node(k);
  if (n.making == Making::result)
    return define(
        k, "std::get<" + std::to_string(n.result) + ">(" + variable(step(k).input[0]) + "_all)",
        labels_of(k));
  std::string const callee = plan_.reads_totals(k)
                                 ? part(k).callee_of_split_rows(text_of(k), named(k))
                             : makes_split_dims(k) ? part(k).named_callee(text_of(k), named(k))
                                                   : part(k).callee(text_of(k));
  if (callee.empty())
    throw Error("E86",
                "the plan cannot be printed: ranks split the rows of " +
                    std::string(part(k).name()) + ", which it cannot do in strict mode",
                FailedOn::every_rank);
  List in;
  int count = step(k).inputs - (plan_.reads_totals(k) ? 1 : 0);
  if (plan_.reads_totals(k) && !n.rereads) count = 1;
  for (int m = 0; m < count; ++m) {
    int from = step(k).input[m];
    if (is_part_of_operation(from)) {  // the operand of the totals that it reads
      while (step(from).kind == ProgramStep::Kind::move) from = step(from).input[0];
      from = step(from).input[0];
    }
    in.push_back(n.making == Making::operation ? input_of_operation(k, m, from) : variable(from));
  }
  define(k, callee + joined(in) + ")", labels_of(k));
  if (n.has_results) name_results(k);
}
SHARDTYPE_INLINE void SourceWriter::name_results(int k) {
  std::string const all = variable(k) + "_all";
  std::string const made = variable(k);
  lines_[lines_.size() - 1].replace(0, ("auto const " + made).size(), "auto const " + all);
  lines_.push_back("auto const " + made + " = std::get<0>(" + all + ");");
  amounts_.push_back({});
}

SHARDTYPE_INLINE void SourceWriter::write_filled(int k, char const* function) {
  int const like = find_like(k);
  define(k, std::string(function) + "_like(" + variable(like) + ")", order(like));
}
SHARDTYPE_INLINE void SourceWriter::write_backward(int k) {
  using planning::Backward;
  ProgramNode const& n = node(k);
  Labels made;
  switch (n.backward) {
    case Backward::one:
      return write_filled(k, "ones");
    case Backward::zero:
      return write_filled(k, "zeros");
    case Backward::add: {
      ArgumentText sum{variable(step(k).input[0]), Binding::whole};
      for (int m = 1; m < step(k).inputs; ++m)
        sum = {sum.text + " + " + variable(step(k).input[m]), Binding::sum};
      return define(k, sum, order_of_map(k));
    }
    case Backward::sum:
      return define(k, "sum<" + named(k) + ">(" + variable(step(k).input[0]) + ")", labels_of(k));
    case Backward::spread: {
      std::string const text = spread(step(k).input[0], k, made);
      return define(k, text, made);
    }
    default:
      break;
  }
  PartText const& of = part(k);
  if (n.making == Making::result) return write_operation(k);
  if (n.making == Making::operation) return write_pull(k);
  if (of.is_sum() || of.is_mean()) {
    std::string const text = spread(step(k).input[0], k, made);
    if (of.is_sum()) return define(k, text, made);
    double terms = 1;
    for (int d = 0; d < n.rank; ++d)
      if (plan_.program.find(step(step(k).input[0]).node, n.labels[d]) < 0)
        terms *= static_cast<double>(plan_.program.extents[n.labels[d]]);
    return define(k, {text + " * " + freeze::number_text(1 / terms, false), Binding::product},
                  made);
  }
  define(k, of.pulled(text_of(k), n.pulls, inputs(k, step(k).inputs)), order_of_map(k));
}

SHARDTYPE_INLINE int SourceWriter::pulled_value(int k) const {
  RecordedProgram const& p = plan_.program;
  int made = -1;
  for (int j = 0; j < p.size; ++j)
    if (p.nodes[j].origin == node(k).pulled && p.nodes[j].backward == planning::Backward::none &&
        p.nodes[j].making != Making::relabel && p.nodes[j].making != Making::result)
      made = j;
  return made;
}
SHARDTYPE_INLINE Spec SourceWriter::read_like(int k, int value) const {
  ProgramNode const& n = plan_.program.nodes[value];
  Spec out;
  for (int d = 0; d < n.rank; ++d) {
    AxisList axes;
    for (int m = 0; m < step(k).inputs; ++m) {
      int const in = step(k).input[m];
      if (int const at = plan_.program.find(step(in).node, n.labels[d]); at >= 0)
        axes = plan_.spec(in).dims[at].axes;
    }
    out.add(d, axes);
  }
  return out;
}
SHARDTYPE_INLINE std::string SourceWriter::stand_in(int k, int value) const {
  ProgramNode const& n = plan_.program.nodes[value];
  Spec const wanted = read_like(k, value);
  std::string const element = parts_[at(n.origin < 0 ? 0 : n.origin)]->element();
  for (int j = 0; j < plan_.size; ++j) {
    if (variable(j).empty() || node(j).rank != n.rank || part_of_elements(j).element() != element)
      continue;
    bool same = plan_.spec(j).unreduced.empty();
    for (int d = 0; d < n.rank && same; ++d) {
      int const there = plan_.program.find(step(j).node, n.labels[d]);
      same = there >= 0 && plan_.spec(j).dims[there].axes == wanted.dims[d].axes;
    }
    if (same) return in_order(j, n);
  }
  return {};
}
SHARDTYPE_INLINE void SourceWriter::write_pull(int k) {
  RecordedProgram const& p = plan_.program;
  ProgramNode const& n = node(k);
  int const made = pulled_value(k);
  ProgramNode const& of = p.nodes[made];
  unsigned const reads = part(k).gradient().of[n.pulls].reads;
  std::string text = "autodiff::pull<" + std::to_string(n.pulls);
  for (int m = 0; m < of.operands; ++m)
    if (((n.pulls_too >> m) & 1U) != 0) text += ", " + std::to_string(m);
  text += ">(" + part(k).operation(text_of(k)) + ", " + in_order(step(k).input[0], of);
  int next = 1;
  auto const read = [&](int q, ProgramNode const& value, int number) {
    std::string const from =
        ((reads >> q) & 1U) != 0 ? in_order(step(k).input[next++], value) : stand_in(k, number);
    if (from.empty())
      throw Error("E86",
                  "the plan cannot be printed: the gradient of " + std::string(part(k).name()) +
                      " is of an operand that is not there in its sharding",
                  FailedOn::every_rank);
    return from;
  };
  List operands;
  for (int q = 0; q < of.operands; ++q) {
    int const number = p.operand(made, 0, q);
    ProgramNode in_type = p.nodes[number];
    if (of.making == Making::operation)
      for (int d = 0; d < in_type.rank; ++d)
        in_type.labels[d] = p.nodes[number].labels[of.place(q, d)];
    operands.push_back(read(q, in_type, number));
  }
  text += ", " + read(of.operands, of, made) + ", " + joined(operands);
  for (; next < step(k).inputs; ++next) text += ", " + variable(step(k).input[next]);
  define(k, text + ")", labels_of(k));
  if (n.has_results) name_results(k);
}

SHARDTYPE_INLINE bool SourceWriter::is_join(int k) const {
  return step(k).kind == ProgramStep::Kind::make && node(k).making == Making::shard_map &&
         (node(k).origin < 0 || part(k).callee({}).empty());
}
SHARDTYPE_INLINE bool SourceWriter::is_part_of_operation(int k) const {
  // what ranks exchange about split rows is part of the operation
  while (step(k).kind == ProgramStep::Kind::move) k = step(k).input[0];
  if (node(k).making != Making::reduction || step(k).kind == ProgramStep::Kind::given) return false;
  for (int j = 0; j < plan_.program.size; ++j)
    if (plan_.program.nodes[j].totals == step(k).node) return true;
  return false;
}
SHARDTYPE_INLINE bool SourceWriter::can_write(int k) const {
  using planning::Backward;
  for (int m = 0; m < step(k).inputs; ++m) {
    int const in = step(k).input[m];
    if (variable(in).empty() && !is_part_of_operation(in)) return false;
  }
  bool const filled = node(k).backward == Backward::one || node(k).backward == Backward::zero;
  return !filled || find_like(k) >= 0;
}
SHARDTYPE_INLINE void SourceWriter::write_steps() {
  // a cotangent begins like a value that has its sharding, and so behind it
  shardtype::detail::List<int> later;
  auto const write_later = [&] {
    for (std::size_t k = 0; k < later.size(); ++k) {
      if (!can_write(later[k])) continue;
      write_step(later[k]);
      later.erase(k);
      return true;
    }
    return false;
  };
  for (int k = 0; k < plan_.size; ++k) {
    if (step(k).kind == ProgramStep::Kind::given || is_part_of_operation(k) || is_join(k)) continue;
    later.push_back(k);
    while (write_later()) {
    }
  }
  if (!later.empty())
    throw Error("E86",
                "the plan cannot be printed: it begins a cotangent in a sharding that no other "
                "value has",
                FailedOn::every_rank);
}
SHARDTYPE_INLINE void SourceWriter::write_step(int k) {
  ProgramStep const& s = step(k);
  if (s.kind == ProgramStep::Kind::move) return write_move(k);
  ProgramNode const& n = node(k);
  if (n.making == Making::product)
    return define(k, "einsum<" + named(k) + ">(" + joined(inputs(k, 2)) + ")", labels_of(k));
  if (n.making == Making::relabel) return write_relabel(k);
  if (n.backward != planning::Backward::none) return write_backward(k);
  if (n.making == Making::map) return write_map(k);
  if (n.making == Making::reduction)
    return define(k, part(k).callee({}) + "<" + named(k) + ">(" + variable(s.input[0]) + ")",
                  labels_of(k));
  write_operation(k);
}

SHARDTYPE_INLINE void SourceWriter::add_results(int k, List& to) const {
  for (int m = 0; m < step(k).inputs; ++m) {
    int const in = step(k).input[m];
    if (is_join(in)) {
      add_results(in, to);
      continue;
    }
    Labels wanted = labels_of(in);
    if (node(k).origin >= 0)  // the order of dims is that of the named type
      if (auto const indices = part(k).indices_of_result(m); !indices.empty())
        for (int d = 0; d < wanted.size; ++d)
          for (int e = 0; e < wanted.size; ++e)
            if (names_.label[node(in).labels[e]].id == indices[at(d)])
              wanted.at[d] = node(in).labels[e];
    to.push_back(result(in, wanted));
  }
}
SHARDTYPE_INLINE std::string SourceWriter::parameters(bool types) const {
  std::string out;
  for (std::size_t k = 0; k < given_.size(); ++k)
    out += (k == 0  ? ""
            : types ? ",\n              "
                    : ", ") +
           (types ? "type<" + part(given_[k]).type() + ">" : "auto const& " + parameter_[k]);
  return out;
}
SHARDTYPE_INLINE bool SourceWriter::has_open_operand() const {
  for (int const k : given_) {
    Spec const s = plan_.spec(k);
    for (int d = 0; d < s.rank; ++d) {
      if (names_.label[node(k).labels[d]].extent == dynamic) return true;
      for (int x = 0; x < s.dims[d].axes.size; ++x)
        if (names_.axis[s.dims[d].axes[x]].size == dynamic) return true;
    }
  }
  return false;
}
SHARDTYPE_INLINE void SourceWriter::write_given(int k) {
  std::string const name = variable_name(texts_.name(k));
  given_.push_back(k);
  parameter_.push_back(name);
  variable_[at(k)] = name;
  order_[at(k)] = labels_of(k);
  // a plan does not tell what is reduced from what is replicated
  if (part(k).is_reduced()) define(k, "reshard<" + named(k) + ">(" + name + ")", labels_of(k));
}

SHARDTYPE_INLINE std::string SourceWriter::text(std::string_view name) {
  if (!plan_.possible)
    throw Error("E86", "no plan keeps to the memory limit: nothing can be printed",
                FailedOn::every_rank);
  for (int const k : texts_.given()) write_given(k);
  write_steps();
  std::string const call(name);
  std::string functions;
  std::string members;
  for (std::size_t k = 0; k < functions_.size(); ++k) {
    functions += (k > 0 ? ", class " : "class ") + ("F" + std::to_string(k + 1));
    members += "  F" + std::to_string(k + 1) + " " + functions_.name(k) + ";  // " +
               functions_.type(k) + "\n";
  }
  List results;
  if (is_join(plan_.size - 1))
    add_results(plan_.size - 1, results);
  else
    results.push_back(result(plan_.size - 1, labels_of(plan_.size - 1)));
  std::string returned = joined(results);
  if (results.size() > 1) returned = "std::tuple(" + returned + ")";
  returned = "return " + returned + ";";
  if (!lines_.empty())
    if (std::string const last = "auto const " + returned.substr(7, returned.size() - 8) + " = ";
        lines_.back().starts_with(last)) {
      returned.clear();
      lines_.back().replace(0, last.size(), "return ");
    }

  std::size_t widest = 0;
  for (std::size_t k = 0; k < lines_.size(); ++k)
    if (!amounts_[k].empty()) widest = std::max(widest, lines_[k].size());
  std::string body;
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    body += "    " + lines_[k];
    if (!amounts_[k].empty())
      body += std::string(widest - lines_[k].size() + 2, ' ') + "// " + amounts_[k];
    body += "\n";
  }
  std::string const budget =
      names_.all_static() ? ".bytes_per_rank();\n}() <= " + std::to_string(plan_.bytes_per_rank())
                          : ".collectives();\n}() <= " + std::to_string(plan_.collectives());
  std::string out;
  std::string const said = api::explain(planned_);
  for (std::size_t begin = 0, line = 0; line < 3; ++line) {
    std::size_t const end = said.find('\n', begin);
    out += "// " + said.substr(begin, end + 1 - begin);
    begin = end + 1;
  }
  out += functions.empty() ? "struct " + call + " {\n"
                           : "template <" + functions + ">\nstruct " + call + " {\n" + members;
  out += "  constexpr auto operator()(" + parameters(false) +
         ") const {\n    using namespace shardtype;\n" + body +
         (returned.empty() ? "" : "    " + returned + "\n") + "  }\n";
  if (functions.empty() && (names_.all_static() || (has_open_operand() && moves_alike_))) {
    out += "};\nstatic_assert([] {\n  using namespace shardtype;\n  return plan(" + call + "{}, " +
           parameters(true) + ")" + budget + ");\n";
  } else {
    out += "};\n";
  }
  return out;
}

}  // namespace shardtype::freeze
