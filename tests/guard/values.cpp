// Kernels that are others on a device: each has the results of the host's. What they move or add up
// are integers, so that no order of sums is seen.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include <shardtype/kernels/convert.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/norms.hpp>
#include <shardtype/kernels/pitched.hpp>
#include <shardtype/kernels/reduce.hpp>
#include <shardtype/kernels/running_back_levels.hpp>
#include <shardtype/kernels/running_products.hpp>
#include <shardtype/kernels/runs.hpp>
#include <shardtype/kernels/scan.hpp>
#include <shardtype/kernels/scatter.hpp>
#include <shardtype/kernels/segments.hpp>
#include <shardtype/kernels/sort.hpp>
#include <shardtype/kernels/sort_by_keys.hpp>
#include <shardtype/kernels/sum_parts.hpp>
#include <shardtype/kernels/unpack.hpp>
#include <shardtype/kernels/view_runs.hpp>

using namespace shardtype;

namespace {

using Int = std::int64_t;
using Host = Kokkos::DefaultHostExecutionSpace;
using Device = guard::Device;

int failures = 0;

/// Elements that kernels on `Exec` can access.
template <class Exec, class T>
class Memory {
  using Space = typename Exec::memory_space;

 public:
  explicit Memory(std::vector<T> const& from)
      : bytes_(from.size() * sizeof(T)), data_(Kokkos::kokkos_malloc<Space>("values", bytes_ + 1)) {
    runtime::copy_bytes<Space, Kokkos::HostSpace>(data_, from.data(), bytes_);
  }
  Memory(Memory const&) = delete;
  Memory& operator=(Memory const&) = delete;
  ~Memory() { Kokkos::kokkos_free<Space>(data_); }

  T* data() const { return static_cast<T*>(data_); }
  std::vector<T> values() const {
    std::vector<T> out(bytes_ / sizeof(T));
    runtime::copy_bytes<Kokkos::HostSpace, Space>(out.data(), data_, bytes_);
    return out;
  }

