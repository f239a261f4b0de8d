#pragma once
/// Runs the operations of types_experts.hpp.

#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/check/call.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/execute/take_rows.hpp>
#include <shardtype/nn/kernels_experts.hpp>
#include <shardtype/nn/run_norm.hpp>
#include <shardtype/nn/run_ragged_dot.hpp>
#include <shardtype/nn/types_experts.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype {

namespace execute {

template <class E>
struct Run<op::ExpertCounts<E>> : Filled<Run<op::ExpertCounts<E>>> {
  template <class Out, class A>
  static void fill(op::ExpertCounts<E> const& op, Out& out, A const& ids) {
    execute::check_values_of<E>(ids, op.experts);
    auto const own = nn::detail::on_host(ids);
    auto const rows = nn::kernels::ExpertOrder{0, op.experts, op.capacity}.rows(
        own.data(), static_cast<std::int64_t>(own.size()), true);
    runtime::copy_bytes<typename A::memory_space, Kokkos::HostSpace>(
        out.buffer().data(), rows.data(), rows.size() * sizeof(std::int64_t));
  }
};
template <>
struct Run<op::ExpertPlaces> : Filled<Run<op::ExpertPlaces>> {
  template <class Out, class A>
  static void fill(op::ExpertPlaces const& op, Out& out, A const& ids) {
    auto const own = nn::detail::on_host(ids);
    auto const places = nn::kernels::ExpertOrder{0, op.experts, op.capacity}.places(
        own.data(), static_cast<std::int64_t>(own.size()));
    runtime::copy_bytes<typename A::memory_space, Kokkos::HostSpace>(
        out.buffer().data(), places.data(), places.size() * sizeof(std::int64_t));
  }
};
template <>
struct Run<op::OwnExpertPlaces> : Filled<Run<op::OwnExpertPlaces>> {
  template <class Out, class A, class B>
  static void fill(op::OwnExpertPlaces const&, Out& out, A const& ids, B const& sizes) {
    auto const all = nn::detail::on_host(ids);
    Range const experts = sizes.rows()[0].range();
    auto const places = nn::kernels::ExpertOrder{experts.begin, experts.end}.places(
        all.data(), static_cast<std::int64_t>(all.size()));
    runtime::copy_bytes<typename A::memory_space, Kokkos::HostSpace>(
        out.buffer().data(), places.data(), places.size() * sizeof(std::int64_t));
  }
};
template <>
struct Run<op::RowsOnRanks> : Filled<Run<op::RowsOnRanks>> {
  template <class Out, class A>
  static void fill(op::RowsOnRanks const&, Out& out, A const& sizes) {
    typename A::element sum = 0;
    for (std::int64_t const n : nn::detail::on_host(sizes))
      sum += static_cast<typename A::element>(n);
    runtime::copy_bytes<typename A::memory_space, Kokkos::HostSpace>(out.buffer().data(), &sum,
                                                                     sizeof sum);
  }
};

}  // namespace execute

namespace nn::detail {

/// Tokens and choices of a block of places, and the length of rows.
template <class Ids, class A>
kernels::TokenRows token_rows(Ids const& places, A const& rows) {
  return {execute::data_of(places), places.rows()[Ids::rank - 1].size(), rows.rows()[1].size()};
}
template <class Ids>
std::int64_t tokens_of(Ids const& places) {
  return places.rows()[Ids::rank - 2].size();
}
template <class T, class... W>
T const* weights_of(W const&... weights) {
  T const* out = nullptr;
  ((out = execute::data_of(weights)), ...);
  return out;
}
/// Error E41 where a block has fewer rows than it is to hold.
inline void check_room(std::int64_t needed, std::int64_t rows) {
  if (needed > rows)
    throw Error("E41", "the experts of a rank get " + std::to_string(needed) +
                           " rows, and its block has room for " + std::to_string(rows));
}

}  // namespace nn::detail

