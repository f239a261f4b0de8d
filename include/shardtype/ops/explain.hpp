#pragma once
/// What an operation on these tensors will do, as text, with their true sizes.

#include <string>
#include <type_traits>

#include <shardtype/core/text.hpp>
#include <shardtype/ops/run.hpp>
#include <shardtype/plan/explain.hpp>

namespace shardtype {

/// `explain(matmul_to<Dim<I, X>, Dim<K, Y>>, a, b)`: the plan that this very call would run, as text.
/// Communicates nothing. Refuses what the operation refuses.
template <class Op, class A, class... B>
std::string explain(Op const&, A const& a, B const&... b) {
  using R = Resolve<Op, A, B...>;
  if constexpr (R::verdict) {
    using S = typename R::S;
    Sizing z{S::names.extents(), {}, static_cast<std::int64_t>(sizeof(typename A::element))};
    ops::note_extents(z.extents, S::names, S::template spec<0>, a.extents().data(), "first");
    (ops::note_extents(z.extents, S::names, S::template spec<1>, b.extents().data(), "second"),
     ...);
    z.sizes = map_axes(a.mesh().state(), S::names).sizes;
    return explain(ops::planned<R, typename A::element>(z), S::names);
  } else {
    refusal<R, A, B...>{};
    return {};
  }
}

/// `f32`, `f64`, `i32`, `i64`, `c64`, `c128`.
template <class T>
constexpr char const* element_name() {
  if constexpr (std::is_same_v<T, float>) return "f32";
  if constexpr (std::is_same_v<T, double>) return "f64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "i32";
  if constexpr (std::is_same_v<T, std::int64_t>) return "i64";
  if constexpr (sizeof(T) == 8) return "c64";
  return "c128";
}

/// The type as text: `f32[I@X, J]{U:Y}`.
template <class A>
std::string type_name() {
  return element_name<typename A::element>() + spec_text(A::spec, Scope<A>::names);
}
/// The type with the tensor's extents: `f32[1500@X, 1100]{U:Y}`.
template <class A>
std::string type_name(A const& a) {
  Extents extents;
  for (std::size_t d = 0; d < A::rank; ++d)
    extents.at[A::spec.dims[d].label] = a.extents()[d];
  return element_name<typename A::element>() + spec_text(A::spec, Scope<A>::names, &extents);
}

}  // namespace shardtype
