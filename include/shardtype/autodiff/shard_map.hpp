#pragma once
/// shard_map of values whose gradient is wanted. Blocks and tensors, and the borders of manual
/// mode, are entries of the tape: the backward pass crosses them the other way.

#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/autodiff/active_expression.hpp>
#include <shardtype/autodiff/finish.hpp>
#include <shardtype/autodiff/tape.hpp>
#include <shardtype/check/cotangent.hpp>
#include <shardtype/manual/control.hpp>
#include <shardtype/manual/shard_map.hpp>

namespace shardtype {

namespace autodiff {

/// A value in which there is neither a mesh nor data.
template <class V>
inline constexpr bool is_abstract_inside = shardtype::detail::is_abstract<V>;
template <class V>
inline constexpr bool is_abstract_inside<Active<V>> = is_abstract_inside<V>;

/// A tensor `V` of which the block was taken; the cotangent of the block is the block of the
/// tensor's.
template <class V, class L>
struct TookBlock final : Entry {
  Slot<L> slot;
  Slot<V>* to;
  constexpr TookBlock(Tape* tape, Slot<V>* of)
      : Entry{nullptr, &act_on<TookBlock>}, slot(tape), to(of) {}
  constexpr void pull() {
    if (slot.ct == nullptr) return;
    using Ct = cotangent_value<L>;
    to->add(shardtype::detail::Leaving<Ct>::template to<cotangent_t<tensor_of<V>>>(slot.taken()));
  }
};
/// A block `L` that became the block of the tensor `V`.
template <class L, class V>
struct TookWhole final : Entry {
  Slot<V> slot;
  Slot<L>* to;
  constexpr TookWhole(Tape* tape, Slot<L>* of)
      : Entry{nullptr, &act_on<TookWhole>}, slot(tape), to(of) {}
  constexpr void pull() {
    if (slot.ct == nullptr) return;
    using Ct = cotangent_value<V>;
    to->add(autodiff::finished<cotangent_t<tensor_of<L>>, false>(
        shardtype::detail::Entering<Ct>::of(slot.taken(), 0)));
  }
};

/// The beginning of a body, in a `Scope` of a mesh, on the tape; the scope exists again while the
/// backward pass is in the body. On the tapes of lower levels that pass is recorded, too.
template <class Scope>
struct BodyBegins final : Entry {
  runtime::MeshRef mesh;
  std::vector<Tape*> lower;
  std::vector<BodyBegins*> recorded;
  Scope* inside = nullptr;

  BodyBegins(runtime::MeshRef const& on, std::vector<Tape*> tapes)
      : Entry{nullptr, &act_on<BodyBegins>}, mesh(on), lower(std::move(tapes)) {}
  BodyBegins(BodyBegins const&) = delete;
  BodyBegins& operator=(BodyBegins const&) = delete;
  ~BodyBegins() { delete inside; }
  void pull() {
    delete inside;
    inside = nullptr;
    end(recorded, lower);
  }

