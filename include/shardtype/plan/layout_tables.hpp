#pragma once
/// Layout graphs, each built once per number of dims and axes; at compile time as one constant.

#include <cstddef>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/layout_graph.hpp>

namespace shardtype::planning {

/// The sizes of a graph's tables, counted without building it.
class GraphSize {
 public:
  std::size_t layouts = 0;
  std::size_t codes = 0;
  std::size_t fans = 0;
  std::size_t edges = 0;

  constexpr GraphSize(int rank, int axes)
      : codes(static_cast<std::size_t>(LayoutCode{rank, axes}.codes())), rank_(rank) {
    count(0, axes, 1);
  }

 private:
  /// Counts the layouts in which `left` more axes are on the dims from `d` on, idle or unreduced;
  /// each case stands for `alike` choices of axes and orders.
  constexpr void count(int d, int left, std::size_t alike) {
    if (d < rank_) {
      for (int n = 0; n <= left; ++n) {
        on_[d] = n;
        std::size_t choices = 1;
        for (int k = 0; k < n; ++k) choices *= static_cast<std::size_t>(left - k);
        count(d + 1, left - n, alike * choices);
      }
      return;
    }
    for (int unreduced = 0; unreduced <= left; ++unreduced) {
      std::size_t choices = alike;
      for (int k = 0; k < unreduced; ++k)
        choices = choices * static_cast<std::size_t>(left - k) / static_cast<std::size_t>(k + 1);
      layouts += choices;
      steps_from(left - unreduced, unreduced, choices);
    }
  }
  constexpr void steps_from(int not_used, int unreduced, std::size_t choices) {
    auto const dims = static_cast<std::size_t>(rank_);
    std::size_t spread = 0;  // fans with an edge to each dim: slices and reduce_scatters
    std::size_t single = (std::size_t{1} << unreduced) - 1;  // fans with one edge
    std::size_t split = 0;
    if (rank_ > 0) spread = static_cast<std::size_t>(not_used);
    std::size_t of_length = 1;
    for (int k = 0; k < unreduced && rank_ > 0; ++k)
      spread += of_length *= static_cast<std::size_t>(unreduced - k);
    for (int d = 0; d < rank_; ++d) {
      std::size_t orders = 1;
      for (int k = 2; k <= on_[d]; ++k) orders *= static_cast<std::size_t>(k);
      split += static_cast<std::size_t>(on_[d]);
      single += orders - 1;
    }
    // all_gathers, and all_to_alls to each other dim
    fans += choices * (spread + single + split * (rank_ > 1 ? 2 : 1));
    edges += choices * (spread * dims + single + split * dims);
  }

  int rank_;
  int on_[max_dims]{};
};
template <int Rank, int Axes>
inline constexpr GraphSize graph_size{Rank, Axes};

/// A graph that owns its memory, built at run time.
class GraphBuilder {
 public:
  GraphBuilder(int rank, int axes) : code_{rank, axes} {
    GraphSize const size(rank, axes);
    codes_.resize(size.layouts);
    alike_.resize(size.layouts);
    index_.resize(size.codes);
    first_.resize(size.layouts + 1);
    fans_.resize(size.fans + 1);
    edges_.resize(size.edges);
    GraphWriter(
        rank, axes,
        {codes_.data(), alike_.data(), index_.data(), first_.data(), fans_.data(), edges_.data()});
  }
  LayoutGraph view() const {
    return {code_,         static_cast<int>(codes_.size()),
            codes_.data(), alike_.data(),
            index_.data(), first_.data(),
            fans_.data(),  edges_.data()};
  }

 private:
  LayoutCode code_;
  shardtype::detail::List<int> codes_;
  shardtype::detail::List<std::int16_t> alike_;
  shardtype::detail::List<std::int16_t> index_;
  shardtype::detail::List<int> first_;
  shardtype::detail::List<Fan> fans_;
  shardtype::detail::List<Edge> edges_;
};

/// A graph as a constant.
template <int Rank, int Axes>
struct GraphTables {
  static constexpr auto const& size = graph_size<Rank, Axes>;
  int codes[size.layouts]{};
  std::int16_t alike[size.layouts]{};
  std::int16_t index[size.codes]{};
  int first[size.layouts + 1]{};
  Fan fans[size.fans + 1]{};
  Edge edges[size.edges + 1]{};

  constexpr GraphTables() { GraphWriter(Rank, Axes, {codes, alike, index, first, fans, edges}); }
};
template <int Rank, int Axes>
inline constexpr GraphTables<Rank, Axes> graph_tables{};

/// The graph of values of `Rank` dims over `Axes` axes, as a constant.
template <int Rank, int Axes>
inline constexpr LayoutGraph layout_graph = {{Rank, Axes},
                                             static_cast<int>(graph_size<Rank, Axes>.layouts),
                                             graph_tables<Rank, Axes>.codes,
                                             graph_tables<Rank, Axes>.alike,
                                             graph_tables<Rank, Axes>.index,
                                             graph_tables<Rank, Axes>.first,
                                             graph_tables<Rank, Axes>.fans,
                                             graph_tables<Rank, Axes>.edges};

}  // namespace shardtype::planning
