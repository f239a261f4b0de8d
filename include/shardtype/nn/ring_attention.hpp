#pragma once
/// Attention over a sequence that an axis splits: blocks of keys and values travel around the ring
/// of its ranks: its gradient. Source: Liu, Zaharia, Abbeel, "Ring attention with blockwise
/// transformers for near-infinite context", 2023.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/execute/staged.hpp>
#include <shardtype/kernels/pitched.hpp>
#include <shardtype/nn/strict_attention.hpp>
#include <shardtype/nn/types_ring_attention.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype {

namespace execute {

/// The ranks along the axis that splits dim 1 of keys, and the blocks of a pass around them.
/// Collective over the mesh.
template <class T, class Space>
class KeyRing {
  using Exec = typename Space::execution_space;

 public:
  /// `R`: a resolved operation whose second operand is `k`.
  template <class R, class K>
  KeyRing(Type<R>, char const* name, std::source_location const& where, K const& k)
      : mesh_(k.mesh().state()), map_(runtime::map_axes(mesh_, R::S::names)) {
    constexpr Spec keys = R::S::parsed[1].spec;
    AxisList axes = keys.dims[1].axes;
    axes.cyclic = 0;
    Sizing const z{planning::extents_by_label(keys, k.extents().data()), map_.sizes, sizeof(T)};
    member_rows(keys, 1, z, map_, axes, rows_);
    me_ = static_cast<int>(core::rank_in_group(axes, map_.sizes, map_.coords));
    for (std::size_t const d : {0U, 2U, 3U}) row_ *= k.rows()[d].size();
    if (size() == 1) return;
    comm_ = &group_of(mesh_, map_, axes);
    if (!mesh_.agreement().begin_step()) return;
    Step const step = planning::shared_step(Move::send_block, Slot::a, axes, keys, keys);
    agree_on_collective(mesh_, map_, z, step, {where, name});
  }

  int size() const { return static_cast<int>(rows_.size()); }
  /// The rank whose block is here in this round.
  int owner(int round) const { return ((me_ - round) % size() + size()) % size(); }
  Rows const& rows(int round) const { return rows_[static_cast<std::size_t>(owner(round))]; }
  /// Elements of the keys of its block, and of the largest one.
  std::int64_t elements(int round) const { return rows(round).size() * row_; }
  std::int64_t most_rows() const {
    std::int64_t most = 0;
    for (Rows const& r : rows_) most = std::max(most, r.size());
    return most;
  }
  /// Memory for `n` elements, and for keys with values of any block.
  Buffer take(std::int64_t n) const {
    return mesh_.pool().template take<Space>(static_cast<std::size_t>(n) * sizeof(T));
  }
  Buffer room() const { return take(2 * most_rows() * row_); }
  static T* at(Buffer const& b) { return static_cast<T*>(b.data()); }
  static void copy(T const* from, T* to, std::int64_t n) {
    auto const count = static_cast<std::size_t>(n);
    Kokkos::deep_copy(runtime::instance<Exec>(), Flat<T, Space>(to, count),
                      Flat<T const, Space>(from, count));
  }

  /// Keys with values, or their cotangents, that are sent to the next rank while others come from
  /// the previous one.
  class Way {
   public:
    explicit Way(KeyRing& ring) : ring_(ring), staged_(ring.mesh_) {}
    Way(Way const&) = delete;
    Way& operator=(Way const&) = delete;
    ~Way() { calls_.finish(); }
    /// Sends `from`, of this round, and receives what the next round needs to `to`. All ranks start
    /// in one order.
    void start(int round, T const* from, T* to) {
      to_ = to;
      n_ = 2 * ring_.elements(round + 1);
      std::int64_t const n = 2 * ring_.elements(round);
      runtime::fence(runtime::instance<Exec>());
      ring_.comm_->permute(staged_.outgoing(from, n), n, ring_.owner(-1), staged_.incoming(to, n_),
                           n_, ring_.owner(1), &calls_);
    }
    /// Lets MPI move on.
    void poke() { calls_.requests.poke(); }
    void finish() {
      calls_.finish();
      staged_.arrived(to_, n_);
    }

   private:
    KeyRing& ring_;
    Staged<T, Space> staged_;
    UnderWay calls_;
    T* to_ = nullptr;
    std::int64_t n_ = 0;
  };

