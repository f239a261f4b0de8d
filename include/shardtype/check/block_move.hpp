#pragma once
/// Objects of the collectives and casts of manual mode, and their result types for a Local.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/functions.hpp>
#include <shardtype/check/operation.hpp>
#include <shardtype/check/reshard.hpp>
#include <shardtype/plan/block_plan.hpp>

namespace shardtype {

/// A pair of ranks of a group.
struct SourceDestination {
  int source = 0;
  int destination = 0;
};

// The collectives that strict mode has too are in check/reshard.hpp. Template arguments are, in
// this order and as far as an operation has them: `Max`, `Min` or `Mean`; mesh axes; indices;
// ToVarying or ToReduced.
namespace op {

/// Sends the block of one rank of the group to another, as `pairs` says; ranks that receive none
/// get zeros. The caller keeps the pairs alive.
template <class... Xs>
struct Permute {
  using operation = Permute;
  static constexpr std::string_view name = "permute";
  std::span<SourceDestination const> pairs;

  /// Error E64: a rank outside the group, or listed twice as source or as destination.
  constexpr void check(std::int64_t ranks) const {
    for (SourceDestination const& p : pairs) {
      if (p.source < 0 || p.source >= ranks || p.destination < 0 || p.destination >= ranks)
        fail(p, "the group has ranks 0 to " + std::to_string(ranks - 1));
      for (SourceDestination const& q : pairs) {
        if (&q == &p) continue;
        if (q.source == p.source) fail(p, "its source stands in another pair too");
        if (q.destination == p.destination) fail(p, "its destination stands in another pair too");
      }
    }
  }
  /// Whether any block is sent to another rank.
  constexpr bool moves(std::int64_t) const {
    for (SourceDestination const& p : pairs)
      if (p.source != p.destination) return true;
    return false;
  }
  constexpr planning::Partners partners(std::int64_t me, std::int64_t) const {
    planning::Partners out;
    for (SourceDestination const& p : pairs) {
      if (p.source == me) out.to = p.destination;
      if (p.destination == me) out.from = p.source;
    }
    return out;
  }

 private:
  [[noreturn]] static void fail(SourceDestination const& p, std::string const& what) {
    throw Error("E64",
                "permute was given the pair (" + std::to_string(p.source) + ", " +
                    std::to_string(p.destination) + "): " + what,
                FailedOn::every_rank);
  }
};

/// Sends each block to the rank `by` further in the group, cyclically.
template <class... Xs>
struct Rotate {
  using operation = Rotate;
  static constexpr std::string_view name = "rotate";
  std::int64_t by = 0;

  constexpr bool moves(std::int64_t ranks) const { return by % ranks != 0; }
  constexpr planning::Partners partners(std::int64_t me, std::int64_t ranks) const {
    std::int64_t const step = (by % ranks + ranks) % ranks;
    return {static_cast<int>((me + step) % ranks), static_cast<int>((me + ranks - step) % ranks)};
  }
};

/// Broadcasts the block of rank `root` of the group; typed varying if the last of `Xs` is
/// ToVarying.
template <class... Xs>
struct BroadcastFrom {
  using operation = BroadcastFrom;
  static constexpr std::string_view name = "broadcast_from";
  int root = 0;

