#pragma once
/// Optimizers. The state has the types of the parameters, so that of a split parameter is split
/// alike: with FSDP's types that is ZeRO.

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <shardtype/check/misused.hpp>
#include <shardtype/kernels/vector.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/train/alike.hpp>
#include <shardtype/train/clip.hpp>
#include <shardtype/train/kernels_update.hpp>
#include <shardtype/train/schedules.hpp>
#include <shardtype/train/structures.hpp>
#include <shardtype/train/update_plan.hpp>

namespace shardtype::train {

/// The state that an optimizer keeps for the model `Model`: `moments`, and for a model with
/// bfloat16 the parameters in float, which the steps change; the model has them rounded.
template <class Model, int Moments>
struct State {
  std::int64_t step = 0;  ///< number of steps that changed the model
  std::array<state_t<Model>, static_cast<std::size_t>(Moments)> moments;
  std::optional<state_t<Model>> master{};

  using model = Model;
  using moment = state_t<Model>;
  using parts = decltype(moments);  ///< all but the master
  /// Calls `f(name, structure)` of each structure of tensors of a state: "moments.0", "master".
  template <class S, class F>
  static void each_part(S& s, F const& f) {
    for (std::size_t k = 0; k < s.moments.size(); ++k)
      f("moments." + std::to_string(k), s.moments[k]);
    if (s.master) f(std::string("master"), *s.master);
  }
};
/// Whether `S` is the state of an optimizer.
template <class S>
inline constexpr bool is_state = false;
template <class Model, int Moments>
inline constexpr bool is_state<State<Model, Moments>> = true;

/// The result of a step: whether it changed the model, its rate, and the norm of the gradient
/// before it was clipped (0 if the optimizer needs none).
struct Stepped {
  bool applied = true;
  double rate = 0;
  double norm = 0;
};

/// Which parameters decay, by path and number of dims.
using Decays = bool (*)(std::string_view path, int rank);
inline bool all_decay(std::string_view, int) { return true; }
/// Matrices do; gains and biases do not.
inline bool matrices_decay(std::string_view, int rank) { return rank > 1; }

/// The factors of the rate and of the decay of a parameter.
struct Group {
  double rate = 1;
  double decay = 1;
};
/// The group of each parameter, by path and number of dims.
using Groups = Group (*)(std::string_view path, int rank);

/// The options of all optimizers.
struct Options {
  Rate rate = 1e-3;
  double decay = 0;  ///< of a step, times the rate
  Decays decays = &all_decay;
  Groups groups = nullptr;  ///< factors of both for each parameter; null: 1
  double clip = 0;          ///< largest norm of the gradient; 0: it is not computed
  /// Whether a step is left out on all ranks if the norm of the gradient is not finite; needs the
  /// norm.
  bool skip_not_finite = false;

