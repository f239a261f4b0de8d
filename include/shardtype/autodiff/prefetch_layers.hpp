#pragma once
/// Layers that run one after another, of which each one's parameters are gathered while the layer
/// before computes.

#include <cstddef>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/finish.hpp>
#include <shardtype/autodiff/layer_gathers.hpp>
#include <shardtype/autodiff/remat.hpp>
#include <shardtype/autodiff/structure.hpp>

namespace shardtype {

/// Says that gathered parameters, and what each layer saves, are kept for the backward pass:
/// `prefetch_layers<Reduced<X>>(f, keep_gathered)`.
struct KeepGathered {};
inline constexpr KeepGathered keep_gathered{};

namespace autodiff {

/// What entered each layer, the last on top. A list of small blocks: a steady loop allocates
/// nothing, and it is possible in constant evaluation.
template <class X>
class LayerInputs {
  struct Node {
    X value;
    Node* before;
    constexpr Node(X const& x, Node* last) : value(autodiff::computed(x)), before(last) {}
  };

 public:
  constexpr LayerInputs() = default;
  constexpr LayerInputs(LayerInputs&& other) noexcept
      : last_(std::exchange(other.last_, nullptr)) {}
  LayerInputs& operator=(LayerInputs&&) = delete;
  constexpr ~LayerInputs() {
    while (last_ != nullptr) pop();
  }
  constexpr void push(X const& x) { last_ = autodiff::make_small<Node>(x, last_); }
  constexpr X const& top() const { return last_->value; }
  constexpr void pop() {
    Node* const done = last_;
    last_ = done->before;
    autodiff::drop_small(done);
  }

 private:
  Node* last_ = nullptr;
};

/// Runs the layers on values without gradients. The gather of the next layer's parameters is
/// started before a layer computes, and a layer's are freed behind it.
template <class Gather, class F, class X, class Ps, class Save>
constexpr X run_layers(F const& f, X const& x, Ps const& ps, std::source_location const& where,
                       Save const& save) {
  using P = std::remove_cvref_t<decltype(ps[0])>;
  X h = autodiff::computed(x);
  SmallOwner<LayerGather<P, Gather>> next;
  if (ps.size() > 0) next.make(ps[0], where);
  for (std::size_t k = 0; k < ps.size(); ++k) {
    auto const gathered = next.get()->wait();
    next.drop();
    if (k + 1 < ps.size()) next.make(ps[k + 1], where);
    save(h);
    h = autodiff::computed(f(h, gathered));
  }
  return h;
}

/// Such layers on the tape, as one entry: what entered each layer is saved. The pull runs each
/// layer again, the last first, while the parameters of the layer before it are gathered.
template <class Gather, class F, class X, class Ps, class X0>
struct LayersAgain final : Entry {
  Results<X0> results;
  F f;
  X x;
  Ps parameters;
  LayerInputs<X0> inputs;
  std::source_location where;

  constexpr LayersAgain(Tape* tape, F const& of, X0 const& out, X const& first, Ps const& ps,
                        LayerInputs<X0>&& saved, std::source_location const& at)
      : Entry{nullptr, &act_on<LayersAgain>},
        results(tape, out),
        f(of),
        x(autodiff::computed(first)),
        parameters(autodiff::computed(ps)),
        inputs(std::move(saved)),
        where(at) {}
  constexpr void pull() {
    if (!results.any()) return;
    auto const stored = autodiff::without_gradient<1>(parameters);
    using P = std::remove_cvref_t<decltype(stored[0])>;
    SmallOwner<LayerGather<P, Gather>> next;
    SmallOwner<Layer> behind;
    std::size_t const n = stored.size();
    if (n > 0) next.make(stored[n - 1], where);
    for (std::size_t k = n; k-- > 0;) {
      SmallOwner<Layer> here;
      Layer& layer = here.make(inputs.top(), k > 0 || wants_first());
      inputs.pop();
      auto const gathered = next.get()->wait();
      next.drop();
      if (k > 0) next.make(stored[k - 1], where);
      auto const used = on_layer(gathered, parameters[k], &layer.tape);
      begin(autodiff::computed(f(layer.x, used)), behind.get());
      behind.drop();
      layer.tape.backward();
      pass_parameters(used, parameters[k]);
      behind.take(here);
    }
    if (behind.get() != nullptr) pass_first(behind.get()->x);
  }

