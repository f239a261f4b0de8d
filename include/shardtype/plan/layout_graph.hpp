#pragma once
/// Every layout of a value of some rank over some axes, and the single steps between them: a table that
/// is built once per number of dims and axes, for compilers as one constant.

#include <cstddef>
#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/step.hpp>

namespace shardtype::planning {

/// A layout as one number: a digit for each axis. 0: the same on all its ranks; 1: unreduced; else
/// 2 + dim * axes + place among the axes of that dim.
struct LayoutCode {
  int rank = 0;
  int axes = 0;

  constexpr int base() const { return 2 + rank * axes; }
  constexpr int digit(int dim, int place) const { return 2 + dim * axes + place; }
  /// One past the largest code.
  constexpr int codes() const {
    int n = 1;
    for (int x = 0; x < axes; ++x) n *= base();
    return n;
  }
  /// The sharding that `code` means, with labels 0, 1, ... for its dims.
  constexpr Spec spec(int code) const {
    Spec s;
    for (int d = 0; d < rank; ++d) s.add(d);
    for (int x = 0; x < axes; ++x, code /= base()) {
      int const at = code % base();
      if (at == 1) s.unreduced.insert(x);
      if (at < 2) continue;
      AxisList& list = s.dims[(at - 2) / axes].axes;
      list.at[(at - 2) % axes] = static_cast<std::int8_t>(x);
      ++list.size;
    }
    return s;
  }
  /// The code of a sharding, which has no cyclic dims; reduced axes count as replicated.
  constexpr int of(Spec const& s) const {
    int power[max_axes]{};
    for (int x = 0, p = 1; x < axes; ++x, p *= base()) power[x] = p;
    int code = 0;
    for (int x = 0; x < axes; ++x) code += s.unreduced.contains(x) ? power[x] : 0;
    for (int d = 0; d < s.rank; ++d)
      for (int k = 0; k < s.dims[d].axes.size; ++k) code += digit(d, k) * power[s.dims[d].axes[k]];
    return code;
  }
};

/// A single step from one layout to another.
struct Edge {
  std::int16_t to = 0;
  Collective collective = Collective::none;  ///< none: a slice
  std::int8_t from_dim = -1;
  std::int8_t to_dim = -1;
  std::uint8_t members = 0;      ///< how many axes the group has
  std::uint8_t order = 0;        ///< they, major first: 2 bits each
  std::uint8_t member_bits = 0;  ///< they, as a set

  constexpr AxisList group() const {
    AxisList out;
    for (int k = 0; k < members; ++k) out.push((order >> (2 * k)) & 3);
    return out;
  }
};

/// A table of layouts and steps, wherever it lies.
struct LayoutGraph {
  LayoutCode code{};
  int layouts = 0;
  int const* codes = nullptr;           ///< of each layout
  std::int16_t const* index = nullptr;  ///< the layout of each code, or -1
  int const* first = nullptr;           ///< the first edge of each layout, and one past the last
  Edge const* edges = nullptr;

  constexpr int layout_of(Spec const& s) const { return index[code.of(s)]; }
  constexpr Spec spec(int layout) const { return code.spec(codes[layout]); }
};

namespace detail {

/// Lists the layouts, then the steps from each: slice of one axis; all_gather, and all_to_all to another
/// dim, of the minor-most axes of a dim; another order of a dim's axes; reduce_scatter of any ordered list
/// of unreduced axes, and all_reduce of any set. As in reshard_search.hpp.
class GraphBuilder {
 public:
  constexpr GraphBuilder(int rank, int axes) : code_{rank, axes} {
    for (int x = 0, p = 1; x < axes; ++x, p *= code_.base()) power_[x] = p;
    index_.assign(static_cast<std::size_t>(code_.codes()), -1);
    place(0);
    first_.reserve(codes_.size() + 1);
    edges_.reserve(codes_.size() * 16);
    for (std::size_t k = 0; k < codes_.size(); ++k) {
      first_.push_back(static_cast<int>(edges_.size()));
      steps_from(codes_[k]);
    }
    first_.push_back(static_cast<int>(edges_.size()));
  }

  constexpr LayoutGraph view() const {
    return {code_,         static_cast<int>(codes_.size()),
            codes_.data(), index_.data(),
            first_.data(), edges_.data()};
  }
  constexpr shardtype::detail::List<int> const& codes() const { return codes_; }
  constexpr shardtype::detail::List<std::int16_t> const& index() const { return index_; }
  constexpr shardtype::detail::List<int> const& first() const { return first_; }
  constexpr shardtype::detail::List<Edge> const& edges() const { return edges_; }

