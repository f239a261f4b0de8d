#pragma once
/// Device: the cotangents of running extremes, level by level of their tree instead of column by
/// column.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/kernels/running_back.hpp>
#include <shardtype/kernels/scan.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

namespace detail {

/// What the calls of one launch do to a level: those of `load` and `store` for each row, those of
/// `pairs` and `halves` for each element of the next level, those of `others` for each but the
/// first of this one.
enum class LevelStep { load, pairs, others, halves, rest, store };

/// One step of RunningExtremeBack::through for all columns.
template <class T, bool Max, bool Back>
struct RunningLevel {
  using Body = RunningExtremeBack<T, Max, Back>;
  using Value = typename Body::Value;
  Body of;
  std::int64_t columns, rows;  ///< `rows` of a column, without that which exclusive ones lack
  LevelStep step = LevelStep::load;
  std::int64_t each = 0;  ///< calls per column
  int level = 0;
  std::int64_t begin = 0;  ///< of the level in the memory of a column
  std::int64_t next = 0;   ///< of the level above

  /// The elements of all levels, what is given and wanted, and the running extremes.
  /// Those of level 0 of all columns are packed, and so are those of the levels above, which begin
  /// at `rows`.
  KOKKOS_FUNCTION Value* elements(std::int64_t c, std::int64_t from) const {
    return of.workspace + (from == 0 ? 0 : (columns - 1) * rows) + c * rows + from;
  }
  KOKKOS_FUNCTION Value* cotangents(std::int64_t c) const {
    return of.workspace + (columns + c) * 2 * of.middle;
  }
  KOKKOS_FUNCTION Value* extremes(std::int64_t c) const {
    return of.workspace + columns * 4 * of.middle + c * rows;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const c = work / each, i = work % each;
    Value* const x = elements(c, begin);
    Value* const ct = cotangents(c) + begin;
    if (step == LevelStep::load || step == LevelStep::store) {
      move(c, i, x, ct);
      return;
    }
    Value* const next_ct = cotangents(c) + next;
    if (step == LevelStep::pairs) {
      Value const p = x[2 * i], q = x[2 * i + 1];
      elements(c, next)[i] = Body::larger(p, q);
      next_ct[i] =
          Back ? ct[2 * i + 1] : Body::share(p, q) * ct[2 * i] + Body::share(q, p) * ct[2 * i + 1];
    } else if (step == LevelStep::halves) {
      ct[2 * i] += Body::share(x[2 * i], x[2 * i + 1]) * next_ct[i];
      ct[2 * i + 1] += Body::share(x[2 * i + 1], x[2 * i]) * next_ct[i];
    } else {
      behind(c, i + 1, x, ct, next_ct);
    }
  }

 private:
  KOKKOS_FUNCTION void move(std::int64_t c, std::int64_t k, Value* x, Value* ct) const {
    ScanColumn const column(c, of.middle, of.inner, of.reverse);
    std::int64_t const late = of.exclusive ? 1 : 0;
    if (step == LevelStep::load) {
      x[k] = static_cast<Value>(of.a[column.at(k)]);
      ct[k] = static_cast<Value>(of.given[column.at(k + (Back ? late : 0))]);
    } else if (k == rows) {
      of.dst[column.at(Back ? of.middle - 1 : 0)] = static_cast<T>(Value(0));
    } else {
      of.dst[column.at(k + (Back ? 0 : late))] = static_cast<T>(ct[k]);
    }
  }
  /// Element `i` of a level that is no maximum of two: `i` even.
  KOKKOS_FUNCTION void behind(std::int64_t c, std::int64_t i, Value* x, Value* ct,
                              Value* next_ct) const {
    Value const before = i % 2 == 0 ? extremes(c)[(i << level) - 1] : Value(0);
    if (step == LevelStep::others) {
      if (i % 2 == 0) {
        next_ct[i / 2 - 1] += Body::share(before, x[i]) * ct[i];
        ct[i] = Body::share(x[i], before) * ct[i];
      } else {
        ct[i] = Value(0);
      }
    } else if (i % 2 == 0) {
      ct[i] = Body::share(before, x[i]) * next_ct[i / 2 - 1] + Body::share(x[i], before) * ct[i];
    } else {
      ct[i] = next_ct[i / 2];
    }
  }
};

}  // namespace detail

/// Runs `body` for `columns` columns.
template <class Exec, class T, bool Max, bool Back>
void running_extreme_back(Exec const& exec, std::int64_t columns,
                          RunningExtremeBack<T, Max, Back> const& body) {
  if constexpr (runtime::host_reads<Exec>) {
    kernels::for_columns(exec, columns, body);
  } else {
    using Step = detail::LevelStep;
    using Value = typename RunningExtremeBack<T, Max, Back>::Value;
    if (columns * body.middle == 0) return;
    std::int64_t const n = body.middle - (body.exclusive ? 1 : 0);
    detail::RunningLevel<T, Max, Back> work{body, columns, n};
    auto const run = [&](Step step, std::int64_t each) {
      work.step = step;
      work.each = each;
      if (each > 0) kernels::launch(exec, "shardtype::running_back", columns * each, work);
    };
    run(Step::load, n);
    Value* const y = work.extremes(0);
    Value const* const none = nullptr;
    kernels::scan_middle<ExtremeReducer<Value, Max>>(
        exec, static_cast<Value const*>(work.elements(0, 0)), y, none, columns, n, 1, false, false);
    std::int64_t length[64], begin[65] = {};
    int levels = 0;
    for (std::int64_t m = n; m > 0; m /= 2) {
      length[levels] = m;
      begin[levels + 1] = begin[levels] + m;
      ++levels;
    }
    auto const enter = [&](int level) {
      work.level = level;
      work.begin = begin[level];
      work.next = begin[level + 1];
    };
    for (int level = 0; level + 1 < levels; ++level) {
      enter(level);
      run(Step::pairs, length[level + 1]);
      if constexpr (Back) run(Step::others, length[level] - 1);
    }
    for (int level = levels - 1; level-- > 0;) {
      enter(level);
      if constexpr (Back) {
        run(Step::halves, length[level + 1]);
      } else {
        run(Step::rest, length[level] - 1);
      }
    }
    enter(0);
    run(Step::store, body.middle);
  }
}

}  // namespace shardtype::kernels
