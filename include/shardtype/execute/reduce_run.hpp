#pragma once
/// Runs reductions: on the calling rank's block, then between ranks by a plan.

#include <array>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>

#include <shardtype/check/counted.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/execute/run.hpp>
#include <shardtype/kernels/expression.hpp>
#include <shardtype/kernels/expression_blocks.hpp>
#include <shardtype/kernels/reduce.hpp>
#include <shardtype/kernels/reducer_of.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/block_layout.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype::execute {

using kernels::reducer_t;

/// `block` with the dims `kept` first, in their order, then the others.
inline kernels::Layout kept_first(kernels::Layout const& block, int const* kept, int count) {
  kernels::Layout out;
  bool used[max_dims] = {};
  auto push = [&](int d) {
    out.extent[out.rank] = block.extent[d];
    out.stride[out.rank++] = block.stride[d];
    used[d] = true;
  };
  for (int k = 0; k < count; ++k) push(kept[k]);
  for (int d = 0; d < block.rank; ++d)
    if (!used[d]) push(d);
  return out;
}

/// Positions of a result's dims in the operand's Spec.
struct KeptDims {
  int at[max_dims]{};
  int count = 0;
};
constexpr KeptDims kept_dims(Spec const& operand, Spec const& result) {
  KeptDims out;
  for (int d = 0; d < result.rank; ++d) out.at[out.count++] = operand.find(result.dims[d].label);
  return out;
}

/// The operand of a reduction: a value of tensor type `A` whose block is read from `In`.
template <class A, class In>
struct Readable {
  using tensor = A;
  MeshRef const& mesh;
  shardtype::detail::extents_of<A> extents;
  In in;

  auto rows() const { return A::local_rows(mesh, extents); }
};
template <class A>
Readable<A, typename A::element const*> readable(A const& a) {
  return {a.mesh(), a.extents(), static_cast<typename A::element const*>(a.buffer().data())};
}
/// An expression that is not computed yet and whose operands have its block layout: it is computed
/// while it is read.
template <class F, class... Args>
auto readable_expression(Fused<F, Args...> const& e) {
  using A = typename Fused<F, Args...>::tensor_type;
  using L = shardtype::detail::Lowered<typename shardtype::detail::FusedFunction<F, Args...>::part,
                                       0, char>;
  using In = kernels::ExpressionAt<typename L::expression, L::types::count>;
  auto const extents = shardtype::detail::fused_extents<A>(e);
  In in{L::make(e.part)};
  for (int k = 0; k < e.operands.size(); ++k) in.from[k] = e.operands[k].buffer().data();
  return Readable<A, In>{e.operands.mesh(), extents, in};
}

/// Whether the function `F` of `As`, of result type `Out`, can be computed while it is reduced,
/// whatever dims its operands lack: on the host, and without block-cyclic dims.
template <class Out, class... As>
inline constexpr bool reads_blocks = runtime::host_reads<typename Out::execution_space> &&
                                     Out::spec.cyclic_dim() < 0 && (is_tensor<As> && ...);
/// The function `f` of tensors, of result type `Out`, as the operand of a reduction that computes
/// it: `Temporary{ComputedOperand<...>(f, as...)}`.
template <class Out, class F, class... As>
class ComputedOperand {
  using X = shardtype::detail::FusedFunction<F, As...>;
  using L = shardtype::detail::Lowered<typename X::part, 0, char>;
  using Types = typename L::types;
  using E = decltype(L::make(std::declval<typename X::part const&>()));
  using T = typename Out::element;
  static constexpr auto const& dims =
      shardtype::detail::DimsOfOperands<Out, typename X::tensors>::at;

 public:
  using tensor_type = Out;

  explicit ComputedOperand(F const& f, As const&... as)
      : parts_(f, static_cast<typename shardtype::detail::FusedArgument<As>::base const&>(as)...),
        extents_(extents_of_operands()),
        blocks_(made()) {}
  static constexpr bool computed() { return false; }
  Readable<Out, kernels::ElementBlocks<T>> readable() const {
    return {parts_.operands.mesh(), extents_, blocks_.elements()};
  }
  /// For reductions that read memory.
  Out tensor() const {
    return shardtype::detail::run_fused<Out>(
        {parts_.operands, &parts_, shardtype::detail::compute_of<Out, typename X::part>, dims});
  }

