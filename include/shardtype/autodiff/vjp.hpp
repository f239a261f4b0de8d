#pragma once
/// How the gradient of an operation is told: one Vjp per operation.

#include <type_traits>

#include <shardtype/autodiff/active.hpp>
#include <shardtype/autodiff/settle.hpp>

namespace shardtype::autodiff {

/// The vector-Jacobian product of the operation `Op`. A specialisation derives from Differentiable
/// (or Movement), and has
///
///     template <class V, class... As>
///     static constexpr auto save(Op const& op, V const& out, As const&... as);   // keep(...)
///     template <int K, class V, class... As, class S, class C>
///     static constexpr auto pull(Op const& op, S const& saved, C const& ct);
///
/// `save` keeps what the pulls read, and is called after the operation; `pull<K>` is the cotangent of
/// operand K, with its labels in its order, of that of the result. Both are written with the public
/// operations on `auto`: the same text is run on tensors and blocks, on types alone, and on values
/// whose gradient is wanted again. `V` and `As` are these values' types; `tensor_of<V>` is a Tensor
/// type. What `pull` gives is judged by its type before anything runs (X01, X02), and cast to the
/// operand's cotangent. Optional:
///
///     template <class V, class... As, class S, class C>
///     static constexpr auto prepare(Op const& op, S const& saved, C const& ct);
///
/// once for all operands, such as the reshard back of a named result; and, where the types of the
/// pulls are to be judged by a rule in place of their text,
///
///     template <int K, class V, class... As>
///     static constexpr Verdict judge();
///
/// or by types, a detail::Settles (said by a constant, because g++ 12 finds no such member in a
/// requirement):
///
///     static constexpr bool judged_by_types = true;
///     template <int K, class V, class... As>
///     struct Judged { using type = ...; };
///
/// and, where the gradient needs more of the reduction than its result, in place of `save`,
///
///     template <class... As>
///     static constexpr auto forward(Op const& op, std::source_location const& where,
///                                   As const&... as);   // a Forward
///
/// which runs in place of the operation; or
///
///     template <class... As>
///     static constexpr auto instead(Op const& op, std::source_location const& where,
///                                   As const&... as);
///
/// other operations on the values whose gradient is wanted, whose results it gives.
template <class Op>
struct Vjp {
  static constexpr bool exists = false;
};

/// What a Vjp's `forward` gives: the operation's result, and what the pulls read.
template <class V, class S>
struct Forward {
  V value;
  S saved;
};

/// Base of the Vjp of an operation whose pulls communicate nothing: what would is refused.
struct Differentiable {
  static constexpr bool exists = true;
  static constexpr bool communicates = false;
};
/// Base of the Vjp of an operation whose result does not depend on its operands' elements.
struct ConstantResult {
  static constexpr bool exists = true;
  static constexpr bool constant = true;
};
template <class Op>
inline constexpr bool is_constant = requires { requires Vjp<Op>::constant; };

/// Base of the Vjp of an operation that moves a value: its cotangent is moved back, by a reshard to
/// the operand's cotangent.
struct Movement {
  static constexpr bool exists = true;
  static constexpr bool communicates = true;
  template <class V, class A, class Op>
  static constexpr Kept<> save(Op const&, V const&, A const&) {
    return {};
  }
  template <int K, class V, class A, class Op, class S, class C>
  static constexpr C const& pull(Op const&, S const&, C const& ct) {
    return ct;  // NOLINT(bugprone-return-const-ref-from-parameter): the tape's
  }
};
}  // namespace shardtype::autodiff
