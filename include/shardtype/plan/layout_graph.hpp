#pragma once
/// All layouts of a value with a given number of dims and axes, and the single steps between them.

#include <cstdint>

#include <shardtype/plan/step.hpp>

namespace shardtype::planning {

/// A layout encoded as a number with one digit per axis. 0: replicated; 1: unreduced; else 2 + dim
/// * axes + the axis's index in the list of that dim.
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
  /// The sharding that `code` encodes, with labels 0, 1, ... for its dims.
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
  /// The code of a sharding without block-cyclic dims; reduced axes count as replicated.
  constexpr int of(Spec const& s) const {
    int power[searched_axes]{};
    for (int x = 0, p = 1; x < axes; ++x, p *= base()) power[x] = p;
    int code = 0;
    for (int x = 0; x < axes; ++x) code += s.unreduced.contains(x) ? power[x] : 0;
    for (int d = 0; d < s.rank; ++d)
      for (int k = 0; k < s.dims[d].axes.size; ++k) code += digit(d, k) * power[s.dims[d].axes[k]];
    return code;
  }
};

/// Steps from one layout that differ only in the dim that receives the axes; they have the same
/// group of ranks.
struct Fan {
  int first = 0;                             ///< its first edge; its last is before the next fan's
                                             ///< first
  Collective collective = Collective::none;  ///< none: a slice
  std::int8_t from_dim = -1;
  std::uint8_t members = 0;      ///< number of axes of the group
  std::uint8_t order = 0;        ///< these axes, major first, 2 bits each
  std::uint8_t member_bits = 0;  ///< these axes as a set
  std::uint8_t kind = 0;         ///< encodes the collective and the set

  constexpr AxisList group() const {
    AxisList out;
    for (int k = 0; k < members; ++k) out.push((order >> (2 * k)) & 3);
    return out;
  }
};

/// One step from one layout to another.
struct Edge {
  int fan = 0;
  std::int16_t to = 0;
  std::int8_t to_dim = -1;
};

/// Tables of layouts and steps. A view of memory owned elsewhere.
struct LayoutGraph {
  LayoutCode code{};
  int layouts = 0;
  int const* codes = nullptr;           ///< code of each layout
  std::int16_t const* alike = nullptr;  ///< first layout in which each dim has the same set of axes
  std::int16_t const* index = nullptr;  ///< layout of each code, or -1
  int const* first = nullptr;           ///< first fan of each layout; one more entry at the end
  Fan const* fans = nullptr;            ///< one more entry at the end
  Edge const* edges = nullptr;

  /// One past the largest kind of a fan.
  constexpr int kinds() const { return collective_rows << code.axes; }
  constexpr Spec spec(int layout) const { return code.spec(codes[layout]); }
};

/// Memory into which the tables of a graph are written.
struct GraphMemory {
  int* codes;
  std::int16_t* alike;
  std::int16_t* index;
  int* first;
  Fan* fans;
  Edge* edges;
};

/// Lists the layouts, then the steps from each: slice over one axis; all_gather, and all_to_all to
/// another dim, of the minor-most axes of a dim; permutation of a dim's axes; reduce_scatter of any
/// ordered list of unreduced axes, and all_reduce of any set. As in reshard_search.hpp.
class GraphWriter {
 public:
  constexpr GraphWriter(int rank, int axes, GraphMemory const& to) : code_{rank, axes}, to_(to) {
    for (int x = 0, p = 1; x < axes; ++x, p *= code_.base()) power_[x] = p;
    for (int k = 0; k < code_.codes(); ++k) to_.index[k] = -1;
    place(0);
    for (int k = 0; k < layouts_; ++k) {
      to_.first[k] = fans_;
      steps_from(to_.codes[k]);
    }
    to_.first[layouts_] = fans_;
    to_.fans[fans_].first = edges_;
  }

 private:
  /// The axes on each dim, in order.
  struct Lists {
    int size[max_dims]{};
    int at[max_dims][searched_axes]{};
  };

  // The recursions below test `searched_axes` explicitly, else g++ -O3 unrolls them beyond it.

  /// Enumerates all layouts of the axes from `x` on; `lists_` has the earlier axes.
  constexpr void place(int x) {
    if (x == code_.axes || x == searched_axes) {
      int code = unreduced_code_;
      for (int d = 0; d < code_.rank; ++d)
        for (int k = 0; k < lists_.size[d]; ++k)
          code += code_.digit(d, k) * power_[lists_.at[d][k]];
      to_.index[code] = static_cast<std::int16_t>(layouts_);
      to_.alike[layouts_] = to_.index[rising_code_];
      to_.codes[layouts_++] = code;
      return;
    }
    place(x + 1);
    unreduced_code_ += power_[x];
    place(x + 1);
    unreduced_code_ -= power_[x];
    for (int d = 0; d < code_.rank; ++d) {
      int* const list = lists_.at[d];
      int const n = lists_.size[d]++;
      int const behind = code_.digit(d, n) * power_[x];
      rising_code_ += behind;
      for (int k = n; k >= 0; --k) {  // first as the minor-most axis, then further to the front
        if (k < n) list[k + 1] = list[k];
        list[k] = x;
        place(x + 1);
      }
      for (int k = 0; k < n; ++k) list[k] = list[k + 1];
      rising_code_ -= behind;
      --lists_.size[d];
    }
  }

