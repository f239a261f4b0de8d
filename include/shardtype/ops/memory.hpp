#pragma once
/// Tensors whose blocks lie in another memory: object and function.

#include <string_view>
#include <type_traits>

#include <shardtype/check/call.hpp>
#include <shardtype/check/named.hpp>
#include <shardtype/rules/question.hpp>

namespace shardtype {

namespace op {

/// A copy in the memory `Space`, or without one in the memory of the default execution space.
template <class... Space>
struct ToMemory;

}  // namespace op

namespace detail {

/// The operation that copies into the memory of a tensor with this Memory attribute, if any.
template <class... Space>
constexpr op::ToMemory<Space...> copies_to(Pack<Memory<Space>...>) {
  return {};
}
/// The operation that copies into the memory of a tensor of type `A`.
template <class A>
using to_memory_of = decltype(detail::copies_to(detail::memory_of(hana::basic_type<A>{})));

/// A tensor type with the element type of `A`, no dims, and the memory `Space`.
template <class A, class... Space>
using in_memory = typename Relike<A>::template type<typename ElementOf<A>::type, Memory<Space>...>;

/// Whether `P` is neither a part of a named result nor a Tensor type, and so stands for a memory.
template <class P>
concept StandsForMemory = part<P>.kind == Part::Kind::none && !is_tensor<P>;

/// The operation for the arguments of a call: a memory space, if any, and a named result, if any.
template <class... Parts>
struct ToMemoryCall {
  using type = op::MaybeNamed<op::ToMemory<>, Parts...>;
};
template <StandsForMemory Space, class... Out>
struct ToMemoryCall<Space, Out...> {
  using type = op::MaybeNamed<op::ToMemory<Space>, Out...>;
};
/// A Tensor type has its memory.
template <class Out>
  requires is_tensor<Out>
struct ToMemoryCall<Out> {
  using type = op::Named<to_memory_of<Out>, Out>;
};
/// Execution spaces stand for their memory.
template <StandsForMemory Space, class... Out>
  requires requires { typename Space::memory_space; }
struct ToMemoryCall<Space, Out...> {
  using type = op::MaybeNamed<op::ToMemory<typename Space::memory_space>, Out...>;
};

}  // namespace detail

namespace op {

template <class... Space>
struct ToMemory {
  using operation = ToMemory;
  using gradient = checking::Pulls;
  static constexpr std::string_view name = "to_memory";
  static constexpr Verdict rule(rules::Question const& q) { return rules::accept(q.a()); }
  template <class A>
  using like = detail::in_memory<A, Space...>;
  template <class A>
  static constexpr rules::Code elements() {
    constexpr bool are_spaces = (requires { typename Space::memory_space; } && ...);
    return are_spaces ? rules::Code::ok : rules::Code::T19_no_memory_space;
  }
  template <class Out, class A>
  void fill(Out& out, A const& a) const;
  /// The cotangent in the operand's memory.
  constexpr auto pull(auto const& g) const {
    return g(detail::to_memory_of<typename std::remove_cvref_t<decltype(g)>::type>{});
  }
};

}  // namespace op

namespace api {

/// A copy whose blocks lie in the memory space `Space`: `A[I@X, J]` -> `to_memory<Space>(a)` ->
/// `A[I@X, J]`, of the same sharding, with the attribute `Memory<Space>`; `to_memory<>(a)` has
/// none, and lies in the memory of the default execution space. An execution space stands for its
/// memory. Dims and attributes behind the space name the result: `to_memory<Space, Dim<I>, Dim<J,
/// X>>(a)` is resharded before or after its copy; so does a Tensor type, in whose memory it lies.
///
/// Each rank copies its block, n bytes; nothing is sent. It is a copy also where both memories are
/// one, so that plans are the same on all machines. An unreduced tensor stays unreduced, a Local as
/// it is. The cotangent is copied back to the operand's memory. Refused: T19; named R01 to R04,
/// V14, N05. As jax.device_put to a memory kind.
template <class... SpaceAndResult, class A>
constexpr auto to_memory(core::Argument<A> const& a, checking::CallSite where = {}) {
  return api::call(typename detail::ToMemoryCall<SpaceAndResult...>::type{}, where, a.self());
}

}  // namespace api

}  // namespace shardtype
