#pragma once
/// Floating-point numbers as text: the fewest digits that distinguish a number from its neighbours,
/// as NumPy writes it. Digits are computed by the C library, which rounds exactly.

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <shardtype/core/compiled.hpp>

namespace shardtype::detail {

/// The number d.ddd... * 10^exponent, without its sign.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

/// |x| rounded to `count` significant digits.
Decimal rounded(double x, int count);

/// Whether `d` parses to |x|, which is a float if `single`.
bool reads_back(Decimal const& d, double x, bool single);

/// The next larger decimal with the same number of digits.
Decimal next_up(Decimal d);

/// The shortest decimal that parses to |x|; |x| rounded to `most` digits if that needs more.
Decimal shortest(double x, bool single, int most);

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
std::string positional(double x, bool single, int precision, bool exact_whole, bool plus);

/// x as "1.234e+05" or "1.e+05". With `least` < 0, at most `precision` digits after the point (-1: as
/// many as needed); else exactly `least`. Exponents have at least `exponent_digits` digits.
std::string scientific(double x, bool single, int precision, int least, bool plus,
                       int exponent_digits);

/// "nan", "inf", "-inf".
inline std::string not_finite(double x, bool plus) {
  if (std::isnan(x)) return plus ? "+nan" : "nan";
  return sign_text(x, plus) + "inf";
}

/// A number by itself, all its digits: "1", "0.1", "1e-05"; "1.0" if `point`.
std::string number_text(double x, bool single, bool point, bool plus);

/// A complex number by itself: "(1+2j)", "2j".
std::string number_text(double real, double imag, bool single);

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/decimal.ipp>
#endif
