#pragma once
/// Transfers to another mesh, on types. Each of the two types has a scope of its own, because the
/// axes of the two meshes are unrelated, and together may be more than one operation can have.

#include <string_view>

#include <shardtype/check/on_mesh.hpp>
#include <shardtype/rules/transfer.hpp>

namespace shardtype::runtime {

class MeshRef;
template <MeshAxis... Xs>
class MeshOf;

}  // namespace shardtype::runtime

namespace shardtype {

namespace detail {

/// `s` with its labels renumbered in scope `to`; labels that the scope lacks get the numbers after
/// it.
constexpr Spec relabelled(Spec s, Names const& own, Names const& to) {
  for (int d = 0; d < s.rank; ++d) {
    int const k = to.find_label(own.label_id[s.dims[d].label]);
    s.dims[d].label = static_cast<std::int8_t>(k < 0 ? max_labels + d : k);
  }
  return s;
}

template <class A, class Out>
struct TransferRule {
  using From = Scope<A>;
  using To = Scope<Out>;
  /// The destination with the labels of the source.
  static constexpr Spec spec = detail::relabelled(To::template spec<0>, To::names, From::names);
  static constexpr Verdict source_law = rules::lawful(From::names, From::parsed, 1);
  static constexpr Verdict target_law = rules::lawful(To::names, To::parsed, 1);
  static constexpr Verdict rule = rules::transfer(From::template spec<0>, spec);

  static constexpr Verdict decide() {
    if (!source_law) return source_law;
    if (!target_law) return target_law;
    if (rules::any_of_manual_mode(From::parsed, 1)) return refuse(Code::V01_mixed);
    if (!same_element<A, Out>) return refuse(Code::N05_element_type);
    Verdict v = rule;
    // a label that the source lacks is reported in the destination's numbers
    if (v.label >= max_labels) v.label = To::template spec<0>.dims[v.label - max_labels].label;
    return v;
  }
  static constexpr Verdict verdict = decide();
  /// Whether the label or axis at fault belongs to the source.
  static constexpr bool source_at_fault() {
    if (!source_law) return true;
    if (verdict.code == Code::R01_indices_differ) return rule.label < max_labels;
    if (verdict.code == Code::B03_through_cyclic) return From::template spec<0>.cyclic_dim() >= 0;
    return verdict.code == Code::A02_still_unreduced;
  }
};

template <class A, class Out>
struct Transferring : TransferRule<A, Out> {
  using Rule = TransferRule<A, Out>;
  /// The scope of the label and the axis at fault.
  using S = std::conditional_t<Rule::source_at_fault(), typename Rule::From, typename Rule::To>;
  using result = Out;
};

/// Number of the first axis of the destination that the mesh lacks; -1 if there is none, or if the
/// rule refuses.
template <class Rule, class Target>
inline constexpr int axis_beyond =
    Rule::verdict ? detail::missing_axis<typename Rule::result>(Type<Target>{}) : -1;
/// The rule's verdict if the mesh has all axes of the destination. Else the refusal (M01) names
/// only the first axis that is missing.
template <class Rule, class Target, int Axis = axis_beyond<Rule, Target>>
struct OntoMesh {
  using S = Scope<typename Rule::result>;
  static constexpr Verdict verdict = refuse(Code::M01_axis_not_in_mesh, -1, -1, Axis);
  using sentence = not_in_mesh_t<typename Rule::result, Target, Axis>;
};
template <class Rule, class Target>
struct OntoMesh<Rule, Target, -1> : Rule {};

}  // namespace detail

namespace op {
template <class Target, class... Out>
struct Transfer;
}  // namespace op

}  // namespace shardtype

namespace shardtype::checking {

template <class Target, class... Out, class A>
  requires(is_tensor<A> && !is_local<A>)
struct Resolve<op::Transfer<Target, Out...>, A>
    : detail::OntoMesh<detail::Transferring<A, named_t<A, Out...>>, Target> {};
template <class Target, class... Out, class A>
  requires is_local<A>
struct Resolve<op::Transfer<Target, Out...>, A> : detail::Plainly<Code::V01_mixed> {};

}  // namespace shardtype::checking
