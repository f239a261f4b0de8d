#pragma once
/// Device: the cotangents of running products, by groups of rows and groups of groups instead of
/// column by column.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/device_scan.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/running_back.hpp>

namespace shardtype::kernels {

namespace detail {

/// Some of a column's members belong to each group; the last one has also those that are left.
struct ProductGroups {
  std::int64_t columns, members, group, groups;

  KOKKOS_FUNCTION std::int64_t begin(std::int64_t g) const { return g * group; }
  KOKKOS_FUNCTION std::int64_t end(std::int64_t g) const {
    return g + 1 == groups ? members : (g + 1) * group;
  }
};

/// One call computes the block of one group of rows.
template <class T, class W>
struct ProductsOfRows {
  ProductsBlockOf<T, W> of;
  ProductGroups groups;
  ProductsBlock<W>* blocks;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const c = work % groups.columns, g = work / groups.columns;
    blocks[work] = of.of(c, groups.begin(g), groups.end(g));
  }
};
/// One call joins the blocks of a group.
template <class W>
struct JoinProducts {
  using Join = typename ProductsBlock<W>::Join;
  ProductGroups groups;
  ProductsBlock<W> const* blocks;
  ProductsBlock<W>* out;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const c = work % groups.columns, g = work / groups.columns;
    ProductsBlock<W> total = blocks[groups.begin(g) * groups.columns + c];
    for (std::int64_t n = groups.begin(g) + 1; n < groups.end(g); ++n)
      Join::join(total, blocks[n * groups.columns + c]);
    out[work] = total;
  }
};
/// A column's block becomes the product before it and the sum behind it.
template <class T, class W>
struct ProductsAround {
  ProductsBack<T, W> of;
  ProductsBlock<W>* blocks;

  KOKKOS_FUNCTION void operator()(std::int64_t c) const { blocks[c] = of.of_other_ranks(c); }
};
/// The same of the members of a group, of which it is known.
template <class W>
struct ProductsAroundMembers {
  ProductGroups groups;
  ProductsBlock<W>* blocks;
  ProductsBlock<W> const* around;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const c = work % groups.columns, g = work / groups.columns;
    Scaled<W> sum = around[work].sum;
    for (std::int64_t n = groups.end(g); n-- > groups.begin(g);) {
      ProductsBlock<W>& of = blocks[n * groups.columns + c];
      Scaled<W> const next = of.before(sum);
      of.sum = sum;
      sum = next;
    }
    Scaled<W> product = around[work].product;
    for (std::int64_t n = groups.begin(g); n < groups.end(g); ++n) {
      ProductsBlock<W>& of = blocks[n * groups.columns + c];
      Scaled<W> const next = product * of.product;
      of.product = product;
      product = next;
    }
  }
};
/// One call writes the cotangents of one group of rows.
template <class T, class W>
struct ProductsBackRows {
  ProductsBack<T, W> of;
  ProductGroups groups;
  ProductsBlock<W> const* around;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const c = work % groups.columns, g = work / groups.columns;
    of.rows(c, groups.begin(g), groups.end(g), around[work].product, around[work].sum);
  }
};

}  // namespace detail

/// Device: the groups of `columns` columns of `middle` rows, and their blocks in workspace: first
/// the rows', then those of groups, until each column is one.
template <class W>
class GroupedProducts {
  using Block = ProductsBlock<W>;

 public:
  GroupedProducts(std::int64_t columns, std::int64_t middle) {
    for (std::int64_t members = middle;; members = levels_[count_ - 1].groups) {
      std::int64_t const group = detail::scanned_group(columns, members);
      std::int64_t const groups = members < 2 * group ? 1 : members / group;
      begin_[count_ + 1] = begin_[count_] + columns * groups;
      levels_[count_++] = {columns, members, group, groups};
      if (groups == 1) return;
    }
  }
  /// Blocks of all levels; the last are those of the columns.
  std::int64_t blocks() const { return begin_[count_]; }
  std::int64_t columns_begin() const { return begin_[count_ - 1]; }

  /// Computes the blocks.
  template <class Exec, class T>
  void find(Exec const& exec, ProductsBlockOf<T, W> const& of, Block* workspace) const {
    run(exec, 0, detail::ProductsOfRows<T, W>{of, levels_[0], workspace});
    for (int level = 1; level < count_; ++level)
      run(exec, level,
          detail::JoinProducts<W>{levels_[level], workspace + begin_[level - 1],
                                  workspace + begin_[level]});
  }
  /// Writes the cotangents; overwrites the blocks.
  template <class Exec, class T>
  void back(Exec const& exec, ProductsBack<T, W> const& of, Block* workspace) const {
    run(exec, count_ - 1, detail::ProductsAround<T, W>{of, workspace + columns_begin()});
    for (int level = count_ - 1; level > 0; --level)
      run(exec, level,
          detail::ProductsAroundMembers<W>{levels_[level], workspace + begin_[level - 1],
                                           workspace + begin_[level]});
    run(exec, 0, detail::ProductsBackRows<T, W>{of, levels_[0], workspace});
  }

 private:
  /// A call for each group of a level.
  template <class Exec, class Kernel>
  void run(Exec const& exec, int level, Kernel const& kernel) const {
    detail::ProductGroups const& of = levels_[level];
    if (of.columns > 0)
      kernels::launch(exec, "shardtype::running_back", of.columns * of.groups, kernel);
  }

  detail::ProductGroups levels_[24] = {};
  std::int64_t begin_[25] = {};
  int count_ = 0;
};

}  // namespace shardtype::kernels
