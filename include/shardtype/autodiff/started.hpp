#pragma once
/// Gradients of parameters whose last movement is under way while the backward pass goes on.

#include <algorithm>
#include <array>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/check/abstract.hpp>
#include <shardtype/check/callable.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/ops/collectives.hpp>
#include <shardtype/runtime/exchange.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype {

/// Says that the last movement of a parameter's gradient goes on beside the backward pass:
/// `value_and_grad<0>(f, overlap_grad_reduce)`.
struct OverlapGradReduce {};
inline constexpr OverlapGradReduce overlap_grad_reduce{};

namespace autodiff {

/// A function whose gradient is computed so.
template <class F>
struct Overlapped : shardtype::detail::OrWithout<F> {
  using shardtype::detail::OrWithout<F>::OrWithout;
};
template <class F>
inline constexpr bool overlaps = false;
template <class F>
inline constexpr bool overlaps<Overlapped<F>> = true;

/// Whether a movement to a cotangent of this type can be started: one of a tensor, or without data.
template <class Ct>
inline constexpr bool can_start = is_tensor<Ct> && !is_local<Ct>;
template <class A, class Recorder>
inline constexpr bool can_start<Abstract<A, Recorder>> = can_start<A>;

/// A started reshard to a cotangent. All ranks wait for it at the same place. Without a wait, on
/// the way of an Error, it ends without a result. Not a template, so that all parameters share its
/// code.
class StartedMove {
 public:
  explicit StartedMove(MeshRef const& mesh) : mesh_(mesh) {}
  StartedMove(StartedMove const&) = delete;
  StartedMove& operator=(StartedMove const&) = delete;
  ~StartedMove() {
    if (exchange_ != nullptr) mesh_.state().abandon(*exchange_);
  }

  template <class Ct, class A>
  void start(A const& a) {
    using R = Resolve<op::Reshard<Ct>, A>;
    auto const where = std::source_location::current();
    core::RunningCall const running(op::Reshard<Ct>::name, where,
                                    shardtype::detail::element_name<element_t<Ct>>(),
                                    &R::verdict.result, &R::S::names);
    runtime::Started begun = mesh_.state().start();
    if (begun.get() != nullptr) begun.get()->ordered = true;
    execute::run_call<element_t<Ct>, typename Ct::memory_space>(
        execute::call_of(execute::call_type<R, typename A::element>, where, Overlap::none,
                         execute::operand_of(a)),
        extents_, begun.get());
    exchange_ = begun.release();
  }
  template <class Ct>
  Ct wait() {
    std::array<std::int64_t, Ct::rank> extents{};
    for (std::size_t d = 0; d < Ct::rank; ++d) extents[d] = extents_[d];
    return Ct(mesh_, extents, block());
  }

 private:
  Buffer block() {
    if (exchange_ == nullptr) return {};
    return mesh_.state().complete(*std::exchange(exchange_, nullptr));
  }

  MeshRef mesh_;
  std::int64_t extents_[max_dims]{};
  runtime::Exchange* exchange_ = nullptr;
};

template <class Ct>
class Started;
/// Without data: records the plan, and holds until the wait what a started movement holds at most.
template <class A, class Recorder>
class Started<Abstract<A, Recorder>> {
  using Ct = Abstract<A, Recorder>;

 public:
  template <class V>
  constexpr explicit Started(V const& v) : result_(api::reshard<A>(v)) {
    if constexpr (Ct::sized) {
      using R = Resolve<op::Reshard<A>, typename V::type>;
      std::int64_t const* const given[] = {v.extents().data()};
      constexpr auto width = static_cast<std::int64_t>(sizeof(element_t<A>));
      Sizing const z = shardtype::detail::sizing_from<typename R::S>(given, width);
      Plan const plan = R::make_plan(z, {});
      if (plan.size == 0) return;
      Step const& last = plan.steps[plan.size - 1];
      Recorder& recorder = v.recorder();
      if (plan.size == 1) {
        operand_ = v.value();
        recorder.share(operand_);
      } else {
        operand_ =
            recorder.hold(planning::largest_elements(last.before, z.extents, z.sizes) * width);
      }
      arrivals_ = recorder.hold(arriving(last, z) * width);
    }
  }
  Started(Started const&) = delete;
  Started& operator=(Started const&) = delete;
  constexpr ~Started() {
    if constexpr (Ct::sized) {
      for (int const held : {operand_, arrivals_})
        if (held >= 0) result_.recorder().release(held);
    }
  }
  template <class>
  constexpr Ct const& wait() const {
    return result_;
  }

 private:
  /// Elements of the other ranks' segments in a sum.
  static constexpr std::int64_t arriving(Step const& s, Sizing const& z) {
    std::int64_t const others = z.sizes.product(s.axes) - 1;
    if (s.collective() == Collective::all_reduce)
      return planning::largest_elements(s.before, z.extents, z.sizes) / (others + 1) * others;
    if (s.collective() == Collective::reduce_scatter)
      return planning::largest_elements(s.after, z.extents, z.sizes) * others;
    return 0;
  }

  Ct result_;
  int operand_ = -1, arrivals_ = -1;
};

/// The type that holds a started movement to a cotangent of type `Ct`.
template <class Ct>
struct StartedTo {
  using type = StartedMove;
};
template <class A, class Recorder>
struct StartedTo<Abstract<A, Recorder>> {
  using type = Started<Abstract<A, Recorder>>;
};

}  // namespace autodiff

}  // namespace shardtype