 private:
  shardtype::detail::extents_of<Out> extents_of_operands() const {
    shardtype::detail::extents_of<Out> out{};
    shardtype::detail::fused_extents(parts_.operands, dims, Scope<Out>::names, Out::spec,
                                     out.data());
    return out;
  }
  kernels::ExpressionBlocks<T, E, Types> made() const {
    kernels::Layout shape;
    kernels::Sources<Types::count> in;
    if (MeshRef const& mesh = parts_.operands.mesh(); mesh.here()) {
      auto const rows = Out::local_rows(mesh, extents_);
      shape = shardtype::detail::block_layout(rows.data(), Out::spec.rank);
      in = shardtype::detail::fused_sources<false, typename Out::memory_space>(
          Types{}, parts_.operands, dims, Out::spec.rank, rows.data(), nullptr);
    }
    return {L::make(parts_.part), shape, in};
  }

  typename X::base parts_;
  shardtype::detail::extents_of<Out> extents_;
  kernels::ExpressionBlocks<T, E, Types> blocks_;
};
template <class Out, class F, class... As>
auto readable_expression(ComputedOperand<Out, F, As...> const& e) {
  return e.readable();
}

/// The extents of a packed block, with the strides of totals, one per element of the kept dims.
inline kernels::Layout rows_of_totals(kernels::Layout rows, KeptDims const& kept) {
  std::int64_t stride = 1;
  for (int d = 0; d < rows.rank; ++d) rows.stride[d] = 0;
  for (int n = kept.count - 1; n >= 0; --n) {
    rows.stride[kept.at[n]] = stride;
    stride *= rows.extent[kept.at[n]];
  }
  return rows;
}

/// Reduces a block into memory of the pool: to results, or to totals unless `Finish`.
template <class Reducer, bool Finish, class Space, class In>
Buffer reduce_block(MeshState& mesh, In const& in, kernels::Layout const& source, int kept) {
  using Exec = typename Space::execution_space;
  using Out =
      std::conditional_t<Finish, typename Reducer::Result, shardtype::detail::sent_t<Reducer>>;
  Exec const& exec = runtime::instance<Exec>();
  kernels::ReducePlan const plan = kernels::plan_reduce<Reducer>(exec, source, kept);
  auto const bytes = static_cast<std::size_t>(plan.shape.outputs) * sizeof(Out);
  Buffer out = mesh.pool().template take<Space>(bytes);
  Buffer const workspace = kernels::take_workspace<Space>(mesh.pool(), plan);
  auto* const to = static_cast<Out*>(out.data());
  if constexpr (Finish) {
    kernels::reduce<Reducer>(exec, plan, in, to, workspace.data());
  } else {
    kernels::reduce_to_totals<Reducer>(exec, plan, in, to, workspace.data());
  }
  runtime::fence(exec);
  return out;
}

/// Reduces the block of `a` to the dims `kept`, whose extents it sets.
template <class Reducer, bool Finish, class A, class In>
Buffer reduce_to(Readable<A, In> const& a, KeptDims const& kept, std::int64_t* extents) {
  for (int k = 0; k < kept.count; ++k) extents[k] = a.extents[static_cast<std::size_t>(kept.at[k])];
  if (!a.mesh.here()) return {};
  kernels::Layout const source =
      execute::kept_first(detail::block_layout(a.rows()), kept.at, kept.count);
  return execute::reduce_block<Reducer, Finish, typename A::memory_space>(a.mesh.state(), a.in,
                                                                          source, kept.count);
}

