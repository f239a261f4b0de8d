#pragma once
// The guarded device as a backend of Kokkos 3.4 to 3.7. In Kokkos 4.0 and later these names differ:
// SharedAllocationRecord comes from KOKKOS_IMPL_HOST_INACCESSIBLE_SHARED_ALLOCATION_SPECIALIZATION,
// ParallelReduce has a CombinedFunctorReducer in place of a functor and a reducer, verify_space is
// RuntimeCheckMemoryAccessViolation, impl_static_fence takes a string, concurrency() is no static
// member, and a Device has impl_initialize and impl_finalize.

#include <Kokkos_Core.hpp>

#if KOKKOS_VERSION >= 40000
#error "the guarded device is for Kokkos 3.4 to 3.7"
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "guard/device.hpp"
#include "guard/guard.hpp"

namespace guard::detail {

/// A functor, or more, where kernels find it.
template <class T>
class Argument {
  static_assert(sizeof(T) <= argument_bytes && alignof(T) <= 64);

 public:
  template <class... Parts>
  explicit Argument(Parts const&... parts) : held_(new(argument()) T(parts...)) {}
  Argument(Argument const&) = delete;
  Argument& operator=(Argument const&) = delete;
  ~Argument() { held_->~T(); }

  T* operator->() const { return held_; }

 private:
  T* held_;
};

template <class T>
T& at(void* argument) {
  return *static_cast<T*>(argument);
}

/// Kokkos tells the labels of kernels to tools only.
inline bool const labelled = [] {
  auto const hear = [](char const* label, std::uint32_t, std::uint64_t*) { label_next(label); };
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(hear);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(hear);
  return true;
}();

}  // namespace guard::detail

namespace Kokkos::Tools::Experimental {
template <>
struct DeviceTypeTraits<guard::Device> {
  static constexpr DeviceType id = DeviceType::Unknown;
};
}  // namespace Kokkos::Tools::Experimental

namespace Kokkos::Impl {

// Who can access which memory.
template <>
struct MemorySpaceAccess<HostSpace, guard::Space> {
  enum : bool { assignable = false, accessible = false, deepcopy = true };
};
template <>
struct MemorySpaceAccess<guard::Space, HostSpace> {
  enum : bool { assignable = false, accessible = false, deepcopy = true };
};
template <>
struct MemorySpaceAccess<guard::Space, guard::Space> {
  enum : bool { assignable = true, accessible = true, deepcopy = true };
};
template <>
struct MemorySpaceAccess<guard::Space, ScratchMemorySpace<guard::Device>> {
  enum : bool { assignable = false, accessible = true, deepcopy = false };
};
/// Kernels are compiled as code of the host, where Kokkos refuses elements of Views of a device;
/// closed pages refuse them instead.
template <>
struct verify_space<HostSpace, guard::Space, false> {
  static void check() {}
};

// Memory and copies.
template <class To, class From>
struct GuardedCopy {
  GuardedCopy(void* to, void const* from, std::size_t bytes) { guard::copy(to, from, bytes); }
  template <class Exec>
  GuardedCopy(Exec const&, void* to, void const* from, std::size_t bytes) {
    guard::copy(to, from, bytes);
  }
};
template <class Exec>
struct DeepCopy<guard::Space, HostSpace, Exec> : GuardedCopy<guard::Space, HostSpace> {
  using GuardedCopy<guard::Space, HostSpace>::GuardedCopy;
};
template <class Exec>
struct DeepCopy<HostSpace, guard::Space, Exec> : GuardedCopy<HostSpace, guard::Space> {
  using GuardedCopy<HostSpace, guard::Space>::GuardedCopy;
};
template <class Exec>
struct DeepCopy<guard::Space, guard::Space, Exec> : GuardedCopy<guard::Space, guard::Space> {
  using GuardedCopy<guard::Space, guard::Space>::GuardedCopy;
};

template <>
class SharedAllocationRecord<guard::Space, void>
    : public HostInaccessibleSharedAllocationRecordCommon<guard::Space> {
  using Common = HostInaccessibleSharedAllocationRecordCommon<guard::Space>;
  using Base = SharedAllocationRecord<void, void>;
  friend class SharedAllocationRecordCommon<guard::Space>;
  friend class HostInaccessibleSharedAllocationRecordCommon<guard::Space>;

 protected:
  SharedAllocationRecord(guard::Space const& space, std::string const& label, std::size_t bytes,
                         Base::function_type const free = &Common::deallocate)
      : Common(static_cast<SharedAllocationHeader*>(
                   space.allocate(bytes + sizeof(SharedAllocationHeader))),
               bytes + sizeof(SharedAllocationHeader), free) {
    SharedAllocationHeader header;
    this->Common::_fill_host_accessible_header_info(header, label);
    guard::copy(Base::m_alloc_ptr, &header, sizeof header);
  }
  ~SharedAllocationRecord() override {
    guard::Space().deallocate(Base::m_alloc_ptr, Base::m_alloc_size);
  }
};

// Kernels.
template <class F, class... P>
class ParallelFor<F, Kokkos::RangePolicy<P...>, guard::Device> {
  using Policy = Kokkos::RangePolicy<P...>;
  static_assert(std::is_void_v<typename Policy::work_tag>);

