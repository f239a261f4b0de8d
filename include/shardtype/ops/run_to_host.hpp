#pragma once
/// C++ values of tensors.

#include <cstdint>
#include <source_location>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/check/call_site.hpp>
#include <shardtype/ops/run_collectives.hpp>

namespace shardtype {

namespace detail {

/// `A` with all dims replicated.
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
  using type = typename Only<decltype(detail::as_tensor<Tensor<T, Parts...>, T>(
      (Pack<>{} | ... | bare(hana::basic_type<Parts>{})),
      detail::memory_of(hana::basic_type<Tensor<T, Parts...>>{})))>::type;
};

/// `A` with nested blocks instead of block-cyclic dims.
template <class A>
struct InBlocks;
template <class T, class... Parts>
struct InBlocks<Tensor<T, Parts...>> {
  template <class I, class X, std::int64_t Turn>
  static constexpr Pack<Dim<I, X>> cut(hana::basic_type<Dim<I, Cyclic<X, Turn>>>) {
    return {};
  }
  template <class Other>
  static constexpr Pack<Other> cut(hana::basic_type<Other>) {
    return {};
  }
  using type = typename Only<decltype(detail::as_tensor<Tensor<T, Parts...>, T>(
      (Pack<>{} | ... | cut(hana::basic_type<Parts>{})), Pack<>{}))>::type;
};

/// The verdict on reading the elements of a tensor, and on reading its only one.
template <class A>
struct StillUnreduced : NotATensor<A> {};
template <class A>
  requires is_tensor<A>
struct StillUnreduced<A> {
  using S = Scope<A>;
  static constexpr Verdict verdict =
      rules::any_of_manual_mode(S::parsed, 1)
          ? refuse(Code::V01_mixed)
          : rules::refuse_any(Code::A02_still_unreduced, S::template spec<0>.unreduced);
};
template <class A>
struct NotAnItem : StillUnreduced<A> {};
template <class A>
  requires(is_tensor<A> && Scope<A>::parsed[0].spec.rank > 0)
struct NotAnItem<A> : Plainly<Code::A01_item_has_dims> {};

/// The tensor or block that is read, of a value whose gradient is wanted too.
template <class A>
struct ReadOf {
  using type = operand_t<A>;
};
template <class A>
  requires core::is_active<A>
struct ReadOf<A>
    : ReadOf<typename std::remove_cvref_t<decltype(std::declval<A const&>().tensor())>::inner> {};
template <class A>
using read_of = typename ReadOf<A>::type;

/// An element in host memory; a byte for bool, because std::vector<bool> has no addressable
/// elements.
template <class T>
using host_element = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class A>
std::vector<host_element<typename A::element>> block_on_host(A const& a) {
  using T = host_element<typename A::element>;
  auto const n = static_cast<std::size_t>(a.local_size());
  std::vector<T> out(n);
  runtime::copy_bytes<Kokkos::HostSpace, typename A::memory_space>(out.data(), a.buffer().data(),
                                                                   n * sizeof(T));
  return out;
}

/// Whether the calling rank is the first of the ranks that hold its block.
template <class A>
bool first_holder(A const& a) {
  MeshState const& mesh = a.mesh().state();
  AxisMap const map = runtime::map_axes(mesh, Scope<A>::names);
  for (std::size_t k = 0; k < mesh.axes().size(); ++k) {
    bool splits = false;
    for (int x = 0; x < Scope<A>::names.axes; ++x)
      splits = splits || (map.position[x] == static_cast<int>(k) && A::spec.dim_of(x) >= 0);
    if (!splits && mesh.coords()[k] != 0) return false;
  }
  return true;
}

}  // namespace detail

namespace api {

/// The global tensor, row-major, on every rank of its mesh: communicates as `reshard` to
/// replicated. Empty on ranks outside the mesh. Refused: A02 while unreduced, X09 of a value whose
/// gradient is wanted, unless as `to_host(stop_gradient(a))`.
template <class A>
auto to_host(core::Argument<A> const& given, checking::CallSite where = {}) {
  A const& a = given.self();
  using Operand = detail::operand_t<A>;
  using Judged = detail::judged_t<detail::StillUnreduced<Operand>, Operand>;
  if constexpr (core::is_active<A>) {
    return checking::Poisoned(
        checking::refused<rules::Code::X09_read, false, detail::read_of<A>>{});
  } else if constexpr (detail::accepts<Judged>) {
    core::RunningCall const running("to_host", where);
    return detail::block_on_host(
        api::reshard<typename detail::Replicated<Operand>::type>(detail::operand(a), where));
  } else {
    return checking::Poisoned(Judged{});
  }
}

/// The value of a tensor without dims. The mesh's first rank broadcasts it, so that control flow
/// cannot diverge. The only conversion from a tensor to a C++ value. Refused: A01 a tensor with
/// dims, A02 an unreduced one, X09 one whose gradient is wanted, unless as
/// `item(stop_gradient(a))`. Error E25 on ranks outside the mesh.
template <class A>
  requires(!is_local<detail::read_of<A>>)
auto item(core::Argument<A> const& given, checking::CallSite where = {}) {
  A const& a = given.self();
  using Judged = detail::judged_t<detail::NotAnItem<detail::operand_t<A>>, detail::operand_t<A>>;
  if constexpr (core::is_active<A>) {
    return checking::Poisoned(
        checking::refused<rules::Code::X09_read, false, detail::read_of<A>>{});
  } else if constexpr (detail::accepts<Judged>) {
    core::RunningCall const running("item", where);
    runtime::MeshState& mesh = a.mesh().state();
    if (!mesh.here()) runtime::throw_outside(mesh, "item");
    mesh.agreement().agree("item", where);
    typename detail::operand_t<A>::element value{};
    runtime::copy_bytes<Kokkos::HostSpace, typename detail::operand_t<A>::memory_space>(
        &value, detail::operand(a).buffer().data(), sizeof value);
    mesh.whole().broadcast(&value, 1, 0);
    return value;
  } else {
    return checking::Poisoned(Judged{});
  }
}

}  // namespace api

}  // namespace shardtype