/// The calling rank's part of a reduction to `Out`, whose labels are some of A's. Unreduced over
/// the axes that split reduced dims.
template <class Reducer, class Out, class A, class In>
Out reduce_locally(Readable<A, In> const& a) {
  using S = Scope<A, Out>;
  constexpr KeptDims kept = execute::kept_dims(S::template spec<0>, S::template spec<1>);
  std::array<std::int64_t, Out::rank> extents{};
  Buffer block = execute::reduce_to<Reducer, true>(a, kept, extents.data());
  return Out(a.mesh, extents, std::move(block));
}

/// The places of a block's elements in the global tensor: of each dim, the rows of this rank, and
/// how many there are.
struct PlacesInWhole {
  int rank = 0;
  Rows rows[max_dims]{};
  std::int64_t extents[max_dims]{};
};
/// Converts positions in the totals from positions in a block to positions in the global tensor.
template <class Exec, class T>
void place_in_whole(PlacesInWhole const& a, KeptDims const& kept, kernels::Placed<T>* totals) {
  bool keeps[max_dims] = {};
  for (int k = 0; k < kept.count; ++k) keeps[kept.at[k]] = true;
  kernels::Layout block;
  Rows reduced[max_dims];
  std::int64_t stride = 1;
  std::int64_t n = 1;  // of `totals`
  std::int64_t strides[max_dims] = {};
  for (int d = a.rank - 1; d >= 0; --d) {
    if (keeps[d]) continue;
    strides[d] = stride;
    stride *= a.extents[d];
  }
  for (int d = 0; d < a.rank; ++d) {
    if (keeps[d]) {
      n *= a.rows[d].size();
      continue;
    }
    reduced[block.rank] = a.rows[d];
    block.extent[block.rank] = reduced[block.rank].size();
    block.stride[block.rank++] = strides[d];
  }
  Exec const& exec = runtime::instance<Exec>();
  kernels::place_in_whole(exec, totals, n, block, reduced);
  runtime::fence(exec);
}
template <class A, class In>
PlacesInWhole places_in_whole(Readable<A, In> const& a) {
  PlacesInWhole out;
  out.rank = A::spec.rank;
  auto const rows = a.rows();
  for (std::size_t d = 0; d < A::rank; ++d) {
    out.rows[d] = rows[d];
    out.extents[d] = a.extents[d];
  }
  return out;
}

/// Rows of an operand whose totals over all ranks are known.
template <class T, class Space>
struct JoinedRows {
  MeshState& mesh;
  kernels::Layout layout;  ///< of the operand's block
  KeptDims kept;
  Buffer totals;       ///< one per element of the kept dims, packed
  std::int64_t terms;  ///< elements of a row, of all ranks

  std::int64_t count() const {
    std::int64_t n = 1;
    for (int k = 0; k < kept.count; ++k) n *= layout.extent[kept.at[k]];
    return n;
  }
  template <class Out>
  Buffer take(std::int64_t n) const {
    return mesh.pool().template take<Space>(static_cast<std::size_t>(n) * sizeof(Out));
  }
};

/// Each rank reduces its block, then the partial results are resharded to the result of `R` (a
/// NamedReduction), whose extents are written. `Carries`: partial results are the reducer's totals.
template <class Reducer, class R, bool Carries, class A, class In>
Buffer reshard_parts(Readable<A, In> const& a, std::source_location const& where,
                     std::int64_t* extents) {
  using Out = typename R::result;
  using S = typename R::S;
  using Space = typename A::memory_space;
  using Total = typename Reducer::Total;
  using T = std::conditional_t<Carries, Carried<Reducer>, typename Out::element>;
  static_assert(sizeof(T) == static_cast<std::size_t>(R::bytes));
  static constexpr Spec met = R::Met::value;
  constexpr KeptDims kept = execute::kept_dims(R::given, met);
  std::array<std::int64_t, static_cast<std::size_t>(met.rank)> met_extents{};
  Buffer part = execute::reduce_to<Reducer, !Carries>(a, kept, met_extents.data());
  if constexpr (std::is_same_v<Total, kernels::Placed<typename A::element>>)
    if (a.mesh.here())
      execute::place_in_whole<typename Space::execution_space>(execute::places_in_whole(a), kept,
                                                               static_cast<Total*>(part.data()));
  Call const call{{S::names, R::bytes, &R::make_plan},
                  plan_cache<R, T>,
                  where,
                  {&met, &a.mesh, met_extents.data(), &part, &part}};
  return execute::run_call<T, Space>(call, extents);
}

