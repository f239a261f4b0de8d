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
#include <shardtype/execute/fused_operands.hpp>
#include <shardtype/execute/fused_part.hpp>
#include <shardtype/execute/run.hpp>
#include <shardtype/execute/take_rows.hpp>
#include <shardtype/kernels/expression.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/block_layout.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/tensor/operand.hpp>

namespace shardtype::execute {

template <class F, class... Args>
class Fused;

}  // namespace shardtype::execute

namespace shardtype {

namespace detail {

template <class F, class... Args>
inline constexpr bool is_fused<Fused<F, Args...>> = true;

/// An expression without the shardings of its operands.
template <class Part>
struct FusedParts;
template <class F, class T, class... Parts>
struct FusedParts<FusedPart<F, T, Parts...>> {
  using Part = FusedPart<F, T, Parts...>;
  Part part;
  mutable FusedOperands operands;

  /// The operands of arguments that are expressions become its own.
  template <class... As>
  explicit FusedParts(F const& f, As const&... as)
      : part{f, {{of<Parts>(as)}...}}, operands(slots_of<Part>) {
    (add(as), ...);
  }

 private:
  template <class P, class A>
  static P of([[maybe_unused]] A const& a) {
    if constexpr (std::is_same_v<P, A>) {
      return a;  // a Number
    } else if constexpr (requires { a.part; }) {
      return a.part;
    } else {
      return {};
    }
  }
  template <class A>
  void add([[maybe_unused]] A const& a) {
    if constexpr (requires { a.operands; }) {
      operands.add(std::move(a.operands));
    } else if constexpr (std::is_base_of_v<HeldBlock, A>) {
      operands.add(a);
    }
  }
};
template <class T>
struct FusedParts<FusedLeaf<T>> {
  FusedLeaf<T> part{};
  mutable FusedOperands operands{1};

