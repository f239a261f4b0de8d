#pragma once
/// Products overlapped with their communication: blocks travel round a ring of ranks in chunks, and
/// each chunk is multiplied when it arrives. The scaling book calls them collective matmuls; JAX's
/// documentation describes the all-gather form. MPI moves data only inside its calls, so it is
/// called between chunks.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <sched.h>

#include <shardtype/core/block.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/kernels/product.hpp>
#include <shardtype/overlap/policy.hpp>
#include <shardtype/runtime/stream.hpp>

namespace shardtype::overlap {

/// The part of `x` with these indices along `label`, if it has that dim.
template <class T>
kernels::Labelled<T> part(kernels::Labelled<T> x, int label, Range r) {
  int const d = x.find(label);
  if (d < 0) return x;
  x.data += r.begin * x.layout.stride[d];
  x.layout.extent[d] = r.size();
  return x;
}

/// `x` without the dim of this label, at its first index.
template <class T>
kernels::Labelled<T> without(kernels::Labelled<T> const& x, int label) {
  kernels::Labelled<T> out;
  out.data = x.data;
  for (int d = 0; d < x.layout.rank; ++d) {
    if (x.label[d] == label) continue;
    out.label[out.layout.rank] = x.label[d];
    out.layout.extent[out.layout.rank] = x.layout.extent[d];
    out.layout.stride[out.layout.rank++] = x.layout.stride[d];
  }
  return out;
}

/// The gemms of the pieces of a product: one for each piece or, where its dims do not fold, one for
/// each index of `loop`. `turned`: blocks travel with the dim of the ring first, so that each chunk
/// of them is contiguous.
struct Pieces {
  bool possible = false;
  bool turned = false;
  int loop = -1;
};

/// A ring of `p` ranks, in the order of a communicator, and the streams along it.
class Ring {
 public:
  Ring(Comm& comm, Route const& route, int first_tag = 1)
      : p_(comm.size()),
        me_(comm.rank()),
        route_(route),
        streams_{Stream(comm, next(-1), next(1), first_tag),
                 Stream(comm, next(1), next(-1), first_tag + 1)} {}

  int size() const { return p_; }
  int directions() const { return route_.directions; }
  std::int64_t chunks() const { return route_.chunks; }
  double piece_flops() const { return route_.piece; }
  Stream& stream(int direction) { return streams_[static_cast<std::size_t>(direction)]; }
  /// The rank at distance `by` in `direction`: 0 upwards, 1 downwards.
  int along(int direction, int by) const { return next(direction == 0 ? by : -by); }
  /// Number of steps after which the block of rank `g` arrives in `direction`.
  int places(int direction, int g) const {
    int const by = direction == 0 ? me_ - g : g - me_;
    return (by % p_ + p_) % p_;
  }
  /// The rows of a block of `n` rows that travel in `direction`, and those of its chunk `c`.
  Range way(std::int64_t n, int direction) const { return piece({0, n}, direction, directions()); }
  Range chunk(std::int64_t n, int direction, std::int64_t c) const {
    return piece(way(n, direction), c, chunks());
  }
  void finish() {
    for (int k = 0; k < directions(); ++k) stream(k).finish();
  }

 private:
  int next(int by) const { return ((me_ + by) % p_ + p_) % p_; }

  int p_;
  int me_;
  Route route_;
  std::array<Stream, 2> streams_;
};

/// One product on a ring. `a` and `b` are packed, and so is the result. Chunks that have arrived
/// are multiplied in pieces as large as possible up to some milliseconds: small pieces are slow,
/// and MPI must be called in between.
template <class T, class Exec>
class RingProduct {
  using Space = typename Exec::memory_space;
  using Block = kernels::Labelled<T>;

 public:
  /// `loop`: a label whose indices are multiplied one after the other, or -1.
  RingProduct(Exec const& exec, Pool& pool, Comm& comm, Route const& route, int loop = -1)
      : pool_(pool), comm_(comm), ring_(comm, route), product_(exec, pool), loop_(loop) {}