 private:
  MeshState& mesh_;
  AxisMap map_;
  shardtype::detail::List<Rows> rows_;
  int me_ = 0;
  std::int64_t row_ = 1;  ///< elements of a block along the other dims
  Comm* comm_ = nullptr;
};

/// Calls `compute(round, shape, k, v, between)` for the blocks of all ranks, beginning with the own
/// one, and moves them on meanwhile; `before_waiting(round)` once it is computed.
template <class T, class Space, class Q, class K, class V, class Compute, class Then>
void around_ring(KeyRing<T, Space>& ring, nn::AttentionOptions const& options, Q const& q,
                 K const& k, V const& v, Compute const& compute, Then const& before_waiting) {
  auto shape = nn::detail::attention_shape(options, q, k);
  T const* keys = execute::data_of(k);
  T const* values = execute::data_of(v);
  typename KeyRing<T, Space>::Way way(ring);
  Buffer rooms[nn::detail::travelling_keys];
  if (ring.size() > 1)
    for (Buffer& room : rooms) room = ring.room();
  for (int round = 0; round < ring.size(); ++round) {
    bool const goes_on = round + 1 < ring.size();
    T* const here = ring.at(rooms[round % 2]);
    T* const next = ring.at(rooms[(round + 1) % 2]);
    if (goes_on && round == 0) {
      ring.copy(keys, here, ring.elements(0));
      ring.copy(values, here + ring.elements(0), ring.elements(0));
    }
    if (goes_on) way.start(round, here, next);
    shape.key_rows = ring.rows(round);
    shape.keys = shape.key_rows.size();
    compute(round, shape, keys, values, [&] { way.poke(); });
    before_waiting(round);
    if (!goes_on) break;
    way.finish();
    keys = next;
    values = next + ring.elements(round + 1);
  }
}

}  // namespace execute

namespace nn::detail {

/// The segments of the keys that are here in a round, of those of all keys;
/// none.
template <class Ring, class Space, class... Ids>
class RingSegments {
 public:
  explicit RingSegments(Ring const&) {}
  kernels::AttentionShape of(kernels::AttentionShape const& s) const { return s; }
};
template <class Ring, class Space, class QueryIds, class KeyIds>
class RingSegments<Ring, Space, QueryIds, KeyIds> {
 public:
  RingSegments(Ring const& ring, QueryIds const& queries, KeyIds const& keys)
      : queries_(queries),
        keys_(keys),
        packed_(keys.mesh().state().pool().template take<Space>(
            static_cast<std::size_t>(keys.rows()[0].size() * ring.most_rows()) *
            sizeof(std::int64_t))) {}
  kernels::AttentionShape of(kernels::AttentionShape s) {
    typename Space::execution_space const& exec =
        runtime::instance<typename Space::execution_space>();
    auto* const packed = static_cast<std::int64_t*>(packed_.data());
    std::int64_t const all = keys_.rows()[1].size();
    for (std::int64_t at = 0; at < s.keys;) {
      std::int64_t const n = s.key_rows.in_a_row(at);
      shardtype::kernels::copy_pitched(exec, execute::data_of(keys_) + s.key_rows[at], all,
                                       packed + at, s.keys, s.batch, n);
      at += n;
    }
    runtime::fence(exec);
    here_.put(s, execute::data_of(queries_), packed);
    return s;
  }