  template <std::size_t rank>
  explicit FusedParts(HeldRows<rank> const& a) {
    operands.add(a);
  }
  explicit FusedParts(FusedOperands const& its) : operands(its) {}
};

/// The types for an argument of an expression: its part, the tensors among its operands, and the
/// base class by which it is passed on.
template <class A>
struct FusedArgument;
template <class A>
  requires(is_tensor<A>)
struct FusedArgument<A> {
  using part = FusedLeaf<element_t<A>>;
  using tensors = Pack<A>;
  using base = HeldRows<A::rank>;
};
template <class N>
struct FusedArgument<Number<N>> {
  using part = Number<N>;
  using tensors = Pack<>;
  using base = Number<N>;
};
template <class F, class... Args>
struct FusedFunction {
  using part = FusedPart<F, typename ElementFor<F, operand_t<Args>...>::type,
                         typename FusedArgument<Args>::part...>;
  using tensors = decltype((Pack<>{} | ... | typename FusedArgument<Args>::tensors{}));
  using base = FusedParts<part>;
};
template <class F, class... Args>
struct FusedArgument<Fused<F, Args...>> : FusedFunction<F, Args...> {};

/// The names of the dims of a tensor or a block.
template <class A>
struct ScopeOf {
  using type = Scope<A>;
};
/// Of a block that knows its place, those of the block's type.
template <class A>
  requires requires { typename A::placed; }
struct ScopeOf<A> {
  using type = Scope<typename A::placed>;
};
/// For each dim of `Out`, the index of the dim of `A` with the same label, or -1.
template <class Out, class A>
constexpr std::array<int, max_dims> dims_in() {
  using To = typename ScopeOf<Out>::type;
  using From = typename ScopeOf<A>::type;
  Spec const out = To::template spec<0>;
  Spec const a = From::template spec<0>;
  std::array<int, max_dims> at{};
  for (int d = 0; d < max_dims; ++d) {
    at[static_cast<std::size_t>(d)] = -1;
    for (int e = 0; d < out.rank && e < a.rank; ++e)
      if (From::names.label_id[a.dims[e].label] == To::names.label_id[out.dims[d].label])
        at[static_cast<std::size_t>(d)] = e;
  }
  return at;
}
/// The same of operands `As`.
template <class Out, class As>
struct DimsOfOperands;
template <class Out, class... As>
struct DimsOfOperands<Out, Pack<As...>> {
  template <class A>
  static constexpr OperandDims of() {
    OperandDims out{{}, static_cast<std::int8_t>(sizeof(element_t<A>))};
    auto const in = detail::dims_in<Out, A>();
    for (int d = 0; d < max_dims; ++d)
      out.at[d] = static_cast<std::int8_t>(in[static_cast<std::size_t>(d)]);
    return out;
  }
  static constexpr OperandDims at[] = {of<As>()...};
};

/// The extents of the result of the expression `e`. Errors: E23, E24.
template <class Out, class E>
extents_of<Out> fused_extents(E const& e) {
  extents_of<Out> extents{};
  detail::fused_extents(e.operands, E::dims, Scope<Out>::names, Out::spec, extents.data());
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

/// The blocks that the kernel of `e` reads. A part of a dim that is not a range (`turns`) is first
/// taken out of its block, into `taken`.
template <bool turns, class Space, class... Ts>
kernels::Sources<static_cast<int>(sizeof...(Ts))> fused_sources(kernels::Elements<Ts...>,
                                                                FusedOperands const& operands,
                                                                OperandDims const* dims, int rank,
                                                                Rows const* rows,
                                                                [[maybe_unused]] Buffer* taken) {
  kernels::Sources<static_cast<int>(sizeof...(Ts))> in;
  int slot = 0;
  auto const place = [&]<class T>(Type<T>) {
    FusedBlock block(operands[slot]);
    if constexpr (turns) {  // an unsplit dim is sliced by an offset, unless the result's dim is
                            // block-cyclic
      for (int d = 0; d < rank; ++d) {
        int const at = dims[slot].at[d];
        if (at < 0 || rows[d].contiguous() || rows[d] == block.rows[at]) continue;
        taken[slot] =
            execute::take_rows<T, Space>(operands.mesh().state(), static_cast<T const*>(block.data),
                                         block.layout, at, block.rows[at], rows[d]);
        block.rows[at] = rows[d];
        block.data = taken[slot].data();
      }
    }
    block.place(dims[slot], rank, rows, in.data[slot], in.stride[slot]);
    ++slot;
  };
  (place(Type<Ts>{}), ...);
  return in;
}

/// Where a kernel writes: elements, or the blocks of several results.
template <class T>
struct FusedTarget {
  static T* at(void* out) { return static_cast<T*>(out); }
};
template <class T, int N>
struct FusedTarget<kernels::Targets<T, N>> {
  static kernels::Targets<T, N> const& at(void* out) {
    return *static_cast<kernels::Targets<T, N> const*>(out);
  }
};

/// Computes an expression, a FusedParts<Part>, to `out`, a block of `rows` of each dim; or several
/// to the Targets `To` of such blocks.
template <bool turns, class Space, class To, class Part>
void compute_fused(void const* expression, OperandDims const* dims, int rank, Rows const* rows,
                   void* out) {
  using L = Lowered<Part, 0, char>;
  using Types = typename L::types;
  auto const& e = *static_cast<FusedParts<Part> const*>(expression);
  Buffer taken[turns ? kernels::at_least_one(Types::count) : 1];
  auto const in = detail::fused_sources<turns, Space>(Types{}, e.operands, dims, rank, rows, taken);
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  kernels::evaluate<Types>(exec, L::make(e.part), FusedTarget<To>::at(out),
                           block_layout(rows, rank), in);
  runtime::fence(exec);
}

using FusedKernel = void (*)(void const*, OperandDims const*, int, Rows const*, void*);
template <class Out, class Part, class To = typename Out::element>
inline constexpr FusedKernel compute_of =
    &compute_fused<(Out::spec.cyclic_dim() >= 0), typename Out::memory_space, To, Part>;

/// An expression without its type.
struct FusedRun {
  FusedOperands const& operands;
  void const* expression;
  FusedKernel compute;
  OperandDims const* dims;

  template <class Out>
  void operator()(Out const& out) const {
    compute_to(out, out.buffer().data());
  }
  /// Computes it to blocks that lie as that of `out`.
  template <class Out>
  void compute_to(Out const& out, void* to) const {
    if (out.mesh().here()) compute(expression, dims, Out::spec.rank, out.rows().data(), to);
  }
};

/// Computes the expression for a result of type `Out`. `where`: for messages.
template <class Out>
Out run_fused(FusedRun const& e, std::source_location const& where = {}) {
  core::RunningCall const running("an elementwise expression", where,
                                  detail::element_name<typename Out::element>(), &Out::spec,
                                  &Scope<Out>::names);
  extents_of<Out> extents{};
  detail::fused_extents(e.operands, e.dims, Scope<Out>::names, Out::spec, extents.data());
  Out out = detail::uninitialized<Out>(e.operands.mesh(), extents);
  e(out);
  return out;
}
/// Computes it into the memory of `out`.
template <class Out>
void run_fused_into(Out const& out, FusedRun const& e,
                    std::string_view operation = "an elementwise expression") {
  core::RunningCall const running(operation, {}, detail::element_name<typename Out::element>(),
                                  &Out::spec, &Scope<Out>::names);
  extents_of<Out> known{};
  detail::fused_extents(e.operands, e.dims, Scope<Out>::names, Out::spec, known.data());
  if (!detail::extents_agree(known.data(), out.extents().data(), Out::spec.rank))
    throw Error("E24", "an in-place operation would change the tensor's extents",
                FailedOn::every_rank);
  e(out);
}
/// The result, computed once; then the operands' memory is released.
template <class Out>
Out& fused_result(FusedResult& known, FusedOperands& operands, void const* expression,
                  FusedKernel compute, OperandDims const* dims, std::source_location const& where) {
  if (known.at() == nullptr) {
    known.keep(detail::run_fused<Out>({operands, expression, compute, dims}, where));
    operands.clear();
  }
  return *static_cast<Out*>(known.at());
}
/// The function `f` of tensors and numbers, for a result of type `Out`.
template <class Out, class F, class... As>
Out run_function(F const& f, As const&... as) {
  using E = FusedFunction<F, As...>;
  typename E::base const e(f, static_cast<typename FusedArgument<As>::base const&>(as)...);
  return detail::run_fused<Out>({e.operands, &e, compute_of<Out, typename E::part>,
                                 DimsOfOperands<Out, typename E::tensors>::at});
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
class Fused : public detail::FusedFunction<F, Args...>::base,
              public core::Argument<Fused<F, Args...>> {
  using Parts = typename detail::FusedFunction<F, Args...>::base;

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

  /// For each operand.
  static constexpr auto const& dims =
      detail::DimsOfOperands<tensor_type, typename detail::FusedFunction<F, Args...>::tensors>::at;
  /// Computes it.
  static constexpr detail::FusedKernel kernel =
      detail::compute_of<tensor_type, typename detail::FusedFunction<F, Args...>::part>;

  template <class... As>
    requires(sizeof...(As) == sizeof...(Args))
  explicit Fused(F const& f, As const&... as)
      : Parts(f, static_cast<typename detail::FusedArgument<Args>::base const&>(as)...) {}

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
    return detail::fused_result<tensor_type>(result_, this->operands,
                                             static_cast<Parts const*>(this), kernel, dims, where);
  }
  /// Whether the result has been computed.
  bool computed() const { return result_.at() != nullptr; }
  /// The result, to be written.
  tensor_type& tensor(std::source_location const& where = std::source_location::current()) {
    return detail::fused_result<tensor_type>(result_, this->operands,
                                             static_cast<Parts const*>(this), kernel, dims, where);
  }
  /// A Tensor, or a Local, of this type can be made of it.
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
  mutable detail::FusedResult result_;
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