  /// `c` (memory: `data`) = `a` times `b`, where the ranks hold blocks of `a` (or, unless `first`,
  /// of `b`) along `label`; `blocks` gives the range of each rank. all_gather, then product, but no
  /// rank ever stores the whole operand: at most two blocks of other ranks. With `whole`, memory
  /// for the operand with `label` as its outermost dim, all blocks are kept there.
  void gather(Block const& a, Block const& b, bool first, int label,
              detail::List<Range> const& blocks, Block const& c, T* data, T* whole = nullptr) {
    Block const& mine = first ? a : b;
    Block const& other = first ? b : a;
    int const rows = mine.label[0];  // chunks are cut along the outermost dim
    bool const sums_blocks = c.find(label) < 0;
    bool const sums_rows = c.find(rows) < 0;
    Shapes const shapes(mine, label, blocks);
    Rooms rooms(*this, shapes, whole == nullptr);
    std::int64_t const chunks = ring_.chunks();
    int const p = ring_.size();
    // The block that arrives after `step` steps comes from the rank at that distance upstream.
    auto const owner = [&](int k, std::int64_t t) {
      return ring_.along(k, -static_cast<int>(t / chunks));
    };
    auto const lies = [&](int k, std::int64_t t, std::int64_t row) {
      int const g = owner(k, t);
      if (whole != nullptr)
        return whole + (blocks[static_cast<std::size_t>(g)].begin + row) * shapes.row_length(g);
      return t < chunks ? nullptr : rooms.place(k, t / chunks - 1, row, shapes.of(g));
    };
    auto const chunk_rows = [&](int k, std::int64_t t) {
      return ring_.chunk(shapes.of(owner(k, t)).layout.extent[0], k, t % chunks);
    };
    Progress progress[2];
    // whether the rows of c for rank g's block already hold a result, from either direction
    auto const touched = [&](int g) {
      bool out = false;
      for (int k = 0; k < ring_.directions(); ++k)
        out = out || progress[k].done > ring_.places(k, g) * chunks;
      return out;
    };
    // Chunk t (the first chunks are this rank's own) is multiplied when it is here, and sent on at
    // once.
    auto const send = [&](int k, std::int64_t t) {
      Range const r = chunk_rows(k, t);
      std::int64_t const row = shapes.row_length(owner(k, t));
      ring_.stream(k).send(t < chunks ? mine.data + r.begin * row : lies(k, t, r.begin),
                           r.size() * row);
    };
    auto const post = [&](int k) {
      for (std::int64_t& t = progress[k].posted; t < p * chunks; ++t) {
        if (std::int64_t const last = t / chunks - rooms.places();
            whole == nullptr && last > 0 && !left(progress[k], k, last))
          break;
        Range const r = chunk_rows(k, t);
        ring_.stream(k).receive(lies(k, t, r.begin), r.size() * shapes.row_length(owner(k, t)));
      }
    };
    auto const advance = [&](int k) {
      Stream& stream = ring_.stream(k);
      while (stream.came())
        if (std::int64_t const t = chunks + stream.come() - 1; t < (p - 1) * chunks) send(k, t);
      post(k);
    };
    for (int k = 0; k < ring_.directions(); ++k) {
      progress[k].posted = chunks;
      post(k);
      // first, because messages are sent in the order of their numbers
      for (std::int64_t t = 0; t < chunks; ++t) send(k, t);
    }
    work(progress, advance, false, [&](int k, std::int64_t t, std::int64_t end, bool dry) {
      int const g = owner(k, t);
      Block x = shapes.of(g);
      Range const r{chunk_rows(k, t).begin, chunk_rows(k, end - 1).end};
      x.data = t < chunks ? mine.data + r.begin * shapes.row_length(g) : lies(k, t, r.begin);
      x.layout.extent[0] = r.size();
      Range const block = blocks[static_cast<std::size_t>(g)];
      Block const y = shapes.part_of(other, block, r);
      Block const z = shapes.part_of(c, block, r);
      if (dry) return flops(x, y, z);
      bool const any = progress[0].done + progress[1].done > 0;
      bool const add = sums_blocks ? (sums_rows ? any : t >= chunks) : sums_rows && touched(g);
      write(first ? x : y, first ? y : x, z, data + (z.data - c.data), add);
      return 0.0;
    });
    ring_.finish();
  }

