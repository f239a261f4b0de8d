#pragma once
/// Definitions of array_text.hpp.

#include <cmath>

#include <shardtype/visualize/array_text.hpp>
#include <shardtype/visualize/decimal.hpp>

namespace shardtype::detail {

/// A common format for all numbers of an array.
class NumberFormat {
 public:
  NumberFormat(List<double> const& numbers, bool single, bool plus) : single_(single), plus_(plus) {
    choose_form(numbers);
    bool finite = false;
    bool infinite = false;
    bool negative = plus;  // infinity always gets a sign
    for (double x : numbers) {
      finite = finite || std::isfinite(x);
      infinite = infinite || !std::isfinite(x);
      negative = negative || (std::isinf(x) && x < 0);
      if (std::isfinite(x)) measure(x);
    }
    if (scientific_) right_ = exponent_ + 2 + fraction_;
    if (!finite) left_ = right_ = 0;
    std::size_t const needed = negative ? 4 : 3;
    if (infinite && needed > right_ + 1) left_ = std::max(left_, needed - right_ - 1);
  }

  std::string operator()(double x) const {
    if (!std::isfinite(x)) return padded(not_finite(x, plus_), left_ + right_ + 1);
    std::size_t const after = right_ + 1;
    std::string out =
        scientific_ ? scientific(x, single_, static_cast<int>(fraction_),
                                 static_cast<int>(fraction_), plus_, static_cast<int>(exponent_))
                    : positional(x, single_, print_precision, true, plus_);
    std::size_t const point = out.find('.');
    if (!scientific_ && out.size() - point < after) out.resize(point + after, ' ');
    return padded(out, out.size() + (left_ > point ? left_ - point : 0));
  }

 private:
  static std::string padded(std::string const& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
  }

  void choose_form(List<double> const& numbers) {
    double largest = 0;
    double smallest = 0;
    for (double x : numbers) {
      double const size = std::abs(x);
      if (!std::isfinite(x) || size == 0) continue;
      largest = std::max(largest, size);
      smallest = smallest == 0 ? size : std::min(smallest, size);
    }
    if (largest == 0) return;
    double const ratio =
        single_ ? static_cast<double>(static_cast<float>(largest) / static_cast<float>(smallest))
                : largest / smallest;
    scientific_ = largest >= 1e8 || smallest < 1e-4 || ratio > 1000;
  }

  void measure(double x) {
    std::string const text = scientific_ ? scientific(x, single_, print_precision, -1, plus_, 2)
                                         : positional(x, single_, print_precision, false, plus_);
    std::size_t const point = text.find('.');
    std::size_t const end = scientific_ ? text.find('e') : text.size();
    left_ = std::max(left_, point);
    fraction_ = std::max(fraction_, end - point - 1);
    if (scientific_) exponent_ = std::max(exponent_, text.size() - end - 2);
    if (!scientific_) right_ = fraction_;
  }

  bool single_, plus_;
  bool scientific_ = false;
  std::size_t left_ = 0;      // characters before the point, with the sign
  std::size_t right_ = 0;     // characters after it
  std::size_t fraction_ = 0;  // digits after it
  std::size_t exponent_ = 0;  // digits of the exponent
};

/// The elements as texts of equal width.
inline List<std::string> element_words(ShownArray const& a) {
  List<std::string> out;
  if (a.kind == ShownArray::Kind::boolean) {
    for (std::int64_t n : a.integers) out.push_back(n != 0 ? " True" : "False");
    return out;
  }
  if (a.kind == ShownArray::Kind::integer) {
    std::size_t width = 0;
    for (std::int64_t n : a.integers) {
      out.push_back(std::to_string(n));
      width = std::max(width, out.back().size());
    }
    for (std::string& word : out) word.insert(0, width - word.size(), ' ');
    return out;
  }
  NumberFormat const real(a.real, a.single, false);
  if (a.kind == ShownArray::Kind::real) {
    for (double x : a.real) out.push_back(real(x));
    return out;
  }
  NumberFormat const imag(a.imag, a.single, true);
  for (std::size_t k = 0; k < a.real.size(); ++k) {
    std::string part = imag(a.imag[k]);
    part.insert(part.find_last_not_of(' ') + 1, "j");
    out.push_back(real(a.real[k]) + part);
  }
  return out;
}

/// Arranges element texts in brackets and lines.
class ArrayLines {
 public:
  ArrayLines(ShownArray const& a, List<std::string> words) : a_(a), words_(std::move(words)) {}

  std::string text() { return level(0, " ", line_width); }

 private:
  std::string level(std::size_t axis, std::string const& indent, std::size_t width) {
    std::string out =
        axis + 1 == a_.extents.size() ? row(axis, indent, width) : rows(axis, indent, width);
    return "[" + out.substr(indent.size()) + "]";
  }

  std::string row(std::size_t axis, std::string const& indent, std::size_t width) {
    std::string out;
    std::string line = indent;
    auto add = [&](std::string const& word) {
      if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
        line = indent;
      }
      line += word;
    };
    std::int64_t const n = a_.shown(axis);
    for (std::int64_t k = 0; k < n; ++k) {
      if (n < a_.extents[axis] && k == edge_items) {
        add("...");
        line += ' ';
      }
      add(words_[next_++]);
      if (k + 1 < n) line += ' ';
    }
    return out + line;
  }

  std::string rows(std::size_t axis, std::string const& indent, std::size_t width) {
    std::string const gap(a_.extents.size() - axis - 1, '\n');
    std::string out;
    std::int64_t const n = a_.shown(axis);
    for (std::int64_t k = 0; k < n; ++k) {
      if (n < a_.extents[axis] && k == edge_items) out += indent + "..." + gap;
      out += indent + level(axis + 1, indent + " ", width - 1);
      if (k + 1 < n) out += gap;
    }
    return out;
  }

  ShownArray const& a_;
  List<std::string> words_;
  std::size_t next_ = 0;
};

SHARDTYPE_INLINE std::string array_text(ShownArray const& a) {
  for (std::int64_t e : a.extents)
    if (e == 0) return "[]";
  if (!a.extents.empty()) return ArrayLines(a, element_words(a)).text();
  if (a.kind == ShownArray::Kind::boolean) return a.integers[0] != 0 ? "True" : "False";
  if (a.kind == ShownArray::Kind::integer) return std::to_string(a.integers[0]);
  if (a.kind == ShownArray::Kind::real) return number_text(a.real[0], a.single, true, false);
  return number_text(a.real[0], a.imag[0], a.single);
}

}  // namespace shardtype::detail
