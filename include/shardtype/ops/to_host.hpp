#pragma once
/// From tensors to C++ values.

#include <source_location>
#include <vector>

#include <shardtype/ops/reshard.hpp>

namespace shardtype {

namespace detail {

/// `A` with nothing split.
template <class A>
struct Replicated;
template <class T, class... Parts>
struct Replicated<Tensor<T, Parts...>> {
  template <class I, class... Xs>
  static constexpr Pack<Dim<I>> bare(hana::basic_type<Dim<I, Xs...>>) {
    return {};
  }
  template <class Other>
  static constexpr Pack<> bare(hana::basic_type<Other>) {
    return {};
  }
  using type =
      typename Only<decltype(as_tensor<T>((Pack<>{} + ... + bare(hana::type_c<Parts>)),
                                          memory_of(hana::type_c<Tensor<T, Parts...>>)))>::type;
};

template <class A, bool tensor = is_tensor<A>>
struct StillUnreduced : NotATensor {};
template <class A>
struct StillUnreduced<A, true> {
  using S = Scope<A>;
  static constexpr Verdict decide() {
    for (int x = 0; x < max_axes; ++x)
      if (A::spec.unreduced.contains(x)) return refuse(Code::A02_still_unreduced, -1, -1, x);
    return {};
  }
  static constexpr Verdict verdict = decide();
};
template <class A, bool tensor = is_tensor<A>>
struct NotAnItem : NotATensor {};
template <class A>
struct NotAnItem<A, true> {
  using S = Scope<A>;
  static constexpr Verdict decide() {
    if (A::rank > 0) return refuse(Code::A01_item_has_dims);
    return StillUnreduced<A>::verdict;
  }
  static constexpr Verdict verdict = decide();
};

template <class A>
std::vector<typename A::element> block_on_host(A const& a) {
  using T = typename A::element;
  auto const n = static_cast<std::size_t>(a.local_size());
  std::vector<T> out(n);
  Kokkos::deep_copy(
      Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(out.data(), n),
      Kokkos::View<T const*, typename A::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          static_cast<T const*>(a.buffer().data()), n));
  return out;
}

}  // namespace detail

/// The whole tensor, row-major, on every rank of its mesh: communicates as `reshard` to replicated.
/// Empty on ranks outside the mesh. Refused: A02 while unreduced.
template <class A>
auto to_host(A const& a, std::source_location where = std::source_location::current()) {
  using R = detail::StillUnreduced<A>;
  if constexpr (R::verdict) {
    return detail::block_on_host(reshard<typename detail::Replicated<A>::type>(a, where));
  } else {
    return Poisoned(refusal<R, A>{});
  }
}

/// The value of a tensor without dims: that of the mesh's first rank, sent to all, so that control
/// flow cannot diverge. The one door from a tensor to a C++ value. Refused: A01 a tensor with dims,
/// A02 an unreduced one. Error E25 on ranks outside the mesh.
template <class A>
auto item(A const& a, std::source_location where = std::source_location::current()) {
  using R = detail::NotAnItem<A>;
  if constexpr (R::verdict) {
    MeshState& mesh = a.mesh().state();
    if (!mesh.here()) throw Error("E25", "item was called on a rank outside the tensor's mesh");
    if (mesh.agreement().on())
      mesh.agreement().meet("item (line " + std::to_string(where.line()) + ")", where.line() + 1U);
    typename A::element value = detail::block_on_host(a).front();
    mesh.whole().broadcast(&value, 1, 0);
    return value;
  } else {
    return Poisoned(refusal<R, A>{});
  }
}

}  // namespace shardtype