/// The results of the totals of a tensor of type `Out`.
template <class Reducer, class Out>
Out finished(MeshRef const& mesh, std::array<std::int64_t, Out::rank> const& extents,
             Buffer const& totals) {
  Out out = shardtype::detail::uninitialized<Out>(mesh, extents);
  if (!mesh.here()) return out;
  typename Out::execution_space const& exec = runtime::instance<typename Out::execution_space>();
  using Total = shardtype::detail::sent_t<Reducer>;
  kernels::finish_totals<Reducer>(exec, static_cast<Total const*>(totals.data()),
                                  static_cast<typename Out::element*>(out.buffer().data()),
                                  out.local_size());
  runtime::fence(exec);
  return out;
}

/// The reduction that `R` (a NamedReduction) resolved. `Carries`: partial results are the reducer's
/// totals, which are finished at the end.
template <class Reducer, class R, bool Carries, class A, class In>
auto reduce_and_reshard(Readable<A, In> const& a, std::source_location const& where) {
  using Out = typename R::result;
  std::array<std::int64_t, Out::rank> extents{};
  Buffer result = execute::reshard_parts<Reducer, R, Carries>(a, where, extents.data());
  if constexpr (Carries) {
    return execute::finished<Reducer, Out>(a.mesh, extents, result);
  } else {
    return Out(a.mesh, extents, std::move(result));
  }
}

/// Divides `n` elements in place.
template <class Space, class T>
void divide_block(T* block, std::int64_t n, double by) {
  using Order = std::make_integer_sequence<int, 2>;
  using Divisor = shardtype::detail::computed_t<T>;
  using Quotient =
      kernels::Node<Order, functions::Divide, kernels::Leaf<T, 0>, kernels::Constant<Divisor>>;
  using Real = shardtype::detail::real_of<Divisor>;
  kernels::Layout layout;
  layout.rank = 1;
  layout.extent[0] = n;
  layout.stride[0] = 1;
  kernels::Sources<1> in;
  in.data[0] = block;
  in.stride[0][0] = 1;
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  kernels::evaluate<kernels::Elements<T>>(exec, Quotient({}, {}, {Divisor(static_cast<Real>(by))}),
                                          block, layout, in);
  runtime::fence(exec);
}

/// Number of elements per result, for a value with these extents.
template <class S>
std::int64_t terms_of(std::int64_t const* extents) {
  std::int64_t n = 1;
  for (int d = 0; d < S::template spec<0>.rank; ++d)
    if (S::template spec<1>.find(S::template spec<0>.dims[d].label) < 0) n *= extents[d];
  return n;
}
template <class F, class R, class A, class In>
typename R::result reduce([[maybe_unused]] typename F::Arguments const& arguments,
                          Readable<A, In> const& a, std::source_location const& where) {
  using Out = typename R::result;
  using T = typename A::element;
  using Reducer = reducer_t<F, T>;
  static_assert(
      sizeof(typename Reducer::Total) == static_cast<std::size_t>(F::template total_bytes<T>),
      "a reduction's total_bytes is the size of its reducer's Total");
  Out out = [&] {
    if constexpr (R::communicates) {
      return execute::reduce_and_reshard < Reducer, R, F::kind == ReductionKind::whole > (a, where);
    } else {
      return execute::reduce_locally<Reducer, Out>(a);
    }
  }();
  if constexpr (F::divides)
    if (a.mesh.here())
      execute::divide_block<typename A::memory_space>(
          static_cast<typename Out::element*>(out.buffer().data()), out.local_size(),
          F::divisor(arguments, execute::terms_of<Scope<A, Out>>(a.extents.data())));
  return out;
}