  /// Error E85, the same on every rank.
  constexpr void check() const {
    detail::not_negative(decay, "the decay");
    if (!(clip >= 0)) detail::throw_setting("the largest norm", clip, "it is 0 (none) or more");
  }
  /// The factor of the rate of a parameter, and its decay: 0 if it does not decay. Error E85, the
  /// same on every rank: a negative factor.
  Group group_of(std::string_view path, int rank) const {
    Group out = groups == nullptr ? Group{} : groups(path, rank);
    detail::not_negative(out.rate, "the factor of a rate");
    detail::not_negative(out.decay, "the factor of a decay");
    out.decay *= decays(path, rank) ? decay : 0;
    return out;
  }
};

template <class Model, int Moments>
class FreeState;

namespace detail {

/// Whether the steps of an optimizer with these options need the norm of the gradient.
constexpr bool needs_norm(Options const& options) {
  return options.clip > 0 || options.skip_not_finite;
}
/// The rate of a step, and whether it is applied; `scale` becomes that of the clipped gradient.
/// `norm()`: that of the gradient, which is asked for if the options need it.
template <class Norm>
Stepped admitted(Options const& options, std::int64_t step, double& scale, Norm const& norm) {
  Stepped out;
  out.rate = options.rate(step);
  if (!detail::needs_norm(options)) return out;
  out.norm = norm() * std::abs(scale);
  if (!std::isfinite(out.norm)) {
    out.applied = !options.skip_not_finite;
  } else if (options.clip > 0 && out.norm > options.clip) {
    scale *= options.clip / out.norm;
  }
  return out;
}

/// Options of an optimizer. Refused, T16: anything else, such as `AdamW(1e-3)`.
template <class O>
constexpr Options options_of(O const& given) {
  if constexpr (std::is_convertible_v<O const&, Options const&>) {
    return given;
  } else {
    checking::refused<rules::Code::T16_optimizer_options, false, O>{};
    return {};
  }
}

template <class Model>
bool has_small_elements(Model const& model) {
  bool out = false;
  train::for_each_tensor(
      [&]<class A>(std::string_view, A const&) {
        if constexpr (is_trained<A>)
          out = out || !std::is_same_v<typename A::element,
                                       shardtype::detail::computed_t<typename A::element>>;
      },
      model);
  return out;
}

/// The block of a state's tensor, to be written.
template <class S>
auto* block_of(S& s, std::source_location const& where) {
  return s.mutable_local(where).data();
}

template <class O, class W, class G, class Master, class... Ms>
void update_one(O const& optimizer, double rate, std::int64_t step, double scale, double decay,
                W& w, G const& g, Master* master, std::source_location const& where,
                Ms&... moments) {
  shardtype::detail::check_one_mesh(w.mesh(), g.mesh());
  if (!w.mesh().here()) return;
  using T = typename W::element;
  using C = shardtype::detail::computed_t<T>;
  T* const weights = detail::block_of(w, where);
  kernels::Blocks<T, typename G::element, C, static_cast<int>(sizeof...(Ms))> blocks{
      weights,
      weights,
      static_cast<typename G::element const*>(g.buffer().data()),
      {detail::block_of(moments, where)...},
      nullptr};
  if (master != nullptr) blocks.master = detail::block_of(*master, where);
  kernels::update(runtime::instance<typename W::execution_space>(),
                  optimizer.template body<C>(rate, step, decay), blocks, static_cast<C>(scale),
                  w.local_size());
}

}  // namespace detail

/// Requirements on an optimizer, beside its options: for each model a state, its initial value, the
/// update of a model's parameters and the state by an admitted step, what that sends for a
/// parameter (a Tensor type), and how many numbers of each parameter it sums over the mesh, all
/// together, before it changes one. From these OptimizerBase makes init and update, and plan the
/// plan.
template <class O, class Model>
concept Optimizer =
    std::is_base_of_v<Options, O> && requires(O const& o, Model& model, gradient_t<Model> const& g,
                                              typename O::template StateOf<Model>& state) {
      { o.zeros(std::as_const(model)) } -> std::same_as<typename O::template StateOf<Model>>;
      o.change(model, g, state, 0.0, 1.0, std::source_location::current());
      { o.steps(Type<Model>{}) } -> std::same_as<planning::UpdatePlan>;
      { O::sums } -> std::convertible_to<int>;
    };

/// Base of the optimizers, whose constructors throw E85 for settings that are out of range.
/// `Derived` is an `Optimizer`.
template <class Derived>
struct OptimizerBase : Options {
  static constexpr int sums = 0;
  constexpr explicit OptimizerBase(Options const& o) : Options(o) { check(); }

  /// The plan of the update of a parameter: it sends nothing, unless the optimizer says so.
  template <class A>
  constexpr planning::UpdatePlan steps(Type<A>) const {
    return {};
  }

  /// The state before the first step: zeros. Communicates nothing. Refused: X10 no model.
  template <class Model>
  auto init(Model const& model) const {
    if constexpr (!autodiff::is_known<Model>) {
      return checking::Poisoned(checking::refused<rules::Code::X10_no_parameters, false, Model>{});
    } else {
      auto out = derived().zeros(model);
      if (detail::has_small_elements(model)) out.master.emplace(train::copy_as_state(model));
      return out;
    }
  }

  /// One step, in the memory of the model and the state. `scale`: of the gradient, for losses that
  /// were scaled, or the mean over microbatches. Sends what the optimizer says, and with `clip` or
  /// `skip_not_finite` as global_norm. Refused: X10, X13, X14. Error E21: another tensor shares the
  /// memory of a parameter.
  template <class Model, class Gradient, class State>
    requires std::same_as<typename State::model, Model>
  Stepped update(Model& model, Gradient const& gradient, State& state, double scale = 1,
                 std::source_location const& where = std::source_location::current()) const {
    static_assert(std::is_same_v<State, typename Derived::template StateOf<Model>>,
                  "the state is of another optimizer");
    if constexpr (!detail::Update<Model, Gradient>::accepted) {
      static_cast<void>(alignof(typename detail::Update<Model, Gradient>::refusal));
      return {};
    } else if constexpr (requires { Derived::name; }) {
      core::RunningCall const running(Derived::name, where);
      return apply(model, gradient, state, scale, where);
    } else {
      return apply(model, gradient, state, scale, where);
    }
  }
  /// Refused, X13: other arguments, or in another order.
  template <class... As>
  Stepped update(As const&...) const {
    if constexpr (!checking::any_poisoned<As...>)
      checking::refused<rules::Code::X13_no_such_update, false, As...>{};
    return {};
  }

