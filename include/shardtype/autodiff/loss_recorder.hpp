#pragma once
/// Writes the program of a loss while its function runs.

#include <memory>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/container.hpp>
#include <shardtype/autodiff/program_gradient.hpp>
#include <shardtype/autodiff/tape.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/lazy/program.hpp>
#include <shardtype/lazy/recorded_value.hpp>

namespace shardtype::autodiff {

/// The program of a loss, as it was written, with what its run and its derivatives need.
struct RecordedLoss {
  RecordedProgram program{};
  automatic_mode::ProgramNames names{};
  Code fault = Code::ok;
  shardtype::detail::List<execute::ProgramPart> parts;
  shardtype::detail::List<planning::PartGradient> gradients;  ///< by part
  shardtype::detail::List<Identity> types;                    ///< of the parts
  shardtype::detail::List<std::shared_ptr<void const>> kept;  ///< the parts
  int segments = 0;  ///< number of those that may be computed again
  shardtype::detail::List<planning::PullByHand> by_hand;
};

template <class V>
inline constexpr bool has_no_gradient = false;
template <class E>
inline constexpr bool has_no_gradient<automatic_mode::HasNoGradient<E>> = true;
/// How an operand of an expression varies.
template <class A>
constexpr auto how_operand_varies() {
  if constexpr (shardtype::detail::is_under_way<A>) {
    return Type<typename A::recorder::template varies<A>>{};
  } else {
    return Type<void>{};
  }
}
template <class A>
using operand_varies = typename decltype(autodiff::how_operand_varies<A>())::type;

/// Writes the program of a loss on the mesh axes `Xs`; if there are none, on those that the
/// arguments mention. `Self`: the recorder of the values; `Finder` collects their parts.
template <class Self, class Finder, class... Xs>
class LossWriter {
 public:
  /// Whether the mesh has the axes of a sharding.
  template <class A>
  static constexpr bool has_axes() {
    if constexpr (sizeof...(Xs) == 0) {
      return true;
    } else {
      bool out = true;
      for (int x = 0; x < Scope<A>::names.axes; ++x)
        out = out && ((Scope<A>::names.axis_id[x] == identity<Xs>) || ...);
      return out;
    }
  }
  /// Whether, and how, a gradient flows through the value of an expression.
  template <class E>
  static constexpr auto how_it_varies() {
    if constexpr (shardtype::detail::is_recorded_value<E>) {
      return Type<typename E::varies>{};
    } else if constexpr (!reads_argument<E> ||
                         !shardtype::detail::is_floating<element_t<typename E::whole>>) {
      return Type<void>{};
    } else if constexpr (autodiff::part_gradient<E>().refused) {
      return Type<automatic_mode::HasNoGradient<E>>{};
    } else {
      return how_operands_vary(typename E::operands{});
    }
  }
  template <class E>
  using varies = typename decltype(how_it_varies<E>())::type;

  LossWriter() { (writer_.add_axis(shardtype::detail::axis_part<Xs>), ...); }
  LossWriter(LossWriter const&) = delete;
  LossWriter& operator=(LossWriter const&) = delete;

