#pragma once
/// Fourier transforms as operations, strict and named.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/call.hpp>
#include <shardtype/check/functions.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/fft/types_plan.hpp>

// The types layer includes no Kokkos, and the result of rfft has its complex numbers.
namespace Kokkos {
template <class Real>
class complex;
}  // namespace Kokkos

namespace shardtype {

namespace detail {

namespace kokkos = ::Kokkos;

constexpr std::string_view fourier_name(rules::FourierKind kind, bool several) {
  switch (kind) {
    case rules::FourierKind::forward:
      return several ? "fftn" : "fft";
    case rules::FourierKind::inverse:
      return several ? "ifftn" : "ifft";
    case rules::FourierKind::real_to_complex:
      return several ? "rfftn" : "rfft";
    case rules::FourierKind::complex_to_real:
      return several ? "irfftn" : "irfft";
  }
  return {};
}

/// The element type of a transform's result.
template <rules::FourierKind Kind, class T>
struct Transformed {
  using type = T;
};
template <class T>
  requires(std::is_floating_point_v<T>)
struct Transformed<rules::FourierKind::real_to_complex, T> {
  using type = kokkos::complex<T>;
};
template <class T>
struct Transformed<rules::FourierKind::complex_to_real, T> {
  using type = real_of<T>;
};

}  // namespace detail

namespace op {

/// Where a transform is divided by the number of its rows n: the inverse by n, both by sqrt(n), or
/// the forward one by n. NumPy's names.
enum class FftNorm : std::int8_t { backward, ortho, forward };

/// The discrete Fourier transform along the dims of `Over`; the last one gets the label `To`. Real
/// transforms halve that dim to n / 2 + 1 rows, or restore it.
template <rules::FourierKind Kind, class Over, class... To>
struct Fourier {
  using operation = Fourier;
  using gradient = PullsBySaved;
  using from = Over;
  using to = detail::Bare<To...>;
  static constexpr FourierKind kind = Kind;
  static constexpr int dims = Scope<Over>::parsed[0].spec.rank;
  static constexpr std::string_view name = detail::fourier_name(Kind, dims > 1);
  FftNorm norm = FftNorm::backward;
  /// Real rows of the result of a complex-to-real transform. 0: the static extent of its label, or
  /// 2 (m - 1) for m complex rows.
  std::int64_t n = 0;

  static constexpr Verdict rule(rules::Question const& q) { return rules::fourier(q, Kind); }
  template <class A>
  static constexpr Code elements() {
    using T = element_t<A>;
    constexpr bool real = std::is_floating_point_v<T>;
    constexpr bool complex = detail::is_complex<T>;
    return (Kind == FourierKind::real_to_complex ? real : complex) ? Code::ok
                                                                   : Code::F01_element_type;
  }
  template <class A>
  using element = typename detail::Transformed<Kind, element_t<A>>::type;

  constexpr void extents(ResultExtents const& c) const {
    int const d = c.a().find(c.from().dims[dims - 1].label);
    std::int64_t const rows = c.given[0][d];
    c.out[d] = result_rows(c, d, rows);
    if (c.to().rank == 0) return;
    std::int64_t const own = c.names.label_extent[c.to().dims[0].label];
    if (own != dynamic && own != c.out[d])
      fail(c, d,
           "its transform has " + std::to_string(c.out[d]) + " rows, and the index of the result " +
               std::to_string(own));
  }
  /// Flops of all dims; a complex-to-real transform of several dims needs a copy of its operand.
  static constexpr planning::Work work(planning::CallSizing const& c) {
    planning::Work out;
    for (int k = 0; k < c.from.rank; ++k) {
      int const label = c.from.dims[k].label;
      std::int64_t n = c.given[0].extents[label];
      if (Kind == FourierKind::complex_to_real && k + 1 == c.from.rank) n = 2 * (n - 1);
      out.flops = add_sat(out.flops, planning::fourier_flops(c.elements(0), n,
                                                             Kind == FourierKind::real_to_complex));
    }
    if (Kind == FourierKind::complex_to_real && dims > 1)
      out.workspace = mul_sat(c.elements(0), c.element_bytes(0));
    return out;
  }
  /// Whether this transform is divided by the number of its rows.
  constexpr bool divides_by_rows() const {
    bool const inverse = Kind == FourierKind::inverse || Kind == FourierKind::complex_to_real;
    return norm == (inverse ? FftNorm::backward : FftNorm::forward);
  }