 private:
  /// The axes on each dim, in order.
  struct Lists {
    int size[max_dims]{};
    int at[max_dims][max_axes]{};
  };

  /// All layouts of the axes from `x` on, those before standing as `lists_` has them.
  constexpr void place(int x) {
    if (x == code_.axes) {
      int code = owed_code_;
      for (int d = 0; d < code_.rank; ++d)
        for (int k = 0; k < lists_.size[d]; ++k)
          code += code_.digit(d, k) * power_[lists_.at[d][k]];
      index_[static_cast<std::size_t>(code)] = static_cast<std::int16_t>(codes_.size());
      codes_.push_back(code);
      return;
    }
    place(x + 1);
    owed_code_ += power_[x];
    place(x + 1);
    owed_code_ -= power_[x];
    for (int d = 0; d < code_.rank; ++d) {
      int* const list = lists_.at[d];
      int const n = lists_.size[d]++;
      for (int k = n; k >= 0;
           --k) {  // behind all others first, then one place further to the front
        if (k < n) list[k + 1] = list[k];
        list[k] = x;
        place(x + 1);
      }
      for (int k = 0; k < n; ++k) list[k] = list[k + 1];
      --lists_.size[d];
    }
  }

  constexpr void steps_from(int code) {
    from_ = code;
    for (int d = 0; d < code_.rank; ++d) lists_.size[d] = 0;
    idle_ = owed_ = 0;
    for (int x = 0, rest = code; x < code_.axes; ++x, rest /= code_.base()) {
      int const at = rest % code_.base();
      if (at == 0) idle_ |= 1U << x;
      if (at == 1) owed_ |= 1U << x;
      if (at < 2) continue;
      int const d = (at - 2) / code_.axes;
      lists_.at[d][(at - 2) % code_.axes] = x;
      ++lists_.size[d];
    }
    for (int d = 0; d < code_.rank; ++d) {
      for (int x = 0; x < code_.axes; ++x)
        if (((idle_ >> x) & 1U) != 0)
          add(Collective::none, -1, d, &x, 1, code + code_.digit(d, lists_.size[d]) * power_[x]);
      leave(d);
      if (lists_.size[d] > 1) reorder(d, 0, 0);
      if (owed_ != 0) scatter(d, 0, 0);
    }
    for (unsigned some = owed_; some != 0; some = (some - 1) & owed_) {
      int group[max_axes]{};
      int n = 0;
      int to = code;
      for (int x = 0; x < code_.axes; ++x)
        if (((some >> x) & 1U) != 0) group[n++] = x, to -= power_[x];
      add(Collective::all_reduce, -1, -1, group, n, to);
    }
  }
  /// The k minor-most axes of dim d leave it.
  constexpr void leave(int d) {
    int const n = lists_.size[d];
    int without = from_;
    for (int k = n - 1; k >= 0; --k) {
      int const* const group = lists_.at[d] + k;
      without -= code_.digit(d, k) * power_[*group];
      add(Collective::all_gather, d, -1, group, n - k, without);
      for (int e = 0; e < code_.rank; ++e) {
        if (e == d) continue;
        int to = without;
        for (int m = 0; m < n - k; ++m) to += code_.digit(e, lists_.size[e] + m) * power_[group[m]];
        add(Collective::all_to_all, d, e, group, n - k, to);
      }
    }
  }
  /// Every other order of the axes of dim d, of which `chosen_` has the first `n`.
  constexpr void reorder(int d, int n, unsigned used) {
    int const size = lists_.size[d];
    if (n == size) {
      int same = 0;
      while (same < size && chosen_[same] == lists_.at[d][same]) ++same;
      if (same == size) return;
      int to = from_;
      for (int k = same; k < size; ++k)
        to += code_.digit(d, k) * (power_[chosen_[k]] - power_[lists_.at[d][k]]);
      add(Collective::permute, d, d, lists_.at[d] + same, size - same, to);
      return;
    }
    for (int k = 0; k < size; ++k) {
      int const x = lists_.at[d][k];
      if (((used >> x) & 1U) != 0) continue;
      chosen_[n] = x;
      reorder(d, n + 1, used | 1U << x);
    }
  }
  constexpr void scatter(int d, int n, unsigned used) {
    for (int x = 0; x < code_.axes; ++x) {
      if (((owed_ & ~used) >> x & 1U) == 0) continue;
      chosen_[n] = x;
      int to = from_;
      for (int k = 0; k <= n; ++k)
        to += (code_.digit(d, lists_.size[d] + k) - 1) * power_[chosen_[k]];
      add(Collective::reduce_scatter, -1, d, chosen_, n + 1, to);
      scatter(d, n + 1, used | 1U << x);
    }
  }
  constexpr void add(Collective c, int from_dim, int to_dim, int const* group, int n, int to) {
    Edge e;
    e.to = index_[static_cast<std::size_t>(to)];
    e.collective = c;
    e.from_dim = static_cast<std::int8_t>(from_dim);
    e.to_dim = static_cast<std::int8_t>(to_dim);
    e.members = static_cast<std::uint8_t>(n);
    unsigned order = 0;
    unsigned bits = 0;
    for (int k = 0; k < n; ++k) {
      order |= static_cast<unsigned>(group[k]) << (2 * k);
      bits |= 1U << group[k];
    }
    e.order = static_cast<std::uint8_t>(order);
    e.member_bits = static_cast<std::uint8_t>(bits);
    edges_.push_back(e);
  }

