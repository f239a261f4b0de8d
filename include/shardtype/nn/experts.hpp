#pragma once
/// Runs the operations of types_experts.hpp, and their gradients.

#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/call.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/executor.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/execute/take_rows.hpp>
#include <shardtype/nn/kernels_experts.hpp>
#include <shardtype/nn/labels.hpp>
#include <shardtype/nn/norm.hpp>
#include <shardtype/nn/ragged_dot.hpp>
#include <shardtype/nn/types_experts.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype {

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
/// Fills a block with numbers that are on the host.
template <class Out>
void write_block(Out& out, typename Out::element const* from) {
  runtime::copy_bytes<typename Out::memory_space, Kokkos::HostSpace>(
      out.buffer().data(), from,
      static_cast<std::size_t>(out.local_size()) * sizeof(typename Out::element));
}
/// Error E41 where a block has fewer rows than it is to hold.
inline void check_room(std::int64_t needed, std::int64_t rows) {
  if (needed > rows)
    throw Error("E41", "the experts of a rank get " + std::to_string(needed) +
                           " rows, and its block has room for " + std::to_string(rows));
}

}  // namespace nn::detail

namespace op {

template <class E>
template <class Out, class A>
void ExpertCounts<E>::fill(Out& out, A const& ids) const {
  execute::check_values_of<E>(ids, experts);
  auto const own = nn::detail::on_host(ids);
  auto const rows = nn::kernels::ExpertOrder{0, experts, capacity}.rows(
      own.data(), static_cast<std::int64_t>(own.size()), true);
  nn::detail::write_block(out, rows.data());
}
template <class Out, class A>
void ExpertPlaces::fill(Out& out, A const& ids) const {
  auto const own = nn::detail::on_host(ids);
  auto const places = nn::kernels::ExpertOrder{0, experts, capacity}.places(
      own.data(), static_cast<std::int64_t>(own.size()));
  nn::detail::write_block(out, places.data());
}
template <class Out, class A, class B>
void OwnExpertPlaces::fill(Out& out, A const& ids, B const& sizes) const {
  auto const all = nn::detail::on_host(ids);
  Range const experts = sizes.rows()[0].range();
  auto const places = nn::kernels::ExpertOrder{experts.begin, experts.end}.places(
      all.data(), static_cast<std::int64_t>(all.size()));
  nn::detail::write_block(out, places.data());
}
template <class Out, class A>
void RowsOnRanks::fill(Out& out, A const& sizes) const {
  typename A::element sum = 0;
  for (std::int64_t const n : nn::detail::on_host(sizes))
    sum += static_cast<typename A::element>(n);
  nn::detail::write_block(out, &sum);
}
template <class To>
template <class Out, class A, class Ids, class... W>
void SpreadRows<To>::fill(Out& out, A const& x, Ids const& places, W const&... weights) const {
  using T = typename A::element;
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  auto const at = nn::detail::token_rows(places, x);
  std::int64_t const tokens = nn::detail::tokens_of(places);
  std::int64_t const filled = nn::kernels::count_places(exec, at.places, tokens * at.choices);
  std::int64_t const rows = out.rows()[0].size();
  nn::detail::check_room(filled, rows);
  auto* const data = execute::written(out);
  kernels::fill(exec, data + filled * at.length, (rows - filled) * at.length, T{});
  nn::kernels::each_element("shardtype::spread_rows", exec, {tokens, at.length, 1},
                            nn::kernels::SpreadTokens<T>{at, data, execute::data_of(x),
                                                         nn::detail::weights_of<T>(weights...)});
  runtime::fence(exec);
}
template <class Out, class A, class Ids, class... W>
void CombineRows::fill(Out& out, A const& rows, Ids const& places, W const&... weights) const {
  using T = typename A::element;
  nn::detail::run_rows<A>(
      "shardtype::combine_rows", nn::detail::tokens_of(places),
      nn::kernels::CombineTokens<T>{nn::detail::token_rows(places, rows), execute::written(out),
                                    execute::data_of(rows), nn::detail::weights_of<T>(weights...)});
}
template <class Out, class A, class B, class Ids>
void RowDots::fill(Out& out, A const& x, B const& rows, Ids const& places) const {
  using T = typename A::element;
  auto const at = nn::detail::token_rows(places, x);
  nn::detail::run_rows<A>("shardtype::row_dots", nn::detail::tokens_of(places) * at.choices,
                          nn::kernels::TokenDots<T>{at, execute::written(out), execute::data_of(x),
                                                    execute::data_of(rows)});
}

}  // namespace op

namespace execute {

/// One exchange on the calling rank: who sends how many rows of which expert to whom.
template <class A>
class ExchangedRows {
  using T = typename A::element;
  using Space = typename A::memory_space;
  using Exec = typename A::execution_space;

