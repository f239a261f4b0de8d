#pragma once
/// Writes a RecordedProgram, value by value, from the types of an expression.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <shardtype/check/valid_on.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/lazy/node_properties.hpp>
#include <shardtype/lazy/own_call.hpp>
#include <shardtype/lazy/program_names.hpp>
#include <shardtype/lazy/walk.hpp>
#include <shardtype/plan/unreduced_reach.hpp>

namespace shardtype {

namespace detail {

/// Writes the program of an expression. Labels are numbered by dim; dims of one index that meet in
/// an operation get one number.
class ProgramWriter {
 public:
  planning::ProgramBuilder builder{};
  ProgramNames names{};
  Code fault = Code::ok;

  constexpr void add_axis(AxisPart const& x) {
    if (names.find_axis(x.id) >= 0) return;
    if (names.axes == searched_axes) return refuse_with(Code::T07_too_many);
    builder.program.sizes.at[names.axes] = x.size;
    names.axis[names.axes++] = x;
    builder.program.axes = names.axes;
  }

  /// Whether no more values are written: compilers bound the steps of a constant.
  constexpr bool full() {
    if (builder.program.size < most_values) return false;
    builder.program.pass(rules::ProgramLimit::values);
    return true;
  }

  // The callbacks of walk().
  template <class E, class A>
  constexpr int visit(LazyGiven<E, A> const*, WalkedOperands const&) {
    planning::ProgramLabels const labels = fresh_labels<A>(false);
    using T = element_t<A>;
    return originate(
        builder.given(labels, spec_of<A>(labels), sizeof(T), detail::multiply_add_work<T>()));
  }
  template <class A, class B, class Whole>
  constexpr int visit(LazyProduct<A, B, Whole> const*, WalkedOperands const& operands) {
    int const before = builder.program.size;
    meet(operands, {});
    int const value =
        builder.product(operands.at, operands.size, labels_among<Whole>(operands, {}));
    for (int k = before; k < builder.program.size; ++k) {
      node(k).origin = origin_;
      node(k).copy_bytes =
          static_cast<std::int32_t>(detail::product_element<element_t<Whole>>().copy_bytes);
    }
    ++origin_;
    return value;
  }
  template <class F, class... Args>
  constexpr int visit(LazyMap<F, Args...> const*, WalkedOperands const& operands) {
    using M = LazyMap<F, Args...>;
    using T = element_t<typename M::whole>;
    int slot = 0;
    meet(operands, {});
    return originate(
        builder.map(operands.at, operands.size, labels_among<typename M::whole>(operands, {}),
                    UnreducedTogether<M>::sets(slot), sizeof(T), detail::multiply_add_work<T>()));
  }
  template <class F, class Whole, class A>
  constexpr int visit(LazyReduction<F, Whole, A> const*, WalkedOperands const& operands) {
    using T = element_t<Whole>;
    int const value = builder.reduction(operands.at[0], labels_among<Whole>(operands, {}), F::kind);
    node(value).element_bytes = sizeof(T);
    node(value).total_bytes =
        static_cast<std::int32_t>(F::template total_bytes<element_t<typename A::whole>>);
    return originate(value);
  }
  template <class Whole, class A>
  constexpr int visit(LazyRelabel<Whole, A> const*, WalkedOperands const& operands) {
    // the operand's dims may be in another order than in its type, because a transpose moves
    // nothing
    using From = Scope<typename A::whole>;
    using To = Scope<Whole>;
    settle(operands.at[0]);
    ProgramNode const n = builder.program.nodes.at[operands.at[0]];
    planning::ProgramLabels labels;
    for (int d = 0; d < n.rank; ++d)
      for (int e = 0; e < From::parsed[0].spec.rank; ++e) {
        int const from = From::parsed[0].spec.dims[e].label;
        int const to = To::parsed[0].spec.dims[e].label;
        if (From::names.label_id[from] != label_of(n.labels[d])) continue;
        labels.push(To::names.label_id[to] == label_of(n.labels[d]) ? n.labels[d]
                                                                    : fresh(part_of<To>(to), true));
      }
    return originate(builder.relabel(operands.at[0], labels));
  }
  template <class Op, class Whole, class... As>
  constexpr int visit(LazyOperation<Op, Whole, As...> const*, WalkedOperands const& operands) {
    using D = OperationDims<Op, Whole, As...>;
    using T = element_t<Whole>;
    LabelSet const apart = D::apart();
    meet(operands, operands_meet<Op> ? LabelSet{} : apart);
    ProgramNode n;
    n.name = Op::name.data();
    planning::ProgramLabels const labels = labels_among<Whole>(operands, apart);
    n.whole[0] = whole_dims<D>(labels, false);
    for (int k = 0; k < operands.size; ++k)
      n.whole[k + 1] = whole_dims<D>(labels_of(operands.at[k]), true);
    n.in_place = shares_memory<Op>;
    if constexpr (requires { &OperationWork<Op, Whole, As...>::of; }) {
      n.work_on = &OperationWork<Op, Whole, As...>::of;
      n.varies = has_variants<Op>;
    }
    note_order<typename As::whole...>(n, operands);
    if constexpr (requires { typename Op::aligned; }) detail::note_aligned<Op, Whole, As...>(n);
    if constexpr (exchanges_rows<Op>) {
      using A = typename FirstOperand<As...>::type;
      n.call_on_rows = &CallOnRows<Op, A>::plan;
      n.along = static_cast<std::int8_t>(n.place(0, Resolve<Op, A>::along));
      n.varies = has_variants<Op>;
    }
    if constexpr (OperationExtents<Op, 0, As...>::known)
      n.made_extents = &OperationExtents<Op, 0, As...>::set;
    if constexpr (sums_parts<Op>) {
      n.sums = true;
      for (int k = 0; k < operands.size; ++k) {
        ProgramNode const& from = builder.program.nodes.at[operands.at[k]];
        for (int d = 0; d < from.rank; ++d)
          if (Identity const id = label_of(from.labels[d]); D::sums(id))
            n.unreduced_kind = D::kind_of_sums(id);
      }
    }
    if constexpr (joins_totals<Op>) {
      planning::ProgramLabels kept;
      for (int d = 0; d < labels.size; ++d)
        if (((n.whole[0] >> d) & 1U) == 0) kept.push(labels.at[d]);
      using F = typename Op::row_totals;
      using Element = element_t<typename FirstOperand<As...>::type>;
      n.totals = static_cast<std::int32_t>(
          builder.totals(operands.at[0], kept, static_cast<int>(sent_bytes<F, Element>),
                         static_cast<int>(F::template total_bytes<Element>), rereads_rows<Op>));
      n.rereads = rereads_rows<Op>;
      n.totals_of = static_cast<std::int8_t>(totals_of<Op>);
      node(n.totals).origin = origin_;
    }
    int const value = originate(builder.operation(n, operands.at, operands.size, labels, sizeof(T),
                                                  detail::multiply_add_work<T>()));
    // a constraint of the first result is not one of the operation, which others may read
    if constexpr (HasResults<Op>) node(value).kept = is_determined<LazyOperation<Op, Whole, As...>>;
    return value;
  }
  template <std::size_t K, class Whole, class Node>
  constexpr int visit(LazyResult<K, Whole, Node> const*, WalkedOperands const& operands) {
    using T = element_t<Whole>;
    constexpr char const* ordinals[] = {"first", "second", "third", "fourth"};
    static_assert(K < 4);
    WalkedOperands beside = operands;  // whose dims it may have
    if constexpr (is_own_call<Node>)
      for (int k = 0; k < builder.program.nodes.at[operands.at[0]].operands; ++k)
        beside.push(builder.program.operand(operands.at[0], 0, k));
    planning::ProgramLabels const labels = labels_among<Whole>(beside, {});
    ProgramNode n;
    n.name = ordinals[K];
    if constexpr (!is_own_call<Node>) {
      using D = DimsOfNode<Node>;
      n.whole[0] = whole_dims<D>(labels, false);
      n.whole[1] = whole_dims<D>(labels_of(operands.at[0]), false);
      if constexpr (D::template extents<K>::known) n.made_extents = &D::template extents<K>::set;
    }
    int const value = originate(builder.operation(n, operands.at, operands.size, labels, sizeof(T),
                                                  detail::multiply_add_work<T>()));
    node(value).making = Making::result;
    node(value).result = static_cast<std::int8_t>(K);
    node(operands.at[0]).has_results = true;
    if constexpr (is_own_call<Node>)
      builder.program.pin(value, spec_of<pin_t<LazyResult<K, Whole, Node>>>(labels));
    return value;
  }
  /// As a shard_map, with the plan of its call.
  template <class Op, class Results, class Result, class... As>
  constexpr int visit(LazyOwnCall<Op, Results, Result, As...> const*,
                      WalkedOperands const& operands) {
    using Call = RecordedCall<Op, pin_t<As>...>;
    using T = element_t<Result>;
    meet(operands, {});
    planning::ProgramLabels const labels = labels_among<Result>(operands, {});
    int const value = builder.shard_map(operands.at, operands.size, labels, spec_of<Result>(labels),
                                        sizeof(T), detail::multiply_add_work<T>(), Op::name.data());
    planning::OwnCall own;
    own.plan = &Call::plan;
    for (int x = 0; x < Call::S::names.axes; ++x)
      own.axis[x] = static_cast<std::int8_t>(names.find_axis(Call::S::names.axis_id[x]));
    builder.own_call(value, own);
    note_order<pin_t<As>...>(node(value), operands);
    node(value).varies = has_variants<Op>;
    return originate(value);
  }
  template <class F, class Result, class... As>
  constexpr int visit(LazyShardMap<F, Result, As...> const*, WalkedOperands const& operands) {
    using T = element_t<Result>;
    planning::ProgramLabels const labels = labels_among<Result>(operands, {});
    return originate(builder.shard_map(
        operands.at, operands.size, labels, spec_of<Result>(labels), sizeof(T),
        detail::multiply_add_work<T>(), detail::block_function_name<F>(),
        requires { requires F::keeps; }));
  }
  template <class Pin, class A>
  constexpr int visit(LazyConstrained<Pin, A> const*, WalkedOperands const& operands) {
    Spec const spec = spec_of<Pin>(labels_of(operands.at[0]));
    ProgramNode const& n = builder.program.nodes.at[operands.at[0]];
    if ((n.cyclic >= 0 || n.own_call >= 0) && is_as(operands.at[0], spec)) return operands.at[0];
    int const value = builder.constrain(operands.at[0], spec);
    check_kind(value, spec);
    return value;
  }
  /// A further value that is `value`; it is no part of the expression.
  constexpr int alias(int value) {
    settle(value);
    return builder.relabel(value, labels_of(value));
  }
  /// Records the requested result.
  template <class Out>
  constexpr void finish(int root) {
    planning::ProgramLabels const order = labels_among<Out>(only(root), {});
    Spec const wanted = spec_of<Out>(order);
    builder.finish(root, order, wanted);
    number_labels();
    if (builder.program.overflows()) return refuse_with(Code::L03_too_large);
    if (!cyclic_values_stay(wanted)) return refuse_with(Code::L02_cyclic);
    check_kind(builder.program.root, wanted);
    if (fault != Code::ok) return;
    if (!planning::UnreducedReach(builder.program).holds())
      refuse_with(Code::R02_replicated_to_unreduced);
    else if (kinds_differ_)
      refuse_with(Code::R04_kind_differs);
  }
  constexpr bool is_known(Identity tag, void const*, int& value) {
    if (!find(shared_, tag, value)) return false;
    builder.share(value);
    return true;
  }
  /// Whether an expression of this type was there before; then its value has one more reader.
  constexpr bool found(Identity type, int& value) {
    if (!find(remembered_, type, value)) return false;
    read_again(value);
    return true;
  }
  constexpr void read_again(int value) {
    if (builder.program.nodes.at[value].shares == 0) builder.share(value);
    builder.share(value);
  }
  constexpr void remember(Identity type, int value) { remembered_.push_back({type, value}); }
  constexpr int share(Identity tag, void const*, int value) {
    builder.share(value);
    shared_.push_back({tag, value});
    return value;
  }
  constexpr void refuse_with(Code code) {
    if (fault == Code::ok) fault = code;
  }

