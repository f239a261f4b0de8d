#pragma once
/// Attention over a sequence that an axis splits: blocks of keys and values travel around the ring of its ranks. Source:
/// Liu, Zaharia, Abbeel, "Ring attention with blockwise transformers for near-infinite context", 2023.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/execute/staged.hpp>
#include <shardtype/nn/strict_attention.hpp>
#include <shardtype/plan/ring_plan.hpp>

namespace shardtype {

namespace nn::detail {

struct OneOfRanks : Index<"rank"> {};
struct CotangentsOfRank : Index<"cotangents of a rank"> {};

/// Blocks of keys with values that a rank holds at once, besides its own, and of their cotangents.
inline constexpr std::int64_t travelling_keys = 2;
inline constexpr std::int64_t travelling_cotangents = 3;

/// The sizes of keys with values, one behind the other.
constexpr OwnSizing keys_and_values(planning::CallSizing const& c) {
  OwnSizing own = c.given[1];
  std::int64_t& features = own.extents.at[c.operands[1].dims[3].label];
  features = mul_sat(2, features);
  return own;
}
/// Appends the rounds in which keys with values travel, or their cotangents, which go `home`.
constexpr void append_travel(Plan& p, planning::CallSizing const& c, int slot, bool home) {
  Spec const& keys = c.operands[1];
  std::int64_t const ranks = c.common.sizes.product(keys.dims[1].axes);
  planning::append_ring(p, planning::operand_slot(slot), keys, keys_and_values(c), 1,
                        home && ranks > 1 ? ranks : ranks - 1, c.common.sizes);
}
/// Flops of `products` products of the scores of the busiest rank's queries with all keys, and its memory: `blocks`
/// travelling blocks that no step counts, one block of scores, and `numbers` per query and head.
constexpr planning::Work ring_work(planning::CallSizing const& c, bool causal, int products,
                                   std::int64_t blocks, std::int64_t numbers) {
  Spec const& keys = c.operands[1];
  DimSpec const& dim = keys.dims[1];
  std::int64_t const all = c.given[1].extents[dim.label];
  std::int64_t const own = c.rows(1, 1);
  // of keys in blocks the last rank sees nearly all
  std::int64_t const seen = !causal ? all : dim.axes.cyclic != 0 ? all / 2 : all - own / 2;
  std::int64_t const queries = c.elements(0);
  std::int64_t const rows = c.given[0].extents[c.operands[0].dims[3].label] == 0
                                ? 0
                                : queries / c.given[0].extents[c.operands[0].dims[3].label];
  std::int64_t const travels =
      c.common.sizes.product(dim.axes) > 1 ? mul_sat(2 * blocks, c.elements(1)) : 0;
  std::int64_t const scratch =
      add_sat(kernels::attention_scratch(c.rows(0, 1), own), mul_sat(numbers, rows));
  return {mul_sat(mul_sat(2 * products, queries), seen),
          mul_sat(add_sat(travels, scratch), c.element_bytes(0)), false};
}

}  // namespace nn::detail

namespace op {

/// As Attention, of keys and values that are split as the queries are: their blocks travel.
template <bool Sums>
struct RingAttention : Attention<Sums> {
  using operation = RingAttention;
  static constexpr bool communicates = true;
  static constexpr bool recorded = false;
  static constexpr std::string_view name = "ring_attention";
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict v = rules::attention(q, true);
    if (v && Sums) v.result.dims[3].label = q.to.dims[0].label;
    return v;
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    nn::detail::append_travel(p, c, 3, false);
  }
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return nn::detail::ring_work(c, this->options.causal, 2, nn::detail::travelling_keys - 1, 2);
  }
};

