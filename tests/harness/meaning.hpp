// The meaning of instructions: values of whole tensors from their definition, without shardings,
// plans or ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/cases.hpp"
#include "harness/program_values.hpp"

namespace programs {

class Meaning {
 public:
  Meaning(Instruction const& in, Distributed const& a, Distributed const& b, Distributed const& c,
          planning::Sizing const& z)
      : in_(in), op_(strict(in.op)), a_(a), b_(b), c_(c), z_(z) {}

  /// The result, as a tensor on a single rank.
  Distributed value() const {
    Distributed out{in_.result, {{}}};
    for (std::int64_t k = 0; k < simulate::volume(in_.result, z_.extents); ++k)
      out.held[0].push_back(element(simulate::indices(in_.result, z_.extents, k)));
    return out;
  }

 private:
  std::int64_t element(Extents at) const {
    if (is_case(op_)) return case_of(op_).element({in_, z_, operands_, at});
    if (op_ == Op::named_choose) return call_named(op_, of(a_, at), of(b_, at), of(c_, at));
    if (is_reduction(op_)) return reduction(at);
    if (is_product(op_)) {
      std::int64_t sum = 0;
      over(without(together(a_.spec, b_.spec), in_.list), at,
           [&](Extents const& term) { sum += of(a_, term) * of(b_, term); });
      return sum;
    }
    return moved(at);
  }

  std::int64_t reduction(Extents const& at) const {
    std::vector<std::int64_t> terms;
    over(in_.list, at, [&](Extents const& term) { terms.push_back(of(a_, term)); });
    auto const n = static_cast<std::int64_t>(terms.size());
    std::int64_t out = op_ == Op::prod || op_ == Op::all ? 1 : 0;
    switch (op_) {
      case Op::max:
        return *std::max_element(terms.begin(), terms.end());
      case Op::min:
        return *std::min_element(terms.begin(), terms.end());
      case Op::place:
        return n == 0 ? -1 : std::max_element(terms.begin(), terms.end()) - terms.begin();
      case Op::least_place:
        return n == 0 ? -1 : std::min_element(terms.begin(), terms.end()) - terms.begin();
      default:
        break;
    }
    for (std::int64_t const x : terms) {
      std::int64_t const size = x < 0 ? -x : x;
      switch (op_) {
        case Op::any:
          out = out != 0 || x != 0 ? 1 : 0;
          break;
        case Op::all:
          out = out != 0 && x != 0 ? 1 : 0;
          break;
        case Op::prod:
          out *= x;
          break;
        case Op::norm_1:
          out += size;
          break;
        case Op::norm_inf:
          out = std::max(out, size);
          break;
        case Op::norm:
        case Op::reproducible_norm:
          out += x * x;
          break;
        case Op::logsumexp:
          out += raised(x, in_.most);
          break;
        default:  // sums, and the mean of n x
          out += x;
      }
    }
    return takes_root(op_) ? root(out) : out;
  }

  // An element of an operand at other indices.
  std::int64_t moved(Extents at) const {
    int const v = in_.from;
    std::int64_t const n = z_.extents[v];
    std::int64_t const i = at[v];
    auto const from_a = [&](std::int64_t row) {
      at.at[v] = row;
      return of(a_, at);
    };
    auto const inside = [&](std::int64_t row) { return row < 0 || row >= n ? 0 : from_a(row); };
    auto const begins = [&](std::int64_t start) {
      return std::max<std::int64_t>(0, std::min(start, n - half(n)));
    };
    switch (op_) {
      case Op::last_of_two:
        return of(b_, at);
      case Op::look_up:
      case Op::take_along:
        return inside(of(b_, at));
      case Op::one_hot:
        return of(a_, at) == i ? 1 : 0;
      case Op::add_rows: {
        std::int64_t sum = 0;
        over(rules::labels_of(b_.spec), at, [&](Extents const& term) {
          if (of(b_, term) == i) sum += of(a_, term);
        });
        return sum;
      }
      case Op::window:
        return i < half(n) ? from_a(begins(drawn_start(in_)) + i) : 0;
      case Op::window_at:
        return i < half(n) ? from_a(begins(of(b_, {})) + i) : 0;
      case Op::replaced:
      case Op::replaced_at: {
        std::int64_t const first = begins(op_ == Op::replaced ? drawn_start(in_) : of(c_, {}));
        if (i < first || i >= first + half(n)) return from_a(i);
        at.at[v] = i - first;
        return of(b_, at);
      }
      default:  // the same elements, in another order or sharding
        return of(a_, at);
    }
  }
  /// Calls `use` for all indices of these labels; the last label varies fastest.
  template <class Use>
  void over(rules::Labels const& those, Extents at, Use use) const {
    std::int64_t n = 1;
    for (int k = 0; k < those.size; ++k) n *= z_.extents[those.at[k]];
    for (std::int64_t number = 0; number < n; ++number) {
      std::int64_t rest = number;
      for (int k = those.size; k-- > 0;) {
        at.at[those.at[k]] = rest % z_.extents[those.at[k]];
        rest /= z_.extents[those.at[k]];
      }
      use(at);
    }
  }
  std::int64_t of(Distributed const& v, Extents const& at) const {
    return *v.held[0][static_cast<std::size_t>(simulate::place(v.spec, z_.extents, at))];
  }

  Instruction const& in_;
  Op op_;
  Distributed const &a_, &b_, &c_;
  planning::Sizing const& z_;
  struct Operands : Values {
    explicit Operands(Meaning const& its) : meaning(its) {}
    std::int64_t of(int operand, Extents const& at) const override {
      return meaning.of(operand == 0 ? meaning.a_ : operand == 1 ? meaning.b_ : meaning.c_, at);
    }
    Meaning const& meaning;
  } operands_{*this};
};

}  // namespace programs
