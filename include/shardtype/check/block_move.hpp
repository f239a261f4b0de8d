#pragma once
/// Collectives and casts of blocks, on types. Their objects are in ops/collectives.hpp and
/// ops/blocks.hpp.

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include <shardtype/check/functions.hpp>
#include <shardtype/check/operation.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/plan/block_plan.hpp>

namespace shardtype {

namespace detail {

/// Number of indices that a collective or cast takes.
constexpr int labels_named(Movement how) {
  switch (how) {
    case Movement::all_gather:
    case Movement::reduce_scatter:
    case Movement::shard:
      return 1;
    case Movement::all_to_all:
      return 2;
    default:
      return 0;
  }
}

/// The collective or cast that an operation performs on a Local, and the state of its result unless
/// the call names one. An operation has it as `blocks`.
template <Movement its_how, AxisState its_to>
struct Moves {
  static constexpr Movement how = its_how;
  static constexpr AxisState to = its_to;
};

/// The rule's verdict for the block `A`.
template <class Op, class A>
struct BlockMove {
  using Parts = parts_t<Op>;
  static constexpr Movement how = Op::blocks::how;
  static constexpr AxisState to = Parts::state(Op::blocks::to);
  static constexpr std::size_t may_name_states =
      how == Movement::all_gather || (how == Movement::broadcast && to != AxisState::reduced);
  using S = Scope<A, typename Parts::Mentioned>;
  static constexpr int operands = 1;
  static constexpr bool communicates = how != Movement::shard && how != Movement::cast;
  static constexpr bool reduces = how == Movement::all_reduce || how == Movement::reduce_scatter;
  static constexpr Spec given = S::template spec<0>;
  static constexpr Spec named = S::template spec<1>;
  static constexpr NamedNumbers numbers =
      named_numbers<S, typename Parts::Axes, typename Parts::Labels>;
  /// The axes, in the order of the call.
  static constexpr AxisList axes() {
    AxisList out;
    for (int k = 0; k < numbers.axis_count; ++k) out.push(numbers.axes[k]);
    return out;
  }
  /// Index of a named label among the operand's dims; -1 if it lacks the label.
  static constexpr int dim(int which) { return given.find(named.dims[which].label); }

  static constexpr Verdict elements() {
    using T = element_t<A>;
    if (!reduces) return {};
    if (Parts::mean && !is_floating<T>) return refuse(Code::P12_not_floating);
    if (Parts::kind == ReduceKind::sum && std::is_same_v<T, bool>)
      return refuse(Code::C11_not_numbers);
    if (Parts::kind != ReduceKind::sum && is_complex<T>) return refuse(Code::S04_no_order);
    return {};
  }
  static constexpr Verdict dims(Spec s) {
    if (labels_named(how) == 0) return accept(s);
    int const first = named.dims[0].label;
    if (how == Movement::all_gather && s.find(first) < 0) return with_first(s, first);
    if (s.find(first) < 0) return refuse(Code::K04_no_such_index, first, -1, axes()[0]);
    if (how == Movement::all_to_all && s.find(named.dims[1].label) < 0)
      return with_first(planning::without_dim(s, s.find(first)), named.dims[1].label);
    return accept(s);
  }
  static constexpr Verdict with_first(Spec const& s, int label) {
    if (s.rank == max_dims) return refuse(Code::T07_too_many);
    return accept(planning::with_dim(s, 0, label));
  }
  static constexpr Verdict decide() {
    if (S::names.overflow) return refuse(Code::T07_too_many);
    if (Verdict v = rules::well_formed(S::parsed[0]); !v) return v;
    if (Parts::count == 0) return refuse(Code::K07_no_axis);
    if (!Parts::in_order() || axes().size == 0 || named_count() != labels_named(how))
      return refuse(Code::T05_not_an_axis);
    bool const may_be_unreduced = reduces || (to == AxisState::unreduced && !Parts::mean);
    if (Parts::names_kind && !may_be_unreduced) return refuse(Code::T05_not_an_axis);
    if (Parts::states > may_name_states) return refuse(Code::T05_not_an_axis);
    if (S::parsed[1].malformed == Malformed::repeated_axis)
      return rules::refuse(Code::T01_axis_twice, -1, -1, S::parsed[1].axis);
    if (Verdict v = rules::well_named(S::names); !v) return v;
    Verdict v = accept(given);
    AxisList const over = axes();
    for (int k = 0; k < over.size && v; ++k)
      v = rules::move(v.result, how, over[k], to, Parts::kind);
    if (!v) return v;
    if (Verdict e = elements(); !e) return e;
    return dims(v.result);
  }
  /// One label may be named twice: cut and joined along the same dim.
  static constexpr int named_count() { return numbers.label_count; }
  static constexpr Verdict verdict = decide();
};

/// Writes the extents of the result. Error E61: pieces of unequal extents.
constexpr void move_extents(planning::BlockCall const& c, ResultExtents const& e) {
  std::int64_t const p = c.ranks();
  auto const place = [&](int label) { return e.result.find(label); };
  auto const piece = [&] {
    int const d = c.given.find(c.first);
    std::int64_t const n = e.given[0][d];
    if (n % p != 0)
      ResultExtents::fail("index " + e.name(d) + " of the block has extent " + std::to_string(n) +
                              ", which the " + std::to_string(p) +
                              " ranks of the group do not divide; pad it, or reshard before "
                              "shard_map",
                          "E61");
    return n / p;
  };
  for (int d = 0; d < e.result.rank; ++d) {
    int const from = c.given.find(e.result.dims[d].label);
    e.out[d] = from < 0 ? p : e.given[0][from];
  }
  switch (c.how) {
    case Movement::all_gather:
      if (int const d = c.given.find(c.first); d >= 0)
        e.out[place(c.first)] = e.product(e.given[0][d], p);
      break;
    case Movement::reduce_scatter:
    case Movement::shard:
      e.out[place(c.first)] = piece();
      break;
    case Movement::all_to_all:
      if (std::int64_t const n = piece(); c.given.find(c.second) < 0) {
        if (n != 1)
          ResultExtents::fail(
              "an all_to_all that makes a new dim gives each rank one row, and the block has " +
                  std::to_string(n * p) + " rows for " + std::to_string(p) +
                  " ranks; name a dim of the block to put the pieces together along",
              "E61");
      } else if (c.first != c.second) {
        e.out[place(c.first)] = n;
        e.out[place(c.second)] = e.product(e.given[0][c.given.find(c.second)], p);
      }
      break;
    default:
      break;
  }
}

/// The resolved operation on a block.
template <class Rule, class Op, class A>
struct BlockMoveResult : Rule {
  using result = accepted_t<Rule, element_t<A>, A>;

