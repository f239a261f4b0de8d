// What operations of random programs take and give: sets of element types.
#pragma once

#include <cstdint>

#include <shardtype/types.hpp>

namespace programs {

using namespace shardtype;

using Int = std::int64_t;

// Element types. All values are integers, those of bool 0 and 1; double represents them exactly.
enum class Element : std::int8_t { integer, boolean, floating };

// An operation: the number of its case (cases.hpp).
enum class Op : std::int16_t {};

// The element types that an operand may have, as a set of 1 << Element.
inline constexpr unsigned integers = 1;
inline constexpr unsigned booleans = 2;
inline constexpr unsigned floats = 4;
inline constexpr unsigned numbers = integers | floats;
inline constexpr unsigned everything = 7;
inline constexpr unsigned as_first = 8;   // that of the first operand
inline constexpr unsigned as_second = 9;  // that of the second operand
inline constexpr unsigned starts = 10;    // integers without dims

struct Taken {
  int operands = 1;
  unsigned at[3] = {everything, 0, 0};
};

// A user-defined function.
struct TwiceAndOne {
  template <class T>
  T operator()(T const& x) const {
    return 2 * x + 1;
  }
};

// The linearity of the library's own tags for functions.
template <class F, class T = std::int64_t>
inline constexpr rules::Linearity meets = shardtype::detail::linearity_of<F, T>;

}  // namespace programs