 private:
  static constexpr int most_values = 1024;  ///< exceeded: code L03

  /// Whether a value is pinned to this sharding.
  constexpr bool is_as(int value, Spec const& spec) const {
    RecordedProgram const& p = builder.program;
    return p.nodes.at[value].pinned >= 0 && p.spec(value, p.nodes.at[value].pinned) == spec;
  }
  /// Whether block-cyclic values are what a user's tensor or an operation has, and are read as they
  /// are.
  constexpr bool cyclic_values_stay(Spec const& wanted) const {
    RecordedProgram const& p = builder.program;
    for (int k = 0; k < p.size; ++k) {
      bool const made = p.nodes.at[k].making == planning::Making::given || p.is_fixed(k);
      if (p.nodes.at[k].cyclic >= 0 && !made) return false;
      if (p.is_fixed(k)) continue;
      for (int m = 0; m < p.nodes.at[k].ways * p.nodes.at[k].operands; ++m)
        if (p.nodes.at[p.uses.at[p.nodes.at[k].first_use + m]].cyclic >= 0) return false;
    }
    bool const cyclic = p.nodes.at[p.root].cyclic >= 0;
    return cyclic == (wanted.cyclic_dim() >= 0) && (!cyclic || is_as(p.root, wanted));
  }

  /// An expression that was seen, by its type or its tag.
  struct Seen {
    Identity id = nullptr;
    int value = -1;
  };
  static constexpr bool find(List<Seen> const& among, Identity id, int& value) {
    for (Seen const& s : among)
      if (s.id == id) return value = s.value, true;
    return false;
  }
  /// A dim of the values so far. Dims that met have one number: that which `same` leads to.
  struct Label {
    LabelPart part{};
    bool made = false;
    int same = -1;
  };
  constexpr ProgramNode& node(int value) { return builder.program.nodes.edit(value); }