  LayoutCode code_;
  int power_[max_axes]{};
  shardtype::detail::List<int> codes_;
  shardtype::detail::List<std::int16_t> index_;
  shardtype::detail::List<int> first_;
  shardtype::detail::List<Edge> edges_;

  // the layout that is looked at
  Lists lists_{};
  int owed_code_ = 0;
  int from_ = 0;
  unsigned idle_ = 0;
  unsigned owed_ = 0;
  int chosen_[max_axes]{};
};

/// How much memory a graph's tables take, counted without building it.
class GraphSize {
 public:
  std::size_t layouts = 0;
  std::size_t codes = 0;
  std::size_t edges = 0;

  constexpr GraphSize(int rank, int axes)
      : codes(static_cast<std::size_t>(LayoutCode{rank, axes}.codes())), rank_(rank) {
    count(0, axes, 1);
  }

 private:
  /// All ways to have `left` more axes on the dims from `d` on, idle or owed, of which each stands for `alike`
  /// choices of axes and orders.
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
    for (int owed = 0; owed <= left; ++owed) {
      std::size_t choices = alike;
      for (int k = 0; k < owed; ++k)
        choices = choices * static_cast<std::size_t>(left - k) / static_cast<std::size_t>(k + 1);
      layouts += choices;
      edges += choices * edges_from(left - owed, owed);
    }
  }
  constexpr std::size_t edges_from(int not_used, int owed) const {
    auto const dims = static_cast<std::size_t>(rank_);
    std::size_t n = static_cast<std::size_t>(not_used) * dims;
    for (int d = 0; d < rank_; ++d) {
      std::size_t orders = 1;
      for (int k = 2; k <= on_[d]; ++k) orders *= static_cast<std::size_t>(k);
      n += static_cast<std::size_t>(on_[d]) * dims + orders - 1;
    }
    std::size_t lists = 0;
    std::size_t of_length = 1;
    for (int k = 0; k < owed; ++k) lists += of_length *= static_cast<std::size_t>(owed - k);
    return n + lists * dims + (std::size_t{1} << owed) - 1;
  }

  int rank_;
  int on_[max_dims]{};
};
template <int Rank, int Axes>
inline constexpr GraphSize graph_size{Rank, Axes};

template <int Rank, int Axes>
struct GraphTables {
  static constexpr GraphSize const& size = graph_size<Rank, Axes>;
  int codes[size.layouts]{};
  std::int16_t index[size.codes]{};
  int first[size.layouts + 1]{};
  Edge edges[size.edges + 1]{};

  static constexpr GraphTables make() {
    GraphBuilder const b(Rank, Axes);
    GraphTables out;
    LayoutGraph const g = b.view();
    for (std::size_t k = 0; k < size.layouts; ++k) out.codes[k] = g.codes[k];
    for (std::size_t k = 0; k < size.codes; ++k) out.index[k] = g.index[k];
    for (std::size_t k = 0; k <= size.layouts; ++k) out.first[k] = g.first[k];
    for (std::size_t k = 0; k < size.edges; ++k) out.edges[k] = g.edges[k];
    return out;
  }
};
template <int Rank, int Axes>
inline constexpr GraphTables<Rank, Axes> graph_tables = GraphTables<Rank, Axes>::make();

}  // namespace detail

/// The graph of values of `Rank` dims over `Axes` axes, as a constant.
template <int Rank, int Axes>
inline constexpr LayoutGraph layout_graph = {
    {Rank, Axes},
    static_cast<int>(detail::graph_size<Rank, Axes>.layouts),
    detail::graph_tables<Rank, Axes>.codes,
    detail::graph_tables<Rank, Axes>.index,
    detail::graph_tables<Rank, Axes>.first,
    detail::graph_tables<Rank, Axes>.edges};

}  // namespace shardtype::planning
