#pragma once
/// Gradients of parameters whose last movement is under way while the backward pass goes on.

#include <algorithm>
#include <array>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/gradient_bucket.hpp>
#include <shardtype/autodiff/planned_bucket.hpp>
#include <shardtype/autodiff/tape.hpp>
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

/// The same, and that the last movements of small gradients over the same ranks are one collective:
/// `value_and_grad<0>(f, join_grad_reduce)`.
struct JoinGradReduce {};
inline constexpr JoinGradReduce join_grad_reduce{};

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
/// A function of whose gradient small parts are reduced together.
template <class F>
struct Joined : shardtype::detail::OrWithout<F> {
  using shardtype::detail::OrWithout<F>::OrWithout;
};
template <class F>
inline constexpr bool joins = false;
template <class F>
inline constexpr bool joins<Joined<F>> = true;
template <class F>
inline constexpr bool overlaps<Joined<F>> = true;

/// Whether a movement to a cotangent of this type can be started: one of a tensor, or without data.
template <class Ct>
inline constexpr bool can_start = is_tensor<Ct> && !is_local<Ct>;
template <class A, class Recorder>
inline constexpr bool can_start<Abstract<A, Recorder>> = can_start<A>;

/// The movement from `X` to a cotangent of type `Want`, if a bucket may take it.
template <class Want, class X>
struct JoinedMove {
  using S = Scope<X, Want>;
  static constexpr Spec got = S::template spec<0>, want = S::template spec<1>;
  static constexpr planning::BucketMove move = planning::bucket_move(got, want);
  static constexpr auto width = static_cast<std::int64_t>(sizeof(element_t<Want>));

  /// The elements that one with these extents takes of a bucket; 0 if it goes into none.
  static constexpr std::int64_t room(std::int64_t const* extents, Sizes const& sizes) {
    Extents of_labels;
    for (int d = 0; d < got.rank; ++d) of_labels.at[got.dims[d].label] = extents[d];
    return planning::room_in_bucket(move, got, want, of_labels, sizes, width);
  }
};

/// A started reshard to a cotangent, or its part in a bucket. All ranks wait for it at the same
/// place. Without a wait, on the way of an Error, it ends without a result. Not a template, so that
/// all parameters share its code.
class StartedMove {
 public:
  explicit StartedMove(MeshRef const& mesh) : mesh_(mesh) {}
  StartedMove(StartedMove const&) = delete;
  StartedMove& operator=(StartedMove const&) = delete;
  ~StartedMove() {
    if (exchange_ != nullptr) mesh_.state().abandon(*exchange_);
    if (bucket_ != nullptr) bucket_->taken();
  }

  template <class Ct, class A>
  void start(A const& a, std::source_location const& where = std::source_location::current()) {
    using R = Resolve<op::Reshard<Ct>, A>;
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
  /// Puts `a`, which takes `room` elements, into a bucket.
  template <class Ct, class A>
  void join(A const& a, std::int64_t room, Buckets& all) {
    using M = JoinedMove<Ct, A>;
    using T = typename Ct::element;
    for (std::size_t d = 0; d < A::rank; ++d) extents_[d] = a.extents()[d];
    InBucket part{nullptr, a.buffer()};
    for (int d = 0; d < M::got.rank; ++d) {
      std::int64_t const n = a.rows()[static_cast<std::size_t>(d)].size();
      (d < M::move.dim ? part.outer : d == M::move.dim ? part.rows : part.inner) *= n;
    }
    join(GradientBucket::among(all, &act_on_bucket<T, typename Ct::memory_space>, mesh_,
                               M::S::names, M::move),
         part, room, M::width);
  }
  template <class Ct>
  Ct wait() {
    std::array<std::int64_t, Ct::rank> extents{};
    for (std::size_t d = 0; d < Ct::rank; ++d) extents[d] = extents_[d];
    if (bucket_ == nullptr) return Ct(mesh_, extents, block());
    bucket_->complete();
    Ct out = shardtype::detail::uninitialized<Ct>(mesh_, extents);
    using Space = typename Ct::memory_space;
    using T = typename Ct::element;
    if (std::int64_t const n = out.local_size(); n > 0)
      runtime::copy_bytes<Space, Space>(out.buffer().data(),
                                        static_cast<T const*>(bucket_->sums.data()) + at_,
                                        static_cast<std::size_t>(n) * sizeof(T));
    std::exchange(bucket_, nullptr)->taken();
    return out;
  }

 private:
  void join(GradientBucket& bucket, InBucket const& part, std::int64_t room, std::int64_t width) {
    bucket_ = &bucket;
    at_ = bucket.room;
    bucket.add(part, room);
    Sizes const sizes = runtime::map_axes(mesh_.state(), *bucket.names).sizes;
    if (planning::bucket_is_full(bucket.room * bucket.move.parts(sizes) * width))
      bucket.act(&bucket, BucketAct::begin);
  }
  Buffer block() {
    if (exchange_ == nullptr) return {};
    return mesh_.state().complete(*std::exchange(exchange_, nullptr));
  }

  MeshRef mesh_;
  std::int64_t extents_[max_dims]{};
  runtime::Exchange* exchange_ = nullptr;
  GradientBucket* bucket_ = nullptr;
  std::int64_t at_ = 0;  ///< where its sum begins
};

template <class Ct>
class Started;
/// Without data: records the plan, and holds until the wait what a started movement holds at most.
template <class A, class Recorder>
class Started<Abstract<A, Recorder>> {
  using Ct = Abstract<A, Recorder>;

