#pragma once
/// Values whose gradient is wanted.

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/started.hpp>
#include <shardtype/autodiff/tape.hpp>
#include <shardtype/autodiff/unwritten_spread.hpp>
#include <shardtype/check/abstract.hpp>
#include <shardtype/check/cotangent.hpp>
#include <shardtype/check/labels_of.hpp>
#include <shardtype/kernels/accumulate.hpp>
#include <shardtype/ops/run_elementwise.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype {

namespace autodiff {

template <class V>
class Active;
template <class V>
struct Slot;
template <class F, class... Args>
class ActiveExpression;

/// The number of times that `V` is wrapped: values in the gradient of a gradient have level 2.
template <class V>
inline constexpr int level = 0;
template <class V>
inline constexpr int level<Active<V>> = 1 + level<V>;
template <class F, class... Args>
inline constexpr int level<ActiveExpression<F, Args...>> = ActiveExpression<F, Args...>::top;

/// The tensor type (or Number) that a value stands for.
template <class V>
struct TensorOf {
  using type = shardtype::detail::operand_t<V>;
};
template <class V>
struct TensorOf<Active<V>> : TensorOf<V> {};
template <class F, class... Args>
struct TensorOf<ActiveExpression<F, Args...>> {
  using type = typename ActiveExpression<F, Args...>::tensor_type;
};
template <class... Vs>
struct TensorOf<std::tuple<Vs...>> {
  using type = std::tuple<typename TensorOf<Vs>::type...>;
};
template <class V>
using tensor_of = typename TensorOf<V>::type;

/// A value of the tensor type `T` of the same kind as `V`.
template <class V, class T>
struct ValueLike {
  using type = T;
};
template <class A, class Recorder, class T>
struct ValueLike<Abstract<A, Recorder>, T> {
  using type = Abstract<T, Recorder>;
};
template <class V, class T>
struct ValueLike<Active<V>, T> {
  using type = Active<typename ValueLike<V, T>::type>;
};
/// The value of the cotangent of a `V`: a tensor, one without data, or one whose gradient is
/// wanted.
template <class V>
using cotangent_value = typename ValueLike<V, cotangent_t<tensor_of<V>>>::type;

/// A value of an argument that a gradient is wanted of, or computed from one. Operations on it run,
/// and are recorded. It has the members of the tensor that can be read, except for its local block
/// (`value().local()`). `a += b` and the like let `a` stand for the sum; nothing is written. A
/// constant of the same type has no slot: `Active<V> h = constant;`, for loops.
template <class V>
class Active : public ActiveNode, public core::Argument<Active<V>> {
 public:
  using inner = V;
  using element = typename V::element;
  static constexpr std::size_t rank = V::rank;

  // NOLINTBEGIN(performance-unnecessary-value-param): a tensor is moved; a Abstract can only be copied
  constexpr Active(V value) : value_(static_cast<V&&>(value)) {}
  constexpr Active(V value, Slot<V>* slot) : value_(static_cast<V&&>(value)), slot_(slot) {}
  // NOLINTEND(performance-unnecessary-value-param)

  /// The value itself: a constant.
  constexpr V const& value() const { return value_; }
  constexpr Slot<V>* slot() const { return slot_; }
  constexpr Active const& tensor() const { return *this; }
  /// The same value in memory of its own; its gradient flows on.
  Active clone() const { return Active(value_.clone(), slot_); }

  constexpr decltype(auto) extents() const { return value_.extents(); }
  template <class I>
  constexpr std::int64_t extent() const {
    return value_.template extent<I>();
  }
  decltype(auto) mesh() const
    requires requires(V const& v) { v.mesh(); }
  {
    return value_.mesh();
  }
  decltype(auto) rows() const { return value_.rows(); }
  auto ranges() const { return value_.ranges(); }
  auto local_extents() const { return value_.local_extents(); }
  template <class I>
  std::int64_t local_extent() const {
    return value_.template local_extent<I>();
  }
  std::int64_t local_size() const { return value_.local_size(); }
  template <class I>
  std::int64_t global_index(std::int64_t local) const {
    return value_.template global_index<I>(local);
  }

 private:
  V value_;
  Slot<V>* slot_ = nullptr;
};

/// The value one level down, of a value of level `Top`; other values are constants there.
template <int Top, class A>
constexpr auto const& peeled(A const& a) {
  if constexpr (level<A> == Top) {
    return a.value();
  } else {
    return a;
  }
}
template <int Top, class A>
using peeled_t = std::remove_cvref_t<decltype(autodiff::peeled<Top>(std::declval<A const&>()))>;
template <class... As>
constexpr int top_level() {
  return std::max({0, level<As>...});
}

/// A value of a lower level as a constant of type `Want`.
template <class Want, class V>
constexpr Want lifted(V const& v) {
  if constexpr (level<Want> == level<V>) {
    return v;
  } else {
    return Want(autodiff::lifted<typename Want::inner>(v));
  }
}

/// `a += b`, element by element, for `n` elements. In place unless another holds a's memory
/// (`shared`): then the sum is the result.
template <class T, class Space>
Buffer accumulate_blocks(runtime::MeshState& mesh, Buffer const& a, Buffer const& b, std::int64_t n,
                         bool shared) {
  typename Space::execution_space const& exec =
      runtime::instance<typename Space::execution_space>();
  Buffer out =
      shared ? mesh.pool().template take<Space>(static_cast<std::size_t>(n) * sizeof(T)) : a;
  kernels::add_blocks(exec, static_cast<T*>(out.data()), static_cast<T const*>(a.data()),
                      static_cast<T const*>(b.data()), n);
  runtime::fence(exec);
  return out;
}
/// `a += b`, for tensors whose blocks lie alike.
template <class A>
void accumulate(A& a, A const& b) {
  bool const shared = a.shared();
  Buffer sum = autodiff::accumulate_blocks<typename A::element, typename A::memory_space>(
      a.mesh().state(), a.buffer(), b.buffer(), a.local_size(), shared);
  if (shared) a = A(a.mesh(), a.extents(), std::move(sum));
}

/// The cotangent of one value, as far as it is known. A pointer: std::optional of a tensor costs
/// compilers a dozen functions.
template <class V>
struct Slot : SlotBase {
  using Cotangent = cotangent_value<V>;
  Cotangent* ct = nullptr;
  /// A summand that is under way.
  typename StartedTo<Cotangent>::type* started = nullptr;
  /// The first summand, not written yet: only where `takes_spread`.
  UnwrittenSpread* spread = nullptr;