  /// `data` = this rank's block along `label` of the sum of all ranks' `a` times `b`; `whole` is
  /// the shape of the product before the scatter. Product, then reduce_scatter, but no rank ever
  /// stores the whole product: at most two blocks of it. The summands are added in the order of the
  /// ring.
  void scatter(Block const& a, Block const& b, Block const& whole, int label,
               detail::List<Range> const& blocks, T* data) {
    sum(a, b, whole, label, blocks, data, [](int, Range) {});
  }

  /// `c` = the sum of all ranks' `a` times `b`, on all ranks: each rank's rows are summed as in
  /// `scatter`, and sent round as soon as they are finished. `blocks` are along the outermost dim
  /// of `c`.
  void reduce(Block const& a, Block const& b, detail::List<Range> const& blocks, Block const& c,
              T* data) {
    int const p = ring_.size();
    std::int64_t const row = kernels::inner_length(c.layout, 0);
    Ring round(comm_, {ring_.directions(), ring_.chunks(), ring_.piece_flops()}, 3);
    std::int64_t const chunks = round.chunks();
    auto const rows = [&](int k, std::int64_t t) {
      Range const block =
          blocks[static_cast<std::size_t>(round.along(k, -static_cast<int>(t / chunks)))];
      Range const r = round.chunk(block.size(), k, t % chunks);
      return Range{block.begin + r.begin, block.begin + r.end};
    };
    for (int k = 0; k < round.directions(); ++k)
      for (std::int64_t t = chunks; t < p * chunks; ++t)
        round.stream(k).receive(data + rows(k, t).begin * row, rows(k, t).size() * row);
    auto const forward = [&] {
      for (int k = 0; k < round.directions(); ++k)
        while (round.stream(k).came())
          if (std::int64_t const t = chunks + round.stream(k).come() - 1; t < (p - 1) * chunks)
            round.stream(k).send(data + rows(k, t).begin * row, rows(k, t).size() * row);
    };
    T* const mine = data + blocks[static_cast<std::size_t>(round.along(0, 0))].begin * row;
    sum(a, b, c, c.label[0], blocks, mine,
        [&](int k, Range r) { round.stream(k).send(mine + r.begin * row, r.size() * row); });
    // chunks that arrive before the last own chunk is sent must wait for it, to keep streams in
    // order
    for (bool all = false; !all;) {
      forward();
      all = true;
      for (int k = 0; k < round.directions(); ++k)
        all = all && round.stream(k).come() == (p - 1) * chunks;
      if (!all && run_time.yield_while_waiting) sched_yield();
    }
    round.finish();
  }

 private:
  /// Progress of one direction, in chunks.
  struct Progress {
    std::int64_t posted = 0;  ///< receives posted
    std::int64_t done = 0;    ///< chunks multiplied
  };

  /// The blocks of all ranks; they differ only in the extent along one dim.
  struct Shapes {
    Block mine;
    int label;
    detail::List<Range> const& blocks;
    int dim = mine.find(label);

    Shapes(Block const& block, int along, detail::List<Range> const& all)
        : mine(block), label(along), blocks(all) {}
    Block of(int g) const {
      Block x = mine;
      x.layout.extent[dim] = blocks[static_cast<std::size_t>(g)].size();
      x.layout = x.layout.packed();
      return x;
    }
    std::int64_t row_length(int g) const { return kernels::inner_length(of(g).layout, 0); }
    /// The part of `x` for rows `r` of the block `block`.
    Block part_of(Block const& x, Range block, Range r) const {
      if (dim == 0) return overlap::part(x, label, {block.begin + r.begin, block.begin + r.end});
      return overlap::part(overlap::part(x, label, block), mine.label[0], r);
    }
  };

