#pragma once
/// The gradients of operations along a dim that is not split, and of those that split and merge dims.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/autodiff/products.hpp>
#include <shardtype/autodiff/shapes.hpp>
#include <shardtype/ops/at.hpp>
#include <shardtype/ops/concat.hpp>
#include <shardtype/ops/flip.hpp>
#include <shardtype/ops/merge_dims.hpp>
#include <shardtype/ops/pad.hpp>
#include <shardtype/ops/repeat.hpp>
#include <shardtype/ops/roll.hpp>
#include <shardtype/ops/slice.hpp>
#include <shardtype/ops/split_dim.hpp>
#include <shardtype/ops/stack.hpp>
#include <shardtype/ops/tile.hpp>
#include <shardtype/ops/tril.hpp>

namespace shardtype::autodiff {

/// The place of `I` among the dims of the tensor type `A`.
template <class A, class I>
inline constexpr auto place_of = static_cast<std::size_t>(
    Scope<A>::template spec<0>.find(Scope<A>::names.find_label(identity<I>)));

/// Base of a Vjp that reads the extents of its operands.
struct SavesExtents : Differentiable {
  template <class V, class... As, class Op>
  static constexpr auto save(Op const&, V const&, As const&... as) {
    return keep(as.extents()...);
  }
};

/// The operation `Op` along dim `From`, which is dim `To` of the result.
template <template <class...> class Op, class From, class To>
using along_into = std::conditional_t<std::is_same_v<From, To>, Op<From>, Op<From, To>>;

/// Rows begin, begin + step, ... below end of `ct`; dim `From` becomes `To`.
template <class From, class To, class C>
constexpr auto sliced(C const& ct, std::int64_t begin, std::int64_t end, std::int64_t step = 1) {
  return call(along_into<op::Slice, From, To>{begin, end, step}, std::source_location::current(),
              ct);
}
/// `ct` with zeros around, and `interior` zeros between; dim `From` becomes `To`.
template <class From, class To, class C>
constexpr auto padded(C const& ct, std::int64_t before, std::int64_t after,
                      std::int64_t interior = 0) {
  return call(along_into<op::Pad, From, To>{before, after, interior},
              std::source_location::current(), ct);
}
/// The number of rows from the first to the last, where `step` rows lead from each to the next.
constexpr std::int64_t span(std::int64_t rows, std::int64_t step) {
  return rows == 0 ? 0 : (rows - 1) * step + 1;
}

/// Zeros where no row was taken.
template <class I, class... Result>
  requires(!shardtype::detail::names_slice<I, Result...>)
struct Vjp<op::Slice<I, Result...>> : SavesExtents {
  using Op = op::Slice<I, Result...>;
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    std::int64_t const used = span(ceil_div(op.end - op.begin, op.step), op.step);
    std::int64_t const after = kept<0>(saved)[place_of<tensor_of<A>, I>] - op.begin - used;
    return autodiff::padded<shardtype::detail::into_t<I, Result...>, I>(ct, op.begin, after,
                                                                        op.step - 1);
  }
};

/// The rows that were not added.
template <class I, class... Result>
struct PadVjp : SavesExtents {
  template <int K, class V, class A, class Op, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    std::int64_t const rows = kept<0>(saved)[place_of<tensor_of<A>, I>];
    std::int64_t const step = op.interior + 1;
    return autodiff::sliced<shardtype::detail::into_t<I, Result...>, I>(
        ct, op.before, op.before + span(rows, step), step);
  }
};
template <class I, class... Result>
struct Vjp<op::Pad<I, Result...>> : PadVjp<I, Result...> {};
template <class T, class I, class... Result>
struct Vjp<op::PadValue<T, I, Result...>> : PadVjp<I, Result...> {};