  template <class S>
  static constexpr LabelPart part_of(int label) {
    return {S::names.label_id[label], S::names.label_name[label], S::names.label_extent[label]};
  }
  /// A new number for a dim. `made`: created by an operation, which may give it another extent.
  constexpr int fresh(LabelPart const& label, bool made) {
    labels_.push_back({label, made, -1});
    return static_cast<int>(labels_.size()) - 1;
  }
  template <class A>
  constexpr planning::ProgramLabels fresh_labels(bool made) {
    using S = Scope<A>;
    planning::ProgramLabels out;
    for (int d = 0; d < S::parsed[0].spec.rank; ++d)
      out.push(fresh(part_of<S>(S::parsed[0].spec.dims[d].label), made));
    return out;
  }
  /// For each dim of type `A`, that of a value: 4 bits each.
  template <class A>
  constexpr std::uint32_t order_of(int value) const {
    using S = Scope<A>;
    ProgramNode const& n = builder.program.nodes.at[value];
    std::uint32_t out = 0;
    for (int e = 0; e < n.rank; ++e)
      for (int d = 0; d < n.rank; ++d)
        if (label_of(n.labels[d]) == S::names.label_id[S::parsed[0].spec.dims[e].label])
          out |= static_cast<std::uint32_t>(d) << (4 * e);
    return out;
  }
  template <class... As>
  constexpr void note_order(ProgramNode& n, WalkedOperands const& operands) const {
    int k = 0;
    ((n.order[k] = order_of<As>(operands.at[k]), ++k), ...);
  }
  template <class D>
  constexpr std::uint8_t whole_dims(planning::ProgramLabels const& labels, bool read) const {
    Identity ids[max_dims]{};
    for (int d = 0; d < labels.size; ++d) ids[d] = label_of(labels.at[d]);
    return D::whole(ids, labels.size, read);
  }
  static constexpr WalkedOperands only(int operand) {
    WalkedOperands out;
    out.push(operand);
    return out;
  }
  constexpr planning::ProgramLabels labels_of(int value) const {
    ProgramNode const& n = builder.program.nodes.at[value];
    planning::ProgramLabels out;
    for (int d = 0; d < n.rank; ++d) out.push(first_of(n.labels[d]));
    return out;
  }
  /// The number of an index among the dims of the values, or -1.
  constexpr int number_of(Identity id, WalkedOperands const& values) const {
    for (int k = 0; k < values.size; ++k) {
      ProgramNode const& n = builder.program.nodes.at[values.at[k]];
      for (int d = 0; d < n.rank; ++d)
        if (label_of(n.labels[d]) == id) return first_of(n.labels[d]);
    }
    return -1;
  }
  /// Merges the dims of one index, because they have one extent; except those of `apart`.
  constexpr void meet(WalkedOperands const& values, LabelSet const& apart) {
    for (int k = 1; k < values.size; ++k) {
      ProgramNode const& n = builder.program.nodes.at[values.at[k]];
      for (int d = 0; d < n.rank; ++d) {
        int const mine = first_of(n.labels[d]);
        int const first = number_of(label_of(mine), values);
        if (first != mine && !apart.contains(label_of(mine))) merge(first, mine);
      }
    }
    for (int k = 0; k < values.size; ++k) settle(values.at[k]);
  }
  constexpr void merge(int a, int b) {
    int const keep = a < b ? a : b;
    int const drop = a < b ? b : a;
    label(keep).made = label(a).made && label(b).made;
    label(drop).same = keep;
  }
  constexpr Label& label(int number) { return labels_[static_cast<std::size_t>(number)]; }
  /// The number of the dims that met a dim.
  constexpr int first_of(int number) const {
    Label const* const all = labels_.data();
    while (all[number].same >= 0) number = all[number].same;
    return number;
  }
  constexpr Identity label_of(int number) const { return labels_.data()[number].part.id; }
  /// Gives the dims of a value the numbers of those that they met.
  constexpr void settle(int value) {
    ProgramNode& n = node(value);
    for (int d = 0; d < n.rank; ++d) n.labels[d] = static_cast<std::int16_t>(first_of(n.labels[d]));
  }
  /// The labels of a type, numbered as the dims of `values`; new numbers for labels of `apart`, and
  /// for dims that no value has.
  template <class A>
  constexpr planning::ProgramLabels labels_among(WalkedOperands const& values,
                                                 LabelSet const& apart) {
    using S = Scope<A>;
    planning::ProgramLabels out;
    for (int d = 0; d < S::parsed[0].spec.rank; ++d) {
      LabelPart const label = part_of<S>(S::parsed[0].spec.dims[d].label);
      int const known = apart.contains(label.id) ? -1 : number_of(label.id, values);
      out.push(known >= 0 ? known : fresh(label, true));
    }
    return out;
  }
  /// The sharding of a tensor type in the program's axes, with its dims in the order of `labels`.
  template <class A>
  constexpr Spec spec_of(planning::ProgramLabels const& labels) {
    using S = Scope<A>;
    if (!detail::has_axes_of<A>(names)) {
      refuse_with(Code::M01_axis_not_in_mesh);
      return {};
    }
    // labels for which there was no room are not those of the type: L03
    if (builder.program.overflows()) return {};
    int order[max_dims]{};
    for (int d = 0; d < labels.size; ++d)
      order[d] = S::template spec<0>.find(S::names.find_label(label_of(labels.at[d])));
    return detail::spec_in<A>(names, order);
  }
  /// Renumbers the remaining labels without gaps.
  constexpr void number_labels() {
    ProgramNode* const nodes = builder.program.nodes.own();
    int const size = builder.program.size;
    List<int> number(labels_.size(), -1);
    for (int k = 0; k < size; ++k)
      for (int d = 0; d < nodes[k].rank; ++d)
        number[static_cast<std::size_t>(first_of(nodes[k].labels[d]))] = 0;
    for (std::size_t l = 0; l < labels_.size(); ++l) {
      if (number[l] < 0) continue;
      number[l] = builder.label(labels_[l].part.extent);
      names.label.push_back(labels_[l].part);
      names.made.push_back(labels_[l].made);
    }
    names.labels = builder.program.labels;
    for (int k = 0; k < size; ++k)
      for (int d = 0; d < nodes[k].rank; ++d)
        nodes[k].labels[d] = static_cast<std::int16_t>(
            number[static_cast<std::size_t>(first_of(nodes[k].labels[d]))]);
  }
  constexpr int originate(int value) {
    node(value).origin = origin_++;
    return value;
  }

  constexpr void check_kind(int value, Spec const& asked) {
    if (!asked.unreduced.empty() && asked.kind != builder.program.nodes.at[value].unreduced_kind)
      kinds_differ_ = true;
  }

  bool kinds_differ_ = false;
  int origin_ = 0;
  List<Label> labels_;
  List<Seen> shared_;
  List<Seen> remembered_;
};

}  // namespace detail

}  // namespace shardtype
