#pragma once
/// Exchanges of Fourier transforms by messages, in pieces along the outermost dim: some rows at a
/// time are transformed in a cache and packed from there, or joined there and transformed, while
/// other pieces are under way.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <shardtype/core/list.hpp>
#include <shardtype/execute/blocks.hpp>
#include <shardtype/execute/group.hpp>
#include <shardtype/kernels/segments.hpp>
#include <shardtype/kernels/stream_copy.hpp>
#include <shardtype/runtime/exchange.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::execute {

/// One all_to_all of blocks of `T` on the host. A row is the elements with one index of the
/// outermost dim. If the exchange splits another dim, rows are packed; if it joins another dim,
/// rows are joined; along the outermost dim, rows are sent from where they are, and received where
/// they stay.
template <class T, class Space>
class FourierPieces {
 public:
  /// The outermost dim with more than one index; -1 if the step cannot run in pieces. The same on
  /// all ranks.
  static int outermost(Step const& s, Sizing const& z) {
    if (s.move != Move::exchange || z.sizes.product(s.axes) == 1) return -1;
    std::int64_t const most = std::max(largest_elements(s.before, z.extents, z.sizes),
                                       largest_elements(s.after, z.extents, z.sizes));
    if (most > run_time.sending().largest_count) return -1;
    int d = 0;
    while (d < s.before.rank && z.extents[s.before.dims[d].label] == 1) ++d;
    return d < s.before.rank && d <= s.from && d <= s.to ? d : -1;
  }
  /// Whether a row fits a cache, so that a transform may have it there.
  static bool fits_cache(std::int64_t row) { return row * bytes <= std::int64_t{2} << 20; }
  /// The number of pieces: one on one node, where the cores that compute also copy the messages.
  static int count(Step const& s, Sizing const& z) {
    if (run_time.on_one_node) return 1;
    std::int64_t const block = mul_sat(largest_elements(s.before, z.extents, z.sizes), bytes);
    return static_cast<int>(
        std::clamp<std::int64_t>(block / run_time.sending().least_piece, 1, most_pieces));
  }

  FourierPieces(MeshState& mesh, AxisMap const& axes, Step const& s, Sizing const& z)
      : mesh_(mesh),
        group_(group_of(mesh, axes, s.axes)),
        pieces_(count(s, z)),
        row_dim_(outermost(s, z)),
        packs_(s.to != row_dim_),
        joins_(s.from != row_dim_),
        segment_(largest_elements(s.before, z.extents, z.sizes) / group_.size()) {
    Value<T> const in = execute::whole_value<T>(s.before, z, axes.coords, {});
    Value<T> const out = execute::whole_value<T>(s.after, z, axes.coords, {});
    member_blocks(s.before, s.from, z, axes, s.axes, old_);
    member_blocks(s.after, s.to, z, axes, s.axes, new_);
    // a dim of one row outside of the rows may be split: the other ranks along its axes have none,
    // nor have the members of their groups
    if (kernels::outer_length(in.layout, row_dim_) == 0)
      for (detail::List<Range>* blocks : {&old_, &new_}) blocks->assign(blocks->size(), Range{});
    sent_ = Cut(in.layout, row_dim_, s.to, new_);
    joined_ = Cut(out.layout, row_dim_, s.from, old_);
    auto const me = static_cast<std::size_t>(core::rank_in_group(s.axes, axes.sizes, axes.coords));
    rows_in_ = joins_ ? rows_of_block(in.layout) : old_[me];
    rows_out_ = packs_ ? rows_of_block(out.layout) : new_[me];
  }
  FourierPieces(FourierPieces const&) = delete;
  FourierPieces& operator=(FourierPieces const&) = delete;
  /// The messages use memory that is released here.
  ~FourierPieces() {
    for (int c = 0; c < started_; ++c) {
      calls_[c]->calls.requests.finish();
      mesh_.exchanges().give_back(*calls_[c]);
    }
  }

