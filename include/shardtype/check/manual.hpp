#pragma once
/// Manual mode on types: arguments and results of shard_map, and of control flow.

#include <cstdint>
#include <type_traits>

#include <shardtype/check/resolve.hpp>
#include <shardtype/rules/manual.hpp>

namespace shardtype {

namespace detail {

/// The verdict on reading the element of a block as a C++ value.
template <class L>
struct Read {
  using S = Scope<L>;
  static constexpr Verdict decide() {
    constexpr Spec s = S::template spec<0>;
    if (s.rank > 0) return refuse(Code::A01_item_has_dims);
    for (int x = 0; x < max_axes; ++x) {
      if (s.unreduced.contains(x)) return refuse(Code::A02_still_unreduced, -1, -1, x);
      if (s.varying.contains(x)) return refuse(Code::V13_condition_varies, -1, -1, x);
    }
    return {};
  }
  static constexpr Verdict verdict = decide();
};

/// The verdict on the number of a branch, whose elements must be integers.
template <class P>
struct BranchNumber : NotALocal<P> {};
template <class P>
  requires is_local<P>
struct BranchNumber<P> : Read<P> {};

/// The verdict on the condition of loop_while and branch.
template <class P>
struct Condition : BranchNumber<P> {};
template <class P>
  requires(is_local<P> && !std::is_same_v<element_t<P>, bool>)
struct Condition<P> : Plainly<Code::P11_condition> {};

/// The verdict on two types that must be the same for control flow, refused by `C`.
template <Code C, class A, class B>
using Alike = Plainly<std::is_same_v<A, B> ? Code::ok : C>;

/// `L` without `Xs` among its varying axes.
template <class L, class... Xs>
struct Invariant : NotALocal<L> {};
template <class L, class... Xs>
  requires is_local<L>
struct Invariant<L, Xs...> {
  using S = Scope<L, Mentions<Reduced<Xs...>>>;
  static constexpr Verdict decide() {
    if (S::parsed[1].malformed == Malformed::not_an_axis) return refuse(Code::T05_not_an_axis);
    if (Verdict v = rules::well_named(S::names); !v) return v;
    Spec s = S::template spec<0>;
    for (int x = 0; x < max_axes; ++x) {
      if (!S::template spec<1>.reduced.contains(x)) continue;
      if (s.unreduced.contains(x)) return refuse(Code::V06_unreduced, -1, -1, x);
      if (!s.varying.contains(x)) return refuse(Code::V03_not_varying, -1, -1, x);
      s.varying.erase(x);
    }
    return accept(s);
  }
  static constexpr Verdict verdict = decide();
};

// Arguments and results of shard_map.

template <class A>
struct LikeLocal;
template <template <class, class...> class Any, class T, class... Parts>
struct LikeLocal<Any<T, Parts...>> {
  using local = Local<T, Parts...>;
  using tensor = Tensor<T, Parts...>;
};

/// An argument of shard_map: the type of its block, or a refusal if its blocks have unequal
/// extents.
template <class A>
struct Input {
  using S = Scope<A>;
  static constexpr Spec given = S::template spec<0>;
  static constexpr Verdict decide() {
    if (Verdict v = rules::lawful(S::names, S::parsed, 1); !v) return v;
    if (!given.varying.empty()) return refuse(Code::V01_mixed);
    if (int d = given.cyclic_dim(); d >= 0)
      return refuse(Code::B03_through_cyclic, given.dims[d].label, -1, given.dims[d].axes[0]);
    for (int d = 0; d < given.rank; ++d) {
      std::int64_t const n = S::names.label_extent[given.dims[d].label];
      std::int64_t pieces = 1;
      for (int k = 0; k < given.dims[d].axes.size; ++k) {
        std::int64_t const p = S::names.axis_size[given.dims[d].axes[k]];
        pieces = p == dynamic || pieces == dynamic ? dynamic : pieces * p;
      }
      if (n != dynamic && pieces != dynamic && n % pieces != 0)
        return refuse(Code::V10_uneven, given.dims[d].label, -1, given.dims[d].axes[0]);
    }
    return accept(rules::block_of_tensor(given));
  }
  static constexpr Verdict verdict = decide();
};
/// The same for any argument: one that is no Tensor is refused.
template <class A>
struct InputOf : NotATensor<A> {};
template <class T, class... Parts>
struct InputOf<Tensor<T, Parts...>> : Input<Tensor<T, Parts...>> {};
template <class T, class... Parts>
struct InputOf<Local<T, Parts...>> : Plainly<Code::V01_mixed> {};
template <class A>
using block_type = accepted_t<Input<A>, element_t<A>, typename LikeLocal<A>::local>;

/// The conversion of a result of type `L` of shard_map's function to the tensor `Out`.
template <class L, class Out>
struct Output {
  static constexpr Verdict decide_law() {
    Verdict const v = rules::lawful(Scope<Out>::names, Scope<Out>::parsed, 1);
    Spec const& out = Scope<Out>::parsed[0].spec;
    return v && !out.local && !out.varying.empty() ? refuse(Code::V02_wrong_mode) : v;
  }
  static constexpr Verdict law = decide_law();
  using S = std::conditional_t<bool(law), Scope<L, Out>, Scope<Out>>;
  static constexpr Verdict decide() {
    if (!law) return law;
    if (Verdict v = rules::well_named(S::names); !v) return v;
    if (!same_element<L, Out>) return refuse(Code::N05_element_type);
    return rules::output(S::parsed[0].spec, S::parsed[1].spec);
  }
  static constexpr Verdict verdict = decide();
  using result = Out;
};

/// The Tensor type that the parts of a named output stand for, if the function returned an `L`.
template <class L, class... Out>
using output_type = typename NamedAs<element_t<L>, typename LikeLocal<L>::tensor, Out...>::type;

}  // namespace detail

/// The block of a Tensor of type `A` as an argument of shard_map's function: `f32[I@X, J]{U:Y}` ->
/// `Local f32[I, J]{V:X}{U:Y}`.
template <class A>
using local_t = detail::block_type<A>;

/// The types of several outputs of shard_map: `shard_map<Outs<Tensor<...>, Tensor<...>>>(f, a)`.
template <class... Tensors>
struct Outs {};

}  // namespace shardtype