/// The totals of a reduction with further results, whose extents are written.
template <class F, class R, class A>
Buffer totals_of(std::source_location const& where, A const& a, std::int64_t* extents) {
  using Reducer = reducer_t<F, typename A::element>;
  static_assert(sizeof(typename Reducer::Total) ==
                    static_cast<std::size_t>(F::template total_bytes<typename A::element>),
                "a reduction's total_bytes is the size of its reducer's Total");
  auto const from = execute::readable(a);
  if constexpr (R::communicates) {
    return execute::reshard_parts<Reducer, R, true>(from, where, extents);
  } else {
    constexpr KeptDims kept = execute::kept_dims(R::S::parsed[0].spec, R::wanted());
    return execute::reduce_to<Reducer, false>(from, kept, extents);
  }
}

}  // namespace shardtype::execute

namespace shardtype::detail {

template <class Out, class F, class... As>
struct OperandTraits<execute::ComputedOperand<Out, F, As...>> {
  using type = Out;
};

}  // namespace shardtype::detail

namespace shardtype::op {

/// Of tensors and Locals. A temporary expression is computed while it is reduced.
template <class F, class... Names>
template <class R, class A>
typename R::result Reduce<F, Names...>::run(std::source_location const& where, A const& a) const {
  if constexpr (!execute::is_temporary<A>) {
    return execute::reduce<F, R>(*this, execute::readable(a), where);
  } else {
    using Reducer = execute::reducer_t<F, element_t<detail::operand_t<A>>>;
    if constexpr (!kernels::detail::takes_blocks<Reducer>)
      if (!a.expression.computed())
        return execute::reduce<F, R>(*this, execute::readable_expression(a.expression), where);
    return execute::reduce<F, R>(*this, execute::readable(a.expression.tensor()), where);
  }
}
template <class F, class... Names>
template <class T, class Space>
auto Reduce<F, Names...>::joined(execute::JoinedRows<T, Space> const& rows) const {
  using Result = shardtype::detail::reduced_element<F, T>;
  using Reducer = execute::reducer_t<F, T>;
  std::int64_t const n = rows.count();
  runtime::Buffer out = rows.template take<Result>(n);
  auto* const to = static_cast<Result*>(out.data());
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  using Total = detail::sent_t<Reducer>;
  kernels::finish_totals<Reducer>(exec, static_cast<Total const*>(rows.totals.data()), to, n);
  runtime::fence(exec);
  if constexpr (F::divides) execute::divide_block<Space>(to, n, F::divisor(*this, rows.terms));
  return out;
}
template <class F, class... Names>
template <class R, class A>
typename R::results ReduceCounted<F, Names...>::run(std::source_location const& where,
                                                    A const& a) const {
  using Reducer = execute::reducer_t<F, typename A::element>;
  using Values = typename R::result;
  using Counts = std::tuple_element_t<1, typename R::results>;
  std::array<std::int64_t, Values::rank> extents{};
  runtime::Buffer const totals = execute::totals_of<F, R>(where, a, extents.data());
  return {execute::finished<Reducer, Values>(a.mesh(), extents, totals),
          execute::finished<kernels::CountOf<Reducer>, Counts>(a.mesh(), extents, totals)};
}
template <class F, class... Names>
template <class R, class A>
typename R::results ReduceParts<F, Names...>::run(std::source_location const& where,
                                                  A const& a) const {
  using T = typename A::element;
  using All = kernels::Reducers<T>;
  using Values = typename R::result;
  using Second = std::tuple_element_t<1, typename R::results>;
  using Third = std::tuple_element_t<2, typename R::results>;
  std::array<std::int64_t, Values::rank> extents{};
  runtime::Buffer const totals = execute::totals_of<F, R>(where, a, extents.data());
  return {execute::finished<execute::reducer_t<F, T>, Values>(a.mesh(), extents, totals),
          execute::finished<decltype(All::second(F())), Second>(a.mesh(), extents, totals),
          execute::finished<decltype(All::third(F())), Third>(a.mesh(), extents, totals)};
}

}  // namespace shardtype::op