 private:
  constexpr Derived const& derived() const { return static_cast<Derived const&>(*this); }
  template <class Model, class Gradient, class State>
  Stepped apply(Model& model, Gradient const& gradient, State& state, double scale,
                std::source_location const& where) const {
    Stepped const out = detail::admitted(*this, state.step, scale,
                                         [&] { return train::global_norm(gradient, where); });
    if (!out.applied) return out;
    derived().change(model, gradient, state, out.rate, scale, where);
    ++state.step;
    return out;
  }
};

namespace detail {

/// factor * x + y of one element or a vector of them, in one way by all compilers.
template <class C, class V>
KOKKOS_FUNCTION V fused_by(C factor, V const& x, V const& y) {
  return shardtype::kernels::detail::fused(V{} + factor, x, y);
}

}  // namespace detail

/// Base of optimizers that change each element alone, by a kernel for each parameter: with
/// `Moments` tensors of each, `body<C>(rate, step, decay)`, the function of an element, or of a
/// vector of them. They send nothing.
template <class Derived, int Moments>
struct ElementOptimizer : OptimizerBase<Derived> {
  static constexpr int moments = Moments;
  using OptimizerBase<Derived>::OptimizerBase;
  template <class Model>
  using StateOf = State<Model, Moments>;

  /// The state before the first step, for steps in automatic mode whose plan chooses where it lies:
  /// each parameter's moments are where the first step computes the update. Communicates nothing.
  /// Refused: X10 no model.
  template <class Model>
  auto init_free(Model const&) const {
    if constexpr (!autodiff::is_known<Model>) {
      return checking::Poisoned(checking::refused<rules::Code::X10_no_parameters, false, Model>{});
    } else {
      return FreeState<Model, Moments>();
    }
  }

  template <class Layout = void, class Model>
  auto zeros(Model const& model) const {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return State<detail::LayoutOf<Layout, Model>, Moments>{
          0, {((void)K, train::zeros_like_state<Layout>(model))...}, {}};
    }(std::make_index_sequence<static_cast<std::size_t>(Moments)>{});
  }
  /// The state before the first step with the shardings of the model `Layout`, a type whose tensors
  /// have the elements and indices of those of `model`: for steps in automatic mode
  /// (train/step.hpp), which compute each update where the state lies. Communicates what the
  /// reshards of a master copy need. Refused: X10 no model, X13 a `Layout` with other tensors.
  template <class Layout, class Model>
  auto init_as(Model const& model) const {
    if constexpr (!autodiff::is_known<Model>) {
      return checking::Poisoned(checking::refused<rules::Code::X10_no_parameters, false, Model>{});
    } else if constexpr (!detail::same_tensors<Layout, Model>) {
      return checking::Poisoned(
          checking::refused<rules::Code::X13_no_such_update, false, Layout, Model>{});
    } else {
      auto out = zeros<Layout>(model);
      if (detail::has_small_elements(model))
        out.master.emplace(train::copy_as_state<Layout>(model));
      return out;
    }
  }

  template <class Model, class Gradient, class Kept>
  void change(Model& model, Gradient const& gradient, Kept& state, double at, double scale,
              std::source_location const& where) const {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      auto const one = [&]<class A, class G, class... Ms>(std::string_view path, A& w, G const& g,
                                                          auto* master, Ms&... ms) {
        if constexpr (is_trained<A>) {
          Group const group = this->group_of(path, static_cast<int>(A::rank));
          detail::update_one(static_cast<Derived const&>(*this), at * group.rate, state.step, scale,
                             group.decay, w, g, master, where, ms...);
        }
      };
      if (state.master) {
        train::for_each_tensor([&](std::string_view path, auto& w, auto const& g, auto& master,
                                   auto&... ms) { one(path, w, g, &master, ms...); },
                               model, gradient, *state.master, state.moments[K]...);
      } else {
        train::for_each_tensor(
            [&]<class A>(std::string_view path, A& w, auto const& g, auto&... ms) {
              one(path, w, g, static_cast<state_t<A>*>(nullptr), ms...);
            },
            model, gradient, state.moments[K]...);
      }
    }(std::make_index_sequence<static_cast<std::size_t>(Moments)>{});
  }
};