 private:
  std::size_t bytes_;
  void* data_;
};

std::vector<float> numbers(Int n) {
  std::vector<float> out(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<float>(k * 7919 % 251) - 120;
  return out;
}

/// Runs `kernel(exec, in, out)` on the host and on the device, and compares `out`.
template <class Kernel>
void same(char const* what, Int size, Int in_size, Int out_size, Kernel kernel) {
  auto const run = [&]<class Exec>(Exec const& exec) {
    Memory<Exec, float> const in(numbers(in_size));
    Memory<Exec, float> const out(std::vector<float>(static_cast<std::size_t>(out_size), -1.0F));
    kernel(exec, in.data(), out.data());
    exec.fence();
    return out.values();
  };
  if (run(Host()) == run(Device())) return;
  std::printf("differs: %s, %lld\n", what, static_cast<long long>(size));
  ++failures;
}

kernels::Layout layout(std::vector<Int> const& extents, std::vector<Int> const& strides) {
  kernels::Layout l;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    l.extent[l.rank] = extents[d];
    l.stride[l.rank++] = strides[d];
  }
  return l;
}

/// Copies of blocks in all orders of three dims, and of parts of them.
void copies(Int a, Int b, Int c) {
  Int const n = a * b * c;
  std::vector<kernels::Layout> const all = {
      layout({a, b, c}, {b * c, c, 1}),           layout({a, c, b}, {b * c, 1, c}),
      layout({b, a, c}, {c, b * c, 1}),           layout({b, c, a}, {c, 1, b * c}),
      layout({c, a, b}, {1, b * c, c}),           layout({c, b, a}, {1, c, b * c}),
      layout({a, (b + 1) / 2, c}, {b * c, c, 1}), layout({a, b, (c + 1) / 2}, {b * c, c, 2}),
      layout({a, 3, c}, {b * c, 0, 1}),           layout({a}, {b * c})};
  for (kernels::Layout const& l : all) {
    Int const packed = l.elements();
    same("copy_packed", n, n, packed, [&](auto const& exec, float const* in, float* out) {
      kernels::copy_packed(exec, in, l, out);
    });
    if (l.rank > 1 && l.stride[1] == 0) continue;
    same("copy_unpacked", n, packed, n, [&](auto const& exec, float const* in, float* out) {
      kernels::copy_unpacked(exec, in, l, out);
    });
  }
}

/// Messages of segments and of runs of the middle dim of [outer, 7, inner].
void packing(Int outer, Int inner) {
  Int const n = outer * 7 * inner;
  std::vector<Int> const begin = {0, 2, 2, 3, 7};
  // runs of both messages, and the rows of the block where they begin
  std::vector<Int> const at = {0, 2, 3, 4, 6}, row = {5, 0, 3, 1}, first = {0, 1, 4};
  auto const move = [&]<kernels::Packing Way>(std::integral_constant<kernels::Packing, Way>) {
    same("move_segments", n, n, n, [&]<class Exec>(Exec const& exec, float const* in, float* out) {
      Memory<Exec, Int> const table(begin);
      kernels::move_segments<Way>(exec, in, out, table.data(), 4, outer, 7, inner);
    });
    same("move_runs", n, n, n, [&]<class Exec>(Exec const& exec, float const* in, float* out) {
      Memory<Exec, Int> const at_run(at), row_of_run(row), first_run(first);
      kernels::RunTable const table{at_run.data(), row_of_run.data(), first_run.data(), 2, 4, 6};
      kernels::move_runs<Way>(exec, in, out, table, outer, 7, inner);
    });
  };
  kernels::Layout const views[] = {layout({outer, 7, inner}, {7 * inner, inner, 1}),
                                   layout({outer, 7, inner}, {7 * inner, 1, 7}),
                                   layout({outer, 7, inner}, {1, outer, 7 * outer})};
  for (kernels::Layout const& view : views)
    same("split_view", n, n, n, [&]<class Exec>(Exec const& exec, float const* in, float* out) {
      Memory<Exec, Int> const at_run(at), row_of_run(row), first_run(first), order({1, 3, 2, 0});
      kernels::RunTable const table{at_run.data(), row_of_run.data(), first_run.data(), 2, 4, 6};
      kernels::split_view(exec, in, out, view, 1, table, order.data());
      exec.fence();
    });
  move(std::integral_constant<kernels::Packing, kernels::Packing::split>());
  move(std::integral_constant<kernels::Packing, kernels::Packing::join>());
}

void rows(Int count, Int length) {
  Int const n = count * length;
  same("copy_pitched", n, n, 2 * n, [&](auto const& exec, float const* in, float* out) {
    kernels::copy_pitched(exec, in, length, out, 2 * length, count, length);
  });
  same("add_pitched", n, n, 2 * n, [&](auto const& exec, float const* in, float* out) {
    kernels::add_pitched(exec, in, length, out, 2 * length, count, length);
  });
  same("sum_parts", n, 3 * n, n, [&](auto const& exec, float const* in, float* out) {
    kernels::sum_parts(exec, in, n, 3, count, length, length, out);
  });
  same("convert", n, n, n, [&]<class Exec>(Exec const& exec, float const* in, float* out) {
    Memory<Exec, double> const wide(std::vector<double>(static_cast<std::size_t>(n)));
    kernels::Matrix<float const> const from{in, length, count, 1, length, n};
    kernels::Matrix<double> const between{wide.data(), length, count, count, 1, n};
    kernels::Matrix<float> const to{out, length, count, 1, length, n};
    kernels::convert(exec, 1, from, between);
    kernels::convert(exec, 1, kernels::Matrix<double const>(between), to);
  });
}

template <class R>
void reduce(char const* what, kernels::Layout const& source, int kept, Int outputs) {
  Int const n = source.elements();
  same(what, n, n, outputs, [&]<class Exec>(Exec const& exec, float const* in, float* out) {
    kernels::ReducePlan const plan = kernels::plan_reduce<R>(exec, source, kept);
    Memory<Exec, char> const work(std::vector<char>(static_cast<std::size_t>(plan.workspace)));
    Memory<Exec, typename R::Result> const made(
        std::vector<typename R::Result>(static_cast<std::size_t>(outputs)));
    kernels::reduce<R>(exec, plan, in, made.data(), work.data());
    exec.fence();
    auto const result = made.values();
    std::vector<float> const values(result.begin(), result.end());
    runtime::copy_bytes<typename Exec::memory_space, Kokkos::HostSpace>(
        out, values.data(), values.size() * sizeof(float));
  });
}
/// Reductions of rows, of columns and of all elements.
template <class R>
void reductions(char const* what, Int a, Int b) {
  reduce<R>(what, layout({a, b}, {b, 1}), 1, a);
  reduce<R>(what, layout({b, a}, {1, b}), 1, b);
  reduce<R>(what, layout({a, b}, {b, 1}), 0, 1);
}

template <class R>
void scans(char const* what, Int outer, Int middle, Int inner) {
  Int const n = outer * middle * inner;
  for (bool const exclusive : {false, true})
    for (bool const reverse : {false, true})
      for (bool const starts : {false, true})
        same(what, n, n, n, [&](auto const& exec, float const* in, float* out) {
          kernels::scan_middle<R>(exec, in, out, starts ? in : nullptr, outer, middle, inner,
                                  exclusive, reverse);
        });
}

template <bool Max, bool Back>
void extremes_back(Int outer, Int middle, Int inner) {
  using Body = kernels::RunningExtremeBack<float, Max, Back>;
  Int const n = outer * middle * inner;
  for (bool const exclusive : {false, true})
    for (bool const reverse : {false, true})
      same("running extremes back", n, 2 * n, n,
           [&]<class Exec>(Exec const& exec, float const* in, float* out) {
             Memory<Exec, float> const work(std::vector<float>(static_cast<std::size_t>(5 * n)));
             kernels::running_extreme_back(
                 exec, outer * inner,
                 Body{in, in + n, out, work.data(), middle, inner, exclusive, reverse});
             exec.fence();
           });
}

/// bfloat16, which is accumulated in float: sums of integers, each rounded once.
void narrow_scans(Int outer, Int middle, Int inner) {
  Int const n = outer * middle * inner;
  for (bool const exclusive : {false, true})
    for (bool const starts : {false, true})
      same("cumsum of bfloat16", n, n, n,
           [&]<class Exec>(Exec const& exec, float const* in, float* out) {
             std::vector<bfloat16> const none(static_cast<std::size_t>(n));
             Memory<Exec, bfloat16> const from(none), to(none);
             kernels::Matrix<float const> const given{in, n, 1, 1, 1, n};
             kernels::convert(exec, 1, given,
                              kernels::Matrix<bfloat16>{from.data(), n, 1, 1, 1, n});
             bfloat16 const* const source = from.data();
             kernels::scan_middle<kernels::SumReducer<bfloat16>>(exec, source, to.data(),
                                                                 starts ? source : nullptr, outer,
                                                                 middle, inner, exclusive, !starts);
             kernels::convert(exec, 1, kernels::Matrix<bfloat16 const>{to.data(), n, 1, 1, 1, n},
                              kernels::Matrix<float>{out, n, 1, 1, 1, n});
             exec.fence();
           });
}

/// Writes the bytes of the numbers in which it divides.
struct NumberBytes {
  float* out;
  Int most;