  static constexpr planning::BlockCall block_call(Sizes const& sizes) {
    planning::BlockCall c{Rule::how, Rule::axes(), Rule::Parts::kind, Rule::Parts::mean};
    if (Rule::named_count() > 0) c.first = Rule::named.dims[0].label;
    if (Rule::named_count() > 1)
      c.second = Rule::named.rank > 1 ? Rule::named.dims[1].label : c.first;
    c.given = Rule::given;
    c.result = Rule::verdict.result;
    c.sizes = sizes;
    c.element_bytes = static_cast<std::int64_t>(sizeof(element_t<A>));
    return c;
  }
  /// Computes the extents of the result's block from the operand's. Errors: E61, and the
  /// operation's own errors.
  static constexpr void set_extents([[maybe_unused]] Op const& op, Sizes const& sizes,
                                    std::int64_t const* const* given, std::int64_t* out) {
    planning::BlockCall const c = block_call(sizes);
    checking::ResultExtents const extents{Rule::S::names, Rule::S::parsed, 1,  Rule::verdict.result,
                                          sizes,          given,           out};
    detail::move_extents(c, extents);
    if constexpr (requires { op.check(c.ranks()); }) op.check(c.ranks());
  }
  /// The plan of one call of `op` on a block of these extents.
  static constexpr Plan plan_call(Op const& op, Sizes const& sizes,
                                  std::int64_t const* const* given) {
    std::int64_t made[max_dims]{};
    set_extents(op, sizes, given, made);
    planning::BlockCall c = block_call(sizes);
    if constexpr (requires { Op::shares; }) c.shares = Op::shares;
    c.given_extents = given[0];
    c.result_extents = made;
    bool moves = true;
    if constexpr (requires { op.moves(c.ranks()); }) moves = op.moves(c.ranks());
    return planning::block_plan(Op::name, c, moves);
  }
  /// Upper bound on the number of collectives of a kind in a call.
  static constexpr int open_count(Op const&, Collective kind) {
    std::int64_t const none[max_dims]{};
    planning::BlockCall c = block_call({});
    c.given_extents = c.result_extents = none;
    Extents as_one;
    return planning::block_step(c, as_one).collective() == kind ? 1 : 0;
  }
};

/// The blocks of a Tensor, as Locals: along strict axes that split it they vary, too.
template <class A>
struct BlocksOf {
  using S = Scope<A>;
  static constexpr Spec value = rules::block_of_tensor(S::template spec<0>);
  template <class Like>
  struct LocalLike;
  template <class T, class... Parts>
  struct LocalLike<Tensor<T, Parts...>> {
    using type = Local<T, Parts...>;
  };
  using type = tensor_from_spec<S, BlocksOf, element_t<A>, typename LocalLike<A>::type>;
};

/// The verdict on a collective or cast along manual axes on a Tensor, which is that on its blocks.
template <class Op, class A>
struct MoveAlongManual {
  using L = typename BlocksOf<A>::type;
  using Parts = parts_t<Op>;
  using OnBlocks = BlockMove<Op, L>;
  /// The names of the blocks' call, and the tensor in these.
  using S = typename OnBlocks::S;
  static constexpr Spec whole = Scope<L, typename Parts::Mentioned, A>::template spec<2>;
  static constexpr Spec decided() {
    Spec s = OnBlocks::verdict.result;
    s.local = false;
    for (int d = 0; d < s.rank; ++d)
      if (int const from = whole.find(s.dims[d].label); from >= 0)
        s.dims[d].axes = whole.dims[from].axes;
    for (int d = 0; d < whole.rank; ++d) s.varying = s.varying - whole.dims[d].axes.set();
    return s;
  }
  static constexpr Verdict decide() {
    if (Verdict v = rules::well_formed(S::parsed[0]); !v) return v;
    if (Parts::count == 0 || !Parts::in_order()) return OnBlocks::verdict;
    for (int k = 0; k < OnBlocks::numbers.axis_count; ++k) {
      int const x = OnBlocks::numbers.axes[k];
      bool const equal = OnBlocks::how == Movement::shard || OnBlocks::how == Movement::cast;
      if (whole.dim_of(x) >= 0 || (!equal && !whole.varying.contains(x)))
        return rules::refuse(Code::V17_not_manual, -1, -1, x);
    }
    // a reduced block would come back as a summand, which only strict collectives take
    if (OnBlocks::communicates && OnBlocks::to == AxisState::reduced)
      return refuse(Code::V01_mixed);
    for (int d = 0; d < OnBlocks::named.rank; ++d)
      if (int const at = whole.find(OnBlocks::named.dims[d].label);
          at >= 0 && whole.dims[at].axes.size > 0)
        return rules::refuse(Code::V18_strict_inside, whole.dims[at].label, -1,
                             whole.dims[at].axes[0]);
    return OnBlocks::verdict ? accept(decided()) : OnBlocks::verdict;
  }
  static constexpr Verdict verdict = decide();
};
/// The resolved call, which runs on the Tensor's blocks by `on_blocks`.
template <class Rule, class Op, class A>
struct AlongManualResult : Rule {
  using result = accepted_t<Rule, element_t<A>, A>;
  using block = typename Rule::L;
  using on_blocks = BlockMoveResult<typename Rule::OnBlocks, Op, block>;
  static constexpr bool communicates = on_blocks::communicates;

