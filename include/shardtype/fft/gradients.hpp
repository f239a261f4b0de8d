#pragma once
/// The gradients of Fourier transforms, which are linear: transforms of the cotangent. Gradients of
/// real functions are df/dx - i df/dy, so a complex transform is its own transpose; that of a real
/// one is the inverse real transform of the conjugate, weighed because half a spectrum stands for
/// all of it.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/finish.hpp>
#include <shardtype/autodiff/record.hpp>
#include <shardtype/autodiff/spectrum.hpp>
#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/fft/run_stages.hpp>
#include <shardtype/ops/math.hpp>

namespace shardtype {

namespace autodiff {

constexpr rules::FourierKind transposed(rules::FourierKind kind) {
  using enum rules::FourierKind;
  return kind == real_to_complex   ? complex_to_real
         : kind == complex_to_real ? real_to_complex
                                   : kind;
}
/// The same factor in the opposite direction.
constexpr op::FftNorm transposed(op::FftNorm norm) {
  using enum op::FftNorm;
  return norm == backward ? forward : norm == forward ? backward : norm;
}

/// The labels of a transform: all that it names, and the last one in the operand and in the result.
template <class Over, class... To>
struct TransformLabels;
template <class Done, class Next, class... Dims>
struct LastReplaced;
template <class... Done, class Next, class Last>
struct LastReplaced<shardtype::detail::Pack<Done...>, Next, Last> {
  using type = Mentions<Done..., Dim<Next>>;
};
template <class... Done, class Next, class I, class J, class... More>
struct LastReplaced<shardtype::detail::Pack<Done...>, Next, I, J, More...>
    : LastReplaced<shardtype::detail::Pack<Done..., I>, Next, J, More...> {};
template <class... Dims, class... To>
struct TransformLabels<Mentions<Dims...>, To...> {
  using last = shardtype::detail::label_of_t<nth_t<static_cast<int>(sizeof...(Dims)) - 1, Dims...>>;
  using to = nth_t<0, To..., last>;
  /// The dims that the transposed transform names: the same, the last one replaced by `to`.
  using over = typename LastReplaced<shardtype::detail::Pack<>, to, Dims...>::type;
};
template <rules::FourierKind Kind, class Over, class... To>
struct TransposedTransform {
  using Labels = TransformLabels<Over, To...>;
  using type = std::conditional_t<
      std::is_same_v<typename Labels::to, typename Labels::last>,
      op::Fourier<transposed(Kind), typename Labels::over>,
      op::Fourier<transposed(Kind), typename Labels::over, typename Labels::last>>;
};

/// The transposed transform of `ct`, by `forward`, which calls it.
template <rules::FourierKind Kind, class Labels, class C, class Transform>
constexpr auto transform_back(C const& ct, std::int64_t real_rows, Transform const& transform) {
  auto const at = std::source_location::current();
  if constexpr (Kind == rules::FourierKind::real_to_complex) {
    using Weigh = WeighSpectrum<typename Labels::to, false>;
    return transform(api::call(Weigh{real_rows}, at, api::conj(ct).tensor()));
  } else if constexpr (Kind == rules::FourierKind::complex_to_real) {
    using Weigh = WeighSpectrum<typename Labels::last, true>;
    return api::call(Weigh{real_rows}, at, api::conj(transform(ct)).tensor());
  } else {
    return transform(ct);
  }
}

/// The transform back of `op`, whose real dim has this extent.
template <rules::FourierKind Kind, class Over, class... To>
constexpr auto transform_of(op::Fourier<Kind, Over, To...> const& op, std::int64_t real_rows) {
  typename TransposedTransform<Kind, Over, To...>::type out{};
  out.norm = rules::is_real(Kind) ? autodiff::transposed(op.norm) : op.norm;
  if constexpr (Kind == rules::FourierKind::real_to_complex) out.n = real_rows;
  return out;
}

}  // namespace autodiff

namespace op {

/// The extent of the real dim.
template <rules::FourierKind Kind, class Over, class... To>
template <class V, class A>
constexpr auto Fourier<Kind, Over, To...>::save(V const& out, A const& a) const {
  using Labels = autodiff::TransformLabels<Over, To...>;
  using autodiff::place_of, autodiff::tensor_of;
  if constexpr (Kind == rules::FourierKind::complex_to_real) {
    return autodiff::keep(out.extents()[place_of<tensor_of<V>, typename Labels::to>]);
  } else {
    return autodiff::keep(a.extents()[place_of<tensor_of<A>, typename Labels::last>]);
  }
}
template <rules::FourierKind Kind, class Over, class... To>
template <class G>
constexpr auto Fourier<Kind, Over, To...>::pull(G const& g) const {
  std::int64_t const rows = g.template kept<0>();
  return autodiff::transform_back<Kind, autodiff::TransformLabels<Over, To...>>(
      g.ct, rows, [&](auto const& c) { return g.call(autodiff::transform_of(*this, rows), c); });
}

}  // namespace op

namespace autodiff {

/// From the cotangent `C` of a named transform's result to that of its operand `A`: the sharding in
/// which the transposed transform gives it, before zeros are put around blocks.
template <class A, class C>
struct TransformedBack {
  using S = Scope<cotangent_t<A>, C>;
  static constexpr Spec made() {
    Spec out = S::template spec<0>;
    for (int x = 0; x < max_axes; ++x)
      if (!S::template spec<1>.unreduced.contains(x)) out.unreduced.erase(x);
    return out;
  }
  static constexpr Spec value = made();
  using type = tensor_from_spec<S, TransformedBack, element_t<A>, A>;
};

/// The transform back, named as the operand's cotangent: as many exchanges as forward.
template <rules::FourierKind Kind, class Over, class... To, class... Out>
struct Vjp<op::Named<op::Fourier<Kind, Over, To...>, Out...>> {
  static constexpr bool exists = true;
  static constexpr bool communicates = true;
  using Strict = op::Fourier<Kind, Over, To...>;
  using Op = op::Named<Strict, Out...>;
  using Back = TransposedTransform<Kind, Over, To...>;

  template <class V, class A>
  static constexpr auto save(Op const& op, V const& out, A const& a) {
    return op.strict().save(out, a);
  }
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    using Made = typename TransformedBack<tensor_of<A>, tensor_of<C>>::type;
    return autodiff::transform_back<Kind, typename Back::Labels>(
        ct, autodiff::kept<0>(saved), [&](auto const& c) {
          using Named = op::Named<typename Back::type, Made>;
          return api::call(Named{autodiff::transform_of(op.strict(), autodiff::kept<0>(saved))},
                           std::source_location::current(), c);
        });
  }
};

}  // namespace autodiff

}  // namespace shardtype
