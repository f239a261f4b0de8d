#pragma once
/// The tape: what is recorded of the operations on values whose gradient is wanted, and run
/// backward.

#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/autodiff/buckets.hpp>
#include <shardtype/core/dim.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/core/kept.hpp>
#include <shardtype/core/running_call.hpp>
#include <shardtype/runtime/small_blocks.hpp>

namespace shardtype::autodiff {

/// `new T(args...)`, of memory that the last step gave back. Unlike a class's own operator new this
/// is possible in constant evaluation.
template <class T, class... Args>
constexpr T* make_small(Args&&... args) {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  if (std::is_constant_evaluated()) return new T(static_cast<Args&&>(args)...);
  return ::new (runtime::take_small(sizeof(T))) T(static_cast<Args&&>(args)...);
}
/// `delete p`, of what `make_small` or `new` made.
template <class T>
constexpr void drop_small(T* p) {
  if (std::is_constant_evaluated()) {
    delete p;
  } else if (p != nullptr) {
    p->~T();
    runtime::give_back_small(p, sizeof(T));
  }
}

/// One recorded operation, or a value that a gradient is wanted of. A function pointer in place of
/// virtual functions, because g++ 12 does not have the implicit constexpr destructor of a template
/// in time.
struct Entry {
  Entry* before = nullptr;
  /// Takes the cotangent back; with `last`, frees the entry.
  void (*act)(Entry* self, bool last) = nullptr;
  core::RunningCall::Mark mark{};  ///< the call that it records
};
/// `Entry::act` of an `E`.
template <class E>
constexpr void act_on(Entry* self, bool last) {
  if (last) {
    autodiff::drop_small(static_cast<E*>(self));
  } else {
    static_cast<E*>(self)->pull();
  }
}

/// The entries of one differentiation, in order. Frees what is left of them if an Error ends it.
class Tape {
 public:
  constexpr Tape() = default;
  Tape(Tape const&) = delete;
  Tape& operator=(Tape const&) = delete;
  constexpr ~Tape() {
    while (last_ != nullptr) pop(last_);
    while (leaves_ != nullptr) pop(leaves_);
  }

  /// Adds an operation; owns it.
  constexpr void push(Entry* e) {
    e->before = last_;
    e->mark = core::RunningCall::mark();
    last_ = e;
  }
  /// Adds an argument, which lives as long as the tape.
  constexpr void push_leaf(Entry* e) {
    e->before = leaves_;
    leaves_ = e;
  }
  /// Runs the operations' pulls, last to first. Each is freed after its pull, with what it saved.
  constexpr void backward() {
    while (last_ != nullptr) {
      act(last_);
      pop(last_);
    }
  }
  /// The same; the entries stay, and can be pulled again.
  constexpr void pull_all() {
    for (Entry* e = last_; e != nullptr; e = e->before) act(e);
  }
  /// The small gradients that are reduced together.
  constexpr Buckets& buckets() { return buckets_; }

 private:
  static constexpr void act(Entry* e) {
    core::RunningCall const running(e->mark);
    e->act(e, false);
  }
  static constexpr void pop(Entry*& top) {
    Entry* const e = top;
    top = e->before;
    e->act(e, true);
  }

  Buckets buckets_;
  Entry* last_ = nullptr;
  Entry* leaves_ = nullptr;
};

/// Where the cotangent of one value is added up.
struct SlotBase {
  Tape* tape = nullptr;
  /// Whether the last movement of a cotangent is started: of a parameter's, if that is asked for.
  bool starts = false;
  /// Whether the first summand may stay unwritten: its reader reads it as it is.
  bool takes_spread = false;
  /// Where such a movement may be joined with others; null: nowhere.
  Buckets* buckets = nullptr;
};

/// Error E73: a value is of another tape than the one that it is used on.
[[noreturn]] inline void throw_other_differentiation(std::string const& value,
                                                     std::string const& than) {
  throw Error("E73",
              value + " belongs to another differentiation than " + than +
                  "; what an inner grad uses of an outer one is passed to it as an argument",
              FailedOn::every_rank);
}

using core::Kept;
using core::KeptAt;
using core::KeptIn;

/// The values that a recorded operation saves for its pull.
template <class... Ts>
constexpr Kept<Ts...> keep(Ts const&... ts) {
  return {{ts}...};
}
/// The K-th saved value.
template <int K, class T>
KOKKOS_FUNCTION constexpr T const& kept(KeptAt<K, T> const& at) {
  return at.value;
}

/// The K-th of some types.
template <int K, class T>
T type_at(KeptAt<K, Type<T>> const&);
template <int K, class... Ts>
using nth_t = decltype(autodiff::type_at<K>(std::declval<Kept<Type<Ts>...> const&>()));

}  // namespace shardtype::autodiff
