#pragma once
/// Elementwise expressions of tensors as values: `a * x + y` runs as one kernel when it is first
/// used, without temporary tensors.

#include <array>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include <shardtype/check/elementwise.hpp>
#include <shardtype/core/kept.hpp>
#include <shardtype/execute/run.hpp>
#include <shardtype/execute/take_rows.hpp>
#include <shardtype/kernels/expression.hpp>
#include <shardtype/tensor/block_layout.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/tensor/operand.hpp>

namespace shardtype {

namespace detail {

/// A function and its arguments: tensors, numbers, further expressions.
template <class F, class... Args>
class Expression {
 public:
  explicit Expression(F f, Args const&... args)
      : function_(std::move(f)), args_(std::in_place, args...) {}

  F const& function() const { return function_; }
  template <int K>
  auto const& argument() const {
    return numbered<K>(*args_);
  }

 protected:
  /// Releases the arguments' memory.
  void forget() const { args_.reset(); }

 private:
  template <int K, class T>
  static T const& numbered(core::KeptAt<K, T> const& at) {
    return at.value;
  }

  F function_;
  mutable core::Maybe<core::Kept<Args...>> args_;
};

}  // namespace detail

}  // namespace shardtype

namespace shardtype::execute {

template <class F, class... Args>
class Fused;

}  // namespace shardtype::execute

namespace shardtype {

namespace detail {

template <class F, class... Args>
inline constexpr bool is_fused<Fused<F, Args...>> = true;

/// Converts an argument to a part of a kernel: its kernel expression, and the element types that it
/// reads from slot `First` on. `T` is the element type of numbers.
template <class A, int First, class T>
struct Lowered;
template <class A, int First, class T>
  requires(is_tensor<A>)
struct Lowered<A, First, T> {
  using types = kernels::Elements<element_t<A>>;
  using expression = kernels::Leaf<element_t<A>, First>;
  static expression make(A const&) { return {}; }
  template <class Visit>
  static void visit(A const& a, Visit&& use) {
    use.template operator()<First>(a);
  }
};
template <class N, int First, class T>
struct Lowered<Number<N>, First, T> {
  using types = kernels::Elements<>;
  using expression = kernels::Constant<T>;
  static expression make(Number<N> const& n) {
    if constexpr (std::is_same_v<N, op::Zero>) {
      return {T{}};
    } else {
      return {kernels::detail::converted<T>(n.value)};
    }
  }
  template <class Visit>
  static void visit(Number<N> const&, Visit&&) {}
};

/// Number of slots of the arguments before the `K`-th.
template <int K, class... Args>
constexpr int slots_before() {
  int const each[] = {Lowered<Args, 0, char>::types::count..., 0};
  int sum = 0;
  for (int k = 0; k < K; ++k) sum += each[k];
  return sum;
}
/// The element type of a number as argument `K` of `F` with elements `T`: bool for the condition of
/// a `where`.
template <class F, int K, class T>
using number_element = std::conditional_t<std::is_same_v<F, functions::Where> && K == 0, bool, T>;
template <class F, class... Args, int First, class T>
struct Lowered<Expression<F, Args...>, First, T> {
  using types = decltype((kernels::Elements<>{} + ... + typename Lowered<Args, 0, char>::types{}));
  using common = typename ElementFor<F, argument_t<Args>...>::type;
  using Order = std::make_integer_sequence<int, static_cast<int>(sizeof...(Args))>;

  template <int K, class A>
  using argument = Lowered<A, First + slots_before<K, Args...>(), number_element<F, K, common>>;
  template <int... K>
  static auto node_type(std::integer_sequence<int, K...>)
      -> kernels::Node<Order, F, typename argument<K, Args>::expression...>;
  using expression = decltype(node_type(Order{}));

