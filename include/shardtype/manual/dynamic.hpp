#pragma once
/// Windows of blocks that begin where each rank says.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/manual/moves.hpp>
#include <shardtype/ops/dynamic_slice.hpp>

namespace shardtype {

namespace detail {

/// A window of block `L` from `P` on: it varies over the axes that its start varies over.
template <class L, class P>
struct Windowed {
  using S = Scope<L, P>;
  static constexpr Verdict decide() {
    if (Verdict v = rules::lawful(S::names, S::readings, 2); !v) return v;
    constexpr Spec a = S::template spec<0>;
    constexpr Spec start = S::template spec<1>;
    if (start.rank > 0) return refuse(Code::A01_item_has_dims);
    for (int x = 0; x < max_axes; ++x) {
      if (start.unreduced.contains(x)) return refuse(Code::A02_still_unreduced, -1, -1, x);
      if (start.varying.contains(x) && a.unreduced.contains(x))
        return refuse(Code::P06_owed_and_split, -1, -1, x);
    }
    if (!is_id<element_t<P>>) return refuse(Code::I01_not_integers);
    return in_manual_mode<S, 2>(accept(a));
  }
  static constexpr Verdict verdict = decide();
  struct Holder {
    static constexpr Spec value = verdict.result;
  };
};

/// `make(start)` typed as varying where the start varies.
template <class A, class P, class Make>
auto windowed(A const& /*of*/, P const& start, Make make) {
  using L = operand_t<A>;
  using Begin = operand_t<P>;
  if constexpr (!Windowed<L, Begin>::verdict) {
    return Poisoned(refusal<Windowed<L, Begin>, L, Begin>{});
  } else {
    auto const out = make(static_cast<std::int64_t>(own_element(operand(start))));
    if constexpr (any_poisoned<decltype(out)>) {
      return out;
    } else {
      using Made = std::remove_const_t<decltype(out)>;
      using R = Windowed<Made, Begin>;
      using Out = tensor_from_spec<typename R::S, typename R::Holder, element_t<Made>, Made>;
      return Out(out.mesh(), out.extents(), out.buffer());
    }
  }
}

}  // namespace detail

/// `size` rows from `start` on along I, where `start` is a rank-0 block of integers: each rank's own, so the
/// result varies where the start does. `a[I]{V:X}`, `start[]{V:Y}` -> `dynamic_slice<I, Head>(a, start, 4)`
/// -> `[Head]{V:X,Y}`. Otherwise as in strict mode. Refused: V01, A01, A02, I01, P06 of the start.
template <class I, class... Result, class A, class P>
  requires(detail::is_block<A> && detail::is_block<P>)
auto dynamic_slice(A const& a, P const& start, std::int64_t size,
                   std::source_location where = std::source_location::current()) {
  return detail::windowed(a, start, [&](std::int64_t begin) {
    return dynamic_slice<I, Result...>(a, begin, size, where);
  });
}

/// A copy of `a` with the rows of `update` from `start` on along I; the start as in dynamic_slice, else as
/// in strict mode.
template <class I, class... Into, class A, class B, class P>
  requires(detail::is_block<A> && detail::is_block<P>)
auto dynamic_update(A const& a, B const& update, P const& start,
                    std::source_location where = std::source_location::current()) {
  return detail::windowed(a, start, [&](std::int64_t begin) {
    return dynamic_update<I, Into...>(a, update, begin, where);
  });
}

}  // namespace shardtype
