#pragma once
/// Host: parts of an expression that occur several times are computed once per block.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <shardtype/kernels/expression_tree.hpp>

namespace shardtype::kernels::detail {

/// The elements that are computed at a time.
using Block = std::integral_constant<std::size_t, static_cast<std::size_t>(vectors::block)>;

template <class E, class T>
void compute_block(E const& e, void const* const* in, std::int64_t begin, std::int64_t n, T* to);

/// Parts that are computed once (`Once<...>`), each behind those that it reads.
template <class... Vs>
struct Parts {
  static constexpr int count = static_cast<int>(sizeof...(Vs));
  template <class V>
  static constexpr int place() {
    bool const each[] = {std::is_same_v<V, Vs>..., true};
    int k = 0;
    while (!each[k]) ++k;
    return k;
  }
};
template <class V, class... Vs>
constexpr auto with_part(Parts<Vs...> all) {
  if constexpr ((std::is_same_v<V, Vs> || ...)) {
    return all;
  } else {
    return Parts<Vs..., V>{};
  }
}

/// The parts of an expression: `parts` appends them; `find` passes the first one of type `V` to
/// `use`; `in_blocks` is the expression with the parts `Ps` read from blocks, in slots from `First`
/// on. `highest`: the last slot that it reads.
template <class E>
struct PartsOf {
  static constexpr int highest = [] {
    if constexpr (requires { E::slot; }) {
      return E::slot;
    } else {
      return -1;
    }
  }();
  template <class Ps>
  static constexpr Ps parts(Ps all) {
    return all;
  }
  template <class Ps, int First>
  static E in_blocks(E const& e) {
    return e;
  }
  template <class V, class Use>
  static bool find(E const&, Use const&) {
    return false;
  }
};
template <class E>
struct PartsOf<Once<E>> {
  static constexpr int highest = PartsOf<E>::highest;
  template <class Ps>
  static constexpr auto parts(Ps all) {
    return detail::with_part<Once<E>>(PartsOf<E>::parts(all));
  }
  template <class Ps, int First>
  static auto in_blocks(Once<E> const&) {
    return BlockLeaf<typename Once<E>::value_type, First + Ps::template place<Once<E>>()>{};
  }
  template <class V, class Use>
  static bool find(Once<E> const& e, Use const& use) {
    if constexpr (std::is_same_v<V, Once<E>>) {
      use(e.expression);
      return true;
    } else {
      return PartsOf<E>::template find<V>(e.expression, use);
    }
  }
};
template <int... K, class F, class... Args>
struct PartsOf<Node<std::integer_sequence<int, K...>, F, Args...>> {
  using E = Node<std::integer_sequence<int, K...>, F, Args...>;
  static constexpr int highest = [] {
    int out = -1;
    ((out = PartsOf<Args>::highest > out ? PartsOf<Args>::highest : out), ...);
    return out;
  }();
  template <class A, class... Rest, class Ps>
  static constexpr auto parts_of_each(Ps all) {
    if constexpr (sizeof...(Rest) == 0) {
      return PartsOf<A>::parts(all);
    } else {
      return parts_of_each<Rest...>(PartsOf<A>::parts(all));
    }
  }
  template <class Ps>
  static constexpr auto parts(Ps all) {
    return parts_of_each<Args...>(all);
  }
  template <int J, class A>
  static A const& argument(E const& e) {
    return static_cast<Argument<J, A> const&>(e).expression;
  }
  template <class Ps, int First>
  static auto in_blocks(E const& e) {
    using Out =
        Node<std::integer_sequence<int, K...>, F,
             decltype(PartsOf<Args>::template in_blocks<Ps, First>(argument<K, Args>(e)))...>;
    return Out(e.function, PartsOf<Args>::template in_blocks<Ps, First>(argument<K, Args>(e))...);
  }
  template <class V, class Use>
  static bool find(E const& e, Use const& use) {
    return (PartsOf<Args>::template find<V>(argument<K, Args>(e), use) || ...);
  }
};
template <class E>
using parts_of = decltype(PartsOf<E>::parts(Parts<>{}));

/// Computes a block of the parts that are left, then of `whole`, which reads them.
template <class Ps, class E, class Whole, class T>
void compute_parts(Parts<>, E const&, Whole const& whole, void const** from, std::int64_t begin,
                   std::int64_t n, T* to) {
  detail::compute_block(whole, from, begin, n, to);
}
template <class Ps, class V, class... Rest, class E, class Whole, class T>
void compute_parts(Parts<V, Rest...>, E const& e, Whole const& whole, void const** from,
                   std::int64_t begin, std::int64_t n, T* to) {
  constexpr int first = PartsOf<E>::highest + 1;
  alignas(64) typename V::value_type block[Block::value];
  PartsOf<E>::template find<V>(e, [&]<class A>(A const& part) {
    detail::compute_block(PartsOf<A>::template in_blocks<Ps, first>(part), from, begin, n,
                          static_cast<typename V::value_type*>(block));
  });
  from[first + Ps::template place<V>()] = block;
  detail::compute_parts<Ps>(Parts<Rest...>{}, e, whole, from, begin, n, to);
}
/// compute_block for an expression with parts (Once), each computed once for a block of elements.
template <class E, class T>
void compute_with_parts(E const& e, void const* const* in, std::int64_t begin, std::int64_t n,
                        T* to) {
  using Ps = parts_of<E>;
  constexpr int first = PartsOf<E>::highest + 1;
  auto const whole = PartsOf<E>::template in_blocks<Ps, first>(e);
  void const* from[static_cast<std::size_t>(first + Ps::count)];
  for (int s = 0; s < first; ++s) from[s] = in[s];
  for (std::int64_t k = 0; k < n; k += vectors::block) {
    std::int64_t const m = n - k < vectors::block ? n - k : vectors::block;
    detail::compute_parts<Ps>(Ps{}, e, whole, from, begin + k, m, to + k);
  }
}

}  // namespace shardtype::kernels::detail
