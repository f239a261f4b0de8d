#pragma once
/// Floating-point numbers as text: the fewest digits that distinguish a number from its neighbours,
/// as NumPy writes it. Digits are computed by the C library, which rounds exactly.

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace shardtype::detail {

/// The number d.ddd... * 10^exponent, without its sign.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

/// |x| rounded to `count` significant digits.
inline Decimal rounded(double x, int count) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*e", count - 1, std::abs(x));
  Decimal out;
  char const* at = text;
  for (; *at != 'e'; ++at)
    if (*at >= '0' && *at <= '9') out.digits += *at;  // the decimal point depends on the locale
  out.exponent = std::atoi(at + 1);
  return out;
}

/// Whether `d` parses to |x|, which is a float if `single`.
inline bool reads_back(Decimal const& d, double x, bool single) {
  int const shift = d.exponent - static_cast<int>(d.digits.size()) + 1;
  std::string const text = d.digits + "e" + std::to_string(shift);
  double const y = single ? static_cast<double>(std::strtof(text.c_str(), nullptr))
                          : std::strtod(text.c_str(), nullptr);
  return y == std::abs(x);
}

/// The next larger decimal with the same number of digits.
inline Decimal next_up(Decimal d) {
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

/// The shortest decimal that parses to |x|; |x| rounded to `most` digits if that needs more.
inline Decimal shortest(double x, bool single, int most) {
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

/// Enough digits to distinguish any two doubles.
inline constexpr int all_digits = 17;

inline std::string sign_text(double x, bool plus) {
  return std::signbit(x) ? "-" : plus ? "+" : "";
}
inline void trim_zeros(std::string& digits) {
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
}

/// x as "12.34" or "12.", with at most `precision` digits after the point (-1: as many as needed).
/// Before the point, unneeded digits become zeros unless `exact_whole`.
inline std::string positional(double x, bool single, int precision, bool exact_whole, bool plus) {
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

/// x as "1.234e+05" or "1.e+05". With `least` < 0, at most `precision` digits after the point (-1:
/// as many as needed); else exactly `least`. Exponents have at least `exponent_digits` digits.
inline std::string scientific(double x, bool single, int precision, int least, bool plus,
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

/// "nan", "inf", "-inf".
inline std::string not_finite(double x, bool plus) {
  if (std::isnan(x)) return plus ? "+nan" : "nan";
  return sign_text(x, plus) + "inf";
}

/// A number by itself, all its digits: "1", "0.1", "1e-05"; "1.0" if `point`.
inline std::string number_text(double x, bool single, bool point, bool plus) {
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

/// A complex number by itself: "(1+2j)", "2j".
inline std::string number_text(double real, double imag, bool single) {
  bool const lone = real == 0 && !std::signbit(real);
  if (lone) return number_text(imag, single, false, false) + "j";
  return "(" + number_text(real, single, false, false) + number_text(imag, single, false, true) +
         "j)";
}

}  // namespace shardtype::detail
