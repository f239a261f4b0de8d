#pragma once
/// What an operation returns after an error, so that one mistake gives one message.

#include <type_traits>

namespace shardtype {

/// An inert stand-in for the tensor that a refused operation would have returned: it converts to
/// any type, goes through every operation, and has Tensor's public members (a test holds the lists
/// equal). It exists only in programs that do not compile.
struct Poisoned {
  template <class T>
  operator T() const;

  static Poisoned local();
  static Poisoned mutable_local();
  static Poisoned clone();
  static Poisoned mesh();
  static Poisoned extents();
  static Poisoned local_extents();
  static Poisoned ranges();
  static Poisoned coords();
  static Poisoned local_size();
  static Poisoned size();
  static Poisoned shared();
  static Poisoned buffer();
  template <class I>
  static Poisoned extent();
  template <class I>
  static Poisoned local_extent();
  template <class I, class N>
  static Poisoned global_index(N);
};

/// Whether one of these is the result of a refused operation.
template <class... Ts>
inline constexpr bool any_poisoned = (std::is_base_of_v<Poisoned, Ts> || ...);

}  // namespace shardtype