  constexpr explicit Slot(Tape* its_tape) : SlotBase{its_tape} {}
  Slot(Slot const&) = delete;
  Slot& operator=(Slot const&) = delete;
  constexpr ~Slot() {
    if constexpr (can_start<Cotangent>) autodiff::drop_small(started);
    if constexpr (is_tensor<Cotangent>) autodiff::drop_small(spread);
    autodiff::drop_small(ct);
  }

  constexpr bool any() const { return ct != nullptr || started != nullptr || spread != nullptr; }
  /// The sum, which the slot no longer holds.
  constexpr Cotangent taken() {
    complete();
    Cotangent out = std::move(*ct);
    autodiff::drop_small(ct);
    ct = nullptr;
    return out;
  }
  /// Starts to move `x`, a summand. Summands are added in the order of these calls.
  template <class X>
  constexpr void start(X const& x) {
    complete();
    if constexpr (is_tensor<Cotangent>) {
      started = autodiff::make_small<StartedMove>(x.mesh());
      started->template start<Cotangent>(x);
    } else {
      started = autodiff::make_small<Started<Cotangent>>(x);
    }
  }
  /// The same in a bucket, of which it takes `room` elements.
  template <class X>
  constexpr void join(X const& x, std::int64_t room) {
    complete();
    if constexpr (is_tensor<Cotangent>) {
      started = autodiff::make_small<StartedMove>(x.mesh());
      started->template join<Cotangent>(x, room, *buckets);
    } else {
      started = autodiff::make_small<Started<Cotangent>>(x, room, *buckets);
    }
  }
  /// Adds what another slot holds, which may be under way.
  constexpr void take_over(Slot& other) {
    if (other.spread != nullptr) other.complete();
    if (other.started != nullptr && other.ct == nullptr) {
      complete();
      started = std::exchange(other.started, nullptr);
    } else if (other.ct != nullptr) {
      add(other.taken());
    }
  }
  template <class X>
  constexpr void add(X const& x) {
    complete();
    if (ct == nullptr) {
      ct = autodiff::make_small<Cotangent>(autodiff::lifted<Cotangent>(x));
    } else if constexpr (is_tensor<Cotangent>) {
      autodiff::accumulate(*ct, x);
    } else {
      *ct = autodiff::lifted<Cotangent>((*ct + x).tensor());
    }
  }
  /// Adds a summand that is under way, or not written.
  constexpr void complete() {
    if constexpr (is_tensor<Cotangent>) {
      if (spread != nullptr) {
        spread->write(*spread, &ct);
        drop_spread();
      }
    }
    if constexpr (can_start<Cotangent>) {
      if (started == nullptr) return;
      Cotangent const came = started->template wait<Cotangent>();
      autodiff::drop_small(started);
      started = nullptr;
      add(came);
    }
  }
  void drop_spread() {
    autodiff::drop_small(spread);
    spread = nullptr;
  }
};

/// An argument that a gradient is wanted of.
template <class V>
struct Leaf final : Entry {
  Slot<V> slot;
  constexpr explicit Leaf(Tape* tape) : Entry{nullptr, &act_on<Leaf>}, slot(tape) {}
  constexpr void pull() {}
};

/// A tensor like `like`, of type `Want` but of the same dims, whose elements are `x` (an unreduced
/// sum: in total).
template <class Want, class V>
constexpr Want filled(V const& like, double x) {
  if constexpr (is_active<V>) {
    return Want(autodiff::filled<typename Want::inner>(like.value(), x));
  } else if constexpr (shardtype::detail::is_abstract<V>) {
    return Want(like.recorder(), like.extents().data());
  } else {
    Want out = shardtype::detail::uninitialized<Want>(like.mesh(), like.extents());
    // not through mutable_local, which an invariant block does not have
    double const here = shardtype::detail::holds_value<Want>(like.mesh()) ? x : 0;
    typename Want::execution_space const& exec =
        runtime::instance<typename Want::execution_space>();
    kernels::fill(exec, static_cast<typename Want::element*>(out.buffer().data()), out.local_size(),
                  kernels::detail::converted<typename Want::element>(here));
    runtime::fence(exec);
    return out;
  }
}

}  // namespace autodiff

namespace detail {

template <class V>
struct TensorOfArgument<autodiff::Active<V>> : TensorOfArgument<V> {};
template <class F, class... Args>
struct TensorOfArgument<autodiff::ActiveExpression<F, Args...>> {
  using type = typename autodiff::ActiveExpression<F, Args...>::tensor_type;
};

}  // namespace detail

}  // namespace shardtype