namespace execute {

template <class To>
struct Run<op::SpreadRows<To>> : Filled<Run<op::SpreadRows<To>>> {
  template <class Out, class A, class Ids, class... W>
  static void fill(op::SpreadRows<To> const&, Out& out, A const& x, Ids const& places,
                   W const&... weights) {
    using T = typename A::element;
    typename A::execution_space const exec{};
    auto const at = nn::detail::token_rows(places, x);
    std::int64_t const tokens = nn::detail::tokens_of(places);
    std::int64_t const filled = nn::kernels::count_places(exec, at.places, tokens * at.choices);
    std::int64_t const rows = out.rows()[0].size();
    nn::detail::check_room(filled, rows);
    auto* const data = nn::detail::written(out);
    kernels::fill(exec, data + filled * at.length, (rows - filled) * at.length, T{});
    nn::kernels::each_row("shardtype::spread_rows", exec, tokens,
                          nn::kernels::SpreadTokens<T>{at, data, execute::data_of(x),
                                                       nn::detail::weights_of<T>(weights...)});
    exec.fence();
  }
};
template <>
struct Run<op::CombineRows> : Filled<Run<op::CombineRows>> {
  template <class Out, class A, class Ids, class... W>
  static void fill(op::CombineRows const&, Out& out, A const& rows, Ids const& places,
                   W const&... weights) {
    using T = typename A::element;
    nn::detail::run_rows<A>("shardtype::combine_rows", nn::detail::tokens_of(places),
                            nn::kernels::CombineTokens<T>{
                                nn::detail::token_rows(places, rows), nn::detail::written(out),
                                execute::data_of(rows), nn::detail::weights_of<T>(weights...)});
  }
};
template <>
struct Run<op::RowDots> : Filled<Run<op::RowDots>> {
  template <class Out, class A, class B, class Ids>
  static void fill(op::RowDots const&, Out& out, A const& x, B const& rows, Ids const& places) {
    using T = typename A::element;
    auto const at = nn::detail::token_rows(places, x);
    nn::detail::run_rows<A>("shardtype::row_dots", nn::detail::tokens_of(places) * at.choices,
                            nn::kernels::TokenDots<T>{at, nn::detail::written(out),
                                                      execute::data_of(x), execute::data_of(rows)});
  }
};

template <bool Back>
struct Run<op::ExchangeRows<Back>> {
  template <class R, class Op, class A, class B, class C>
  static typename R::result run(Op const& op, std::source_location const& where, A const& rows,
                                B const& sent, C const& received) {
    using Out = typename R::result;
    auto const extents = execute::result_extents<R>(op, rows, sent, received);
    if (!rows.mesh().here()) return Out(rows.mesh(), extents, Buffer());
    Exchanged<A> const e(where, rows, sent, received, R::S::names, R::S::template spec<0>,
                         R::S::template spec<2>);
    std::int64_t const room = Out::local_rows(rows.mesh(), extents)[0].size();
    nn::detail::check_room(Back ? e.leaving() : e.arriving(), room);
    Buffer block;
    if constexpr (Back) {
      nn::detail::check_room(e.arriving(), rows.rows()[0].size());
      Buffer leaving = rows.buffer();
      if (!e.sorted()) {
        leaving = e.take(e.arriving());
        e.move(e.table(false), leaving, rows.buffer());
      }
      block = e.exchange(std::move(leaving), e.arriving(), e.take(room), e.leaving(), true);
    } else if (e.sorted()) {
      block = e.exchange(rows.buffer(), e.leaving(), e.take(room), e.arriving(), false);
    } else {
      Buffer const arrived =
          e.exchange(rows.buffer(), e.leaving(), e.take(e.arriving()), e.arriving(), false);
      block = e.take(room);
      e.move(e.table(true), block, arrived);
    }
    e.clear(block, Back ? e.leaving() : e.arriving(), room);
    return Out(rows.mesh(), extents, block);
  }

 private:
  /// One exchange on the calling rank: who sends how many rows of which expert to whom.
  template <class A>
  class Exchanged {
    using T = typename A::element;
    using Space = typename A::memory_space;
    using Exec = typename A::execution_space;

