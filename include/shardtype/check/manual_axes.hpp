#pragma once
/// Manual mode over some of a mesh's axes, on types: tensors enter it and leave it by casts.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <shardtype/check/call.hpp>
#include <shardtype/check/cotangent.hpp>
#include <shardtype/check/manual.hpp>
#include <shardtype/check/operation.hpp>
#include <shardtype/plan/block_plan.hpp>

namespace shardtype {

/// Names the axes over which a shard_map is manual: `shard_map<Dim<I, X>>(manual_axes<X>, f, a)`.
template <MeshAxis... Xs>
struct ManualAxes {};
template <MeshAxis... Xs>
inline constexpr ManualAxes<Xs...> manual_axes{};

namespace detail {

template <class A, class Out>
constexpr auto axes_left();
template <class Rule, class Op, class A>
struct EntersManualAs;
template <class Rule, class Op, class A, class Out>
struct LeavesManualAs;
template <class A, class... Xs>
struct EntersManual;
template <class A, class Out>
struct LeavesManual;

}  // namespace detail

namespace op {

template <class Out>
struct LeaveManual;

/// The part of a tensor that the ranks of one place along `Xs` hold: `f32[I@X, J@Y]` -> `f32[I,
/// J@Y]{V:X}`. Shares memory.
template <class... Xs>
struct EnterManual {
  using operation = EnterManual;
  using gradient = Pulls;
  static constexpr std::string_view name = "enter_manual";
  template <class A>
  using casts =
      detail::resolved_t<detail::EntersManualAs, detail::EntersManual<A, Xs...>, EnterManual, A>;
  template <class R, class A>
  typename R::result run(std::source_location const& where, A const& a) const;
  template <class G>
  constexpr auto pull(G const& g) const {
    return g(LeaveManual<cotangent_t<typename G::type>>{});
  }
};
/// The Tensor `Out` whose parts along manual axes are the operand: the reverse of EnterManual.
template <class Out>
struct LeaveManual {
  using operation = LeaveManual;
  using gradient = Pulls;
  static constexpr std::string_view name = "leave_manual";
  template <class A>
  using casts =
      detail::resolved_t<detail::LeavesManualAs, detail::LeavesManual<A, Out>, LeaveManual, A, Out>;
  template <class R, class A>
  typename R::result run(std::source_location const& where, A const& a) const;
  template <class G>
  constexpr auto pull(G const& g) const {
    using Axes = decltype(detail::axes_left<typename G::type, Out>());
    if constexpr (std::is_same_v<Axes, detail::Pack<>>) {
      return g.ct;
    } else {
      return entering(g, Axes{});
    }
  }

