// Reverse mode on whole arrays of double with named dims, on each rank by itself: what random
// programs with gradients are compared with. It shares nothing with the library.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace dense {

using Int = std::int64_t;
inline constexpr int most_labels = 8;
// An index of each label.
using At = std::array<Int, most_labels>;

// Rows of the last label are contiguous.
struct Array {
  std::vector<int> labels;
  std::vector<Int> extents;
  std::vector<double> values;

  Array() = default;
  Array(std::vector<int> l, std::vector<Int> n, double value = 0)
      : labels(std::move(l)), extents(std::move(n)) {
    Int total = 1;
    for (Int const e : extents) total *= e;
    values.assign(static_cast<std::size_t>(total), value);
  }
  double& operator()(At const& at) { return values[place(at)]; }
  double operator()(At const& at) const { return values[place(at)]; }

 private:
  std::size_t place(At const& at) const {
    Int out = 0;
    for (std::size_t d = 0; d < labels.size(); ++d)
      out = out * extents[d] + at[static_cast<std::size_t>(labels[d])];
    return static_cast<std::size_t>(out);
  }
};

// Calls f(at) for each index of these labels; other labels stay as in `at`.
template <class F>
void each(std::vector<int> const& labels, At const& extents, At at, F const& f, std::size_t d = 0) {
  if (d == labels.size()) return f(at);
  auto const l = static_cast<std::size_t>(labels[d]);
  for (at[l] = 0; at[l] < extents[l]; ++at[l]) each(labels, extents, at, f, d + 1);
}

// The values of one program, and how their cotangents go back.
class Reverse {
 public:
  explicit Reverse(At const& extents) : extents_(extents) {}

  Array const& value(int v) const { return nodes_[static_cast<std::size_t>(v)].value; }
  Int extent(int label) const { return extents_[static_cast<std::size_t>(label)]; }
  // An array of these labels.
  Array made(std::vector<int> const& labels) const {
    std::vector<Int> n;
    for (int const l : labels) n.push_back(extent(l));
    return {labels, n};
  }
  int input(Array a) {
    nodes_.push_back({std::move(a), {}});
    return static_cast<int>(nodes_.size()) - 1;
  }

  // Each element is a sum of elements of the operands, with factors: from(at, add) calls
  // add(operand, at, factor).
  template <class From>
  int linear(std::vector<int> const& labels, From from) {
    Array out = made(labels);
    each(labels, extents_, {}, [&](At const& at) {
      from(at,
           [&](int v, At const& source, double factor) { out(at) += factor * value(v)(source); });
    });
    return add(out, [this, labels, from](Array const& ct, std::vector<Array>& cts) {
      each(labels, extents_, {}, [&](At const& at) {
        from(at, [&](int v, At const& source, double factor) {
          cts[static_cast<std::size_t>(v)](source) += factor * ct(at);
        });
      });
    });
  }
  // f(a, b) of elements; `slopes(a, b)` are its two derivatives. Labels that an operand lacks
  // repeat it.
  template <class F, class Slopes>
  int map(std::vector<int> const& labels, int a, int b, F const& f, Slopes slopes) {
    Array out = made(labels);
    each(labels, extents_, {}, [&](At const& at) { out(at) = f(value(a)(at), value(b)(at)); });
    return add(out, [this, labels, a, b, slopes](Array const& ct, std::vector<Array>& cts) {
      each(labels, extents_, {}, [&](At const& at) {
        auto const [of_a, of_b] = slopes(value(a)(at), value(b)(at));
        cts[static_cast<std::size_t>(a)](at) += ct(at) * of_a;
        cts[static_cast<std::size_t>(b)](at) += ct(at) * of_b;
      });
    });
  }
  template <class F, class Slope>
  int map(int a, F const& f, Slope slope) {
    return map(
        value(a).labels, a, a, [f](double x, double) { return f(x); },
        [slope](double x, double) { return std::pair(slope(x), 0.0); });
  }
  // The sums of products over the labels that the result lacks.
  int product(int a, int b, std::vector<int> const& labels) {
    std::vector<int> all = labels;
    for (int const v : {a, b})
      for (int const l : value(v).labels)
        if (!contains(all, l)) all.push_back(l);
    Array out = made(labels);
    each(all, extents_, {}, [&](At const& at) { out(at) += value(a)(at) * value(b)(at); });
    return add(out, [this, all, a, b](Array const& ct, std::vector<Array>& cts) {
      each(all, extents_, {}, [&](At const& at) {
        cts[static_cast<std::size_t>(a)](at) += ct(at) * value(b)(at);
        cts[static_cast<std::size_t>(b)](at) += ct(at) * value(a)(at);
      });
    });
  }
  // f of the elements along `over`, at once: it replaces `x` by as many results (one, where the
  // result lacks the labels); back(x, y, ct) gives the cotangents of x.
  template <class F, class Back>
  int rows(int a, std::vector<int> const& over, bool keeps, F const& f, Back back) {
    std::vector<int> kept;
    for (int const l : value(a).labels)
      if (!contains(over, l)) kept.push_back(l);
    Array out = made(keeps ? value(a).labels : kept);
    each(kept, extents_, {}, [&](At const& at) {
      std::vector<double> y = row(value(a), over, at);
      f(y);
      std::size_t k = 0;
      each(keeps ? over : std::vector<int>{}, extents_, at,
           [&](At const& in) { out(in) = y[k++]; });
    });
    auto const here = static_cast<int>(nodes_.size());
    return add(
        out, [this, kept, over, keeps, a, here, back](Array const& ct, std::vector<Array>& cts) {
          std::vector<int> const of_result = keeps ? over : std::vector<int>{};
          each(kept, extents_, {}, [&](At const& at) {
            std::vector<double> const g = back(
                row(value(a), over, at), row(value(here), of_result, at), row(ct, of_result, at));
            std::size_t k = 0;
            each(over, extents_, at,
                 [&](At const& in) { cts[static_cast<std::size_t>(a)](in) += g[k++]; });
          });
        });
  }

  // The gradients of the sum of value `loss`, of all values.
  std::vector<Array> gradients(int loss) const {
    std::vector<Array> cts;
    for (Node const& n : nodes_) cts.emplace_back(n.value.labels, n.value.extents);
    for (double& ct : cts[static_cast<std::size_t>(loss)].values) ct = 1;
    for (std::size_t v = nodes_.size(); v-- > 0;)
      if (nodes_[v].back) {
        Array const ct = cts[v];
        nodes_[v].back(ct, cts);
      }
    return cts;
  }

 private:
  using Back = std::function<void(Array const& ct, std::vector<Array>& cts)>;
  struct Node {
    Array value;
    Back back;
  };
  static bool contains(std::vector<int> const& all, int l) {
    return std::find(all.begin(), all.end(), l) != all.end();
  }
  std::vector<double> row(Array const& a, std::vector<int> const& over, At const& at) const {
    std::vector<double> out;
    each(over, extents_, at, [&](At const& in) { out.push_back(a(in)); });
    return out;
  }
  int add(Array const& value, Back back) {
    nodes_.push_back({value, std::move(back)});
    return static_cast<int>(nodes_.size()) - 1;
  }

  At extents_;
  std::vector<Node> nodes_;
};

}  // namespace dense