  Int largest() const { return most; }
  template <class Number>
  KOKKOS_FUNCTION void operator()(Number k) const {
    out[k] = static_cast<float>(sizeof(Number));
  }
};
/// Calls have numbers of 32 bits on a device if all that a kernel divides fits, on the host never.
void numbers_of_calls() {
  auto const bytes = [&]<class Exec>(Exec const& exec, Int most) {
    Memory<Exec, float> const out(std::vector<float>(3));
    kernels::launch(exec, "number_bytes", 3, NumberBytes{out.data(), most});
    exec.fence();
    return out.values();
  };
  Int const fits = 0x7fffffff;
  using Values = std::vector<float>;
  if (bytes(Device(), fits) == Values{4, 4, 4} && bytes(Device(), fits + 1) == Values{8, 8, 8} &&
      bytes(Host(), fits) == Values{8, 8, 8})
    return;
  std::printf("numbers of calls have other widths\n");
  ++failures;
}

/// Running values of elements that are true or false: whether any, or all, were true so far.
template <class R>
void truths_scans(char const* what, Int outer, Int middle, Int inner) {
  Int const n = outer * middle * inner;
  for (bool const exclusive : {false, true})
    for (bool const reverse : {false, true})
      same(what, n, n, n, [&]<class Exec>(Exec const& exec, float const* in, float* out) {
        std::vector<float> const values = numbers(n);
        std::vector<char> given(static_cast<std::size_t>(n));
        for (std::size_t k = 0; k < given.size(); ++k)
          given[k] = (values[k] < -118) == std::is_same_v<R, kernels::ExtremeReducer<bool, true>>;
        static_cast<void>(in);
        Memory<Exec, char> const from(given), to(std::vector<char>(given.size()));
        bool const* const none = nullptr;
        kernels::scan_middle<R>(exec, reinterpret_cast<bool const*>(from.data()),
                                reinterpret_cast<bool*>(to.data()), none, outer, middle, inner,
                                exclusive, reverse);
        kernels::convert(exec, 1, kernels::Matrix<char const>{to.data(), n, 1, 1, 1, n},
                         kernels::Matrix<float>{out, n, 1, 1, 1, n});
        exec.fence();
      });
}

/// Cotangents of running products: on a device by groups, which with their halves, ones, twos and
/// zeros have exact products and sums. `ranks`: of which the calling one is `me`.
void products_back(Int outer, Int middle, Int inner, Int ranks, Int me) {
  using Block = kernels::ProductsBlock<double>;
  using Scaled = kernels::Scaled<double>;
  Int const columns = outer * inner, n = columns * middle;
  std::vector<float> factors(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < factors.size(); ++k)
    factors[k] = k % 97 == 96 ? 0.0F : k % 3 == 0 ? 2.0F : k % 3 == 1 ? 0.5F : -1.0F;
  std::vector<Block> const of_ranks(static_cast<std::size_t>(ranks * columns),
                                    Block{Scaled(2.0), Scaled(2.0), Scaled(3.0)});
  for (bool const exclusive : {false, true})
    for (bool const reverse : {false, true})
      same("cumprod's cotangents", n, n, n + columns,
           [&]<class Exec>(Exec const& exec, float const* ct, float* out) {
             Memory<Exec, float> const a(factors);
             Memory<Exec, Scaled> const behind(std::vector<Scaled>(static_cast<std::size_t>(n)));
             Memory<Exec, Block> const around(of_ranks);
             Memory<Exec, Block> const own(std::vector<Block>(static_cast<std::size_t>(columns)));
             bool const ends = me == (reverse ? 0 : ranks - 1);
             kernels::ProductsBlockOf<float, double> const of{
                 a.data(), ct, own.data(), middle, inner, exclusive, reverse};
             kernels::ProductsBack<float, double> const back{
                 a.data(), ct,     out,   behind.data(), around.data(), columns, ranks,
                 me,       middle, inner, exclusive,     reverse,       ends};
             std::vector<Block> totals;
             if constexpr (std::is_same_v<Exec, Host>) {
               kernels::for_columns(exec, columns, of);
               kernels::for_columns(exec, columns, back);
               totals = own.values();
             } else {
               kernels::GroupedProducts<double> const groups(columns, middle);
               Memory<Exec, Block> const blocks(
                   std::vector<Block>(static_cast<std::size_t>(groups.blocks())));
               groups.find(exec, of, blocks.data());
               totals = blocks.values();
               totals.erase(totals.begin(), totals.begin() + groups.columns_begin());
               groups.back(exec, back, blocks.data());
             }
             std::vector<float> sums;
             for (Block const& b : totals)
               sums.push_back(static_cast<float>(b.sum.value() + 3 * b.product.value()));
             runtime::copy_bytes<typename Exec::memory_space, Kokkos::HostSpace>(
                 out + n, sums.data(), sums.size() * sizeof(float));
           });
}

void selects(Int count, Int n, Int keep) {
  for (bool const descending : {false, true})
    same("top_k", n, count * n, count * keep,
         [&]<class Exec>(Exec const& exec, float const* in, float* out) {
           using Keyed = kernels::Keyed<float>;
           auto const plan = kernels::plan_sort<Exec>(count, n, keep);
           std::vector<Keyed> const none(static_cast<std::size_t>(count * n));
           Memory<Exec, Keyed> const a(none), b(none);
           Memory<Exec, Int> const places(std::vector<Int>(static_cast<std::size_t>(count * keep)));
           Keyed* const second = plan.has_second() ? b.data() : a.data();
           kernels::sort_rows<Keyed>(exec, plan, in, a.data(), second, descending);
           kernels::take_apart(exec, plan, plan.ends_in_first() ? a.data() : second, out,
                               places.data());
           exec.fence();
         });
}

/// Sorts rows of keys with values beside them on the host, from and to the memory of the device; in
/// the place of CUB. The result is in the other buffers if `swaps`.
struct StableSorter {
  bool swaps;
  mutable int pairs = 0;  ///< sorts with values