  static expression make(Expression<F, Args...> const& f) {
    return [&]<int... K>(std::integer_sequence<int, K...>) {
      return expression(f.function(), argument<K, Args>::make(f.template argument<K>())...);
    }(Order{});
  }
  template <class Visit>
  static void visit(Expression<F, Args...> const& f, Visit&& use) {
    [&]<int... K>(std::integer_sequence<int, K...>) {
      (argument<K, Args>::visit(f.template argument<K>(), use), ...);
    }(Order{});
  }
};
template <class F, class... Args, int First, class T>
struct Lowered<Fused<F, Args...>, First, T> : Lowered<Expression<F, Args...>, First, T> {};

/// For each dim of `Out`, the index of the dim of `A` with the same label, or -1.
template <class Out, class A>
constexpr std::array<int, max_dims> dims_in() {
  using S = Scope<Out, A>;
  std::array<int, max_dims> at{};
  for (int d = 0; d < max_dims; ++d)
    at[static_cast<std::size_t>(d)] =
        d < S::template spec<0>.rank ? S::template spec<1>.find(S::template spec<0>.dims[d].label)
                                     : -1;
  return at;
}

/// The extents of a result of type `Out` of the expression `e`, and its mesh. Errors: E23, E24.
template <class Out, class E>
extents_of<Out> fused_extents(E const& e, MeshRef const*& mesh) {
  Extents known = Scope<Out>::names.extents();
  Lowered<E, 0, char>::visit(e, [&]<int Slot, class A>(A const& a) {
    using Shared = Scope<Out, A>;  // the labels of Out have the same numbers here
    if (mesh != nullptr) check_one_mesh(*mesh, a.mesh());
    mesh = &a.mesh();
    execute::note_extents(known, Shared::names, Shared::template spec<1>, a.extents().data(),
                          "one operand");
  });
  extents_of<Out> extents{};
  for (std::size_t d = 0; d < Out::rank; ++d) extents[d] = known[Out::spec.dims[d].label];
  return extents;
}

/// Whether every tensor in `E` has the block layout of `Out` on every rank: no dim is broadcast,
/// sliced or reordered.
template <class Out, class E>
inline constexpr bool lies_as = true;
template <class Out, class A>
  requires(is_tensor<A>)
inline constexpr bool lies_as<Out, A> = [] {
  using Shared = Scope<Out, A>;
  constexpr Spec a = Shared::template spec<0>;
  constexpr Spec b = Shared::template spec<1>;
  bool same = a.rank == b.rank;
  for (int d = 0; same && d < a.rank; ++d) same = a.dims[d] == b.dims[d];
  return same;
}();
template <class Out, class F, class... Args>
inline constexpr bool lies_as<Out, Fused<F, Args...>> = (lies_as<Out, Args> && ...);

/// Whether no extent that the operands give differs from those of the result.
template <std::size_t N>
bool extents_agree(std::array<std::int64_t, N> const& known,
                   std::array<std::int64_t, N> const& of_result) {
  for (std::size_t d = 0; d < N; ++d)
    if (known[d] != dynamic && known[d] != of_result[d]) return false;
  return true;
}

/// Computes the expression `e` for a result of type `Out`, into `into` if given, or several expressions to the
/// `targets` that lie as `into`. `operation` and `where`: for messages.
template <class Out, class E, class Targets = std::nullptr_t>
Out run_fused(E const& e, Out const* into, std::string_view operation = "an elementwise expression",
              std::source_location const& where = {}, Targets const& targets = {}) {
  using L = Lowered<E, 0, char>;
  using Types = typename L::types;
  core::RunningCall const running(operation, where, element_name<typename Out::element>(),
                                  &Out::spec, &Scope<Out>::names);
  MeshRef const* mesh = nullptr;
  extents_of<Out> const extents = fused_extents<Out>(e, mesh);
  Out out = into != nullptr ? *into : uninitialized<Out>(*mesh, extents);
  if (into != nullptr && !extents_agree(extents, out.extents()))
    throw Error("E24", "an in-place operation would change the tensor's extents",
                FailedOn::every_rank);
  if (!mesh->here()) return out;
  kernels::Layout const shape = block_layout(out.rows());
  kernels::Sources<Types::count> in;
  constexpr bool turns = Out::spec.cyclic_dim() >= 0;
  std::array<Buffer, turns ? kernels::at_least_one(Types::count) : 0> taken;
  L::visit(e, [&]<int Slot, class A>(A const& a) {
    constexpr auto dims = dims_in<Out, A>();
    kernels::Layout block = block_layout(a.rows());
    std::array<Rows, A::rank> rows = a.rows();
    in.data[Slot] = a.buffer().data();
    if constexpr (turns) {  // an unsplit dim is sliced by an offset, unless the result's dim is
                            // block-cyclic
      for (int d = 0; d < Out::spec.rank; ++d) {
        auto const here = static_cast<std::size_t>(d);
        if (dims[here] < 0) continue;
        auto const there = static_cast<std::size_t>(dims[here]);
        if (out.rows()[here].contiguous() || out.rows()[here] == rows[there]) continue;
        taken[Slot] = execute::take_rows<typename A::element, typename A::memory_space>(
            mesh->state(), static_cast<typename A::element const*>(in.data[Slot]), block,
            dims[here], rows[there], out.rows()[here]);
        rows[there] = out.rows()[here];
        in.data[Slot] = taken[Slot].data();
      }
    }
    std::int64_t offset = 0;
    for (int d = 0; d < Out::spec.rank; ++d) {
      auto const here = static_cast<std::size_t>(d);
      if (dims[here] < 0) continue;
      auto const there = static_cast<std::size_t>(dims[here]);
      in.stride[Slot][d] = block.stride[there];
      offset += (out.rows()[here].begin - rows[there].begin) * block.stride[there];
    }
    in.data[Slot] = static_cast<typename A::element const*>(in.data[Slot]) + offset;
  });
  typename Out::execution_space const exec{};
  if constexpr (std::is_same_v<Targets, std::nullptr_t>) {
    kernels::evaluate<Types>(exec, L::make(e),
                             static_cast<typename Out::element*>(out.buffer().data()), shape, in);
  } else {
    kernels::evaluate<Types>(exec, L::make(e), targets, shape, in);
  }
  exec.fence();
  return out;
}

}  // namespace detail

}  // namespace shardtype

