#pragma once
/// An elementwise expression on the tape, and the cotangents of its operands: one kernel writes
/// those that are kept as they are written.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/active.hpp>
#include <shardtype/autodiff/agreed.hpp>
#include <shardtype/autodiff/finish.hpp>
#include <shardtype/autodiff/pullback.hpp>
#include <shardtype/execute/reduce_run.hpp>

namespace shardtype::autodiff {

/// The slot of a value of level `Top`; null for others and for constants.
template <int Top, class A>
constexpr SlotBase* slot_of(A const& a) {
  if constexpr (level<A> == Top) {
    return a.slot();
  } else {
    return nullptr;
  }
}
/// Where one kernel writes `N` cotangents of type `Out`: what is in a slot is added. Keeps the
/// memory of what is read.
template <class Out, int N>
struct Written {
  using T = typename Out::element;
  kernels::Targets<T, N> targets{};
  std::array<Buffer, static_cast<std::size_t>(N)> read{};
  Out* any = nullptr;  ///< one of them

  /// The `k`-th goes to `slot`, unless that is null; `e` has the operands of the expression that is
  /// computed.
  template <class S>
  void place(int k, S* slot, shardtype::detail::FusedRun const& e) {
    if (slot == nullptr) return;
    slot->complete();
    bool const first = slot->ct == nullptr;
    if (first || slot->ct->shared()) {
      if (!first) {
        read[static_cast<std::size_t>(k)] = slot->ct->buffer();
        targets.base[k] = static_cast<T const*>(slot->ct->buffer().data());
      }
      typename std::remove_cvref_t<decltype(std::declval<Out const&>().extents())> extents{};
      shardtype::detail::fused_extents(e.operands, e.dims, core::Scope<Out>::names, Out::spec,
                                       extents.data());
      Out made = shardtype::detail::uninitialized<Out>(e.operands.mesh(), extents);
      if (first) {
        slot->ct = autodiff::make_small<Out>(std::move(made));
      } else {
        *slot->ct = std::move(made);
      }
      targets.to[k] = static_cast<T*>(slot->ct->buffer().data());
    } else {
      targets.to[k] = static_cast<T*>(slot->ct->buffer().data());
      targets.base[k] = targets.to[k];
    }
    any = slot->ct;
  }
};

/// A cotangent of type `C` that is not written, as an operand of a kernel.
template <class C>
struct Repeated {
  UnwrittenSpread from;
};

template <class A>
struct WrittenAs {
  using type = A;
};
template <class C>
struct WrittenAs<Repeated<C>> {
  using type = C;
};
template <class A>
typename shardtype::detail::FusedArgument<A>::base const& kernel_operand(A const& a) {
  return a;
}
template <class C>
shardtype::detail::FusedParts<shardtype::detail::FusedLeaf<element_t<C>>> kernel_operand(
    Repeated<C> const& a) {
  return shardtype::detail::FusedParts<shardtype::detail::FusedLeaf<element_t<C>>>(a.from.value);
}
/// The dims of what is repeated, from those of the cotangent.
template <class A>
void place_spread(A const&, shardtype::detail::OperandDims&) {}
template <class C>
void place_spread(Repeated<C> const& a, shardtype::detail::OperandDims& dims) {
  for (std::int8_t& d : dims.at)
    if (d >= 0) d = a.from.dims->at[d];
}

/// In place of an operand or result that no pull reads.
struct Nothing {};

/// An elementwise expression on the tape: its tree and what its operands' cotangents read.
template <class E, int Top, class V, class Numbers, class... Leaves>
struct RecordedExpression;
template <class E, int Top, class V, int... I, class... Leaves>
struct RecordedExpression<E, Top, V, std::integer_sequence<int, I...>, Leaves...> final : Entry {
  /// The values that the cotangents of active operands read, as bits; the result is E::inputs.
  static constexpr unsigned reads() {
    unsigned out = 0;
    ((out |= active<I>() ? Reads<I, E>::mask : 0U), ...);
    return out;
  }
  template <int K>
  static constexpr bool active() {
    return level<nth_t<K, Leaves...>> == Top;
  }
  static constexpr unsigned mask = reads();
  /// The number of operands whose cotangents kernels write; the others get the result's as it is.
  static constexpr int computed =
      (0 + ... + (level<nth_t<I, Leaves...>> == Top && !Path<I, E>::passes ? 1 : 0));
  static constexpr bool saves_result = ((mask >> E::inputs) & 1U) != 0;
  template <int K>
  using SavedAt =
      std::conditional_t<((mask >> K) & 1U) != 0, peeled_t<Top, nth_t<K, Leaves...>>, Nothing>;