  template <class Out, class A>
  void fill(Out& out, A const& a) const;
  /// The stages of a named result.
  template <class R, class A>
  typename R::result run_named(std::source_location const& where, A const& a) const;

  template <class V, class A>
  constexpr auto save(V const& out, A const& a) const;
  template <class G>
  constexpr auto pull(G const& g) const;

 private:
  constexpr std::int64_t result_rows(ResultExtents const& c, int d, std::int64_t rows) const {
    if constexpr (Kind == FourierKind::real_to_complex) {
      if (rows < 1) fail(c, d, "there is no real transform of no rows");
      return rules::half_rows(rows);
    } else if constexpr (Kind == FourierKind::complex_to_real) {
      std::int64_t const wanted = real_rows(c, rows);
      if (wanted < 1 || rules::half_rows(wanted) != rows)
        fail(c, d,
             "it has " + std::to_string(rows) + " rows, which is not n / 2 + 1 for " +
                 std::to_string(wanted) + " real rows; irfft<I>(a, n) says how many there are");
      return wanted;
    } else {
      return rows;
    }
  }
  constexpr std::int64_t real_rows(ResultExtents const& c, std::int64_t rows) const {
    if (n != 0) return n;
    if (c.to().rank == 1)
      if (std::int64_t const own = c.names.label_extent[c.to().dims[0].label]; own != dynamic)
        return own;
    return 2 * (rows - 1);
  }
  [[noreturn]] static void fail(ResultExtents const& c, int d, std::string const& why) {
    ResultExtents::fail("index " + c.name(d) + ": " + why);
  }
};

template <class I, class... To>
using Fft = Fourier<FourierKind::forward, detail::Bare<I>, To...>;
template <class I, class... To>
using Ifft = Fourier<FourierKind::inverse, detail::Bare<I>, To...>;
template <class I, class... To>
using Rfft = Fourier<FourierKind::real_to_complex, detail::Bare<I>, To...>;
template <class I, class... To>
using Irfft = Fourier<FourierKind::complex_to_real, detail::Bare<I>, To...>;
template <class... Is>
using Fftn = Fourier<FourierKind::forward, detail::Bare<Is...>>;
template <class... Is>
using Ifftn = Fourier<FourierKind::inverse, detail::Bare<Is...>>;

}  // namespace op

namespace detail {

/// A real transform of several dims: the last of the labels is that of the halved dim after it.
template <rules::FourierKind Kind, class Done, class... Ls>
struct RealTransform;
template <rules::FourierKind Kind, class... Done, class To>
struct RealTransform<Kind, Pack<Done...>, To> {
  using type = op::Fourier<Kind, Bare<Done...>, To>;
};
template <rules::FourierKind Kind, class... Done, class L, class Next, class... More>
struct RealTransform<Kind, Pack<Done...>, L, Next, More...>
    : RealTransform<Kind, Pack<Done..., L>, Next, More...> {};

}  // namespace detail

namespace op {

template <class... Is>
using Rfftn =
    typename detail::RealTransform<FourierKind::real_to_complex, detail::Pack<>, Is...>::type;
template <class... Is>
using Irfftn =
    typename detail::RealTransform<FourierKind::complex_to_real, detail::Pack<>, Is...>::type;

}  // namespace op

namespace detail {

/// The verdict on the named result `Out` of the transform `Op` of `A`: that of the rule for dims
/// that are not split, and that of a reshard.
template <class Op, class Out, class A>
struct NamedFourierRule {
  using S = Scope<A, typename Op::from, typename Op::to, Out>;
  static constexpr int operands = 1;
  static constexpr Spec given = S::parsed[0].spec;
  static constexpr Spec wanted = S::template spec<3>;