/// Adam with decoupled decay of the parameters. `AdamW{{.rate = Rate::cosine(3e-4, 100, 1000),
/// .decay = 0.1, .clip = 1}}`. As torch.optim.AdamW. Source: Loshchilov, Hutter, "Decoupled weight
/// decay regularization", ICLR 2019.
struct AdamW : ElementOptimizer<AdamW, 2> {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;

  template <class O = Options>
  constexpr explicit AdamW(O const& o, double b1 = 0.9, double b2 = 0.999, double e = 1e-8)
      : ElementOptimizer(detail::options_of(o)),
        beta1(detail::below_one(b1, "beta1 of AdamW")),
        beta2(detail::below_one(b2, "beta2 of AdamW")),
        epsilon(detail::not_negative(e, "epsilon of AdamW")) {}

  template <class C>
  struct Body {
    C b1, b2, rest1, rest2, rate, root, epsilon, keep;
    template <class V>
    KOKKOS_FUNCTION void operator()(V& x, V const& g, V& m, V& v) const {
      m = detail::fused_by(b1, m, rest1 * g);
      v = shardtype::kernels::detail::fused(rest2 * g, g, b2 * v);
      V const size = detail::fused_by(root, shardtype::kernels::detail::root(v), V{} + epsilon);
      x = detail::fused_by(keep, x, -(rate * m / size));
    }
  };
  template <class C>
  Body<C> body(double at, std::int64_t step, double own_decay) const {
    auto const n = static_cast<double>(step + 1);
    return {static_cast<C>(beta1),
            static_cast<C>(beta2),
            static_cast<C>(1 - beta1),
            static_cast<C>(1 - beta2),
            static_cast<C>(at / (1 - std::pow(beta1, n))),
            static_cast<C>(1 / std::sqrt(1 - std::pow(beta2, n))),
            static_cast<C>(epsilon),
            static_cast<C>(1 - at * own_decay)};
  }
};

/// Gradient descent with momentum: v = momentum v + g, x -= rate (v, or with `nesterov` g +
/// momentum v); g has decay x added. As torch.optim.SGD.
struct Sgd : ElementOptimizer<Sgd, 1> {
  double momentum = 0;
  bool nesterov = false;

  template <class O = Options>
  constexpr explicit Sgd(O const& o, double m = 0, bool n = false)
      : ElementOptimizer(detail::options_of(o)),
        momentum(detail::not_negative(m, "the momentum of Sgd")),
        nesterov(n) {}

  template <class C>
  struct Body {
    C rate, momentum, decay;
    bool nesterov;
    template <class V>
    KOKKOS_FUNCTION void operator()(V& x, V const& g, V& v) const {
      V const whole = detail::fused_by(decay, x, g);
      v = detail::fused_by(momentum, v, whole);
      x = detail::fused_by(-rate, nesterov ? detail::fused_by(momentum, v, whole) : v, x);
    }
  };
  template <class C>
  Body<C> body(double at, std::int64_t, double own_decay) const {
    return {static_cast<C>(at), static_cast<C>(momentum), static_cast<C>(own_decay), nesterov};
  }
};

/// The sign of a mean of gradients. Source: Chen et al., "Symbolic discovery of optimization
/// algorithms", NeurIPS 2023.
struct Lion : ElementOptimizer<Lion, 1> {
  double beta1 = 0.9;
  double beta2 = 0.99;

  template <class O = Options>
  constexpr explicit Lion(O const& o, double b1 = 0.9, double b2 = 0.99)
      : ElementOptimizer(detail::options_of(o)),
        beta1(detail::below_one(b1, "beta1 of Lion")),
        beta2(detail::below_one(b2, "beta2 of Lion")) {}

  template <class C>
  struct Body {
    C b1, b2, rest1, rest2, rate, keep;
    template <class V>
    KOKKOS_FUNCTION void operator()(V& x, V const& g, V& m) const {
      V const u = detail::fused_by(b1, m, rest1 * g);
      V const up = V{} + rate;
      V const by = u > V{} ? up : (u < V{} ? -up : V{} * u);  // NaN where u is
      x = detail::fused_by(keep, x, -by);
      m = detail::fused_by(b2, m, rest2 * g);
    }
  };
  template <class C>
  Body<C> body(double at, std::int64_t, double own_decay) const {
    return {static_cast<C>(beta1),     static_cast<C>(beta2), static_cast<C>(1 - beta1),
            static_cast<C>(1 - beta2), static_cast<C>(at),    static_cast<C>(1 - at * own_decay)};
  }
};

}  // namespace shardtype::train