 public:
  ParallelFor(F const& f, Policy const& policy) : f_(f), policy_(policy) {}
  void execute() const {
    guard::detail::Argument<F const> const f(f_);
    auto const first = static_cast<std::int64_t>(policy_.begin());
    guard::run({typeid(F).name(), first, static_cast<std::int64_t>(policy_.end()) - first,
                [](void* f_at, std::int64_t k) {
                  guard::detail::at<F const>(f_at)(static_cast<typename Policy::member_type>(k));
                }});
  }

 private:
  F f_;
  Policy policy_;
};

/// Adds up in two totals, even calls and odd ones, and joins them: as threads do.
template <class F, class Reducer, class... P>
class ParallelReduce<F, Kokkos::RangePolicy<P...>, Reducer, guard::Device> {
  using Policy = Kokkos::RangePolicy<P...>;
  static_assert(std::is_void_v<typename Policy::work_tag>);
  static constexpr bool by_functor = std::is_same_v<Reducer, InvalidType>;
  using Choice = Kokkos::Impl::if_c<by_functor, F, Reducer>;
  using Init = FunctorValueInit<typename Choice::type, void>;
  using Join = FunctorValueJoin<typename Choice::type, void>;
  using Final = FunctorFinal<typename Choice::type, void>;
  using Value = typename FunctorAnalysis<FunctorPatternInterface::REDUCE, Policy, F>::value_type;

  struct Held {
    F f;
    Reducer reducer;
    Value totals[2]{};
  };

 public:
  template <class Result>
  ParallelReduce(F const& f, Policy const& policy, Result const& result,
                 std::enable_if_t<Kokkos::is_view<Result>::value && by_functor, void*> = nullptr)
      : f_(f), policy_(policy), reducer_(), result_(result.data()) {}
  ParallelReduce(F const& f, Policy const& policy, Reducer const& reducer)
      : f_(f), policy_(policy), reducer_(reducer), result_(reducer.view().data()) {}

  void execute() const {
    guard::detail::Argument<Held> const held(f_, reducer_);
    auto const first = static_cast<std::int64_t>(policy_.begin());
    guard::run({typeid(F).name(), first, static_cast<std::int64_t>(policy_.end()) - first,
                [](void* at, std::int64_t k) {
                  auto& h = guard::detail::at<Held>(at);
                  h.f(static_cast<typename Policy::member_type>(k), h.totals[k % 2]);
                },
                [](void* at) {
                  auto& h = guard::detail::at<Held>(at);
                  for (Value& total : h.totals) Init::init(Choice::select(h.f, h.reducer), &total);
                },
                [](void* at) {
                  auto& h = guard::detail::at<Held>(at);
                  Join::join(Choice::select(h.f, h.reducer), h.totals, h.totals + 1);
                }});
    Final::final(Choice::select(f_, reducer_), held->totals);
    if (result_ != nullptr) *result_ = held->totals[0];
  }

 private:
  F f_;
  Policy policy_;
  Reducer reducer_;
  Value* result_;
};

/// Tiles one after another.
template <class F, class... P>
class ParallelFor<F, Kokkos::MDRangePolicy<P...>, guard::Device> {
  using Policy = Kokkos::MDRangePolicy<P...>;
  using Tile = HostIterateTile<Policy, F, typename Policy::work_tag, void>;
  struct Held {
    Policy policy;
    F f;
  };