/// Of q, k, v, the result, the logarithms of the sums, and the cotangent of the result: what each rank gets of the
/// cotangents of q, k and v, its blocks one behind the other. Keys and values travel, and with them their cotangents.
struct RingAttentionBack {
  using operation = RingAttentionBack;
  using to = Mentions<Dim<nn::detail::OneOfRanks>, Dim<nn::detail::CotangentsOfRank>>;
  static constexpr bool communicates = true;
  static constexpr std::string_view name = "ring_attention_back";
  nn::AttentionOptions options{};
  static constexpr Verdict rule(rules::Question const& q) {
    Verdict const v = rules::attention(q, true);
    if (!v) return v;
    AxisList ranks;
    for (int d = 0; d < 4; ++d)
      for (int k = 0; k < q.a().dims[d].axes.size; ++k) ranks.push(q.a().dims[d].axes[k]);
    Spec out;
    out.add(q.to.dims[0].label, ranks);
    out.add(q.to.dims[1].label);
    return rules::pending_as(out, q.operands[5]);
  }
  constexpr void extents(ResultExtents const& c) const {
    auto const block = [&](int k) {
      std::int64_t n = 1;
      for (int d = 0; d < 4; ++d)
        n = mul_sat(n, core::largest_block(c.given[k][d], c.operand(k).dims[d].axes, c.sizes));
      return n;
    };
    c.out[0] = c.sizes.product(c.result.dims[0].axes);
    c.out[1] = add_sat(block(0), mul_sat(2, block(1)));
  }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    nn::detail::append_travel(p, c, 6, false);
    nn::detail::append_travel(p, c, 7, true);
  }
  constexpr planning::Work work(planning::CallSizing const& c) const {
    return nn::detail::ring_work(
        c, options.causal, 5,
        nn::detail::travelling_keys - 1 + nn::detail::travelling_cotangents - 1, 0);
  }
};
/// Of that, and of q and k: the cotangent of operand `Which`.
template <int Which>
struct RingAttentionPart {
  using operation = RingAttentionPart;
  static constexpr std::string_view name = "ring_attention_part";
  static constexpr Verdict rule(rules::Question const& q) {
    Spec out = q.operands[Which == 0 ? 1 : 2];
    AxisList rest;
    AxisList const& ranks = q.a().dims[0].axes;
    for (int k = 0; k < ranks.size; ++k)
      if (out.dim_of(ranks[k]) < 0) rest.push(ranks[k]);
    return rules::pending_as(rules::summed_over(out, rest), q.a());
  }
  constexpr void extents(ResultExtents const& c) const {
    for (int d = 0; d < 4; ++d) c.out[d] = c.given[Which == 0 ? 1 : 2][d];
  }
};

}  // namespace op

namespace execute {

/// The ranks along the axis that splits dim 1 of keys, and the blocks of a pass around them. Collective over the mesh.
template <class T, class Space>
class KeyRing {
  using Exec = typename Space::execution_space;

 public:
  /// `R`: a resolved operation whose second operand is `k`.
  template <class R, class K>
  KeyRing(Type<R>, char const* name, std::source_location const& where, K const& k)
      : mesh_(k.mesh().state()), map_(map_axes(mesh_, R::S::names)) {
    constexpr Spec keys = R::S::readings[1].spec;
    AxisList axes = keys.dims[1].axes;
    axes.cyclic = 0;
    Sizing const z{planning::extents_by_label(keys, k.extents().data()), map_.sizes, sizeof(T)};
    member_rows(keys, 1, z, map_, axes, rows_);
    me_ = static_cast<int>(place_in_group(map_, axes));
    for (std::size_t const d : {0U, 2U, 3U}) row_ *= k.rows()[d].size();
    if (size() == 1) return;
    comm_ = &group_of(mesh_, map_, axes);
    if (!mesh_.agreement().begin_step()) return;
    Step step;
    step.action = Action::communicate;
    step.collective = Collective::permute;
    step.axes = axes;
    step.before = step.after = keys;
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
    Kokkos::deep_copy(Exec{}, Flat<T, Space>(to, count), Flat<T const, Space>(from, count));
  }