/// A range of rows for each operand.
template <class I, class... Result>
struct Vjp<op::Concat<I, Result...>> : Differentiable {
  using Op = op::Concat<I, Result...>;
  /// Where each operand begins, and where the last one ends.
  template <class V, class A, class... As>
  static constexpr auto save(Op const&, V const&, A const& a, As const&... as) {
    std::array<std::int64_t, sizeof...(As) + 2> begin{};
    std::size_t k = 0;
    auto const add = [&](std::int64_t rows) {
      begin[k + 1] = begin[k] + rows;
      ++k;
    };
    add(a.extents()[place_of<tensor_of<A>, I>]);
    (add(as.extents()[place_of<tensor_of<As>, I>]), ...);
    return keep(begin);
  }
  template <int K, class V, class... As, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    auto const& begin = kept<0>(saved);
    return autodiff::sliced<shardtype::detail::into_t<I, Result...>, I>(ct, begin[std::size_t{K}],
                                                                        begin[std::size_t{K} + 1]);
  }
};
template <class I>
struct Vjp<op::Stack<I>> : SavesNothing {
  template <int K, class V, class... As, class S, class C>
  static constexpr auto pull(op::Stack<I> const&, S const&, C const& ct) {
    return at<I>(ct, K);
  }
};
/// A dim of one row.
struct OneRow : Index<"one row"> {};
/// The row among zeros.
template <class I>
struct Vjp<op::At<I>> : SavesExtents {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::At<I> const& op, S const& saved, C const& ct) {
    std::int64_t const rows = kept<0>(saved)[place_of<tensor_of<A>, I>];
    return autodiff::in_order(
        autodiff::padded<OneRow, I>(expand<OneRow>(ct), op.k, rows - 1 - op.k),
        labels_of_t<tensor_of<A>>{});
  }
};

template <class I>
struct Vjp<op::Roll<I>> : SavesNothing {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::Roll<I> const& op, S const&, C const& ct) {
    return roll<I>(ct, -op.n);
  }
};
template <class I>
struct Vjp<op::Flip<I>> : SavesNothing {
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(op::Flip<I> const&, S const&, C const& ct) {
    return flip<I>(ct);
  }
};
template <class I, class J, bool Upper>
struct Vjp<op::Triangle<I, J, Upper>> : SavesNothing {
  using Op = op::Triangle<I, J, Upper>;
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const& op, S const&, C const& ct) {
    return call(op, std::source_location::current(), ct);
  }
};

/// The number of a repetition, and the rows that are repeated.
struct Repetition : Index<"repetition"> {};
struct Repeated : Index<"repeated"> {};

/// The dim `From` of `ct` as `First` and `Second`, summed over the repetitions; the rows are `To`.
template <class From, class First, class Second, class To, class C>
constexpr auto summed_repetitions(C const& ct, std::array<std::int64_t, 2> const& n) {
  return relabel<Repeated, To>(sum<Repetition>(split_dim<From, First, Second>(ct, n)));
}
template <class I, class... Result>
struct Vjp<op::Repeat<I, Result...>> : SavesExtents {
  using Op = op::Repeat<I, Result...>;
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    std::int64_t const rows = kept<0>(saved)[place_of<tensor_of<A>, I>];
    return autodiff::summed_repetitions<shardtype::detail::into_t<I, Result...>, Repeated,
                                        Repetition, I>(ct, {rows, op.times});
  }
};
template <class I, class... Result>
struct Vjp<op::Tile<I, Result...>> : SavesExtents {
  using Op = op::Tile<I, Result...>;
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const& op, S const& saved, C const& ct) {
    std::int64_t const rows = kept<0>(saved)[place_of<tensor_of<A>, I>];
    return autodiff::summed_repetitions<shardtype::detail::into_t<I, Result...>, Repetition,
                                        Repeated, I>(ct, {op.times, rows});
  }
};

template <class P>
struct LabelOfPart {
  using type = P;
};
template <class I, class... Xs>
struct LabelOfPart<Dim<I, Xs...>> {
  using type = I;
};
template <class I, class First, class Second>
struct Vjp<op::SplitDim<I, First, Second>> : SavesNothing {
  using Op = op::SplitDim<I, First, Second>;
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const&, C const& ct) {
    return merge_dims<typename LabelOfPart<First>::type, typename LabelOfPart<Second>::type, I>(ct);
  }
};

/// The D-th of a pack of dims.
template <class Dims, std::size_t D>
struct NthDim;
template <class... Dims, std::size_t D>
struct NthDim<shardtype::detail::Pack<Dims...>, D> {
  using type = nth_t<static_cast<int>(D), Dims...>;
};
template <class Dims, std::size_t D>
using nth_dim = typename NthDim<Dims, D>::type;
template <class First, class Second, class I>
struct Vjp<op::MergeDims<First, Second, I>> : SavesExtents {
  using Op = op::MergeDims<First, Second, I>;
  template <int K, class V, class A, class S, class C>
  static constexpr auto pull(Op const&, S const& saved, C const& ct) {
    using P = tensor_of<A>;
    auto const& n = kept<0>(saved);
    constexpr std::size_t d = place_of<P, First>;
    using Dims = typename DimsOf<P>::type;
    return split_dim<I, nth_dim<Dims, d>, nth_dim<Dims, d + 1>>(ct, {n[d], n[d + 1]});
  }
};

}  // namespace shardtype::autodiff