  /// Error E64: no such rank.
  constexpr void check(std::int64_t ranks) const {
    if (root < 0 || root >= ranks)
      throw Error("E64",
                  "broadcast_from rank " + std::to_string(root) + " of a group of " +
                      std::to_string(ranks) + " ranks",
                  FailedOn::every_rank);
  }
  constexpr planning::Partners partners(std::int64_t, std::int64_t) const { return {-1, root}; }
};

/// Cuts an invariant block along an index; each rank keeps its piece.
template <class... XI>
struct Shard {
  using operation = Shard;
  static constexpr std::string_view name = "shard";
};

/// The same block, typed as varying over `Xs`.
template <class... Xs>
struct ToVarying {
  using operation = ToVarying;
  static constexpr std::string_view name = "varying";
};
/// The same blocks, typed as summands over axes, or with `Max` or `Min` first as candidates of an
/// extremum.
template <class... Named>
struct ToUnreduced {
  using operation = ToUnreduced;
  static constexpr std::string_view name = "unreduced";
};

}  // namespace op

namespace detail {

template <class T>
inline constexpr bool is_kind =
    std::is_same_v<T, Max> || std::is_same_v<T, Min> || std::is_same_v<T, Mean>;

/// The template arguments of a collective of manual mode, by kind.
template <class... Named>
struct NamedParts {
  template <class T>
  static constexpr auto axis() {
    if constexpr (MeshAxis<T>) {
      return Pack<T>{};
    } else {
      return Pack<>{};
    }
  }
  template <class T>
  static constexpr auto label() {
    if constexpr (IndexLabel<T>) {
      return Pack<T>{};
    } else {
      return Pack<>{};
    }
  }
  static constexpr std::size_t count = sizeof...(Named);
  using Axes = decltype((Pack<>{} | ... | axis<Named>()));
  using Labels = decltype((Pack<>{} | ... | label<Named>()));
  /// Checks the order: kind first, if any; then axes; then indices; then the state of the result.
  static constexpr bool in_order() {
    int const place[] = {(is_kind<Named>          ? 0
                          : MeshAxis<Named>       ? 1
                          : IndexLabel<Named>     ? 2
                          : names_state_of<Named> ? 3
                                                  : -1)...,
                         4};
    for (std::size_t k = 0; k < sizeof...(Named); ++k)
      if (place[k] < 0 || place[k] > place[k + 1] || (place[k] == 0 && k > 0)) return false;
    return true;
  }
  static constexpr bool mean = (std::is_same_v<Named, Mean> || ...);
  static constexpr bool names_kind = (is_kind<Named> || ...);
  static constexpr ReduceKind kind = (std::is_same_v<Named, Max> || ...)   ? ReduceKind::max
                                     : (std::is_same_v<Named, Min> || ...) ? ReduceKind::min
                                                                           : ReduceKind::sum;
  static constexpr int states = (0 + ... + (names_state_of<Named> ? 1 : 0));
  /// The state named by the call, or `otherwise`.
  static constexpr AxisState state(AxisState otherwise) {
    if ((std::is_same_v<Named, shardtype::checking::ToVarying> || ...)) return AxisState::varying;
    if ((std::is_same_v<Named, shardtype::checking::ToReduced> || ...)) return AxisState::reduced;
    return otherwise;
  }
};
template <class... Ls, class... Xs>
Mentions<Dim<Ls>..., Reduced<Xs...>>* mentioned(Pack<Ls...>, Pack<Xs...>);

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
/// the call names one.
template <Movement its_how, AxisState to, class... Named>
struct Moves {
  static constexpr Movement how = its_how;
  using Parts = NamedParts<Named...>;
  static constexpr AxisState state = Parts::state(to);
  static constexpr bool may_name_state =
      how == Movement::all_gather || (how == Movement::broadcast && state != AxisState::reduced);
};
template <class Op>
struct MoveOf;
template <class... Named>
struct MoveOf<op::AllGather<Named...>>
    : Moves<Movement::all_gather, AxisState::replicated, Named...> {};
template <class... Named>
struct MoveOf<op::AllReduce<Named...>>
    : Moves<Movement::all_reduce, AxisState::replicated, Named...> {};
template <class... Named>
struct MoveOf<op::ReduceScatter<Named...>>
    : Moves<Movement::reduce_scatter, AxisState::varying, Named...> {};
template <class... Named>
struct MoveOf<op::AllToAll<Named...>> : Moves<Movement::all_to_all, AxisState::varying, Named...> {
};
template <class... Named>
struct MoveOf<op::Permute<Named...>> : Moves<Movement::permute, AxisState::varying, Named...> {};
template <class... Named>
struct MoveOf<op::Rotate<Named...>> : Moves<Movement::permute, AxisState::varying, Named...> {};
template <class... Named>
struct MoveOf<op::BroadcastFrom<Named...>>
    : Moves<Movement::broadcast, AxisState::replicated, Named...> {};
template <class... Named>
struct MoveOf<op::Shard<Named...>> : Moves<Movement::shard, AxisState::varying, Named...> {};
template <class... Named>
struct MoveOf<op::ToVarying<Named...>> : Moves<Movement::cast, AxisState::varying, Named...> {};
template <class... Named>
struct MoveOf<op::ToReduced<Named...>> : Moves<Movement::cast, AxisState::reduced, Named...> {};
template <class... Named>
struct MoveOf<op::ToUnreduced<Named...>> : Moves<Movement::cast, AxisState::unreduced, Named...> {};

/// Whether an operation moves blocks, and whether it only does that.
template <class Op>
concept MovesBlocks = requires { MoveOf<Op>::how; };
template <class Op>
inline constexpr bool in_both_modes = false;
template <class... Named>
inline constexpr bool in_both_modes<op::AllGather<Named...>> = true;
template <class... Named>
inline constexpr bool in_both_modes<op::AllReduce<Named...>> = true;
template <class... Named>
inline constexpr bool in_both_modes<op::ReduceScatter<Named...>> = true;
template <class... Named>
inline constexpr bool in_both_modes<op::AllToAll<Named...>> = true;
template <class... Named>
inline constexpr bool in_both_modes<op::ToReduced<Named...>> = true;

/// The rule's verdict for the block `A`.
template <class Op, class A>
struct BlockMove {
  using Call = MoveOf<Op>;
  using Parts = typename Call::Parts;
  static constexpr Movement how = Call::how;
  static constexpr AxisState to = Call::state;
  using S = Scope<A, std::remove_pointer_t<decltype(mentioned(typename Parts::Labels{},
                                                              typename Parts::Axes{}))>>;
  static constexpr int operands = 1;
  static constexpr bool communicates = how != Movement::shard && how != Movement::cast;
  static constexpr bool reduces = how == Movement::all_reduce || how == Movement::reduce_scatter;
  static constexpr Spec given = S::template spec<0>;
  static constexpr Spec named = S::template spec<1>;
  /// The axes, in the order of the call.
  static constexpr AxisList axes() {
    AxisList out;
    each_axis([&](int x) { out.push(x); }, typename Parts::Axes{});
    return out;
  }
  template <class Use, class... Xs>
  static constexpr void each_axis([[maybe_unused]] Use use, Pack<Xs...>) {
    (use(S::names.find_axis(identity<Xs>)), ...);
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
    if (Verdict v = rules::well_formed(S::readings[0]); !v) return v;
    if (Parts::count == 0) return refuse(Code::K07_no_axis);
    if (!Parts::in_order() || axes().size == 0 || named_count() != labels_named(how))
      return refuse(Code::T05_not_an_axis);
    bool const may_owe = reduces || (to == AxisState::unreduced && !Parts::mean);
    if (Parts::names_kind && !may_owe) return refuse(Code::T05_not_an_axis);
    if (Parts::states > (Call::may_name_state ? 1 : 0)) return refuse(Code::T05_not_an_axis);
    if (S::readings[1].malformed == Malformed::repeated_axis)
      return refuse(Code::T01_axis_twice, -1, -1, S::readings[1].axis);
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
  static constexpr int named_count() { return static_cast<int>(count(typename Parts::Labels{})); }
  template <class... Ls>
  static constexpr std::size_t count(Pack<Ls...>) {
    return sizeof...(Ls);
  }
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
template <class Rule, class Op, class A, bool ok = bool(Rule::verdict)>
struct BlockMoveResult : Rule {
  struct Holder {
    static constexpr Spec value = Rule::verdict.result;
  };
  using result = tensor_from_spec<typename Rule::S, Holder, element_t<A>, A>;

  static constexpr planning::BlockCall block_call(Sizes const& sizes) {
    planning::BlockCall c{Rule::how, Rule::axes(), Rule::Parts::kind, Rule::Parts::mean};
    if (Rule::named_count() > 0) c.first = Rule::named.dims[0].label;
    if (Rule::named_count() > 1)
      c.second = Rule::named.rank > 1 ? Rule::named.dims[1].label : c.first;
    c.given = Rule::given;
    c.result = Holder::value;
    c.sizes = sizes;
    c.element_bytes = static_cast<std::int64_t>(sizeof(element_t<A>));
    return c;
  }
  /// Computes the extents of the result's block from the operand's. Errors: E61, and the
  /// operation's own errors.
  static constexpr void set_extents([[maybe_unused]] Op const& op, Sizes const& sizes,
                                    std::int64_t const* const* given, std::int64_t* out) {
    planning::BlockCall const c = block_call(sizes);
    move_extents(c, {Rule::S::names, Rule::S::readings, 1, Holder::value, sizes, given, out});
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
    return planning::block_step(c, as_one).collective == kind ? 1 : 0;
  }
};
template <class Rule, class Op, class A>
struct BlockMoveResult<Rule, Op, A, false> : Rule {};

template <class Op, class A>
constexpr auto resolve_move() {
  if constexpr (is_local<A>) {
    return Type<BlockMoveResult<BlockMove<Op, A>, Op, A>>{};
  } else if constexpr (is_tensor<A>) {
    return Type<Plainly<Code::V01_mixed>>{};
  } else {
    return Type<NotATensor<A>>{};
  }
}

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

template <class Op, class A>
  requires(detail::MovesBlocks<Op> && (is_local<A> || !detail::in_both_modes<Op>))
struct Resolve<Op, A> : decltype(detail::resolve_move<Op, A>())::type {};

}  // namespace shardtype::checking