 private:
  QueryIds const& queries_;
  KeyIds const& keys_;
  runtime::Buffer packed_;
  SegmentsOf<Space> here_;
};

/// Writes the result, and the logarithms of the sums unless `sums` is null.
template <class R, class Op, class T, class Out, class Q, class K, class V, class... Ids>
void fill_ring_attention(Op const& op, std::source_location const& where, Out& out, T* sums,
                         Q const& q, K const& k, V const& v, Ids const&... ids) {
  typename Q::execution_space const& exec = runtime::instance<typename Q::execution_space>();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
  execute::KeyRing<T, typename Q::memory_space> ring(Type<R>{}, Op::name.data(), where, k);
  RingSegments<decltype(ring), typename Q::memory_space, Ids...> segments(ring, ids...);
  auto const whole = nn::detail::attention_shape(op.options, q, k);
  std::int64_t const rows = whole.batch * whole.heads * whole.queries;
  std::int64_t const scores = nn::kernels::attention_scratch(whole.queries, ring.most_rows());
  runtime::Buffer const numbers = ring.take(2 * rows + scores);
  nn::kernels::AttentionSoFar<T> const so_far{execute::written(out), sums, ring.at(numbers),
                                              ring.at(numbers) + rows};
  so_far.begin(exec, whole);
  execute::around_ring(
      ring, op.options, q, k, v,
      [&](int, auto const& shape, T const* keys, T const* values, auto const& between) {
        so_far.add(exec, segments.of(shape), execute::data_of(q), keys, values,
                   ring.at(numbers) + 2 * rows, between);
      },
      [](int) {});
  so_far.finish(exec, whole);
  runtime::fence(exec);
}

}  // namespace nn::detail
namespace op {

template <class R, class Q, class K, class V, class... Ids>
typename R::result RingAttention::run(std::source_location const& where, Q const& q, K const& k,
                                      V const& v, Ids const&... ids) const {
  using Out = typename R::result;
  Out out = shardtype::detail::uninitialized<Out>(
      q.mesh(), execute::result_extents<R>(*this, q, k, v, ids...));
  typename Q::element* const none = nullptr;
  if (q.mesh().here()) nn::detail::fill_ring_attention<R>(*this, where, out, none, q, k, v, ids...);
  return out;
}
template <class R, class Q, class K, class V, class... Ids>
typename R::results RingAttentionWithSums::run(std::source_location const& where, Q const& q,
                                               K const& k, V const& v, Ids const&... ids) const {
  typename R::results both = execute::results_to_write<R>(*this, q, k, v, ids...);
  auto& [out, sums] = both;
  if (q.mesh().here())
    nn::detail::fill_ring_attention<R>(*this, where, out, execute::written(sums), q, k, v, ids...);
  return both;
}

template <class R, class Q, class K, class V, class O, class S, class C, class... Ids>
typename R::results RingAttentionBack::run(std::source_location const& where, Q const& q,
                                           K const& k, V const& v, O const& result, S const& sums,
                                           C const& ct, Ids const&... ids) const {
  using T = typename Q::element;
  using Ring = execute::KeyRing<T, typename Q::memory_space>;
  typename Q::execution_space const& exec = runtime::instance<typename Q::execution_space>();
  typename R::results out = execute::results_to_write<R>(*this, q, k, v, result, sums, ct, ids...);
  if (!q.mesh().here()) return out;
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
  Ring ring(Type<R>{}, name.data(), where, k);
  nn::detail::RingSegments<Ring, typename Q::memory_space, Ids...> segments(ring, ids...);
  nn::kernels::AttentionCotangents<T> const made{execute::written(std::get<0>(out)),
                                                 execute::written(std::get<1>(out)),
                                                 execute::written(std::get<2>(out))};
  runtime::Buffer const scratch =
      ring.take(nn::kernels::attention_scratch(q.rows()[1].size(), ring.most_rows()));
  shardtype::kernels::fill(exec, made.queries, q.local_size(), T{});
  typename Ring::Way way(ring);
  runtime::Buffer rooms[nn::detail::travelling_cotangents];
  if (ring.size() > 1)
    for (runtime::Buffer& room : rooms) room = ring.room();
  // what this rank adds in a round, and what came from the previous one
  auto const own = [&](int round) { return ring.at(rooms[2 * round % 3]); };
  auto const came = [&](int round) { return ring.at(rooms[(2 * round + 2) % 3]); };
  execute::around_ring(
      ring, options, q, k, v,
      [&](int round, auto const& s, T const* keys, T const* values, auto const& between) {
        std::int64_t const n = ring.elements(round);
        bool const alone = ring.size() == 1;
        nn::kernels::AttentionCotangents<T> const to{made.queries, alone ? made.keys : own(round),
                                                     alone ? made.values : own(round) + n};
        shardtype::kernels::fill(exec, to.keys, n, T{});
        shardtype::kernels::fill(exec, to.values, n, T{});
        nn::kernels::add_attention_back(
            exec, segments.of(s),
            nn::kernels::AttentionSaved<T>{execute::data_of(q), keys, values,
                                           execute::data_of(result), execute::data_of(sums),
                                           execute::data_of(ct)},
            to, ring.at(scratch), [&] {
              between();
              way.poke();
            });
      },
      [&](int round) {
        if (ring.size() == 1) return;
        if (round > 0) {
          way.finish();
          std::int64_t const n = 2 * ring.elements(round);
          shardtype::kernels::add_pitched(exec, static_cast<T const*>(came(round)), n, own(round),
                                          n, 1, n);
        }
        way.start(round, own(round), came(round + 1));
      });
  if (ring.size() > 1) {
    way.finish();
    std::int64_t const n = ring.elements(0);
    ring.copy(came(ring.size()), made.keys, n);
    ring.copy(came(ring.size()) + n, made.values, n);
  }
  runtime::fence(exec);
  return out;
}

template <class Q, class K, class V, class... Ids>
constexpr auto RingAttention::forward(std::source_location const& where, Q const& q, K const& k,
                                      V const& v, Ids const&... ids) const {
  return nn::detail::attention_forward(RingAttentionWithSums{{{options}}}, where, q, k, v, ids...);
}
template <class G>
constexpr auto RingAttention::prepare(G const& g) const {
  return nn::detail::attention_back(RingAttentionBack{options}, g);
}
template <class G>
constexpr auto RingAttention::pull(G const& g) const {
  return std::get<static_cast<std::size_t>(G::operand)>(g.ct);
}

}  // namespace op

}  // namespace shardtype