 private:
  /// A layer that is run again: what enters it, on a tape of its own.
  struct Layer {
    Tape tape;
    typename Parameters<X0>::active x;
    constexpr Layer(X0 const& value, bool wanted)
        : x(Parameters<X0>::lift(value, wanted ? &tape : nullptr)) {}
  };

  constexpr bool wants_first() const {
    bool out = false;
    autodiff::each_value(
        [&]<class A>(A const& a) {
          if constexpr (level<A> == 1) out = out || a.slot() != nullptr;
        },
        x);
    return out;
  }
  /// Gathered parameters on a layer's tape, where their gradients are wanted.
  template <class G, class P>
  static constexpr auto on_layer(G const& gathered, P const& stored, Tape* tape) {
    if constexpr (structure_level<P> == 0) {
      return gathered;
    } else {
      return autodiff::formed<ActiveForm>(
          [=]<class V, class A>(V const& v, A const& a) {
            bool wanted = false;
            if constexpr (level<A> == 1) wanted = a.slot() != nullptr;
            return Parameters<V>::lift(v, wanted ? tape : nullptr);
          },
          gathered, stored);
    }
  }
  /// The cotangents of a layer's results, of the layer behind or of the last one's.
  template <class Made>
  constexpr void begin(Made const& made, Layer const* behind) {
    if (behind == nullptr) return results.template move_to<1>(made);
    autodiff::each_value(
        []<class A, class B>(A const& to, B const& from) {
          if constexpr (level<A> == 1 && level<B> == 1)
            if (to.slot() != nullptr && from.slot() != nullptr && from.slot()->ct != nullptr)
              to.slot()->add(from.slot()->taken());
        },
        made, behind->x);
  }
  /// Scatters the gradients of gathered parameters, which may be started.
  template <class G, class P>
  static constexpr void pass_parameters(G const& used, P const& stored) {
    autodiff::each_value(
        []<class A, class B>(A const& from, B const& to) {
          if constexpr (level<A> == 1 && level<B> == 1)
            if (from.slot() != nullptr && from.slot()->ct != nullptr)
              autodiff::add_finished<true>(*to.slot(), from.slot()->taken());
        },
        used, stored);
  }
  constexpr void pass_first(typename Parameters<X0>::active const& first) const {
    autodiff::each_value(
        []<class A, class B>(A const& from, B const& to) {
          if constexpr (level<A> == 1 && level<B> == 1)
            if (from.slot() != nullptr && to.slot() != nullptr) to.slot()->take_over(*from.slot());
        },
        first, x);
  }
};

/// A parameter on the tape as a layer uses it, gathered ahead. Its pull scatters the gradient,
/// which may be started.
template <class G, class A>
struct GatheredAhead final : Entry {
  Results<G> results;
  decltype(std::declval<A const&>().slot()) stored;