namespace shardtype::execute {

/// An elementwise function of tensors, numbers and further expressions: the result of operators on
/// tensors. It behaves like the tensor that it stands for, which is computed once, at the first
/// use, by one kernel for the whole expression. A temporary expression that becomes part of a
/// larger one, or is reduced, is computed there instead. Until then it shares its operands' memory,
/// so writing to them is Error E21. Never communicates. Errors: E23 operands of two meshes, E24
/// extents that differ.
template <class F, class... Args>
class Fused : public detail::Expression<F, Args...>, public core::Argument<Fused<F, Args...>> {
 public:
  using R = Resolve<op::Map<F>, detail::operand_t<Args>...>;
  /// The type of the tensor that it stands for.
  using tensor_type = typename R::result;
  using element = typename tensor_type::element;
  using memory_space = typename tensor_type::memory_space;
  using execution_space = typename tensor_type::execution_space;
  static constexpr Spec spec = tensor_type::spec;
  static constexpr std::size_t rank = tensor_type::rank;
  template <class U>
  using View = typename tensor_type::template View<U>;

  using detail::Expression<F, Args...>::Expression;

  /// Refused, A09: `auto w = a * 2; w = w - g;`.
  template <class B>
    requires((is_tensor<B> || detail::is_fused<B>) && !std::is_same_v<B, Fused>)
  Fused& operator=(B const&) {
    refused<Code::A09_expression, false, tensor_type, detail::operand_t<B>>{};
    return *this;
  }
  /// Refused, A07: `if (a > 1)`.
  template <class Truth>
    requires std::is_same_v<Truth, bool>
  explicit operator Truth() const {
    refused<Code::A07_truth, false, tensor_type>{};
    return false;
  }