  template <class Key>
  void sort(Int rows, Int n, kernels::detail::SortBuffers<Key>& keys) const {
    kernels::detail::SortBuffers<Key> copies = keys;
    ordered(rows, n, keys, copies);
    if (swaps) std::swap(keys.from, keys.other);
  }
  template <class Key, class Value>
  void sort(Int rows, Int n, kernels::detail::SortBuffers<Key>& keys,
            kernels::detail::SortBuffers<Value>& values) const {
    ++pairs;
    ordered(rows, n, keys, values);
    if (swaps) std::swap(keys.from, keys.other), std::swap(values.from, values.other);
  }

 private:
  template <class T>
  static void copy(T* to, T const* from, std::size_t n) {
    guard::copy(to, from, n * sizeof(T));
  }
  template <class Key, class Value>
  void ordered(Int rows, Int n, kernels::detail::SortBuffers<Key>& keys,
               kernels::detail::SortBuffers<Value>& values) const {
    auto const all = static_cast<std::size_t>(rows * n);
    std::vector<Key> k(all), sorted_keys(all);
    std::vector<Value> v(all), sorted_values(all);
    copy(k.data(), keys.from, all);
    copy(v.data(), values.from, all);
    std::vector<std::size_t> at(all);
    std::iota(at.begin(), at.end(), std::size_t{0});
    for (Int row = 0; row < rows; ++row)
      std::stable_sort(at.begin() + row * n, at.begin() + (row + 1) * n,
                       [&](std::size_t x, std::size_t y) { return k[x] < k[y]; });
    for (std::size_t i = 0; i < all; ++i) sorted_keys[i] = k[at[i]], sorted_values[i] = v[at[i]];
    copy(swaps ? keys.other : keys.from, sorted_keys.data(), all);
    copy(swaps ? values.other : values.from, sorted_values.data(), all);
    // what a library leaves in the buffers between which it sorts
    copy(swaps ? keys.from : keys.other, k.data(), all);
    if (static_cast<void*>(values.from) != keys.from)
      copy(swaps ? values.from : values.other, v.data(), all);
  }
};

/// Rows sorted by keys have the bits of those sorted by comparing. `kind` 0: few zeros and no NaN;
/// 1: elements that have the keys of others.
template <class T>
void sorts_by_keys(Int rows, Int n, Int keep, int kind) {
  Device const exec;
  runtime::Pool::Owner const pool;
  std::vector<T> drawn(static_cast<std::size_t>(rows * n));
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    auto const h = (k + 1) * 2654435761U % 4093;
    double const special[] = {0.0, -0.0, NAN, -NAN, 1, -1, HUGE_VAL, -HUGE_VAL, 1e-40, -1e-40};
    drawn[k] = static_cast<T>(static_cast<float>(h) - 2000.5F);
    if constexpr (!std::is_integral_v<T>)
      if (kind == 1) drawn[k] = static_cast<T>(static_cast<float>(special[h % 10]));
  }
  auto const plan = kernels::plan_sort<Device>(rows, n, keep);
  auto const same_bits = [](auto const& x, auto const& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), sizeof(x[0]) * x.size()) == 0;
  };
  for (bool const descending : {false, true})
    for (bool const swaps : {false, true}) {
      StableSorter const sorter{swaps};
      Memory<Device, T> const in(drawn);
      auto const sorted = [&]<class Item>(bool by_keys, Item) {
        std::vector<Item> const none(drawn.size());
        Memory<Device, Item> const a(none), b(none);
        if (by_keys) {
          kernels::sort_rows_by_keys(exec, *pool, sorter, plan, in.data(), a.data(), b.data(),
                                     descending);
        } else {
          kernels::sort_rows<Item>(exec, plan, in.data(), a.data(), b.data(), descending);
        }
        return (plan.ends_in_first() ? a : b).values();
      };
      auto const apart = [&](std::vector<kernels::Keyed<T>> const& from) {
        std::vector<T> keys;
        std::vector<Int> places;
        for (std::size_t k = 0; k < from.size(); ++k)
          if (static_cast<Int>(k) % n < keep) {
            keys.push_back(from[k].key);
            places.push_back(from[k].place);
          }
        return std::pair{keys, places};
      };
      using Keyed = kernels::Keyed<T>;
      auto const [keys, places] = apart(sorted(true, Keyed{}));
      auto const [right_keys, right_places] = apart(sorted(false, Keyed{}));
      bool good =
          kernels::sorts_by_keys<T>(plan) && places == right_places && same_bits(keys, right_keys);
      sorter.pairs = 0;
      if (keep == n) good = good && same_bits(sorted(true, T{}), sorted(false, T{}));
      good = good && (sorter.pairs > 0) == (kind == 1 && keep == n);
      if (good) continue;
      std::printf("differs: sort by keys, %lld, kind %d\n", static_cast<long long>(n), kind);
      ++failures;
    }
}