  /// Calls `body(some rows)` for rows `all`, so many at a time as fit a cache.
  template <class Body>
  static void for_rows(Range const& all, std::int64_t row, Body body) {
    std::int64_t const some =
        std::max<std::int64_t>((std::int64_t{1} << 19) / (row * bytes + 1), 1);
    for (std::int64_t k = all.begin; k < all.end; k += some)
      body(Range{k, std::min(k + some, all.end)});
  }
  /// Memory for some rows, which stays in a cache.
  static T* cached(std::int64_t elements) {
    rows_in_cache.resize(static_cast<std::size_t>(elements) + 64 / sizeof(T));
    auto const misplaced = reinterpret_cast<std::uintptr_t>(rows_in_cache.data()) % 64;
    return rows_in_cache.data() + (misplaced == 0 ? 0 : (64 - misplaced) / sizeof(T));
  }

  int pieces() const { return pieces_; }
  /// Whether what arrives is not yet the result.
  bool joins() const { return joins_ && !one_row(rows_out_, joined_); }
  std::int64_t row_in() const { return sent_.row(); }
  std::int64_t row_out() const { return joined_.row(); }
  /// The rows that piece `c` sends, if they are packed, and those that it completes, if they are
  /// joined.
  Range sends(int c) const { return local(rows_in_, c); }
  Range completes(int c) const { return local(rows_out_, c); }

  /// Memory for the packed rows.
  void reserve() { wire_in_ = take(rows_in_.size() * sent_.row()); }
  void pack(T const* rows, Range const& part, int c) {
    move<kernels::Packing::split>(sent_, sends(c), part, rows, data(wire_in_));
  }
  /// The block that is sent where it is, or is released once it is packed.
  void send_from(Value<T>& v) {
    if (packs_ && !one_row(rows_in_, sent_)) {
      reserve();
      for (int c = 0; c < pieces_; ++c) pack(v.data + sends(c).begin * row_in(), sends(c), c);
    } else {
      block_ = v;
    }
    v = {};
  }
  /// Memory for what arrives: the result's, if nothing is joined.
  Buffer const& receive() { return wire_out_ = take(rows_out_.size() * joined_.row()); }

  /// Starts piece `c`.
  void start(int c) {
    runtime::Counts counts, at, recv_counts, recv_at;
    bool even = pieces_ == 1;
    for (std::size_t g = 0; g < new_.size(); ++g) {
      if (packs_)
        sent_.message(sends(c), g, counts, at);
      else
        whole_rows(new_, g, c, row_in(), counts, at);
      if (joins_)
        joined_.message(completes(c), g, recv_counts, recv_at);
      else
        whole_rows(old_, g, c, row_out(), recv_counts, recv_at);
      even = even && old_[g].size() == old_[0].size() && new_[g].size() == new_[0].size();
    }
    T const* const from = wire_in_.data() != nullptr ? data(wire_in_) : block_.data;
    runtime::Segments const sized = even ? runtime::Segments::even : runtime::Segments::uneven;
    if (pieces_ == 1)
      return group_.all_to_all(from, counts, at, data(wire_out_), recv_counts, recv_at, sized,
                               nullptr, segment_);
    runtime::Started started = mesh_.start();
    group_.all_to_all(from, counts, at, data(wire_out_), recv_counts, recv_at, sized,
                      &started.get()->calls);
    calls_[started_++] = started.release();
  }
  /// Lets messages make progress.
  void poke() {
    if (started_ > 0) mesh_.exchanges().poke();
  }
  void wait(int c) {
    if (c < started_) calls_[c]->calls.requests.finish();
  }
  void join(T* rows, Range const& part, int c) {
    move<kernels::Packing::join>(joined_, completes(c), part, data(wire_out_), rows);
  }

 private:
  static constexpr int most_pieces = 8;
  static constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  inline static shardtype::detail::List<T> rows_in_cache;