  /// Keys with values, or their cotangents, that are sent to the next rank while others come from the previous one.
  class Way {
   public:
    explicit Way(KeyRing& ring) : ring_(ring), staged_(ring.mesh_) {}
    Way(Way const&) = delete;
    Way& operator=(Way const&) = delete;
    ~Way() { calls_.finish(); }
    /// Sends `from`, of this round, and receives what the next round needs to `to`. All ranks start in one order.
    void start(int round, T const* from, T* to) {
      to_ = to;
      n_ = 2 * ring_.elements(round + 1);
      std::int64_t const n = 2 * ring_.elements(round);
      Exec{}.fence();
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

/// Calls `compute(round, shape, k, v, between)` for the blocks of all ranks, beginning with the own one, and moves them
/// on meanwhile; `before_waiting(round)` once it is computed.
template <class T, class Space, class Q, class K, class Compute, class Then>
void around_ring(KeyRing<T, Space>& ring, nn::AttentionOptions const& options, Q const& q,
                 K const& k, K const& v, Compute const& compute, Then const& before_waiting) {
  auto shape = nn::detail::attention_shape(options, q, k);
  T const* keys = data_of(k);
  T const* values = data_of(v);
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

template <bool Sums>
struct Run<op::RingAttention<Sums>> {
  template <class R, class Q, class K>
  static typename R::result run(op::RingAttention<Sums> const& op,
                                std::source_location const& where, Q const& q, K const& k,
                                K const& v) {
    using T = typename Q::element;
    typename Q::execution_space const exec{};
    using Out = typename R::result;
    Out out = shardtype::detail::uninitialized<Out>(q.mesh(), result_extents<R>(op, q, k, v));
    if (!q.mesh().here()) return out;
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
    KeyRing<T, typename Q::memory_space> ring(Type<R>{}, op.name.data(), where, k);
    auto const whole = nn::detail::attention_shape(op.options, q, k);
    std::int64_t const rows = whole.batch * whole.heads * whole.queries;
    std::int64_t const scores = nn::kernels::attention_scratch(whole.queries, ring.most_rows());
    Buffer const numbers = ring.take(2 * rows + scores);
    nn::kernels::AttentionSoFar<T> const so_far{static_cast<T*>(out.buffer().data()),
                                                whole.features + (Sums ? 1 : 0), ring.at(numbers),
                                                ring.at(numbers) + rows};
    so_far.begin(exec, whole);
    around_ring(
        ring, op.options, q, k, v,
        [&](int, auto const& shape, T const* keys, T const* values, auto const& between) {
          so_far.add(exec, shape, data_of(q), keys, values, ring.at(numbers) + 2 * rows, between);
        },
        [](int) {});
    so_far.finish(exec, whole);
    exec.fence();
    return out;
  }
};

template <>
struct Run<op::RingAttentionBack> {
  template <class R, class Q, class K, class O, class S, class C>
  static typename R::result run(op::RingAttentionBack const& op, std::source_location const& where,
                                Q const& q, K const& k, K const& v, O const& result, S const& sums,
                                C const& ct) {
    using T = typename Q::element;
    using Ring = KeyRing<T, typename Q::memory_space>;
    typename Q::execution_space const exec{};
    using Out = typename R::result;
    Out out = shardtype::detail::uninitialized<Out>(
        q.mesh(), result_extents<R>(op, q, k, v, result, sums, ct));
    if (!q.mesh().here()) return out;
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
    Ring ring(Type<R>{}, op.name.data(), where, k);
    T* const of_queries = static_cast<T*>(out.buffer().data());
    T* const home = of_queries + q.local_size();
    Buffer const scratch =
        ring.take(nn::kernels::attention_scratch(q.rows()[1].size(), ring.most_rows()));
    shardtype::kernels::fill(exec, of_queries, out.local_size(), T{});
    typename Ring::Way way(ring);
    Buffer rooms[nn::detail::travelling_cotangents];
    if (ring.size() > 1)
      for (Buffer& room : rooms) room = ring.room();
    // what this rank adds in a round, and what came from the previous one
    auto const own = [&](int round) {
      return ring.size() == 1 ? home : ring.at(rooms[2 * round % 3]);
    };
    auto const came = [&](int round) { return ring.at(rooms[(2 * round + 2) % 3]); };
    around_ring(
        ring, op.options, q, k, v,
        [&](int round, auto const& s, T const* keys, T const* values, auto const& between) {
          T* const to_keys = own(round);
          T* const to_values = to_keys + ring.elements(round);
          shardtype::kernels::fill(exec, to_keys, 2 * ring.elements(round), T{});
          nn::kernels::attention_back_into(
              exec, s,
              nn::kernels::AttentionSaved<T>{data_of(q), keys, values, data_of(result),
                                             data_of(sums), data_of(ct)},
              [&](std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t rows) {
                return s.query(of_queries, b, i0, rows, h, s.features);
              },
              [&](std::int64_t b, std::int64_t g, std::int64_t j0, std::int64_t rows) {
                return s.key(to_keys, b, j0, rows, g, s.features);
              },
              [&](std::int64_t b, std::int64_t g, std::int64_t j0, std::int64_t rows) {
                return s.key(to_values, b, j0, rows, g, s.features);
              },
              ring.at(scratch),
              [&] {
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
          way.start(round, own(round), round + 1 < ring.size() ? came(round + 1) : home);
        });
    if (ring.size() > 1) way.finish();
    exec.fence();
    return out;
  }
};

template <int Which>
struct Run<op::RingAttentionPart<Which>> : Filled<Run<op::RingAttentionPart<Which>>> {
  template <class Out, class A, class Q, class K>
  static void fill(op::RingAttentionPart<Which> const&, Out& out, A const& all, Q const& q,
                   K const& k) {
    using T = typename A::element;
    std::int64_t const from = Which == 0 ? 0 : q.local_size() + (Which - 1) * k.local_size();
    KeyRing<T, typename A::memory_space>::copy(
        data_of(all) + from, static_cast<T*>(out.buffer().data()), out.local_size());
    typename A::execution_space{}.fence();
  }
};

}  // namespace execute

namespace autodiff {

template <>
struct Vjp<op::RingAttention<false>> : Differentiable {
  static constexpr bool first_order = true;
  using Op = op::RingAttention<false>;
  template <class Q, class K, class V>
  static constexpr auto forward(Op const& op, std::source_location const& where, Q const& q,
                                K const& k, V const& v) {
    return nn::detail::attention_forward(op::RingAttention<true>{{op.options}}, where, q, k, v);
  }
  template <class Out, class Q, class K, class V, class S, class C>
  static constexpr auto prepare(Op const& op, S const& saved, C const& ct) {
    return call(op::RingAttentionBack{op.options}, std::source_location::current(), kept<0>(saved),
                kept<1>(saved), kept<2>(saved), kept<3>(saved), kept<4>(saved), ct);
  }
  template <int Which, class Out, class Q, class K, class V, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& all) {
    return call(op::RingAttentionPart<Which>{}, std::source_location::current(), all,
                kept<0>(saved), kept<1>(saved));
  }
};

}  // namespace autodiff

}  // namespace shardtype