  /// Receive memory: one or two blocks per direction.
  class Rooms {
   public:
    Rooms(RingProduct& of, Shapes const& shapes, bool used = true)
        : ring_(of.ring_), shapes_(shapes), places_(std::min(ring_.size() - 1, 2)) {
      for (int k = 0; used && k < ring_.directions(); ++k)
        for (std::int64_t place = 0; place < places_; ++place) {
          Block const largest = shapes.of(0);
          auto const n = ring_.way(largest.layout.extent[0], k).size() * shapes.row_length(0);
          room_[k][place] = of.pool_.template take<Space>(static_cast<std::size_t>(n) * sizeof(T));
        }
    }
    std::int64_t places() const { return places_; }
    /// Address of row `row` of a block `x` that arrives in direction `k` as number `turn`.
    T* place(int k, std::int64_t turn, std::int64_t row, Block const& x) const {
      return static_cast<T*>(room_[k][turn % places_].data()) +
             (row - ring_.way(x.layout.extent[0], k).begin) * kernels::inner_length(x.layout, 0);
    }

   private:
    Ring& ring_;
    Shapes const& shapes_;
    std::int64_t places_;
    Buffer room_[2][2];
  };

  /// Whether block `b` has been multiplied and sent on completely, so that its memory can be
  /// reused. Block by block, because blocks may differ in size, and so do the positions of their
  /// chunks.
  bool left(Progress const& progress, int k, std::int64_t b) {
    std::int64_t const end = (b + 1) * ring_.chunks();
    if (progress.done < end) return false;
    for (std::int64_t t = b * ring_.chunks(); t < end; ++t)
      if (!ring_.stream(k).gone(t)) return false;
    return true;
  }

  /// Writes a product of pieces to `data`, with the layout of `z`, or adds it to `data`.
  void write(Block const& x, Block const& y, Block const& z, T* data, bool add) {
    if (loop_ < 0) {
      product_.write(x, y, z, data, add);
      return;
    }
    bool const sums = z.find(loop_) < 0;
    Block const& has = x.find(loop_) >= 0 ? x : y;
    std::int64_t const n = has.layout.extent[has.find(loop_)];
    if (n == 0 && sums && !add) {  // a sum of nothing: as one without terms
      product_.write(none_of(x, z), none_of(y, z), z, data, false);
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      Range const r{i, i + 1};
      Block const to = overlap::part(z, loop_, r);
      product_.write(overlap::without(overlap::part(x, loop_, r), loop_),
                     overlap::without(overlap::part(y, loop_, r), loop_),
                     overlap::without(to, loop_), data + (to.data - z.data),
                     add || (sums && i > 0));
    }
  }
  /// `x` at the first index of `loop`, with no indices along the other labels that are summed over.
  Block none_of(Block const& x, Block const& z) const {
    Block out = overlap::without(x, loop_);
    for (int d = 0; d < out.layout.rank; ++d)
      if (z.find(out.label[d]) < 0) out.layout.extent[d] = 0;
    return out;
  }

  static double flops(Block const& x, Block const& y, Block const& z) {
    return 2 * std::sqrt(static_cast<double>(x.layout.elements()) *
                         static_cast<double>(y.layout.elements()) *
                         static_cast<double>(z.layout.elements()));
  }