  /// The extents of the largest block of a Tensor with these.
  static constexpr std::array<std::int64_t, max_dims> block_extents(Sizes const& sizes,
                                                                    std::int64_t const* of) {
    std::array<std::int64_t, max_dims> out{};
    for (int d = 0; d < Rule::whole.rank; ++d) {
      std::int64_t const pieces = sizes.product(Rule::whole.dims[d].axes);
      bool const known = of[d] != dynamic && pieces != dynamic;
      out[static_cast<std::size_t>(d)] = known ? (of[d] + pieces - 1) / pieces : dynamic;
    }
    return out;
  }
  static constexpr void set_extents(Op const& op, Sizes const& sizes,
                                    std::int64_t const* const* given, std::int64_t* out) {
    auto const own = block_extents(sizes, given[0]);
    std::int64_t const* const blocks[] = {own.data()};
    on_blocks::set_extents(op, sizes, blocks, out);
    whole_extents(given[0], out);
  }
  /// Along dims that strict axes split the extents stay.
  static constexpr void whole_extents(std::int64_t const* given, std::int64_t* out) {
    for (int d = 0; d < Rule::verdict.result.rank; ++d)
      if (Rule::verdict.result.dims[d].axes.size > 0)
        out[d] = given[Rule::whole.find(Rule::verdict.result.dims[d].label)];
  }
  static constexpr Plan plan_call(Op const& op, Sizes const& sizes,
                                  std::int64_t const* const* given) {
    auto const own = block_extents(sizes, given[0]);
    std::int64_t const* const blocks[] = {own.data()};
    return on_blocks::plan_call(op, sizes, blocks);
  }
  static constexpr int open_count(Op const& op, Collective kind) {
    return on_blocks::open_count(op, kind);
  }
};

/// A collective or cast of blocks on a Tensor: V01, unless it works along manual axes.
template <class Op, class A>
constexpr auto resolve_of_tensor() {
  if constexpr (moves_along_manual<Op, A>) {
    return Type<resolved_t<AlongManualResult, MoveAlongManual<Op, A>, Op, A>>{};
  } else {
    return Type<Plainly<Code::V01_mixed>>{};
  }
}

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

template <detail::MovesBlocks Op, class A>
  requires is_local<A>
struct Resolve<Op, A>
    : detail::resolved_t<detail::BlockMoveResult, detail::BlockMove<Op, A>, Op, A> {};
template <detail::MovesBlocks Op, class A>
  requires(is_tensor<A> && !is_local<A> &&
           (!detail::MovesTensors<Op> || detail::moves_along_manual<Op, A>))
struct Resolve<Op, A> : decltype(detail::resolve_of_tensor<Op, A>())::type {};

}  // namespace shardtype::checking