  /// The result; computed once. `where`: the line that uses it first, for messages.
  tensor_type const& tensor(
      std::source_location const& where = std::source_location::current()) const {
    if (!result_.has_value()) {
      result_.set(
          detail::run_fused<tensor_type>(*this, nullptr, "an elementwise expression", where));
      this->forget();
    }
    return *result_;
  }
  /// Whether the result has been computed.
  bool computed() const { return result_.has_value(); }
  /// The result, to be written.
  tensor_type& tensor(std::source_location const& where = std::source_location::current()) {
    std::as_const(*this).tensor(where);
    return *result_;
  }
  /// A Tensor of this type can be made of it.
  using converts_to = tensor_type;
  /// Refused, A08: `B g(A const& a) { return a * 2; }`. A function that is overloaded for two
  /// shardings of the same dims takes `(a * 2).tensor()`.
  template <class To>
    requires(detail::differs_in_sharding<To, tensor_type>())
  operator To() const {
    return refused<Code::A08_another_type, false, To, tensor_type>{};
  }

  // Members of the tensor.
  MeshRef const& mesh() const { return tensor().mesh(); }
  auto const& extents() const { return tensor().extents(); }
  template <class I>
  std::int64_t extent() const {
    return tensor().template extent<I>();
  }
  auto const& rows() const { return tensor().rows(); }
  auto ranges() const { return tensor().ranges(); }
  auto local_extents() const { return tensor().local_extents(); }
  template <class I>
  std::int64_t local_extent() const {
    return tensor().template local_extent<I>();
  }
  std::int64_t local_size() const { return tensor().local_size(); }
  template <class I>
  std::int64_t global_index(std::int64_t local) const {
    return tensor().template global_index<I>(local);
  }
  View<element const> local(
      std::source_location const& where = std::source_location::current()) const& {
    return tensor(where).local();
  }
  View<element const> local() const&& = delete;
  View<element const> unreduced_local() const& { return tensor().unreduced_local(); }
  View<element const> unreduced_local() const&& = delete;
  auto mutable_local(std::source_location const& where = std::source_location::current()) & {
    return tensor(where).mutable_local(where);
  }
  tensor_type clone() const { return tensor().clone(); }
  bool shared() const { return tensor().shared(); }
  Buffer const& buffer() const { return tensor().buffer(); }

 private:
  mutable core::Maybe<tensor_type> result_;
};

}  // namespace shardtype::execute

namespace shardtype::detail {

template <class F, class... Args>
struct OperandTraits<Fused<F, Args...>> {
  using type = typename Fused<F, Args...>::tensor_type;
  static type const& get(Fused<F, Args...> const& f) { return f.tensor(); }
};

}  // namespace shardtype::detail

namespace shardtype {

namespace execute {

/// Marks a temporary expression as an argument of `call`, for operations that compute it while they
/// read it.
template <class E>
struct Temporary {
  E const& expression;
};
template <class T>
inline constexpr bool is_temporary = false;
template <class E>
inline constexpr bool is_temporary<Temporary<E>> = true;

/// The argument that such operations pass to `call`: a Temporary for an expression without a name
/// whose operands have its block layout. A named expression may be used again, so it is computed
/// once for all uses.
template <class A>
constexpr decltype(auto) passed(A&& a) {
  if constexpr (shardtype::detail::is_fused<A>) {
    if constexpr (shardtype::detail::lies_as<detail::operand_t<A>, A>) {
      return Temporary<A>{a};
    } else {
      return std::as_const(a);
    }
  } else {
    return std::as_const(a);
  }
}

}  // namespace execute

}  // namespace shardtype

namespace shardtype::detail {

template <class E>
struct OperandTraits<execute::Temporary<E>> {
  using type = operand_t<E>;
  static execute::Temporary<E> const& get(execute::Temporary<E> const& e) { return e; }  // NOLINT
};

}  // namespace shardtype::detail