  Slot<V> slot;
  E expression;
  using Saved = KeptIn<std::integer_sequence<int, I..., E::inputs>, SavedAt<I>...,
                       std::conditional_t<saves_result, V, Nothing>>;
  Saved saved;
  SlotBase* to[sizeof...(Leaves)];

  constexpr RecordedExpression(Tape* tape, E const& e, V const& value, Leaves const&... leaves)
      : Entry{nullptr, &act_on<RecordedExpression>},
        slot(tape),
        expression(e),
        saved{{saved_at<I>(leaves)}..., {result_of(value)}},
        to{autodiff::slot_of<Top>(leaves)...} {
    if constexpr (is_tensor<V>) slot.takes_spread = reads_spread<cotangent_t<V>>();
  }
  constexpr void pull() {
    if (!slot.any()) return;
    if constexpr (is_tensor<V>) {
      if constexpr (reads_spread<cotangent_t<V>>())
        if (slot.spread != nullptr) return pull_spread<cotangent_t<V>>();
    }
    auto const ct = slot.taken();
    autodiff::agree_on_pull("map", autodiff::wanted_bits(to, static_cast<int>(sizeof...(Leaves))),
                            ct);
    if constexpr (computed > 1) {
      using Joined = Together<std::remove_const_t<decltype(ct)>>;
      bool const once = one_pass<Joined>();
      (pull_or_join<Joined, I>(ct, once), ...);
    } else {
      (pull_into<I>(ct), ...);
    }
  }