  constexpr void steps_from(int code) {
    from_ = code;
    for (int d = 0; d < code_.rank; ++d) lists_.size[d] = 0;
    idle_ = unreduced_ = 0;
    for (int x = 0, rest = code; x < code_.axes; ++x, rest /= code_.base()) {
      int const at = rest % code_.base();
      if (at == 0) idle_ |= 1U << x;
      if (at == 1) unreduced_ |= 1U << x;
      if (at < 2) continue;
      int const d = (at - 2) / code_.axes;
      lists_.at[d][(at - 2) % code_.axes] = x;
      ++lists_.size[d];
    }
    for (int x = 0; x < code_.axes && code_.rank > 0; ++x) {
      if (((idle_ >> x) & 1U) == 0) continue;
      fan(Collective::none, -1, &x, 1);
      for (int d = 0; d < code_.rank; ++d)
        edge(d, code + code_.digit(d, lists_.size[d]) * power_[x]);
    }
    for (int d = 0; d < code_.rank; ++d) {
      leave(d);
      if (lists_.size[d] > 1) reorder(d, 0, 0);
    }
    if (unreduced_ != 0 && code_.rank > 0) scatter(0, 0);
    for (unsigned some = unreduced_; some != 0; some = (some - 1) & unreduced_) {
      int group[searched_axes]{};
      int n = 0;
      int to = code;
      for (int x = 0; x < code_.axes; ++x)
        if (((some >> x) & 1U) != 0) group[n++] = x, to -= power_[x];
      fan(Collective::all_reduce, -1, group, n);
      edge(-1, to);
    }
  }
  /// The k minor-most axes leave dim d.
  constexpr void leave(int d) {
    int const n = lists_.size[d];
    int without = from_;
    for (int k = n - 1; k >= 0; --k) {
      int const* const group = lists_.at[d] + k;
      without -= code_.digit(d, k) * power_[*group];
      fan(Collective::all_gather, d, group, n - k);
      edge(-1, without);
      if (code_.rank < 2) continue;
      fan(Collective::all_to_all, d, group, n - k);
      for (int e = 0; e < code_.rank; ++e) {
        if (e == d) continue;
        int to = without;
        for (int m = 0; m < n - k; ++m) to += code_.digit(e, lists_.size[e] + m) * power_[group[m]];
        edge(e, to);
      }
    }
  }
  /// Enumerates all other orders of the axes of dim d; `chosen_` has the first `n` axes.
  constexpr void reorder(int d, int n, unsigned used) {
    int const size = lists_.size[d];
    if (n == size || n == searched_axes) {
      int same = 0;
      while (same < size && chosen_[same] == lists_.at[d][same]) ++same;
      if (same == size) return;
      int to = from_;
      for (int k = same; k < size; ++k)
        to += code_.digit(d, k) * (power_[chosen_[k]] - power_[lists_.at[d][k]]);
      fan(Collective::permute, d, lists_.at[d] + same, size - same);
      edge(d, to);
      return;
    }
    for (int k = 0; k < size; ++k) {
      int const x = lists_.at[d][k];
      if (((used >> x) & 1U) != 0) continue;
      chosen_[n] = x;
      reorder(d, n + 1, used | 1U << x);
    }
  }
  /// Scatters the first `n` axes of `chosen_` and one more.
  constexpr void scatter(int n, unsigned used) {
    if (n == searched_axes) return;
    for (int x = 0; x < code_.axes; ++x) {
      if (((unreduced_ & ~used) >> x & 1U) == 0) continue;
      chosen_[n] = x;
      fan(Collective::reduce_scatter, -1, chosen_, n + 1);
      for (int d = 0; d < code_.rank; ++d) {
        int to = from_;
        for (int k = 0; k <= n; ++k)
          to += (code_.digit(d, lists_.size[d] + k) - 1) * power_[chosen_[k]];
        edge(d, to);
      }
      scatter(n + 1, used | 1U << x);
    }
  }
  constexpr void fan(Collective c, int from_dim, int const* group, int n) {
    unsigned order = 0;
    unsigned bits = 0;
    for (int k = 0; k < n; ++k) {
      order |= static_cast<unsigned>(group[k]) << (2 * k);
      bits |= 1U << group[k];
    }
    to_.fans[fans_++] = {edges_,
                         c,
                         static_cast<std::int8_t>(from_dim),
                         static_cast<std::uint8_t>(n),
                         static_cast<std::uint8_t>(order),
                         static_cast<std::uint8_t>(bits),
                         static_cast<std::uint8_t>(static_cast<unsigned>(c) << code_.axes | bits)};
  }
  /// Adds an edge to the last fan.
  constexpr void edge(int to_dim, int to) {
    to_.edges[edges_++] = {fans_ - 1, to_.index[to], static_cast<std::int8_t>(to_dim)};
  }

  LayoutCode code_;
  GraphMemory to_;
  int power_[searched_axes]{};
  int layouts_ = 0;
  int fans_ = 0;
  int edges_ = 0;

  // the layout under consideration
  Lists lists_{};
  int unreduced_code_ = 0;
  int rising_code_ = 0;  ///< the code with each dim's axes in increasing order and nothing
                         ///< unreduced
  int from_ = 0;
  unsigned idle_ = 0;
  unsigned unreduced_ = 0;
  int chosen_[searched_axes]{};
};

}  // namespace shardtype::planning