 public:
  template <class V>
  constexpr explicit Started(V const& v) : recorder_(&v.recorder()) {
    if constexpr (Ct::sized) {
      using R = Resolve<op::Reshard<A>, typename V::type>;
      std::int64_t const* const given[] = {v.extents().data()};
      constexpr auto width = static_cast<std::int64_t>(sizeof(element_t<A>));
      Sizing const z = shardtype::detail::sizing_from<typename R::S>(given, width);
      Plan const plan = R::make_plan(z, {});
      if (plan.size > 0) {
        Step const& last = plan.steps[plan.size - 1];
        std::int64_t const arriving = planning::arriving_elements(last, z) * width;
        // what arrives in a sum is there beside packed segments, what a gather joins is packed
        bool const beside = plan.size == 1 && last.collective() != Collective::all_gather;
        if (beside) arrivals_ = recorder_->hold(arriving);
        result_ = autodiff::make_small<Ct>(api::reshard<A>(v));
        if (!beside) arrivals_ = recorder_->hold(arriving);
        if (plan.size == 1) {
          operand_ = v.value();
          recorder_->share(operand_);
        } else {
          operand_ =
              recorder_->hold(planning::largest_elements(last.before, z.extents, z.sizes) * width);
        }
        return;
      }
    }
    result_ = autodiff::make_small<Ct>(api::reshard<A>(v));
  }
  /// Puts `v` into a bucket.
  template <class V>
  constexpr Started(V const& v, std::int64_t room, Buckets& all) : recorder_(&v.recorder()) {
    using M = JoinedMove<A, typename V::type>;
    for (std::size_t d = 0; d < V::rank; ++d) extents_[d] = v.extents_data()[d];
    using Memory = decltype(shardtype::detail::memory_of(boost::hana::basic_type<A>{}));
    bucket_ = &PlannedBucket<Recorder>::among(all, *recorder_, M::S::names, M::move, M::width,
                                              &elements_key<element_t<A>, Memory>);
    bucket_->add(v.value(), room);
  }
  Started(Started const&) = delete;
  Started& operator=(Started const&) = delete;
  constexpr ~Started() {
    if (bucket_ != nullptr) bucket_->taken();
    if constexpr (Ct::sized) {
      for (int const held : {operand_, arrivals_})
        if (held >= 0) recorder_->release(held);
    }
    autodiff::drop_small(result_);
  }
  template <class>
  constexpr Ct const& wait() {
    if (bucket_ != nullptr) {
      bucket_->complete();
      result_ = autodiff::make_small<Ct>(*recorder_, extents_.data());
      std::exchange(bucket_, nullptr)->taken();
    }
    return *result_;
  }

 private:
  Recorder* recorder_;
  Ct* result_ = nullptr;
  int operand_ = -1, arrivals_ = -1;
  PlannedBucket<Recorder>* bucket_ = nullptr;
  std::array<std::int64_t, Ct::rank> extents_{};
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
