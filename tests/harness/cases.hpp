// All cases of the random programs as one numbered list. The numbers follow those of the operations
// in operations.hpp. Functions of both kinds of operations.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "harness/cases/along.hpp"
#include "harness/cases/by_hand.hpp"
#include "harness/cases/elementwise.hpp"

namespace programs {

using Cases = decltype(cases::Elementwise{} + cases::Along{} + cases::Blocks{});

namespace detail_of_cases {

template <class List>
struct Table;
template <class... Cs>
struct Table<CaseList<Cs...>> {
  static constexpr int size = sizeof...(Cs);
  static constexpr CaseOf all[sizeof...(Cs)] = {CaseOf::of<Cs>()...};
  template <int N>
  using at = std::tuple_element_t<static_cast<std::size_t>(N), std::tuple<Cs...>>;
  template <class C>
  static constexpr int number() {
    int n = 0;
    bool found = false;
    ((found = found || std::is_same_v<C, Cs>, n += found ? 0 : 1), ...);
    return n;
  }
};
using All = Table<Cases>;

}  // namespace detail_of_cases

inline constexpr int op_count = static_cast<int>(Op::count) + detail_of_cases::All::size;
constexpr bool is_case(Op op) { return op >= Op::count; }
constexpr int case_number(Op op) { return static_cast<int>(op) - static_cast<int>(Op::count); }
constexpr CaseOf const& case_of(Op op) { return detail_of_cases::All::all[case_number(op)]; }
template <Op op>
using case_t = detail_of_cases::All::at<case_number(op)>;
template <class C>
inline constexpr Op op_of =
    static_cast<Op>(static_cast<int>(Op::count) + detail_of_cases::All::number<C>());

// The operation without a named result; other operations are returned unchanged.
constexpr Op strict(Op op) {
  auto const at = static_cast<int>(op);
  if (is_named_reduction(op))
    return static_cast<Op>(at - static_cast<int>(Op::named_sum) + static_cast<int>(Op::sum));
  switch (op) {
    case Op::named_add:
      return op_of<cases::Add>;
    case Op::named_multiply:
      return op_of<cases::Multiply>;
    case Op::named_divide:
      return op_of<cases::Divide>;
    case Op::named_look_up:
      return Op::look_up;
    case Op::named_add_rows:
      return Op::add_rows;
    case Op::named_one_hot:
      return Op::one_hot;
    default:
      return op;
  }
}

constexpr Taken taken(Op op) {
  op = strict(op);
  return is_case(op) ? case_of(op).takes : taken_by(op);
}
constexpr bool recorded(Op op) {
  if (is_case(op)) return case_of(op).recorded;
  switch (op) {
    case Op::window_at:  // where they begin is read by `item`
    case Op::replaced_at:
      return false;
    default:
      return op < Op::to_partial || op == Op::reshard;
  }
}
constexpr Element given(Op op, Element first, Element second) {
  op = strict(op);
  return is_case(op) ? case_of(op).gives(first, second) : given_by(op, first, second);
}
constexpr rules::Linearity linearity(Op op, Element first) {
  op = strict(op);
  if (is_case(op)) return case_of(op).linearity(first);
  return op == Op::named_choose ? meets<functions::Where> : rules::Linearity::none;
}

// A named elementwise function. Those that programs use only without a named result are cases.
inline std::int64_t call_named(Op op, std::int64_t a, std::int64_t b, std::int64_t c) {
  switch (op) {
    case Op::named_add:
      return cases::Add::of(a, b, c);
    case Op::named_multiply:
      return cases::Multiply::of(a, b, c);
    case Op::named_divide:
      return cases::Divide::of(a, b, c);
    default:  // choose
      return a != 0 ? b : c;
  }
}

}  // namespace programs