   public:
    template <class B, class C>
    Exchanged(std::source_location const& where, A const& rows, B const& sent, C const& received,
              Names const& names, Spec const& of_rows, Spec const& of_experts)
        : mesh_(rows.mesh().state()),
          map_(map_axes(mesh_, names)),
          sizing_{planning::extents_by_label(of_rows, rows.extents().data()), map_.sizes,
                  sizeof(T)},
          step_(planning::chosen_rows_step(of_rows, of_rows.dims[0].axes, Slot::a)),
          where_(where),
          length_(rows.rows()[1].size()),
          sent_(nn::detail::on_host(sent)),
          received_(nn::detail::on_host(received)),
          experts_(received.rows()[1].size()) {
      Sizing const z{planning::extents_by_label(of_experts, received.extents().data()), map_.sizes,
                     sizeof(std::int64_t)};
      detail::List<Range> blocks;
      member_blocks(of_experts, 1, z, map_, step_.axes, blocks);
      for (Range const& r : blocks) {
        std::int64_t n = 0;
        for (std::int64_t k = r.begin; k < r.end; ++k) n += sent_[static_cast<std::size_t>(k)];
        to_.push_back(n);
        leaving_ += n;
      }
      for (std::size_t g = 0; g < to_.size(); ++g) {
        std::int64_t n = 0;
        for (std::int64_t k = 0; k < experts_; ++k) n += count(g, k);
        from_.push_back(n);
        arriving_ += n;
      }
    }
    std::int64_t leaving() const { return leaving_; }
    std::int64_t arriving() const { return arriving_; }
    /// Whether rows in the order of the ranks that send them are in that of the experts.
    bool sorted() const { return experts_ <= 1 || to_.size() == 1; }
    Buffer take(std::int64_t rows) const {
      return mesh_.pool().template take<Space>(static_cast<std::size_t>(rows * length_) *
                                               sizeof(T));
    }
    /// For each row in the order of experts its position in the order of ranks, or, unless
    /// `by_expert`, the inverse map.
    detail::List<std::int64_t> table(bool by_expert) const {
      detail::List<std::int64_t> out;
      out.assign(static_cast<std::size_t>(arriving_), 0);
      std::vector<std::int64_t> next(to_.size());
      for (std::size_t g = 1; g < next.size(); ++g) next[g] = next[g - 1] + from_[g - 1];
      std::int64_t row = 0;
      for (std::int64_t k = 0; k < experts_; ++k)
        for (std::size_t g = 0; g < to_.size(); ++g)
          for (std::int64_t i = 0; i < count(g, k); ++i, ++row, ++next[g])
            out[static_cast<std::size_t>(by_expert ? row : next[g])] = by_expert ? next[g] : row;
      return out;
    }
    void move(detail::List<std::int64_t> const& table, Buffer const& to, Buffer const& from) const {
      typename A::execution_space const exec{};
      runs::TableIn<Space> const at(mesh_, table);
      nn::kernels::each_row(
          "shardtype::move_rows", exec, static_cast<std::int64_t>(table.size()),
          nn::kernels::MoveRows<T>{static_cast<T*>(to.data()), static_cast<T const*>(from.data()),
                                   at.at(), length_});
      exec.fence();
    }
    void clear(Buffer const& rows, std::int64_t begin, std::int64_t end) const {
      typename A::execution_space const exec{};
      kernels::fill(exec, static_cast<T*>(rows.data()) + begin * length_, (end - begin) * length_,
                    T{});
      exec.fence();
    }
    /// The received rows, in `in`, which nothing else holds.
    Buffer exchange(Buffer out, std::int64_t out_rows, Buffer in, std::int64_t in_rows,
                    bool back) const {
      Executor<T, Space> run(mesh_, map_, sizing_, Caller{where_, "exchange_rows"});
      run.agree_on(step_);
      if (to_.size() == 1) {
        runtime::copy_bytes<Space, Space>(in.data(), out.data(),
                                          static_cast<std::size_t>(in_rows * length_) * sizeof(T));
        return in;
      }
      StepScratch& s = mesh_.scratch();
      lists(back ? from_ : to_, s.counts, s.offsets);
      lists(back ? to_ : from_, s.recv_counts, s.recv_offsets);
      return run.run_rows(step_, value(std::move(out), out_rows), value(std::move(in), in_rows),
                          nullptr);
    }

   private:
    std::int64_t count(std::size_t rank, std::int64_t expert) const {
      return received_[rank * static_cast<std::size_t>(experts_) +
                       static_cast<std::size_t>(expert)];
    }
    void lists(std::vector<std::int64_t> const& rows, detail::List<std::int64_t>& counts,
               detail::List<std::int64_t>& offsets) const {
      counts.assign(rows.size(), 0);
      offsets.assign(rows.size(), 0);
      std::int64_t at = 0;
      for (std::size_t g = 0; g < rows.size(); ++g) {
        counts[g] = rows[g] * length_;
        offsets[g] = at;
        at += counts[g];
      }
    }
    Value<T> value(Buffer memory, std::int64_t rows) const {
      Value<T> v;
      v.spec = step_.before;
      v.layout.rank = 2;
      v.layout.extent[0] = rows;
      v.layout.extent[1] = length_;
      v.layout = v.layout.packed();
      v.data = static_cast<T const*>(memory.data());
      v.keep = std::move(memory);
      return v;
    }

    MeshState& mesh_;
    AxisMap map_;
    Sizing sizing_;
    Step step_;
    std::source_location where_;
    std::int64_t length_;
    std::vector<std::int64_t> sent_, received_;
    std::int64_t experts_;
    std::vector<std::int64_t> to_, from_;  ///< rows for each rank, and from each
    std::int64_t leaving_ = 0, arriving_ = 0;
  };
};

}  // namespace execute

}  // namespace shardtype