void adds_along(Int outer, Int n, Int inner) {
  Int const count = 5;
  same("add_along", n, outer * count * inner, outer * n * inner,
       [&]<class Exec>(Exec const& exec, float const* in, float* out) {
         std::vector<Int> named(static_cast<std::size_t>(outer * count * inner));
         for (std::size_t k = 0; k < named.size(); ++k)
           named[k] = static_cast<Int>(k * 31 % static_cast<std::size_t>(n + 2)) - 1;
         Memory<Exec, Int> const ids(named);
         kernels::NumberedRows at;
         static_cast<core::Around&>(at) = {outer, n, inner};
         at.count = count;
         kernels::add_along(exec, in, ids.data(), out, at);
         exec.fence();
       });
}

void run_all() {
  copies(3, 5, 4);
  copies(2, 40, 65);
  copies(9, 1, 33);
  packing(3, 4);
  packing(1, 1);
  rows(5, 9);
  reductions<kernels::SumReducer<float>>("sum", 3, 4099);
  reductions<kernels::SumReducer<float>>("sum", 70, 90);
  reductions<kernels::ExtremeReducer<float, true>>("max", 3, 4099);
  reductions<kernels::PlaceReducer<float, true>>("argmax", 7, 1025);
  reductions<kernels::NormInfReducer<float>>("norm_inf", 2, 9000);
  for (Int const middle : {1, 32, 33, 255, 4097}) {
    scans<kernels::SumReducer<float>>("cumsum", 1, middle, 1);
    scans<kernels::ExtremeReducer<float, true>>("cummax", 1, middle, 1);
    scans<kernels::ExtremeReducer<float, false>>("cummin", 3, middle, 2);
  }
  for (Int const middle : {1, 33, 4097}) {
    truths_scans<kernels::ExtremeReducer<bool, true>>("running any", 1, middle, 1);
    truths_scans<kernels::ExtremeReducer<bool, false>>("running all", 3, middle, 2);
    truths_scans<kernels::SumReducer<bool>>("running number, as a bool", 2, middle, 1);
  }
  numbers_of_calls();
  for (int const kind : {0, 1}) {
    sorts_by_keys<float>(3, 100, 100, kind);
    sorts_by_keys<float>(2, 300, 40, kind);
    sorts_by_keys<double>(2, 129, 129, kind);
    sorts_by_keys<bfloat16>(1, 777, 777, kind);
  }
  sorts_by_keys<Int>(3, 100, 100, 0);
  sorts_by_keys<std::uint32_t>(1, 500, 500, 0);
  narrow_scans(1, 4097, 1);
  narrow_scans(2, 70, 3);
  for (Int const middle : {1, 31, 300, 1000}) {
    products_back(2, middle, 3, 1, 0);
    products_back(1, middle, 1, 3, 1);
  }
  for (Int const middle : {1, 2, 7, 64, 300}) {
    extremes_back<true, true>(2, middle, 3);
    extremes_back<true, false>(1, middle, 1);
    extremes_back<false, true>(1, middle, 2);
  }
  for (Int const n : {65, 256, 257, 600, 1281}) selects(3, n, 9);
  selects(2, 8193, 32);
  selects(3, 70, 1);
  adds_along(2, 6, 3);
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  run_all();
  std::printf("%d kernels differ\n", failures);
  return failures == 0 ? 0 : 1;
}
