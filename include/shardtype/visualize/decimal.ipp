#pragma once
/// Definitions of decimal.hpp.

#include <shardtype/visualize/decimal.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE Decimal rounded(double x, int count) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*e", count - 1, std::abs(x));
  Decimal out;
  char const* at = text;
  for (; *at != 'e'; ++at)
    if (*at >= '0' && *at <= '9') out.digits += *at;  // the decimal point depends on the locale
  out.exponent = std::atoi(at + 1);
  return out;
}

SHARDTYPE_INLINE bool reads_back(Decimal const& d, double x, bool single) {
  int const shift = d.exponent - static_cast<int>(d.digits.size()) + 1;
  std::string const text = d.digits + "e" + std::to_string(shift);
  double const y = single ? static_cast<double>(std::strtof(text.c_str(), nullptr))
                          : std::strtod(text.c_str(), nullptr);
  return y == std::abs(x);
}

SHARDTYPE_INLINE Decimal next_up(Decimal d) {
  std::size_t k = d.digits.size();
  while (k > 0 && d.digits[k - 1] == '9') d.digits[--k] = '0';
  if (k > 0) {
    ++d.digits[k - 1];
  } else {
    d.digits[0] = '1';
    ++d.exponent;
  }
  return d;
}

SHARDTYPE_INLINE Decimal shortest(double x, bool single, int most) {
  int ignored = 0;
  // below a power of two neighbours are closer: the nearest decimal may fail where the next one
  // does not
  bool const power = std::abs(std::frexp(x, &ignored)) == 0.5;
  Decimal d;
  for (int count = 1; count <= most; ++count) {
    d = rounded(x, count);
    if (reads_back(d, x, single)) return d;
    if (power && reads_back(next_up(d), x, single)) return next_up(d);
  }
  return d;
}

SHARDTYPE_INLINE std::string positional(double x, bool single, int precision, bool exact_whole,
                                        bool plus) {
  if (x == 0) return sign_text(x, plus) + "0.";
  int const exponent = rounded(x, all_digits).exponent;
  Decimal d = shortest(x, single, precision < 0 ? all_digits : exponent + 1 + precision);
  int const count = static_cast<int>(d.digits.size());
  if (exact_whole && count <= d.exponent) d = rounded(x, exponent + 1);
  std::string whole = "0";
  std::string fraction;
  if (d.exponent < 0) {
    fraction = std::string(static_cast<std::size_t>(-d.exponent - 1), '0') + d.digits;
  } else {
    auto const wholes = static_cast<std::size_t>(d.exponent) + 1;
    whole = d.digits.substr(0, wholes);
    whole.resize(wholes, '0');
    if (d.digits.size() > wholes) fraction = d.digits.substr(wholes);
  }
  trim_zeros(fraction);
  return sign_text(x, plus) + whole + "." + fraction;
}

SHARDTYPE_INLINE std::string scientific(double x, bool single, int precision, int least, bool plus,
                                        int exponent_digits) {
  Decimal d;
  if (x == 0) {
    d.digits = "0";
  } else {
    d = shortest(x, single, precision < 0 ? all_digits : precision + 1);
    if (static_cast<int>(d.digits.size()) <= least) d = rounded(x, least + 1);
  }
  std::string fraction = d.digits.substr(1);
  trim_zeros(fraction);
  if (least >= 0) fraction.resize(static_cast<std::size_t>(least), '0');
  std::string const exponent = std::to_string(std::abs(d.exponent));
  std::string power;
  while (static_cast<int>(power.size() + exponent.size()) < exponent_digits) power += '0';
  power += exponent;
  return sign_text(x, plus) + d.digits[0] + "." + fraction + (d.exponent < 0 ? "e-" : "e+") + power;
}

SHARDTYPE_INLINE std::string number_text(double x, bool single, bool point, bool plus) {
  if (!std::isfinite(x)) return not_finite(x, plus);
  double const size = std::abs(x);
  std::string out;
  if (size == 0 || (size >= 1e-4 && size < 1e16)) {
    out = positional(x, single, -1, false, plus);
    if (out.back() != '.') return out;
    return point ? out + "0" : out.substr(0, out.size() - 1);
  }
  out = scientific(x, single, -1, -1, plus, 2);
  std::size_t const dot = out.find('.');
  if (out[dot + 1] == 'e') out.erase(dot, 1);
  return out;
}

SHARDTYPE_INLINE std::string number_text(double real, double imag, bool single) {
  bool const lone = real == 0 && !std::signbit(real);
  if (lone) return number_text(imag, single, false, false) + "j";
  return "(" + number_text(real, single, false, false) + number_text(imag, single, false, true) +
         "j)";
}

}  // namespace shardtype::detail
