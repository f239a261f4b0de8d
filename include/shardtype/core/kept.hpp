#pragma once
/// A value that may be absent, and values by number.

#include <memory>
#include <utility>

namespace shardtype::core {

/// Values by number; no std::tuple, which costs compilers a dozen functions each.
template <int K, class T>
struct KeptAt {
  T value;
};
template <class Order, class... Ts>
struct KeptIn;
template <int... K, class... Ts>
struct KeptIn<std::integer_sequence<int, K...>, Ts...> : KeptAt<K, Ts>... {};
template <class... Ts>
using Kept = KeptIn<std::make_integer_sequence<int, static_cast<int>(sizeof...(Ts))>, Ts...>;

/// An optional value; compilers instantiate a tenth of the functions that std::optional needs.
template <class T>
class Maybe {
 public:
  constexpr Maybe() {}  // NOLINT(modernize-use-equals-default): a union's member has no default
  /// Holds an aggregate with these members.
  template <class... As>
  constexpr explicit Maybe(std::in_place_t, As const&... as) : value_{{as}...}, has_(true) {}
  constexpr Maybe(Maybe const& other) : has_(other.has_) {
    if (has_) std::construct_at(&value_, other.value_);
  }
  constexpr Maybe(Maybe&& other) noexcept : has_(other.has_) {
    if (has_) std::construct_at(&value_, std::move(other.value_));
  }
  Maybe& operator=(Maybe const&) = delete;
  Maybe& operator=(Maybe&&) = delete;
  constexpr ~Maybe() { reset(); }

  constexpr void set(T&& value) {
    reset();
    std::construct_at(&value_, std::move(value));
    has_ = true;
  }
  constexpr void reset() {
    if (has_) value_.~T();
    has_ = false;
  }
  constexpr bool has_value() const { return has_; }
  constexpr T& operator*() { return value_; }
  constexpr T const& operator*() const { return value_; }

 private:
  union {
    T value_;
  };
  bool has_ = false;
};

}  // namespace shardtype::core
