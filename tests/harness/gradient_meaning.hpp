// What random programs with gradients mean: their values and gradients by the dense reverse mode.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "harness/dense_reverse.hpp"
#include "harness/draw_gradients.hpp"

namespace gradient_programs {

using dense::Int;

inline Int half_of(Int n) { return n - n / 2; }
inline Int drawn_id(Int k, Int n) { return n == 0 ? 0 : (5 * k * k + 3 * k + 1) % n; }

inline std::vector<int> labels_in(Spec const& s) {
  std::vector<int> out;
  for (int d = 0; d < s.rank; ++d) out.push_back(s.dims[d].label);
  return out;
}

/// The ids of instruction `At`, the same in the real program and in the dense one: below the extent of `to`.
inline std::vector<Int> drawn_ids(Instruction const& in, dense::At const& n) {
  Int const below = n[static_cast<std::size_t>(in.op == Op::add_rows ? in.to : in.from)];
  Int total = 1;
  for (int d = 0; d < in.ids.rank; ++d) total *= n[static_cast<std::size_t>(in.ids.dims[d].label)];
  std::vector<Int> out;
  for (Int k = 0; k < total; ++k) out.push_back(drawn_id(k, below));
  return out;
}

/// Instruction `in` of dense values.
inline int dense_value(dense::Reverse& r, Instruction const& in, int a, int b) {
  using dense::At;
  auto const v = static_cast<std::size_t>(in.from);
  Int const n = r.extent(in.from);
  std::vector<int> const out = labels_in(in.result);
  std::vector<int> over;
  for (int k = 0; k < in.list.size; ++k) over.push_back(in.list.at[k]);
  if (is_named_reduction(in.op)) {
    over.clear();
    for (int const l : r.value(a).labels)
      if (in.result.find(l) < 0) over.push_back(l);
  }
  auto const same = [&] { return r.linear(out, [a](At const& at, auto add) { add(a, at, 1.0); }); };
  // row(i) of operand a, none if it is negative
  auto const rows = [&](auto row) {
    return r.linear(out, [a, v, row](At at, auto add) {
      at[v] = row(at[v]);
      if (at[v] >= 0) add(a, at, 1.0);
    });
  };
  auto const joined = [&](auto from_b, auto row) {
    return r.linear(out, [a, b, v, from_b, row](At at, auto add) {
      int const operand = from_b(at[v]) ? b : a;
      at[v] = row(at[v]);
      add(operand, at, 1.0);
    });
  };
  using Row = std::vector<double>;
  auto const total = [](Row const& x) {
    double s = 0;
    for (double const e : x) s += e;
    return s;
  };
  switch (in.op) {
    case Op::tanh:
      return r.map(
          a, [](double x) { return std::tanh(x); },
          [](double x) { return 1 - std::tanh(x) * std::tanh(x); });
    case Op::sin:
      return r.map(a, [](double x) { return std::sin(x); }, [](double x) { return std::cos(x); });
    case Op::half:
      return r.map(a, [](double x) { return x / 2; }, [](double) { return 0.5; });
    case Op::negate:
      return r.map(a, [](double x) { return -x; }, [](double) { return -1.0; });
    case Op::absolute:
      return r.map(
          a, [](double x) { return std::abs(x); },
          [](double x) { return x > 0   ? 1.0
                                : x < 0 ? -1.0
                                        : 0.0; });
    case Op::add:
    case Op::named_add:
      return r.map(
          out, a, b, [](double x, double y) { return x + y; },
          [](double, double) { return std::pair(1.0, 1.0); });
    case Op::subtract:
      return r.map(
          out, a, b, [](double x, double y) { return x - y; },
          [](double, double) { return std::pair(1.0, -1.0); });
    case Op::multiply:
    case Op::named_multiply:
      return r.map(
          out, a, b, [](double x, double y) { return x * y; },
          [](double x, double y) { return std::pair(y, x); });
    case Op::quotient:
      return r.map(
          out, a, b, [](double x, double y) { return x / (2 + y * y); },
          [](double x, double y) {
            double const d = 2 + y * y;
            return std::pair(1 / d, -2 * x * y / (d * d));
          });
    case Op::larger:
      return r.map(
          out, a, b, [](double x, double y) { return std::max(x, y); },
          [](double x, double y) {
            double const first = x > y ? 1 : x < y ? 0 : 0.5;
            return std::pair(first, 1 - first);
          });
    case Op::chosen:
      return r.map(
          out, a, b, [](double x, double y) { return y > 0 ? x : 0; },
          [](double, double y) { return std::pair(y > 0 ? 1.0 : 0.0, 0.0); });
    case Op::sum:
    case Op::named_sum:
      return r.rows(
          a, over, false, [total](Row& x) { x = {total(x)}; },
          [](Row const& x, Row const&, Row const& ct) { return Row(x.size(), ct[0]); });
    case Op::mean:
    case Op::named_mean:
      return r.rows(
          a, over, false, [total](Row& x) { x = {total(x) / static_cast<double>(x.size())}; },
          [](Row const& x, Row const&, Row const& ct) {
            return Row(x.size(), ct[0] / static_cast<double>(x.size()));
          });
    case Op::max:
    case Op::named_max:
      return r.rows(
          a, over, false, [](Row& x) { x = {*std::max_element(x.begin(), x.end())}; },
          [](Row const& x, Row const& y, Row const& ct) {
            Row g;
            auto const ties = static_cast<double>(std::count(x.begin(), x.end(), y[0]));
            for (double const e : x) g.push_back(e == y[0] ? ct[0] / ties : 0);
            return g;
          });
    case Op::logsumexp:
    case Op::named_logsumexp:
      return r.rows(
          a, over, false,
          [](Row& x) {
            double s = 0;
            for (double const e : x) s += std::exp(e);
            x = {std::log(s)};
          },
          [](Row const& x, Row const& y, Row const& ct) {
            Row g;
            for (double const e : x) g.push_back(ct[0] * std::exp(e - y[0]));
            return g;
          });
    case Op::norm:
    case Op::named_norm:
      return r.rows(
          a, over, false,
          [](Row& x) {
            double s = 0;
            for (double const e : x) s += e * e;
            x = {std::sqrt(s)};
          },
          [](Row const& x, Row const& y, Row const& ct) {
            Row g;
            for (double const e : x) g.push_back(y[0] == 0 ? 0 : ct[0] * e / y[0]);
            return g;
          });
    case Op::norm_1:
      return r.rows(
          a, over, false,
          [](Row& x) {
            double s = 0;
            for (double const e : x) s += std::abs(e);
            x = {s};
          },
          [](Row const& x, Row const&, Row const& ct) {
            Row g;
            for (double const e : x) g.push_back(e > 0 ? ct[0] : e < 0 ? -ct[0] : 0);
            return g;
          });
    case Op::variance:
    case Op::named_variance:
      return r.rows(
          a, over, false,
          [total](Row& x) {
            double const m = total(x) / static_cast<double>(x.size());
            double s = 0;
            for (double const e : x) s += (e - m) * (e - m);
            x = {s / static_cast<double>(x.size())};
          },
          [total](Row const& x, Row const&, Row const& ct) {
            auto const count = static_cast<double>(x.size());
            Row g;
            for (double const e : x) g.push_back(2 * ct[0] * (e - total(x) / count) / count);
            return g;
          });
    case Op::prod:
    case Op::named_prod:
      return r.rows(
          a, over, false,
          [](Row& x) {
            double p = 1;
            for (double const e : x) p *= e;
            x = {p};
          },
          [](Row const& x, Row const&, Row const& ct) {
            Row g;
            for (std::size_t k = 0; k < x.size(); ++k) {
              double p = ct[0];
              for (std::size_t m = 0; m < x.size(); ++m) p *= m == k ? 1 : x[m];
              g.push_back(p);
            }
            return g;
          });
    case Op::softmax:
      return r.rows(
          a, over, true,
          [](Row& x) {
            double s = 0;
            for (double const e : x) s += std::exp(e);
            for (double& e : x) e = std::exp(e) / s;
          },
          [](Row const&, Row const& y, Row const& ct) {
            double s = 0;
            for (std::size_t k = 0; k < y.size(); ++k) s += ct[k] * y[k];
            Row g;
            for (std::size_t k = 0; k < y.size(); ++k) g.push_back(y[k] * (ct[k] - s));
            return g;
          });
    case Op::contract:
    case Op::matrix_product:
    case Op::named_contract:
      return r.product(a, b, out);
    case Op::last_of_two:
      return r.linear(out, [b](At const& at, auto add) { add(b, at, 1.0); });
    case Op::roll:
      return rows([n](Int i) { return (i + n - 1) % n; });
    case Op::flip:
      return rows([n](Int i) { return n - 1 - i; });
    case Op::window:
      return rows([n](Int i) { return i + 1 < n ? i + 1 : -1; });
    case Op::dynamic: {
      Int const start = std::clamp<Int>(2 * in.to - 1, 0, n / 2);
      return rows([n, start](Int i) { return i < half_of(n) ? start + i : -1; });
    }
    case Op::replaced: {
      Int const start = std::clamp<Int>(2 * in.to - 1, 0, n / 2);
      auto const in_window = [n, start](Int i) { return i >= start && i < start + half_of(n); };
      return joined(in_window, [in_window, start](Int i) { return in_window(i) ? i - start : i; });
    }
    case Op::spread:
      return rows([](Int i) { return i % 2 == 0 ? i / 2 : -1; });
    case Op::repeated:
      return rows([](Int i) { return i / 2; });
    case Op::tiled:
      return rows([n](Int i) { return (i + n / 2) % n; });
    case Op::halves:
      return joined([n](Int i) { return i >= half_of(n); },
                    [n](Int i) { return i < half_of(n) ? i + n / 2 : i - half_of(n); });
    case Op::sorted:
    case Op::top: {
      // places of each row of the result in the operand
      dense::Array const& x = r.value(a);
      dense::Array places = x;
      std::vector<int> kept;
      for (int const l : x.labels)
        if (l != in.from) kept.push_back(l);
      At n_of{};
      for (int l = 0; l < labels; ++l) n_of[static_cast<std::size_t>(l)] = r.extent(l);
      dense::each(kept, n_of, {}, [&](At at) {
        std::vector<std::pair<double, Int>> row;
        for (at[v] = 0; at[v] < n; ++at[v]) row.emplace_back(x(at), at[v]);
        std::sort(row.begin(), row.end());  // equal ones in order
        if (in.op == Op::top) std::reverse(row.begin(), row.end());
        for (at[v] = 0; at[v] < n; ++at[v])
          places(at) = static_cast<double>(row[static_cast<std::size_t>(at[v])].second);
      });
      Int const rows_kept = in.op == Op::top ? half_of(n) : n;
      return r.linear(out, [a, v, places, rows_kept](At at, auto add) {
        if (at[v] >= rows_kept) return;
        at[v] = static_cast<Int>(places(at));
        add(a, at, 1.0);
      });
    }
    case Op::triangle: {
      auto const w = static_cast<std::size_t>(in.to);
      return r.linear(out, [a, v, w](At const& at, auto add) {
        if (at[w] <= at[v]) add(a, at, 1.0);
      });
    }
    case Op::running_product:
      return r.rows(
          a, {in.from}, true,
          [](Row& x) {
            for (std::size_t k = 1; k < x.size(); ++k) x[k] *= x[k - 1];
          },
          [](Row const& x, Row const&, Row const& ct) {
            Row g(x.size(), 0.0);
            for (std::size_t end = 0; end < x.size(); ++end)
              for (std::size_t k = 0; k <= end; ++k) {
                double others = ct[end];
                for (std::size_t m = 0; m <= end; ++m) others *= m == k ? 1 : x[m];
                g[k] += others;
              }
            return g;
          });
    case Op::shift:
      return rows([](Int i) { return i - 1; });
    case Op::wrapped:
      return rows([n](Int i) { return (i + 1) % n; });
    case Op::running_sum:
      return r.linear(out, [a, v](At at, auto add) {
        for (Int i = at[v]; i >= 0; --i) {
          at[v] = i;
          add(a, at, 1.0);
        }
      });
    case Op::running_sum_back:
      return r.linear(out, [a, v, n](At at, auto add) {
        for (Int i = at[v] + 1; i < n; ++i) {
          at[v] = i;
          add(a, at, 1.0);
        }
      });
    case Op::look_up:
    case Op::add_rows:
    case Op::look_along:
    case Op::added_along: {
      At n_of{};
      for (int l = 0; l < labels; ++l) n_of[static_cast<std::size_t>(l)] = r.extent(l);
      std::vector<int> const of_ids = labels_in(in.ids);
      dense::Array ids(of_ids, [&] {
        std::vector<Int> e;
        for (int const l : of_ids) e.push_back(r.extent(l));
        return e;
      }());
      std::vector<Int> const drawn = drawn_ids(in, n_of);
      for (std::size_t k = 0; k < drawn.size(); ++k) ids.values[k] = static_cast<double>(drawn[k]);
      if (in.op == Op::look_up || in.op == Op::look_along)
        return r.linear(out, [a, v, ids](At at, auto add) {
          at[v] = static_cast<Int>(ids(at));
          add(a, at, 1.0);
        });
      // the updates whose id is the row
      auto const to = static_cast<std::size_t>(in.op == Op::add_rows ? in.to : in.from);
      bool const along = in.op == Op::added_along;
      std::vector<int> const free = along ? std::vector<int>{in.from} : of_ids;
      return r.linear(out, [a, to, ids, free, n_of](At const& at, auto add) {
        Int const row = at[to];
        dense::each(free, n_of, at, [&](At const& from) {
          if (static_cast<Int>(ids(from)) == row) add(a, from, 1.0);
        });
      });
    }
    default:  // the same elements, or repeated along new dims
      return same();
  }
}

/// The dense program: its loss and its gradients.
struct Meant {
  double loss = 0;
  std::vector<dense::Array> gradient;  // of the inputs
  Meant(Program const& p, dense::At const& n,
        std::array<std::vector<double>, inputs> const& given) {
    dense::Reverse r(n);
    for (int k = 0; k < inputs; ++k) {
      std::vector<int> const of = labels_in(p.input[k]);
      std::vector<Int> e;
      for (int const l : of) e.push_back(r.extent(l));
      dense::Array a(of, e);
      a.values = given[static_cast<std::size_t>(k)];
      r.input(a);
    }
    int last = 0;
    for (int k = 0; k < p.size; ++k)
      last = dense_value(r, p.code[k], p.code[k].operand[0], p.code[k].operand[1]);
    if (p.code[p.size - 1].result.unreduced.empty())
      last =
          r.map(last, [](double x) { return std::sin(x); }, [](double x) { return std::cos(x); });
    for (double const x : r.value(last).values) loss += x;
    gradient = r.gradients(last);
  }
};

}  // namespace gradient_programs