  /// Multiplies all chunks; `early`: other ranks wait for the products. `multiply(direction, first,
  /// end, dry)` multiplies some chunks of one block that have arrived or, if `dry`, returns their
  /// flops. `advance(direction)` makes progress and notes arrivals.
  template <class Advance, class Multiply>
  void work(Progress (&progress)[2], Advance advance, bool early, Multiply multiply) {
    std::int64_t const chunks = ring_.chunks();
    std::int64_t const all = ring_.size() * chunks;
    double const one = std::max(multiply(0, 0, 1, true), 1.0);
    auto const most = static_cast<std::int64_t>(
        std::clamp(ring_.piece_flops() / one, 1.0, static_cast<double>(chunks)));
    for (;;) {
      int next = -1;
      bool left = false;
      for (int k = 0; k < ring_.directions(); ++k) {
        advance(k);
        std::int64_t const done = progress[k].done;
        left = left || done < all;
        // Small pieces are slow, so at least half of the rest of a block must have arrived, unless
        // another rank waits for it. The last pieces are small all the same, because nothing hides
        // their time.
        std::int64_t const rest = chunks - done % chunks;
        bool const awaited = early && done < (ring_.size() - 1) * chunks;
        std::int64_t const least =
            std::max(awaited ? 1 : (rest + 1) / 2, std::min(rest, chunks / 8));
        if (done < all && done + least <= chunks + ring_.stream(k).come() &&
            (next < 0 || done < progress[next].done))
          next = k;
      }
      if (!left) return;
      if (next < 0) {
        if (run_time.yield_while_waiting) sched_yield();
        continue;
      }
      std::int64_t& t = progress[next].done;
      // if others wait for the first chunks, compute these first
      std::int64_t const many =
          early && t < chunks / 2 ? std::clamp<std::int64_t>(chunks / 4, 1, most) : most;
      std::int64_t const end =
          std::min({t + many, (t / chunks + 1) * chunks, chunks + ring_.stream(next).come()});
      multiply(next, t, end, false);
      t = end;
      // Messages that arrived or left meanwhile are in buffers below MPI, which moves some
      // kilobytes per call.
      for (int quiet = 0; quiet < 128; ++quiet)
        for (int k = 0; k < ring_.directions(); ++k) {
          std::int64_t const before = ring_.stream(k).come();
          advance(k);
          if (ring_.stream(k).come() != before) quiet = 0;
        }
    }
  }

  /// The summing stage: partial sums of rank g's block travel from rank to rank, each rank adds its
  /// own, and g is the last. `ready(direction, rows)` is called for each finished chunk of the own
  /// block, at `target`.
  template <class Ready>
  void sum(Block const& a, Block const& b, Block const& whole, int label,
           detail::List<Range> const& blocks, T* target, Ready ready) {
    int const p = ring_.size();
    std::int64_t const chunks = ring_.chunks();
    Shapes const shapes(whole, label, blocks);
    Rooms rooms(*this, shapes);
    auto const owner = [&](int k, std::int64_t t) {
      return ring_.along(k, -1 - static_cast<int>(t / chunks));
    };
    auto const chunk_rows = [&](int k, std::int64_t t) {
      return ring_.chunk(shapes.of(owner(k, t)).layout.extent[0], k, t % chunks);
    };
    auto const lies = [&](int k, std::int64_t t, std::int64_t row) {
      int const g = owner(k, t);
      if (t / chunks == p - 1) return target + row * shapes.row_length(g);
      return rooms.place(k, t / chunks, row, shapes.of(g));
    };
    Progress progress[2];
    auto const advance = [&](int k) {
      Stream& stream = ring_.stream(k);
      for (std::int64_t& t = progress[k].posted; t < p * chunks; ++t) {
        std::int64_t const last = t / chunks - 2;  // the last block that used the same memory
        if (t / chunks != p - 1 && last >= 0 && !left(progress[k], k, last)) break;
        Range const r = chunk_rows(k, t);
        stream.receive(lies(k, t, r.begin), r.size() * shapes.row_length(owner(k, t)));
      }
      while (stream.came()) {
      }
    };
    for (int k = 0; k < ring_.directions(); ++k) {
      progress[k].posted = chunks;
      advance(k);
    }
    work(progress, advance, true, [&](int k, std::int64_t t, std::int64_t end, bool dry) {
      int const g = owner(k, t);
      Block z = shapes.of(g);
      Range const r{chunk_rows(k, t).begin, chunk_rows(k, end - 1).end};
      z.layout.extent[0] = r.size();
      Range const block = blocks[static_cast<std::size_t>(g)];
      Block const x = shapes.part_of(a, block, r);
      Block const y = shapes.part_of(b, block, r);
      if (dry) return flops(x, y, z);
      write(x, y, z, lies(k, t, r.begin), t >= chunks);
      for (; t < end; ++t) {
        Range const rows = chunk_rows(k, t);
        if (t / chunks == p - 1)
          ready(k, rows);
        else
          ring_.stream(k).send(lies(k, t, rows.begin), rows.size() * shapes.row_length(g));
      }
      return 0.0;
    });
    ring_.finish();
  }

  Pool& pool_;
  Comm& comm_;
  Ring ring_;
  kernels::Product<T, Exec> product_;
  int loop_;
};

}  // namespace shardtype::overlap