  constexpr GatheredAhead(Tape* tape, G const& gathered, A const& of)
      : Entry{nullptr, &act_on<GatheredAhead>}, results(tape, gathered), stored(of.slot()) {}
  constexpr void pull() {
    if (results.any()) autodiff::add_finished<true>(*stored, results.taken());
  }
};
/// Gathered parameters on the tape, where their gradients are wanted.
template <class G, class P>
constexpr auto gathered_on_tape(G const& gathered, P const& stored, Tape* tape) {
  if constexpr (structure_level<P> == 0) {
    return gathered;
  } else {
    return autodiff::formed<ActiveForm>(
        [=]<class V, class A>(V const& v, A const& a) {
          if constexpr (level<A> == 1) {
            if (a.slot() != nullptr) {
              auto* const entry = autodiff::make_small<GatheredAhead<V, A>>(tape, v, a);
              tape->push(entry);
              return entry->results.given(v);
            }
          }
          return Parameters<V>::lift(v, nullptr);
        },
        gathered, stored);
  }
}
/// A structure of which each differentiable value is one of the tape.
template <class S>
constexpr auto all_active(S const& s) {
  return autodiff::formed<ActiveForm>(
      []<class V, class A>(V const& v, A const& a) {
        if constexpr (level<A> == 1)
          return a;
        else
          return Parameters<V>::lift(v, nullptr);
      },
      autodiff::without_gradient<1>(s), s);
}
/// Runs the layers on the tape, on which all that they save stays, gathered parameters too.
template <class Gather, class F, class X, class Ps>
constexpr auto run_kept(F const& f, X const& x, Ps const& ps, Tape* tape,
                        std::source_location const& where) {
  auto const stored = autodiff::without_gradient<1>(ps);
  using P = std::remove_cvref_t<decltype(stored[0])>;
  auto h = autodiff::all_active(autodiff::computed(x));
  SmallOwner<LayerGather<P, Gather>> next;
  if (ps.size() > 0) next.make(stored[0], where);
  for (std::size_t k = 0; k < ps.size(); ++k) {
    auto const used = autodiff::gathered_on_tape(next.get()->wait(), ps[k], tape);
    next.drop();
    if (k + 1 < ps.size()) next.make(stored[k + 1], where);
    h = autodiff::all_active(autodiff::computed(f(h, used)));
  }
  return h;
}

/// A layer that gathers its parameters itself.
template <class Gather, class F>
struct GathersItself {
  F f;
  template <class X, class P>
  constexpr auto operator()(X const& x, P const& p) const {
    return f(x, Gather::now(p));
  }
};

/// Whether the values of structures are those of automatic mode.
template <class... Ps>
constexpr bool is_automatic() {
  bool out = (has_under_way<Ps> || ...);
  (autodiff::each_leaf_type<Ps>(
       [&]<class A>(Type<A>) { out = out || core::is_lazy<std::remove_const_t<A>>; }),
   ...);
  return out;
}

/// The function that `prefetch_layers<Out...>(f)` returns; `Keeps`: with keep_gathered.
template <bool Keeps, class F, class... Out>
struct PrefetchLayers {
  using Gather = GatherTo<Out...>;
  F f;
  std::source_location where{};  ///< where it was made

  template <class X, class Ps>
    requires requires(Ps const& ps) {
      ps.size();
      ps[0];
    }
  constexpr auto operator()(X const& x, Ps const& ps) const {
    using P = std::remove_cvref_t<decltype(ps[0])>;
    if constexpr (any_poisoned<X, P>) {
      return Poisoned{};
    } else if constexpr (autodiff::is_automatic<X, P>()) {
      return in_turn(again(f), x, ps);  // the plan chooses what moves
    } else if constexpr (highest_level<computed_t<X>, Ps> > 1) {
      return in_turn(again(GathersItself<Gather, F>{f}), x, ps);
    } else {
      using V = computed_t<X>;
      using X0 = lowered_t<1, V>;
      using P0 = lowered_t<1, std::remove_cvref_t<decltype(ps[0])>>;
      using Made =
          computed_t<decltype(f(std::declval<X0 const&>(),
                                std::declval<typename Gather::template gathered<P0> const&>()))>;
      // NOLINTNEXTLINE(bugprone-branch-clone): what is refused must not be asked for more
      if constexpr (any_poisoned<Made>) {
        return Poisoned{};
      } else if constexpr (structure_level<Made> > 0) {
        return Poisoned(refused<Code::X05_captured, false, typename ShownLoss<Made>::type>{});
      } else if constexpr (!std::is_same_v<Made, X0>) {
        return Poisoned(refused<Code::V11_carry_changes, false, X0, Made>{});
      } else if constexpr (highest_level<V, Ps> == 0) {
        core::RunningCall const running("prefetch_layers", where);
        return autodiff::run_layers<Gather>(f, autodiff::computed(x), ps, where, [](X0 const&) {});
      } else {
        return record<X0>(autodiff::computed(x), ps);
      }
    }
  }