 public:
  ParallelFor(F const& f, Policy const& policy) : f_(f), policy_(policy) {}
  template <class... Any>
  static int max_tile_size_product(Any const&...) {
    return 1024;
  }
  void execute() const {
    guard::detail::Argument<Held> const held(policy_, f_);
    guard::run({typeid(F).name(), 0, static_cast<std::int64_t>(policy_.m_num_tiles),
                [](void* at, std::int64_t k) {
                  auto& h = guard::detail::at<Held>(at);
                  Tile(h.policy, h.f)(static_cast<typename Policy::member_type>(k));
                }});
  }

 private:
  F f_;
  Policy policy_;
};

/// Teams of one thread, whatever is asked for; a launch counts the threads that were asked for.
template <class... Properties>
class TeamPolicyInternal<guard::Device, Properties...> : public PolicyTraits<Properties...> {
 public:
  using execution_policy = TeamPolicyInternal;
  using traits = PolicyTraits<Properties...>;
  using execution_space = guard::Device;
  using member_type = HostThreadTeamMember<guard::Device>;

  TeamPolicyInternal(guard::Device const&, int league, int threads, int = 1)
      : league_(league), asked_(threads) {}
  template <class... Others>
  TeamPolicyInternal(TeamPolicyInternal<guard::Device, Others...> const& other)
      : league_(other.league_size()),
        asked_(other.asked_threads()),
        scratch_(other.scratch_size(0)) {}

  guard::Device const& space() const {
    static guard::Device const one;
    return one;
  }
  template <class F, class Tag>
  int team_size_max(F const&, Tag const&) const {
    return 1024;
  }
  int team_size() const { return 1; }
  int asked_threads() const { return asked_; }
  int league_size() const { return league_; }
  int chunk_size() const { return 1; }
  int impl_vector_length() const { return 1; }
  bool impl_auto_team_size() const { return false; }
  bool impl_auto_vector_length() const { return false; }
  std::size_t scratch_size(int level, int = 0) const { return level == 0 ? scratch_ : 0; }
  TeamPolicyInternal& set_scratch_size(int, PerTeamValue const& per_team) {
    scratch_ = static_cast<std::size_t>(per_team.value);
    return *this;
  }

 private:
  int league_;
  int asked_;
  std::size_t scratch_ = 0;
};

template <class F, class... P>
class ParallelFor<F, Kokkos::TeamPolicy<P...>, guard::Device> {
  using Policy = TeamPolicyInternal<guard::Device, P...>;
  using Member = typename Policy::member_type;
  struct Held {
    F f;
    HostThreadTeamData* data;
    int league;
  };

 public:
  ParallelFor(F const& f, Policy const& policy) : f_(f), policy_(policy) {}
  void execute() const {
    guard::detail::Argument<Held> const held(f_, &team(policy_.scratch_size(0)),
                                             policy_.league_size());
    guard::Kernel kernel{typeid(F).name(), 0, policy_.league_size(), [](void* at, std::int64_t k) {
                           auto& h = guard::detail::at<Held>(at);
                           h.f(Member(*h.data, static_cast<int>(k), h.league));
                         }};
    kernel.threads = policy_.asked_threads();
    guard::run(kernel);
  }

 private:
  /// One team and its scratch memory, of which GPUs have no more than this.
  static HostThreadTeamData& team(std::size_t scratch) {
    constexpr std::size_t reduce = 1024, shared = std::size_t{48} << 10;
    if (scratch > shared) Kokkos::abort("a team asks for more than 48 KiB of scratch memory");
    static HostThreadTeamData data;
    static bool const ready = [] {
      alignas(64) static char memory[std::size_t{256} << 10];
      std::size_t const bytes = HostThreadTeamData::scratch_size(reduce, reduce, shared, 0);
      if (bytes > sizeof memory) Kokkos::abort("a team's memory is too small");
      data.scratch_assign(memory, bytes, reduce, reduce, shared, 0);
      HostThreadTeamData* pool[1] = {&data};
      data.organize_pool(pool, 1);
      data.organize_team(1);
      return true;
    }();
    static_cast<void>(ready);
    return data;
  }

  F f_;
  Policy policy_;
};

}  // namespace Kokkos::Impl

#include <impl/Kokkos_SharedAlloc_timpl.hpp>
