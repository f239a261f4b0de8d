#pragma once
/// The gathers of a layer's parameters, started before the layer needs them.

#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/container.hpp>
#include <shardtype/autodiff/started.hpp>
#include <shardtype/autodiff/structure.hpp>
#include <shardtype/ops/collectives.hpp>

namespace shardtype::autodiff {

/// The structure `S` with `Of<V>::type` in place of each value `V`.
template <template <class> class Of, class S>
struct Formed : Of<S> {};
template <template <class> class Of, StdContainer C>
struct Formed<Of, C> {
  template <class P>
  using member = typename Formed<Of, P>::type;
  using type = typename Container<C>::template with<member>;
};
/// How a struct holds its members then.
template <template <class> class Of, template <class> class As>
struct FormedAs {
  template <class P>
  using member = typename Formed<Of, As<P>>::type;
};
template <template <class> class Of, template <template <class> class> class M,
          template <class> class As>
struct Formed<Of, M<As>> {
  using type = M<FormedAs<Of, As>::template member>;
};
/// That structure: `f(value...)` for every value of `s` and those at its position in `ss`.
template <template <class> class Of, class F, class S, class... Ss>
constexpr typename Formed<Of, S>::type formed(F const& f, S const& s, Ss const&... ss) {
  if constexpr (is_structure<S>) {
    return Container<S>::template build<typename Formed<Of, S>::type>(
        [&]<class P>(Type<P>, auto const&, P const& m, auto const&... ms) {
          return autodiff::formed<Of>(f, m, ms...);
        },
        s, ss...);
  } else {
    return f(s, ss...);
  }
}

/// The value that a gradient is wanted of, of each value.
template <class V>
struct ActiveForm {
  using type = typename Parameters<V>::active;
};

/// Whether a parameter `V` is used as a `G` by a gather, and not by a cast.
template <class V, class G>
constexpr bool is_gathered() {
  using S = Scope<tensor_of<V>, tensor_of<G>>;
  Spec const& stored = S::template spec<0>;
  Spec const& used = S::template spec<1>;
  for (int d = 0; d < stored.rank; ++d) {
    int const at = used.find(stored.dims[d].label);
    if (at >= 0 && used.dims[at].axes.size != stored.dims[d].axes.size) return true;
  }
  return false;
}
/// The gather of one parameter `V` to a `G`, under way. What sends nothing is done by the wait.
template <class V, class G>
class LeafGather {
  using Move = typename StartedTo<G>::type;
  using Result = tensor_of<G>;
  static constexpr bool moves = autodiff::is_gathered<V, G>();

 public:
  constexpr LeafGather(V const& v, [[maybe_unused]] std::source_location const& where)
      : LeafGather() {
    if constexpr (moves && is_tensor<V>) {
      move_ = autodiff::make_small<Move>(v.mesh());
      move_->template start<G>(v, where);
    } else if constexpr (moves) {
      move_ = autodiff::make_small<Move>(v);
    }
  }
  constexpr LeafGather(LeafGather&& other) noexcept : move_(std::exchange(other.move_, nullptr)) {}
  LeafGather& operator=(LeafGather&&) = delete;
  constexpr ~LeafGather() {
    if constexpr (moves) autodiff::drop_small(move_);
  }
  constexpr G wait(V const& v) const {
    if constexpr (moves) {
      return move_->template wait<G>();
    } else if constexpr (std::is_same_v<V, G>) {
      return v;
    } else {
      return api::reshard<Result>(v);
    }
  }

 private:
  constexpr LeafGather() = default;
  Move* move_ = nullptr;
};

/// Parameters as a layer uses them: `used_as<Out...>(w)` of each.
template <class... Out>
struct GatherTo {
  template <class V>
  struct Value {
    using type = computed_t<decltype(api::used_as<Out...>(std::declval<V const&>()))>;
  };
  template <class V>
  struct UnderWay {
    using type = LeafGather<V, typename Value<V>::type>;
  };
  template <class P>
  using gathered = typename Formed<Value, P>::type;

  /// All of them at once.
  struct AtOnce {
    template <class V>
    constexpr auto operator()(V const& v) const {
      return autodiff::computed(api::used_as<Out...>(v));
    }
  };
  template <class P>
  static constexpr gathered<P> now(P const& p) {
    return autodiff::formed<Value>(AtOnce{}, p);
  }
};

/// The gathers of the parameters `P` of one layer, under way.
template <class P, class Gather>
class LayerGather {
 public:
  constexpr LayerGather(P const& p, std::source_location const& where)
      : parameters_(&p), started_(autodiff::formed<Gather::template UnderWay>(Start{where}, p)) {}
  constexpr typename Gather::template gathered<P> wait() const {
    return autodiff::formed<Gather::template Value>(Wait{}, *parameters_, started_);
  }

 private:
  struct Start {
    std::source_location where;
    template <class V>
    constexpr auto operator()(V const& v) const {
      return typename Gather::template UnderWay<V>::type(v, where);
    }
  };
  struct Wait {
    template <class V, class L>
    constexpr auto operator()(V const& v, L const& l) const {
      return l.wait(v);
    }
  };
  P const* parameters_;
  typename Formed<Gather::template UnderWay, P>::type started_;
};

/// Holds at most one `T` of small memory.
template <class T>
class SmallOwner {
 public:
  constexpr SmallOwner() = default;
  SmallOwner(SmallOwner const&) = delete;
  SmallOwner& operator=(SmallOwner const&) = delete;
  constexpr ~SmallOwner() { drop(); }
  template <class... Args>
  constexpr T& make(Args const&... args) {
    drop();
    at_ = autodiff::make_small<T>(args...);
    return *at_;
  }
  constexpr void drop() { autodiff::drop_small(std::exchange(at_, nullptr)); }
  constexpr void take(SmallOwner& other) {
    drop();
    at_ = std::exchange(other.at_, nullptr);
  }
  constexpr T* get() const { return at_; }

 private:
  T* at_ = nullptr;
};

}  // namespace shardtype::autodiff