  /// The cut of rows along another dim into a segment for each member. A row: [between, n, inner].
  struct Cut {
    std::int64_t between = 1, n = 1, inner = 1;
    shardtype::detail::List<std::int64_t> begin;

    Cut() = default;
    Cut(kernels::Layout const& l, int row_dim, int dim,
        shardtype::detail::List<Range> const& blocks)
        : n(dim == row_dim ? 1 : l.extent[dim]), inner(kernels::inner_length(l, dim)) {
      for (int d = row_dim + 1; d < dim; ++d) between *= l.extent[d];
      for (Range const& r : blocks) begin.push_back(r.begin - blocks.front().begin);
      begin.push_back(blocks.back().end - blocks.front().begin);
    }
    std::int64_t row() const { return between * n * inner; }
    /// Where segment `g` of the packed `rows` begins.
    std::int64_t at(Range const& rows, std::size_t g) const {
      return rows.begin * row() + rows.size() * between * begin[g] * inner;
    }
    void message(Range const& rows, std::size_t g, runtime::Counts& counts,
                 runtime::Counts& offset) const {
      counts.push_back(rows.size() * between * (begin[g + 1] - begin[g]) * inner);
      offset.push_back(at(rows, g));
    }
  };

  /// Whether the messages are a block as it is.
  static bool one_row(Range const& rows, Cut const& cut) {
    return rows.size() <= 1 && cut.between == 1;
  }
  Range rows_of_block(kernels::Layout const& l) const {
    return {0, kernels::outer_length(l, row_dim_) * l.extent[row_dim_]};
  }
  Range local(Range const& rows, int c) const {
    Range const p = piece(rows, c, pieces_);
    return {p.begin - rows.begin, p.end - rows.begin};
  }
  void whole_rows(shardtype::detail::List<Range> const& blocks, std::size_t g, int c,
                  std::int64_t row, runtime::Counts& counts, runtime::Counts& offset) const {
    Range const p = piece(blocks[g], c, pieces_);
    counts.push_back(p.size() * row);
    offset.push_back((p.begin - blocks[0].begin) * row);
  }
  /// Moves rows `part` of the packed rows `all` between their memory and the messages.
  template <kernels::Packing Way>
  static void move(Cut const& cut, Range const& all, Range const& part, T const* from, T* to) {
    constexpr bool split = Way == kernels::Packing::split;
    bool const stream = split && all.size() * cut.row() * bytes > std::int64_t{4} << 20;
    for (std::size_t g = 0; g + 1 < cut.begin.size(); ++g) {
      std::int64_t const length = (cut.begin[g + 1] - cut.begin[g]) * cut.inner;
      std::int64_t wire = cut.at(all, g) + (part.begin - all.begin) * cut.between * length;
      std::int64_t row = cut.begin[g] * cut.inner;
      for (std::int64_t k = 0; k < part.size() * cut.between; ++k) {
        T* const into = to + (split ? wire : row);
        T const* const source = from + (split ? row : wire);
        if (stream)
          kernels::stream_copy(into, source, static_cast<std::size_t>(length * bytes));
        else
          std::copy_n(source, length, into);
        wire += length;
        row += cut.n * cut.inner;
      }
    }
    if (stream) kernels::stream_fence();
  }
  Buffer take(std::int64_t elements) {
    return mesh_.pool().template take<Space>(static_cast<std::size_t>(elements) * sizeof(T));
  }
  static T* data(Buffer const& b) { return static_cast<T*>(b.data()); }

  MeshState& mesh_;
  runtime::Comm& group_;
  int pieces_, row_dim_;
  bool packs_, joins_;
  std::int64_t segment_;
  shardtype::detail::List<Range> old_, new_;  // of the members, along the joined and the split dim
  Cut sent_, joined_;
  Range rows_in_, rows_out_;
  Buffer wire_in_, wire_out_;
  Value<T> block_;
  runtime::Exchange* calls_[most_pieces]{};
  int started_ = 0;
};

}  // namespace shardtype::execute
