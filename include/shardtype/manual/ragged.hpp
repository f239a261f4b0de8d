#pragma once
/// An exchange of uneven pieces.

#include <array>
#include <cstdint>
#include <source_location>
#include <span>
#include <string>

#include <shardtype/manual/collectives.hpp>

namespace shardtype {

/// For each rank of the group, the rows that go to it and that come from it: JAX's four arrays of
/// ragged_all_to_all.
struct RaggedRows {
  std::span<std::int64_t const> input_offsets;   ///< where in the operand the rows for rank g begin
  std::span<std::int64_t const> send_sizes;      ///< how many they are
  std::span<std::int64_t const> output_offsets;  ///< where in rank g's output they go
  std::span<std::int64_t const> recv_sizes;      ///< how many rows of rank g come
};

namespace detail {

/// Operand and output of a ragged exchange: alike but for the extent of the first dim, and varying.
template <class A, class B, class... Xs>
struct Ragged {
  using S = Scope<A, B, Mentions<Reduced<Xs...>>>;
  static constexpr AxisList axes() {
    AxisList out;
    (out.push(S::names.find_axis(identity<Xs>)), ...);
    return out;
  }
  static constexpr Verdict decide() {
    if (!is_local<A> || !is_local<B>) return refuse(Code::V01_mixed);
    if (Verdict v = rules::lawful(S::names, S::readings, 2); !v) return v;
    if (S::readings[2].malformed == Malformed::not_an_axis || sizeof...(Xs) == 0)
      return refuse(Code::T05_not_an_axis);
    if (!same_element<A, B>) return refuse(Code::C10_element_types_differ);
    Spec const a = S::template spec<0>;
    Spec const b = S::template spec<1>;
    bool same = a.rank == b.rank && a.rank > 0;
    for (int d = 0; same && d < a.rank; ++d) same = a.dims[d] == b.dims[d];
    if (!same) return refuse(Code::D12_dims_differ);
    Verdict v = accept(b);
    for (int k = 0; k < axes().size; ++k) {
      int const x = axes()[k];
      if (a.state(x) != AxisState::varying) {
        v = rules::move(a, Movement::permute, x, AxisState::varying);
        return v;
      }
      if (b.unreduced.contains(x)) return refuse(Code::V06_owed, -1, -1, x);
      v.result.varying.insert(x);
      v.result.reduced.erase(x);
    }
    return in_manual_mode<S, 2>(v);
  }
  static constexpr Verdict verdict = decide();
  struct Holder {
    static constexpr Spec value = verdict.result;
  };
};

/// Rows [at, at + n) lie within [0, extent), or error E64.
inline void check_ragged(std::int64_t at, std::int64_t n, std::int64_t extent, char const* what,
                         std::int64_t rank) {
  if (at >= 0 && n >= 0 && at <= extent && n <= extent - at) return;
  throw Error("E64", "ragged_all_to_all: " + std::to_string(n) + " rows from " +
                         std::to_string(at) + " on, " + what + " rank " + std::to_string(rank) +
                         " of the group, do not lie within the " + std::to_string(extent) +
                         " rows there are");
}

template <class When, class... Xs, class A, class B>
auto ragged_block(A const& operand_given, B const& output_given, RaggedRows const& rows,
                  std::source_location const& where) {
  if constexpr (any_poisoned<A, B>) {
    return Poisoned{};
  } else {
    using L = operand_t<A>;
    using O = operand_t<B>;
    using R = detail::Ragged<L, O, Xs...>;
    if constexpr (!R::verdict) {
      return Poisoned(refusal<R, L, O>{});
    } else {
      using T = typename L::element;
      using Space = typename L::memory_space;
      using Out = tensor_from_spec<typename R::S, typename R::Holder, T, O>;
      auto const& a = operand(operand_given);
      auto const& b = operand(output_given);
      check_one_mesh(a.mesh(), b.mesh());
      constexpr bool starts = std::is_same_v<When, Later>;
      Started started = starts ? a.mesh().state().start() : Started();
      auto const finished = [&](Buffer result) {
        if constexpr (starts) {
          return Pending<Out>(a.mesh(), b.extents(), started, where);
        } else {
          return Out(a.mesh(), b.extents(), std::move(result));
        }
      };
      if (!a.mesh().here()) return finished({});
      execute::MoveGroup const group(a.mesh().state(), R::S::names, R::axes());
      auto const p = static_cast<std::size_t>(group.size);
      for (std::size_t n : {rows.input_offsets.size(), rows.send_sizes.size(),
                            rows.output_offsets.size(), rows.recv_sizes.size()})
        if (n != p)
          throw Error("E64", "ragged_all_to_all was given " + std::to_string(n) +
                                 " offsets or sizes for a group of " + std::to_string(p) +
                                 " ranks");
      std::int64_t row = 1;
      for (std::size_t d = 1; d < L::rank; ++d) {
        row *= a.extents()[d];
        if (a.extents()[d] != b.extents()[d])
          throw Error(
              "E24",
              "operand and output of ragged_all_to_all differ in a dim that is not the first",
              FailedOn::every_rank);
      }
      execute::BlockMoves<T, Space> moves(a.mesh().state(), group, where, started.get());
      moves.meet(Collective::all_to_all, a.local_size());
      // every rank learns where the rows of the others go, and how many they say they are
      StepScratch& scratch = a.mesh().state().scratch();
      Counts& mine = scratch.begins;
      Counts& theirs = scratch.cuts;
      Counts& two = scratch.joins;
      Counts& at = scratch.run_at;
      for (Counts* list : {&mine, &theirs}) list->resize(2 * p);
      two.assign(p, 2);
      at.resize(p);
      for (std::size_t g = 0; g < p; ++g) {
        detail::check_ragged(rows.input_offsets[g], rows.send_sizes[g], a.extents()[0], "for",
                             static_cast<std::int64_t>(g));
        mine[2 * g] = rows.output_offsets[g];
        mine[2 * g + 1] = rows.send_sizes[g];
        at[g] = static_cast<std::int64_t>(2 * g);
      }
      moves.comm().all_to_all(mine.data(), two, at, theirs.data(), two, at, Segments::even);
      Counts& send_counts = scratch.counts;
      Counts& send_at = scratch.offsets;
      Counts& recv_counts = scratch.recv_counts;
      Counts& recv_at = scratch.recv_offsets;
      for (Counts* list : {&send_counts, &send_at, &recv_counts, &recv_at}) list->resize(p);
      for (std::size_t g = 0; g < p; ++g) {
        auto const rank = static_cast<std::int64_t>(g);
        if (theirs[2 * g + 1] != rows.recv_sizes[g])
          throw Error("E64", "ragged_all_to_all: rank " + std::to_string(g) +
                                 " of the group sends " + std::to_string(theirs[2 * g + 1]) +
                                 " rows, and " + std::to_string(rows.recv_sizes[g]) +
                                 " are expected");
        detail::check_ragged(theirs[2 * g], rows.recv_sizes[g], b.extents()[0], "from", rank);
        send_counts[g] = rows.send_sizes[g] * row;
        send_at[g] = rows.input_offsets[g] * row;
        recv_counts[g] = rows.recv_sizes[g] * row;
        recv_at[g] = theirs[2 * g] * row;
      }
      O copy = b.clone();
      execute::Staged<T, Space> staged(a.mesh().state());
      T* const to = execute::BlockMoves<T, Space>::write(copy.buffer());
      T* const into = staged.incoming(to, b.local_size());
      if (into != to)  // what no row comes to stays as it is
        Kokkos::deep_copy(
            execute::Flat<T, Kokkos::HostSpace>(into, static_cast<std::size_t>(b.local_size())),
            execute::Flat<T const, Space>(to, static_cast<std::size_t>(b.local_size())));
      moves.comm().all_to_all(
          staged.outgoing(execute::BlockMoves<T, Space>::data(a.buffer()), a.local_size()),
          send_counts, send_at, into, recv_counts, recv_at, Segments::sparse, moves.calls());
      return finished(moves.settle(a.buffer(), copy.buffer(), staged, b.local_size()));
    }
  }
}

}  // namespace detail

/// Rows of the first dim of `operand[I, ...]{V:X}` go to the ranks of the group, as many to each as
/// `rows` says, and are put where it says into a copy of `output[I, ...]`, whose first extent may be another:
/// `ragged_all_to_all<X>(operand, output, rows)` -> `[I, ...]{V:X}`. Offsets and sizes are each rank's own.
/// Sends the rows, and two numbers per rank. JAX: ragged_all_to_all. Refused: V01, V03, V06, C10, D12.
/// Error E64: rows outside a block, or sizes on which two ranks do not agree.
template <class... Xs, class A, class B>
  requires(detail::is_field<A> && detail::is_field<B>)
auto ragged_all_to_all(A const& operand, B const& output, RaggedRows const& rows,
                       std::source_location where = std::source_location::current()) {
  return detail::ragged_block<detail::Now, Xs...>(operand, output, rows, where);
}

}  // namespace shardtype
