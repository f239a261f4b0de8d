// All cases of the random programs as one numbered list.
#pragma once

#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>

#include "harness/cases/along.hpp"
#include "harness/cases/by_hand.hpp"
#include "harness/cases/elementwise.hpp"
#include "harness/cases/indexing.hpp"
#include "harness/cases/moves.hpp"
#include "harness/cases/products.hpp"
#include "harness/cases/reductions.hpp"

namespace programs {

using Cases =
    decltype(cases::Elementwise{} + cases::Along{} + cases::Blocks{} + cases::Reductions{} +
             cases::Products{} + cases::Indexing{} + cases::Moves{});

namespace detail_of_cases {

template <class List>
struct Table;
template <class... Cs>
struct Table<CaseList<Cs...>> {
  static constexpr CaseOf all[] = {CaseOf::of<Cs>()...};
  template <class C>
  static constexpr int times = (0 + ... + int{std::is_same_v<C, Cs>});
  static_assert(((times<Cs> == 1) && ...), "a case stands twice in the lists");
  template <Op op>
  using at = std::tuple_element_t<static_cast<std::size_t>(op), std::tuple<Cs...>>;
};
using All = Table<Cases>;

}  // namespace detail_of_cases

inline constexpr int op_count = static_cast<int>(std::size(detail_of_cases::All::all));
constexpr CaseOf const& case_of(Op op) { return detail_of_cases::All::all[static_cast<int>(op)]; }
template <Op op>
using case_t = detail_of_cases::All::at<op>;

constexpr Taken taken(Op op) { return case_of(op).takes; }

}  // namespace programs