 private:
  template <class G, class... Xs>
  static constexpr auto entering(G const& g, detail::Pack<Xs...>) {
    return g(EnterManual<Xs...>{});
  }
};

}  // namespace op

namespace detail {

/// The verdict on a tensor that enters manual mode over `Xs`.
template <class A, class... Xs>
struct EntersManual {
  static constexpr bool enters = true;
  using S = Scope<A, Mentions<Reduced<Xs...>>>;
  static constexpr Spec inside() { return verdict.result; }
  static constexpr Spec outside() { return S::template spec<0>; }
  static constexpr Verdict decide() {
    if (sizeof...(Xs) == 0) return refuse(Code::K07_no_axis);
    if (Verdict v = rules::lawful(S::names, S::parsed, 2); !v) return v;
    Verdict const v = rules::enter_manual(S::template spec<0>, S::template spec<1>.reduced);
    for (int d = 0; v && d < v.result.rank; ++d) {
      DimSpec const& dim = S::template spec<0>.dims[d];
      std::int64_t const n = S::names.label_extent[dim.label];
      std::int64_t const p = pieces(S::names.sizes(), dim, v.result.dims[d]);
      if (n != dynamic && p != dynamic && n % p != 0)
        return rules::refuse(Code::V10_uneven, dim.label, -1, dim.axes[0]);
    }
    return v;
  }
  /// The number that must divide the extent of a dim, so that each part is a tensor: of ranks along
  /// its manual axes, or, if strict ones split it too, along all.
  static constexpr std::int64_t pieces(Sizes const& sizes, DimSpec const& outside,
                                       DimSpec const& inside) {
    if (outside.axes.size == inside.axes.size) return 1;
    std::int64_t p = 1;
    for (int k = 0; k < outside.axes.size; ++k)
      p = p == dynamic || sizes[outside.axes[k]] == dynamic ? dynamic : p * sizes[outside.axes[k]];
    return p;
  }
  static constexpr Verdict verdict = decide();
};
/// The verdict on a tensor of type `A` that leaves manual mode as an `Out`.
template <class A, class Out>
struct LeavesManual {
  static constexpr bool enters = false;
  static constexpr Verdict law = rules::lawful(Scope<Out>::names, Scope<Out>::parsed, 1);
  using S = std::conditional_t<bool(law), Scope<A, Out>, Scope<Out>>;
  static constexpr Spec inside() { return S::parsed[0].spec; }
  static constexpr Spec outside() { return S::parsed[1].spec; }
  static constexpr Verdict decide() {
    if (!law) return law;
    if (is_local<A>) return refuse(Code::V01_mixed);
    if (Verdict v = rules::well_named(S::names); !v) return v;
    if (!same_element<A, Out>) return refuse(Code::N05_element_type);
    return rules::leave_manual(S::parsed[0].spec, S::parsed[1].spec);
  }
  static constexpr Verdict verdict = decide();
};

/// Error E61: ranks do not divide an index.
[[noreturn]] inline void throw_uneven_parts(std::string_view index, std::int64_t extent,
                                            std::int64_t pieces) {
  throw Error("E61",
              "index " + std::string(index) + " has extent " + std::to_string(extent) +
                  ", which the " + std::to_string(pieces) +
                  " ranks along its axes do not divide; every part along a manual axis must have "
                  "the same extents: reshard it to be whole (an all_gather), or begin with an "
                  "extent that they divide",
              FailedOn::every_rank);
}

/// Common to both: a cast between a tensor and its parts along manual axes.
template <class Rule, class Op, class A>
struct ManualCast : Rule {
  static constexpr bool communicates = false;
  static constexpr void set_extents(Op const&, Sizes const& sizes, std::int64_t const* const* given,
                                    std::int64_t* out) {
    Spec const inside = Rule::inside();
    Spec const outside = Rule::outside();
    for (int d = 0; d < outside.rank; ++d) {
      AxisList const& strict = inside.dims[d].axes;
      std::int64_t const all = sizes.product(outside.dims[d].axes);
      std::int64_t const own = sizes.product(strict);
      if (outside.dims[d].axes.size == strict.size || given[0][d] == dynamic) {
        out[d] = given[0][d];
        continue;
      }
      std::int64_t const parts = all / own;
      std::int64_t const divides = strict.size == 0 ? (Rule::enters ? parts : 1)
                                   : Rule::enters   ? all
                                                    : own;
      if (given[0][d] % divides != 0)
        detail::throw_uneven_parts(Rule::S::names.label_name[outside.dims[d].label], given[0][d],
                                   divides);
      out[d] = Rule::enters ? given[0][d] / parts : mul_sat(given[0][d], parts);
    }
  }
  static constexpr Plan plan_call(Op const& op, Sizes const& sizes,
                                  std::int64_t const* const* given) {
    std::int64_t made[max_dims]{};
    set_extents(op, sizes, given, made);
    Spec const operand = Rule::enters ? Rule::outside() : Rule::inside();
    planning::BlockCall c{Movement::cast};
    c.given = operand;
    c.result = Rule::enters ? Rule::inside() : Rule::outside();
    c.sizes = sizes;
    c.element_bytes = static_cast<std::int64_t>(sizeof(element_t<A>));
    c.given_extents = given[0];
    c.result_extents = made;
    return planning::block_plan(Op::name, c, false);
  }
  static constexpr int open_count(Op const&, Collective) { return 0; }
};
template <class Rule, class Op, class A>
struct EntersManualAs : ManualCast<Rule, Op, A> {
  using result = accepted_t<Rule, element_t<A>, A>;
};
template <class Rule, class Op, class A, class Out>
struct LeavesManualAs : ManualCast<Rule, Op, A> {
  using result = Out;
};

/// The axes that split a dim of `Out` and none of the `A` that it comes from, sorted by name.
template <class A, class Out>
struct AxesLeft {
  using S = Scope<A, Out>;
  static constexpr AxisList decide() {
    AxisSet axes;
    for (int x = 0; x < max_axes; ++x)
      if (S::template spec<1>.dim_of(x) >= 0 && S::template spec<0>.dim_of(x) < 0) axes.insert(x);
    return detail::sorted_by_name(axes, S::names);
  }
  static constexpr AxisList value = decide();
  template <std::size_t... N>
  static constexpr auto listed(std::index_sequence<N...>) {
    return (Pack<>{} | ... | decltype(detail::axis_type<S, value[static_cast<int>(N)]>()){});
  }
};
template <class A, class Out>
constexpr auto axes_left() {
  using L = AxesLeft<A, Out>;
  return decltype(L::listed(std::make_index_sequence<static_cast<std::size_t>(L::value.size)>{})){};
}

/// The type in which shard_map over some axes names the result of type `A` of its function: the
/// dims `Named` give the manual axes, which come before the strict axes of A; all else is as in A.
template <class A, class... Named>
struct OutsideOf {
  using S = Scope<A, Mentions<Named...>>;
  static constexpr Verdict decide(AxisSet const& manual) {
    if (Verdict v = rules::lawful(S::names, S::parsed, 2); !v) return v;
    Spec const& out = S::parsed[1].spec;
    Spec s = S::parsed[0].spec;
    bool same = s.rank == out.rank;
    for (int d = 0; same && d < s.rank; ++d) same = s.dims[d].label == out.dims[d].label;
    if (!same) return refuse(Code::V09_output_dims);
    if (int const d = out.cyclic_dim(); d >= 0)
      return rules::refuse(Code::B03_through_cyclic, out.dims[d].label, -1, out.dims[d].axes[0]);
    for (int x = 0; x < max_axes; ++x) {
      if (out.mentioned().contains(x) && !manual.contains(x))
        return rules::refuse(Code::V17_not_manual, -1, -1, x);
      if ((out.unreduced.contains(x) && !s.unreduced.contains(x)) ||
          (out.reduced.contains(x) && !s.reduced.contains(x)))
        return rules::refuse(Code::V08_output_unreduced, -1, -1, x);
    }
    for (int d = 0; d < s.rank; ++d) {
      if (out.dims[d].axes.size > 0 && s.dims[d].axes.cyclic != 0)
        return rules::refuse(Code::B03_through_cyclic, out.dims[d].label, -1, s.dims[d].axes[0]);
      s.dims[d].axes =
          out.dims[d].axes.size == 0 ? s.dims[d].axes : out.dims[d].axes.plus(s.dims[d].axes);
      s.varying = s.varying - out.dims[d].axes.set();
      s.reduced = s.reduced - out.dims[d].axes.set();
    }
    for (int x = 0; x < max_axes; ++x) {
      if (s.unreduced.contains(x) && s.dim_of(x) >= 0)
        return rules::refuse(Code::V08_output_unreduced, -1, -1, x);
      if (s.varying.contains(x) && manual.contains(x))
        return rules::refuse(Code::V07_output_varies, -1, -1, x);
    }
    return accept(s);
  }
};
template <class A, class Manual, class... Named>
struct LeavesAs;
template <class A, class... Xs, class... Named>
struct LeavesAs<A, ManualAxes<Xs...>, Named...> : OutsideOf<A, Named...> {
  using S = typename OutsideOf<A, Named...>::S;
  static constexpr AxisSet manual() {
    AxisSet out;
    for (int const x : {S::names.find_axis(identity<Xs>)..., -1})
      if (x >= 0) out.insert(x);
    return out;
  }
  static constexpr Verdict verdict = OutsideOf<A, Named...>::decide(manual());
};

}  // namespace detail

namespace checking {

template <class Op, class A>
  requires(is_tensor<A> && !is_local<A> && requires { typename Op::template casts<A>; })
struct Resolve<Op, A> : Op::template casts<A> {};

}  // namespace checking

}  // namespace shardtype
