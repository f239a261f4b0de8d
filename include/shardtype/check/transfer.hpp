#pragma once
/// Transfers to another mesh, on types. Each of the two types has a scope of its own, because the
/// axes of the two meshes are unrelated, and together may be more than one operation can have.

#include <string_view>

#include <shardtype/check/resolve.hpp>
#include <shardtype/rules/transfer.hpp>

namespace shardtype::runtime {

class MeshRef;
template <MeshAxis... Xs>
class MeshOf;

}  // namespace shardtype::runtime

namespace shardtype {

template <MeshAxis... Xs>
class Mesh;

namespace detail {

/// `s` with its labels renumbered in scope `to`; labels that the scope lacks get the numbers after
/// it.
constexpr Spec relabelled(Spec s, Names const& own, Names const& to) {
  for (int d = 0; d < s.rank; ++d) {
    int const k = to.find_label(own.label_id[s.dims[d].label]);
    s.dims[d].label = static_cast<std::int8_t>(k < 0 ? max_dims + d : k);
  }
  return s;
}

template <class A, class Out>
struct TransferRule {
  using From = Scope<A>;
  using To = Scope<Out>;
  /// The destination with the labels of the source.
  static constexpr Spec spec = relabelled(To::template spec<0>, To::names, From::names);
  static constexpr Verdict source_law = rules::lawful(From::names, From::readings, 1);
  static constexpr Verdict target_law = rules::lawful(To::names, To::readings, 1);
  static constexpr Verdict rule = rules::transfer(From::template spec<0>, spec);

  static constexpr Verdict decide() {
    if (!source_law) return source_law;
    if (!target_law) return target_law;
    if (!same_element<A, Out>) return refuse(Code::N05_element_type);
    Verdict v = rule;
    // a label that the source lacks is reported in the destination's numbers
    if (v.label >= max_dims) v.label = To::template spec<0>.dims[v.label - max_dims].label;
    return v;
  }
  static constexpr Verdict verdict = decide();
  /// Whether the label or axis at fault belongs to the source.
  static constexpr bool source_at_fault() {
    if (!source_law) return true;
    if (verdict.code == Code::R01_indices_differ) return rule.label < max_dims;
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

/// A mesh that has all axes.
struct AnyMesh {};
template <class Out>
constexpr int axis_not_in_mesh(Type<AnyMesh>) {
  return -1;
}
/// Number of the first axis of `Out` that the mesh lacks, or -1.
template <class Out, class... Ys>
constexpr int axis_not_in_mesh(Type<Mesh<Ys...>>) {
  Names const& names = Scope<Out>::names;
  for (int x = 0; x < names.axes; ++x)
    if (((names.axis_id[x] != identity<Ys>) && ...)) return x;
  return -1;
}
template <class Out, class Target, class X>
refused<Code::M01_axis_not_in_mesh, false, Out, Target, X>* not_in_target(Pack<X>);
/// A destination over an axis that the mesh lacks; the refusal names only the destination.
template <class Out, class Target, int Axis>
struct NotInMesh {
  using S = Scope<Out>;
  static constexpr Verdict verdict = refuse(Code::M01_axis_not_in_mesh, -1, -1, Axis);
  using sentence =
      std::remove_pointer_t<decltype(not_in_target<Out, Target>(axis_type<S, Axis>()))>;
};
template <class Rule, class Target>
constexpr auto transfer_to_mesh() {
  if constexpr (Rule::verdict) {
    constexpr int axis = axis_not_in_mesh<typename Rule::result>(Type<Target>{});
    if constexpr (axis >= 0) {
      return Type<NotInMesh<typename Rule::result, Target, axis>>{};
    } else {
      return Type<Rule>{};
    }
  } else {
    return Type<Rule>{};
  }
}

template <class Target, class A, class... Out>
constexpr auto resolve_transfer() {
  if constexpr (!is_tensor<A>) {
    return Type<NotATensor<A>>{};
  } else if constexpr (is_local<A>) {
    return Type<Plainly<Code::V01_mixed>>{};
  } else {
    return transfer_to_mesh<Transferring<A, named_t<A, Out...>>, Target>();
  }
}

}  // namespace detail

namespace op {
template <class Target, class... Out>
struct Transfer;
}  // namespace op

}  // namespace shardtype

namespace shardtype::checking {

template <class Target, class... Out, class A>
struct Resolve<op::Transfer<Target, Out...>, A>
    : decltype(detail::resolve_transfer<Target, A, Out...>())::type {};

}  // namespace shardtype::checking