  /// The sharding of `A` without the axes of transformed dims.
  static constexpr Spec together() {
    Spec s = given;
    Spec const& over = S::parsed[1].spec;
    for (int k = 0; k < over.rank; ++k)
      if (int const d = s.find(over.dims[k].label); d >= 0 && s.dims[d].axes.cyclic == 0)
        s.dims[d].axes = {};
    return s;
  }
  static constexpr planning::FourierCall fourier_call() {
    planning::FourierCall c;
    c.kind = Op::kind;
    c.given = given;
    c.over = rules::labels_of(S::parsed[1].spec);
    if (S::parsed[2].spec.rank == 1) c.renamed = S::parsed[2].spec.dims[0].label;
    c.wanted = c.of_operand(wanted);
    return c;
  }
  static constexpr Verdict decide() {
    if (rules::any_of_manual_mode(S::parsed, 1)) return refuse(Code::V14_named_result);
    if (Verdict v = rules::lawful(S::names, S::parsed, 4); !v) return v;
    if (Code const c = Op::template elements<A>(); c != Code::ok) return refuse(c);
    if (!std::is_same_v<element_t<Out>, typename Op::template element<A>>)
      return refuse(Code::N05_element_type);
    Spec const operand = together();
    Verdict const v = Op::rule({&operand, 1, S::parsed[1].spec, S::parsed[2].spec,
                                S::names.extents(), S::names.sizes(), false});
    if (!v) return v;
    Verdict const moved = rules::reshard(fourier_call().of_result(given), wanted);
    int const x = moved ? planning::axis_without_place(fourier_call()) : -1;
    return x < 0 ? moved : refuse(Code::F04_no_other_dim, -1, -1, x);
  }
  static constexpr Verdict verdict = decide();
};

template <class Rule, class Op, class Out, class A>
struct NamedFourier : Rule {
  using S = typename Rule::S;
  using result = Out;
  static constexpr bool communicates = true;
  static constexpr planning::FourierCall fourier = Rule::fourier_call();
  static constexpr std::int64_t element_bytes[2] = {
      static_cast<std::int64_t>(sizeof(element_t<A>)),
      static_cast<std::int64_t>(sizeof(element_t<Out>))};
  /// The operand's dims with the result's labels.
  static constexpr Spec made = fourier.of_result(Rule::given);

  /// Computes the extents of `made`. Errors: the operation's own.
  static constexpr void set_extents(Op const& op, Sizes const& sizes,
                                    std::int64_t const* const* given, std::int64_t* out) {
    ResultExtents const c{S::names, S::parsed, 1, made, sizes, given, out};
    c.carry();
    op.extents(c);
  }
  static constexpr Plan make_plan(Sizing const& z, Machine const& m = {}) {
    return planning::fourier_plan(Op::name, fourier, Rule::wanted, z, element_bytes, m);
  }
};

template <class Op, class A, class... Out>
constexpr auto resolve_fourier(Pack<Out...>) {
  if constexpr (!is_tensor<A>) {
    return Type<NotATensor<A>>{};
  } else {
    using Named = typename NamedAs<typename ElementOfResult<Op, A>::type, A, Out...>::type;
    return Type<resolved_t<NamedFourier, NamedFourierRule<Op, Named, A>, Op, Named, A>>{};
  }
}

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

template <rules::FourierKind Kind, class Over, class... To, class... Out, class A>
struct Resolve<op::Named<op::Fourier<Kind, Over, To...>, Out...>, A>
    : decltype(detail::resolve_fourier<op::Fourier<Kind, Over, To...>, A>(
          detail::Pack<Out...>{}))::type {};

}  // namespace shardtype::checking