  /// Records the beginning of a body on tapes, those of lower levels first; null: none.
  static std::vector<BodyBegins*> begin(runtime::MeshRef const& mesh,
                                        std::vector<Tape*> const& tapes) {
    std::vector<BodyBegins*> out;
    for (auto tape = tapes.begin(); tape != tapes.end(); ++tape) {
      auto* const begins = *tape == nullptr ? nullptr : new BodyBegins(mesh, {tapes.begin(), tape});
      if (begins != nullptr) (*tape)->push(begins);
      out.push_back(begins);
    }
    return out;
  }
  static void end(std::vector<BodyBegins*> const& begun, std::vector<Tape*> const& tapes);
};
/// The end of a body, where the backward pass enters it.
template <class Scope>
struct BodyEnds final : Entry {
  BodyBegins<Scope>* begins;
  explicit BodyEnds(BodyBegins<Scope>* of) : Entry{nullptr, &act_on<BodyEnds>}, begins(of) {}
  void pull() {
    begins->inside = new Scope(begins->mesh);
    begins->recorded = BodyBegins<Scope>::begin(begins->mesh, begins->lower);
  }
};
template <class Scope>
void BodyBegins<Scope>::end(std::vector<BodyBegins*> const& begun,
                            std::vector<Tape*> const& tapes) {
  for (std::size_t k = 0; k < begun.size(); ++k)
    if (begun[k] != nullptr) tapes[k]->push(new BodyEnds<Scope>(begun[k]));
}

/// The tapes of the values, of level 1 first.
template <int Top, class... As>
void tapes_of(std::vector<Tape*>& out, As const&... as) {
  if constexpr (Top > 1) autodiff::tapes_of<Top - 1>(out, autodiff::peeled<Top>(as)...);
  SlotBase const* const slots[] = {autodiff::slot_of<Top>(as)...};
  out.push_back(autodiff::one_tape("shard_map", slots, static_cast<int>(sizeof...(As))));
}

}  // namespace autodiff

namespace detail {

template <class A>
  requires is_active<A>
struct Entering<A> {
  using type = autodiff::tensor_of<A>;
  static constexpr auto of(A const& a, int argument) {
    auto const& active = a.tensor();
    using V = typename std::remove_cvref_t<decltype(active)>::inner;
    auto const block = Entering<V>::of(active.value(), argument);
    using L = std::remove_cvref_t<decltype(block)>;
    if (active.slot() == nullptr) return autodiff::Active<L>(block);
    autodiff::Tape* const tape = active.slot()->tape;
    auto* const entry = new autodiff::TookBlock<V, L>(tape, active.slot());
    tape->push(entry);
    return autodiff::Active<L>(block, &entry->slot);
  }
};
template <class A>
  requires is_active<A>
struct Leaving<A> {
  using type = autodiff::tensor_of<A>;
  template <class Out>
  static constexpr auto to(A const& a) {
    auto const& active = a.tensor();
    using L = typename std::remove_cvref_t<decltype(active)>::inner;
    auto const whole = Leaving<L>::template to<Out>(active.value());
    using V = std::remove_cvref_t<decltype(whole)>;
    if (active.slot() == nullptr) return autodiff::Active<V>(whole);
    autodiff::Tape* const tape = active.slot()->tape;
    auto* const entry = new autodiff::TookWhole<L, V>(tape, active.slot());
    tape->push(entry);
    return autodiff::Active<V>(whole, &entry->slot);
  }
};

template <class V>
struct Joined<V, autodiff::Active<V>> {
  using type = autodiff::Active<V>;
};
template <class V>
struct Joined<autodiff::Active<V>, V> {
  using type = autodiff::Active<V>;
};

template <class L, class Out>
struct CotangentLeaves {
  static constexpr auto decide() {
    if constexpr (!has_cotangent<Out>) {
      return Plainly<Code::X03_not_differentiable>{};
    } else {
      return Finishes<cotangent_t<L>, local_t<cotangent_t<Out>>, false>{};
    }
  }
  using Judged = decltype(decide());
  using S = typename Judged::S;
  static constexpr Verdict verdict = Judged::verdict;
};

template <class Scope>
struct ActiveBody {
  template <class F, class A, class... As>
  static constexpr auto run(F const& f, A const& a, As const&... as) {
    if constexpr (autodiff::is_abstract_inside<A> || (autodiff::is_abstract_inside<As> || ...)) {
      return detail::computed(f(a, as...));
    } else {
      using Begins = autodiff::BodyBegins<Scope>;
      std::vector<autodiff::Tape*> tapes;
      autodiff::tapes_of<autodiff::top_level<A, As...>()>(tapes, a, as...);
      auto const begun = Begins::begin(a.mesh(), tapes);
      auto result = [&] {
        Scope const inside(a.mesh());
        return detail::computed(f(a, as...));
      }();
      Begins::end(begun, tapes);
      return result;
    }
  }
};

}  // namespace detail

}  // namespace shardtype