 private:
  /// A layer that is rematerialised, unless what it saves is kept.
  template <class Layer>
  constexpr auto again(Layer const& layer) const {
    if constexpr (Keeps)
      return layer;
    else
      return Remat<Layer>{layer, where};
  }
  /// Each layer of an array may give another type, as expressions do; those of a vector may not.
  template <std::size_t k = 0, class Layer, class X, class Ps>
  static constexpr auto in_turn(Layer const& layer, X const& x, Ps const& ps) {
    if constexpr (requires { std::tuple_size<Ps>::value; }) {
      if constexpr (k + 1 < std::tuple_size_v<Ps>)
        return in_turn<k + 1>(layer, layer(x, ps[k]), ps);
      else
        return layer(x, ps[k]);
    } else {
      auto h = layer(x, ps[0]);
      using H = decltype(h);
      using Next = decltype(layer(h, ps[0]));
      if constexpr (std::is_same_v<H, Next>) {
        for (std::size_t j = 1; j < ps.size(); ++j) h = layer(h, ps[j]);
        return h;
      } else {
        return Poisoned(refused<Code::V11_carry_changes, false, H, Next>{});
      }
    }
  }
  template <class X0, class X, class Ps>
  constexpr auto record(X const& x, Ps const& ps) const {
    core::RunningCall const running("prefetch_layers", where);
    Tape* const tape = autodiff::tape_of<1>("prefetch_layers", x, ps);
    auto const run = [&](auto const& save) {
      return autodiff::run_layers<Gather>(f, autodiff::without_gradient<1>(x),
                                          autodiff::without_gradient<1>(ps), where, save);
    };
    if (tape == nullptr) return Parameters<X0>::lift(run([](X0 const&) {}), nullptr);
    if constexpr (Keeps) {
      return autodiff::run_kept<Gather>(f, x, ps, tape, where);
    } else {
      LayerInputs<X0> inputs;
      auto const out = run([&](X0 const& h) { inputs.push(h); });
      auto* const entry = autodiff::make_small<LayersAgain<Gather, F, X, Ps, X0>>(
          tape, f, out, x, ps, std::move(inputs), where);
      tape->push(entry);
      return entry->results.given(out);
    }
  }
};

}  // namespace autodiff

namespace api {

/// Layers `f` one after another, `x = f(x, w[k])`, of which each one's parameters are gathered
/// while the layer before computes (FSDP with prefetch): `prefetch_layers<Reduced<X>>(f)(x, w)`.
/// `w` is an array or vector of a layer's parameters, one layer or more; `f` gets each tensor of
/// them as `used_as<Reduced<X>>(p)`, so that its own `used_as<Reduced<X>>` is free, and gives what
/// it takes.
///
/// Each layer is rematerialised, as by `remat`: the forward pass saves what enters it, and the
/// backward pass gathers its parameters again, while the gradient of the layer behind it is
/// computed. At most two layers' gathered parameters are in memory, and each is freed when its
/// layer is done. Communicates per layer what `remat` of `f` with `used_as` does: for a parameter
/// split over X two AllGathers and one ReduceScatter, which `overlap_grad_reduce` and
/// `join_grad_reduce` let go on beside the next layers. The values have the same bits. Plans count
/// its bytes and memory.
///
/// `prefetch_layers<Reduced<X>>(f, keep_gathered)` keeps what the layers save, the gathered
/// parameters of all layers too: one AllGather and one ReduceScatter of each, and nothing is
/// computed again.
///
/// In gradients of gradients each layer gathers its parameters itself. In automatic mode the plan
/// chooses all movements: there this is `f` of each layer in turn, of an array of layers.
///
/// Every value that carries a gradient is an argument. Refused: X05 one is captured; V11 `f` gives
/// another type than it takes; as f and used_as. Error E73: arguments of two differentiations.
/// Source: Zhao et al., "PyTorch FSDP", VLDB 2023 (its forward and backward prefetching).
template <class... Out, class F>
constexpr auto prefetch_layers(
    F f, std::source_location const& where = std::source_location::current()) {
  return autodiff::PrefetchLayers<false, F, Out...>{std::move(f), where};
}
template <class... Out, class F>
constexpr auto prefetch_layers(
    F f, KeepGathered, std::source_location const& where = std::source_location::current()) {
  return autodiff::PrefetchLayers<true, F, Out...>{std::move(f), where};
}

}  // namespace api

}  // namespace shardtype