 private:
  /// Whether all cotangents are written by kernels of their own dims that may read one that is
  /// repeated: another value that they read has all extents.
  template <class C>
  static constexpr bool reads_spread() {
    // NOLINTNEXTLINE(bugprone-branch-clone): the second condition needs the first
    if constexpr (!is_tensor<C> || computed < 2) {
      return false;
    } else if constexpr (!((!active<I>() || Together<C>::has(I)) && ...)) {
      return false;
    } else {
      return (... || [] {
        using Read = SavedAt<I>;
        if constexpr (is_tensor<Read>) {
          return Read::rank == C::rank;
        } else {
          return false;
        }
      }());
    }
  }
  /// The same of a cotangent that is not written.
  template <class C>
  void pull_spread() {
    using Joined = Together<C>;
    Repeated<C> const ct{*slot.spread};
    slot.drop_spread();
    if constexpr (!is_local<C>)
      autodiff::agree_on_pull("map", autodiff::wanted_bits(to, static_cast<int>(sizeof...(Leaves))),
                              ct.from.value.mesh().state(), ct.from.extents, C::rank);
    bool const once = one_pass<Joined>();
    (pull_or_join<Joined, I>(ct, once), ...);
  }
  template <int K, class A>
  static constexpr SavedAt<K> saved_at([[maybe_unused]] A const& a) {
    if constexpr (((mask >> K) & 1U) != 0) {
      return autodiff::peeled<Top>(a);
    } else {
      return {};
    }
  }
  static constexpr auto result_of([[maybe_unused]] V const& value) {
    if constexpr (saves_result) {
      return value;
    } else {
      return Nothing{};
    }
  }
  template <int K, class C>
  constexpr void pull_into(C const& ct) {
    if constexpr (active<K>()) {
      if (to[K] == nullptr) return;
      using P = peeled_t<Top, nth_t<K, Leaves...>>;
      static_cast<Slot<P>*>(to[K])->add(
          autodiff::finished<cotangent_t<tensor_of<P>>, false>(summed<K>(ct)));
    }
  }
  /// The cotangent of operand `K`, summed over the dims that it lacks: where it can, the sum
  /// computes what it reads.
  template <int K, class C>
  constexpr auto summed(C const& ct) const {
    using A = tensor_of<peeled_t<Top, nth_t<K, Leaves...>>>;
    using Out = typename decltype(computed_by_sum<K, A, C>())::type;
    if constexpr (std::is_void_v<Out>) {
      return autodiff::unbroadcast<A>(pulled_back<K>(ct));
    } else {
      using Numbers = typename Reads<K, E>::Numbers;
      return [&]<int... N>(std::integer_sequence<int, N...>) {
        using Pulls = PullbackFunction<E, Numbers, K>;
        using Given =
            execute::ComputedOperand<Out, Pulls, C,
                                     std::remove_cvref_t<decltype(autodiff::kept<N>(saved))>...>;
        Given const given(Pulls{expression}, ct, autodiff::kept<N>(saved)...);
        return autodiff::unbroadcast<A>(execute::Temporary<Given>{given});
      }(Numbers{});
    }
  }
  /// The type of the cotangent of operand `K`, an `A` that lacks dims of it, if the sum over them
  /// can compute it; or void.
  template <int K, class A, class C>
  static constexpr auto computed_by_sum() {
    if constexpr (!is_tensor<C> || Path<K, E>::passes) {
      return Type<void>{};
    } else {
      return [&]<int... N>(std::integer_sequence<int, N...>) {
        using Pulled = checking::Resolve<
            Pullback<E, K>, C,
            std::remove_cvref_t<decltype(autodiff::kept<N>(std::declval<Saved const&>()))>...>;
        if constexpr (!Pulled::verdict) {
          return Type<void>{};
        } else {
          using Out = typename Pulled::result;
          using Extra = decltype(autodiff::labels_where<A, false>(labels_of_t<Out>{}));
          if constexpr (std::is_same_v<Extra, shardtype::detail::Pack<>>) {
            return Type<void>{};
          } else if constexpr (execute::reads_blocks<Out,
                                                     std::remove_cvref_t<decltype(autodiff::kept<N>(
                                                         std::declval<Saved const&>()))>...>) {
            return Type<Out>{};
          } else {
            return Type<void>{};
          }
        }
      }(typename Reads<K, E>::Numbers{});
    }
  }
  /// The type of the cotangent of operand `K`, if it is added to the operand's slot as a kernel
  /// writes it.
  template <int K, class C>
  static constexpr auto written() {
    if constexpr (!active<K>()) {
      return Type<void>{};
    } else if constexpr (!is_tensor<C> || Path<K, E>::passes) {
      return Type<void>{};
    } else {
      return [&]<int... N>(std::integer_sequence<int, N...>) {
        using Pulled = checking::Resolve<
            Pullback<E, K>, C,
            std::remove_cvref_t<decltype(autodiff::kept<N>(std::declval<Saved const&>()))>...>;
        using Want = cotangent_t<tensor_of<peeled_t<Top, nth_t<K, Leaves...>>>>;
        if constexpr (!Pulled::verdict) {
          return Type<void>{};
        } else if constexpr (std::is_same_v<typename Pulled::result, Want>) {
          return Type<Want>{};
        } else {
          return Type<void>{};
        }
      }(typename Reads<K, E>::Numbers{});
    }
  }
  /// The operands whose cotangents one kernel writes, all of one type `Out`.
  template <class C>
  struct Together {
    template <class First, class... Rest>
    static constexpr auto first_of(Type<First> first, Rest... rest) {
      if constexpr (std::is_void_v<First> && sizeof...(Rest) > 0) {
        return first_of(rest...);
      } else {
        return first;
      }
    }
    using Out = typename decltype(first_of(written<I, C>()...))::type;
    static constexpr unsigned bits() {
      unsigned out = 0;
      if constexpr (!std::is_void_v<Out>)
        ((out |= std::is_same_v<decltype(written<I, C>()), Type<Out>> ? 1U << I : 0U), ...);
      return out;
    }
    using Numbers = decltype(autodiff::bits_of<bits()>(std::integer_sequence<int>{}));
    /// One alone has a kernel of its own.
    static constexpr bool has(int k) { return Numbers::size() > 1 && ((bits() >> k) & 1U) != 0; }
    static constexpr int last = [] {
      int out = 0;
      ((out = has(I) ? I : out), ...);
      return out;
    }();
  };
  /// Whether the kernel may write all cotangents at the last one's turn: a slot's summands keep
  /// their order.
  template <class Joined>
  constexpr bool one_pass() const {
    bool joined = false;
    for (int j = 0; j < Joined::last; ++j) {
      joined = joined || Joined::has(j);
      if (!joined || Joined::has(j) || to[j] == nullptr) continue;
      for (int k = 0; k <= Joined::last; ++k)
        if (Joined::has(k) && to[k] == to[j]) return false;
    }
    return true;
  }
  template <class Joined, int K, class C>
  constexpr void pull_or_join(C const& ct, bool once) {
    if constexpr (!Joined::has(K)) {
      pull_into<K>(ct);
    } else if (!once) {
      join<typename Joined::Out>(ct, 1U << K, typename Joined::Numbers{});
    } else if constexpr (K == Joined::last) {
      join<typename Joined::Out>(ct, ~0U, typename Joined::Numbers{});
    }
  }
  /// Adds the cotangents of the operands `Ks` to their slots by one kernel: of those that are
  /// wanted, and whose bits are set.
  template <class Out, class C, int... Ks>
  void join(C const& ct, unsigned which, std::integer_sequence<int, Ks...>) {
    using Numbers = decltype(autodiff::bits_of<mask>(std::integer_sequence<int>{}));
    [&]<int... N>(std::integer_sequence<int, N...>) {
      write<Out, Ks...>(PullbackFunction<E, Numbers, Ks...>{expression}, which, ct,
                        autodiff::kept<N>(saved)...);
    }(Numbers{});
  }
  template <class Out, int... Ks, class F, class... As>
  void write(F const& f, unsigned which, As const&... as) {
    using namespace shardtype::detail;
    using X = FusedFunction<F, typename WrittenAs<As>::type...>;
    using To = kernels::Targets<typename Out::element, static_cast<int>(sizeof...(Ks))>;
    core::RunningCall const running("map", {}, detail::element_name<typename Out::element>(),
                                    &Out::spec, &core::Scope<Out>::names);
    typename X::base const e(f, autodiff::kernel_operand(as)...);
    OperandDims dims[sizeof...(As)];
    for (std::size_t k = 0; k < sizeof...(As); ++k)
      dims[k] = DimsOfOperands<Out, typename X::tensors>::at[k];
    (autodiff::place_spread(as, dims[0]), ...);
    FusedRun const made{e.operands, &e, compute_of<Out, typename X::part, To>, dims};
    Written<Out, static_cast<int>(sizeof...(Ks))> written;
    int k = 0;
    (written.place(k++, ((which >> Ks) & 1U) != 0 ? slot_at<Ks>() : nullptr, made), ...);
    if (written.any != nullptr) made.compute_to(*written.any, &written.targets);
  }
  template <int K>
  constexpr auto* slot_at() const {
    return static_cast<Slot<peeled_t<Top, nth_t<K, Leaves...>>>*>(to[K]);
  }
  template <int K, class C>
  constexpr auto pulled_back(C const& ct) const {
    if constexpr (Path<K, E>::passes) {
      return ct;
    } else {
      return [&]<int... N>(std::integer_sequence<int, N...>) {
        return api::call(autodiff::Pullback<E, K>{expression}, std::source_location::current(), ct,
                         autodiff::kept<N>(saved)...);
      }(typename Reads<K, E>::Numbers{});
    }
  }
};

}  // namespace shardtype::autodiff