 public:
  template <class B, class C>
  ExchangedRows(std::source_location const& where, A const& rows, B const& sent, C const& received,
                Names const& names, Spec const& of_rows, Spec const& of_experts)
      : mesh_(rows.mesh().state()),
        map_(map_axes(mesh_, names)),
        sizing_{planning::extents_by_label(of_rows, rows.extents().data()), map_.sizes, sizeof(T)},
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
    return mesh_.pool().template take<Space>(static_cast<std::size_t>(rows * length_) * sizeof(T));
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
    typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
    runs::TableIn<Space> const at(mesh_, table);
    nn::kernels::each_element(
        "shardtype::move_rows", exec, {static_cast<std::int64_t>(table.size()), length_, 1},
        nn::kernels::MoveRows<T>{static_cast<T*>(to.data()), static_cast<T const*>(from.data()),
                                 at.at(), length_});
    runtime::fence(exec);
  }
  void clear(Buffer const& rows, std::int64_t begin, std::int64_t end) const {
    typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
    kernels::fill(exec, static_cast<T*>(rows.data()) + begin * length_, (end - begin) * length_,
                  T{});
    runtime::fence(exec);
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
    return received_[rank * static_cast<std::size_t>(experts_) + static_cast<std::size_t>(expert)];
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

}  // namespace execute

namespace op {

template <bool Back>
template <class R, class A, class B, class C>
typename R::result ExchangeRows<Back>::run(std::source_location const& where, A const& rows,
                                           B const& sent, C const& received) const {
  using Out = typename R::result;
  auto const extents = execute::result_extents<R>(*this, rows, sent, received);
  if (!rows.mesh().here()) return Out(rows.mesh(), extents, runtime::Buffer());
  execute::ExchangedRows<A> const e(where, rows, sent, received, R::S::names,
                                    R::S::template spec<0>, R::S::template spec<2>);
  std::int64_t const room = Out::local_rows(rows.mesh(), extents)[0].size();
  nn::detail::check_room(Back ? e.leaving() : e.arriving(), room);
  runtime::Buffer block;
  if constexpr (Back) {
    nn::detail::check_room(e.arriving(), rows.rows()[0].size());
    runtime::Buffer leaving = rows.buffer();
    if (!e.sorted()) {
      leaving = e.take(e.arriving());
      e.move(e.table(false), leaving, rows.buffer());
    }
    block = e.exchange(std::move(leaving), e.arriving(), e.take(room), e.leaving(), true);
  } else if (e.sorted()) {
    block = e.exchange(rows.buffer(), e.leaving(), e.take(room), e.arriving(), false);
  } else {
    runtime::Buffer const arrived =
        e.exchange(rows.buffer(), e.leaving(), e.take(e.arriving()), e.arriving(), false);
    block = e.take(room);
    e.move(e.table(true), block, arrived);
  }
  e.clear(block, Back ? e.leaving() : e.arriving(), room);
  return Out(rows.mesh(), extents, block);
}

}  // namespace op

namespace nn::detail {

/// The rows of a block of rows `A`, by its label and its number on each rank.
template <class A, class C, class Ids, class... W>
constexpr auto spread_like(std::int64_t each, C const& ct, Ids const& places, W const&... weights) {
  return shardtype::call(op::SpreadRows<label_at<A, 0>>{each}, std::source_location::current(), ct,
                         places, weights...);
}

}  // namespace nn::detail

namespace op {

template <class To>
template <class V, class A, class Ids, class... W>
constexpr auto SpreadRows<To>::save(V const&, A const& x, Ids const& places,
                                    W const&... weights) const {
  if constexpr (sizeof...(W) == 0) {
    return autodiff::keep(places);
  } else {
    return autodiff::keep(places, weights..., x);
  }
}

/// Spreading and combining are each other's transposes; that of the weights is a product of rows.
template <class To>
template <class G>
constexpr auto SpreadRows<To>::pull(G const& g) const {
  if constexpr (G::operand == 2) {
    return g.call(op::RowDots{}, g.template kept<2>(), g.ct, g.template kept<0>());
  } else if constexpr (G::operands == 2) {
    return g.call(op::CombineRows{}, g.ct, g.template kept<0>());
  } else {
    return g.call(op::CombineRows{}, g.ct, g.template kept<0>(), g.template kept<1>());
  }
}
template <class V, class A, class Ids, class... W>
constexpr auto CombineRows::save(V const&, A const& rows, Ids const& places,
                                 W const&... weights) const {
  std::int64_t const each = nn::detail::rows_each(rows, nn::detail::ranks_of(rows));
  if constexpr (sizeof...(W) == 0) {
    return autodiff::keep(places, each);
  } else {
    return autodiff::keep(places, each, weights..., rows);
  }
}

template <class G>
constexpr auto CombineRows::pull(G const& g) const {
  if constexpr (G::operand == 2) {
    return g.call(op::RowDots{}, g.ct, g.template kept<3>(), g.template kept<0>());
  } else if constexpr (G::operands - 2 == 0) {
    return nn::detail::spread_like<typename G::template operand_type<0>>(g.template kept<1>(), g.ct,
                                                                         g.template kept<0>());
  } else {
    return nn::detail::spread_like<typename G::template operand_type<0>>(
        g.template kept<1>(), g.ct, g.template kept<0>(), g.template kept<2>());
  }
}
template <class V, class A, class B, class Ids>
constexpr auto RowDots::save(V const&, A const& x, B const& rows, Ids const& places) const {
  return autodiff::keep(x, rows, places, nn::detail::rows_each(rows, nn::detail::ranks_of(rows)));
}

template <class G>
constexpr auto RowDots::pull(G const& g) const {
  if constexpr (G::operand == 0) {
    return g.call(op::CombineRows{}, g.template kept<1>(), g.template kept<2>(), g.ct);
  } else {
    return nn::detail::spread_like<typename G::template operand_type<1>>(
        g.template kept<3>(), g.template kept<0>(), g.template kept<2>(), g.ct);
  }
}
template <bool Back>
template <class V, class A, class B, class C>
constexpr auto ExchangeRows<Back>::save(V const&, A const& rows, B const& sent,
                                        C const& received) const {
  return autodiff::keep(sent, received, nn::detail::rows_each(rows, nn::detail::ranks_of(rows)));
}

/// The rows go back to where they came from.
template <bool Back>
template <class G>
constexpr auto ExchangeRows<Back>::pull(G const& g) const {
  return g.call(op::ExchangeRows<!Back>{g.template kept<2>()}, g.ct, g.template kept<0>(),
                g.template kept<1>());
}

}  // namespace op

}  // namespace shardtype