  /// Adds the axes that the tensors of an argument mention; before values are recorded.
  template <class P>
  void mention() {
    autodiff::each_leaf_type<P>([&]<class A>(Type<A>) {
      if constexpr (is_tensor<A> && sizeof...(Xs) == 0) {
        using S = Scope<A>;
        for (int x = 0; x < S::names.axes; ++x)
          writer_.add_axis({S::names.axis_id[x], S::names.axis_name[x], S::names.axis_size[x]});
      }
    });
  }
  template <class E>
  int record(E const& e) {
    return shardtype::detail::walk(*this, keep(e));
  }
  template <class E>
  int record(E const& e, int made) {
    return shardtype::detail::walk_result(*this, keep(e), made);
  }
  /// An operand without data.
  template <class A>
  int symbol() {
    finder_.template symbol<A>();
    gradients_.push_back({});
    types_.push_back(identity<A>);
    return writer_.visit(static_cast<automatic_mode::LazySymbol<A> const*>(nullptr), {});
  }
  /// The program, whose result is value `root`, a scalar.
  template <class L>
  RecordedLoss finish(int root) {
    writer_.template finish<automatic_mode::whole_t<L>>(root);
    return {std::move(writer_.builder.program),
            writer_.names,
            writer_.fault,
            std::move(finder_.parts),
            std::move(gradients_),
            std::move(types_),
            std::move(kept_),
            segments_,
            std::move(by_hand_)};
  }
  /// A further value that is `value`.
  int alias(int value) {
    return in_segment([&] { return writer_.alias(value); });
  }
  /// Adds a function whose gradient is written by hand.
  void pull_by_hand(planning::PullByHand by) { by_hand_.push_back(std::move(by)); }
  /// Calls `f`, whose values are a segment that may be computed again in the backward pass; within
  /// another segment they are part of it.
  template <class F>
  auto as_segment(F const& f) {
    bool const outer = segment_ < 0;
    if (outer) segment_ = segments_++;
    auto out = f();
    if (outer) segment_ = -1;
    return out;
  }

  // The callbacks of walk().
  template <class E>
  int visit(E const* e, shardtype::detail::WalkedOperands const& operands) {
    finder_.visit(e, operands);
    gradients_.push_back(autodiff::part_gradient<E>());
    types_.push_back(identity<E>);
    return in_segment([&] { return writer_.visit(e, operands); });
  }
  template <class Pin, class A>
  int visit(automatic_mode::LazyConstrained<Pin, A> const* e,
            shardtype::detail::WalkedOperands const& operands) {
    finder_.visit(e, operands);
    return in_segment([&] { return writer_.visit(e, operands); });
  }
  /// Error E73: a value of another program.
  template <class E>
  int number_of(E const& e) const {
    if (static_cast<void const*>(&e.recording()) != static_cast<Self const*>(this))
      autodiff::throw_other_differentiation("a value", "this one's arguments");
    return e.number();
  }
  bool found(Identity type, int& value) { return writer_.found(type, value); }
  void remember(Identity type, int value) { writer_.remember(type, value); }
  bool is_known(Identity tag, void const* at, int& value) {
    return writer_.is_known(tag, at, value) && finder_.is_known(tag, at, value);
  }
  int share(Identity tag, void const* at, int value) {
    finder_.share(tag, at, value);
    return writer_.share(tag, at, value);
  }
  void read_again(int value) { writer_.read_again(value); }

 protected:
  Finder finder_;

 private:
  static constexpr Type<automatic_mode::Flows> how_operands_vary(shardtype::detail::Pack<>) {
    return {};
  }
  /// HasNoGradient, if that is so of an operand.
  template <class A, class... As>
  static constexpr auto how_operands_vary(shardtype::detail::Pack<A, As...>) {
    if constexpr (has_no_gradient<operand_varies<A>>) {
      return Type<operand_varies<A>>{};
    } else {
      return how_operands_vary(shardtype::detail::Pack<As...>{});
    }
  }
  /// Marks the values that `write` adds.
  template <class F>
  int in_segment(F const& write) {
    int const before = writer_.builder.program.size;
    int const out = write();
    for (int k = before; k < writer_.builder.program.size; ++k)
      writer_.builder.program.nodes.edit(k).segment = segment_;
    return out;
  }
  template <class E>
  E const* keep(E const& e) {
    auto const kept = std::make_shared<E const>(e);
    kept_.push_back(kept);
    return kept.get();
  }

  shardtype::detail::ProgramWriter writer_;
  shardtype::detail::List<planning::PartGradient> gradients_;
  shardtype::detail::List<Identity> types_;
  shardtype::detail::List<std::shared_ptr<void const>> kept_;
  shardtype::detail::List<planning::PullByHand> by_hand_;
  int segment_ = -1;
  int segments_ = 0;
};
template <class... Xs>
class LossRecorder : public LossWriter<LossRecorder<Xs...>, GradientFinder, Xs...> {};

}  // namespace shardtype::autodiff
