#pragma once
/// Shared by operations along one dim.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/contraction.hpp>
#include <shardtype/check/operation.hpp>
#include <shardtype/plan/indexing_plan.hpp>
#include <shardtype/rules/along.hpp>

namespace shardtype::detail {

/// The second index, or where there is none the first.
template <class J, class... Into>
struct IntoOf : Only<Pack<J>> {};
template <class J, class K, class... More>
struct IntoOf<J, K, More...> : Only<Pack<K>> {};
template <class... Is>
using into_t = typename IntoOf<Is...>::type;

template <class... Names>
inline constexpr bool begins_with_label = false;
template <class L, class... Names>
inline constexpr bool begins_with_label<L, Names...> = names_label<L>;

/// Splits names into labels, which come first, and the rest, which is a named result.
template <bool label, class Ls, class... Names>
struct LabelsFirstIf {
  using labels = Ls;
  using result = Pack<Names...>;
};
template <class... Ls, class L, class... Names>
struct LabelsFirstIf<true, Pack<Ls...>, L, Names...>
    : LabelsFirstIf<begins_with_label<Names...>, Pack<Ls..., L>, Names...> {};
template <class... Names>
using LabelsFirst = LabelsFirstIf<begins_with_label<Names...>, Pack<>, Names...>;

/// The kind of reduction that joins a found element with the zeros of ranks that do not have it.
constexpr ReduceKind joining(rules::Question const& q) {
  return q.boolean ? ReduceKind::max : ReduceKind::sum;
}

/// Error E24 unless all operands have equal extents, except along dim `along` (-1: no exception).
constexpr void check_beside(ResultExtents const& c, int along, int count) {
  for (int k = 1; k < count; ++k)
    for (int d = 0; d < c.a().rank; ++d)
      if (d != along && c.given[0][d] != c.given[k][d])
        ResultExtents::fail("index " + c.name(d) + " has extent " + std::to_string(c.given[k][d]) +
                                " in one operand, elsewhere " + std::to_string(c.given[0][d]),
                            "E24");
}

}  // namespace shardtype::detail
