#pragma once
/// Numbers and texts that a checkpoint holds beside the tensors.

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <shardtype/check/misused.hpp>
#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/error.hpp>

namespace shardtype::checkpoint {

/// A number or a text. Integers keep all 64 bits, floating numbers all theirs.
class Value {
 public:
  using Kinds = std::variant<std::int64_t, std::uint64_t, double, std::string>;

  template <std::signed_integral T>
  Value(T number) : value_(static_cast<std::int64_t>(number)) {}
  template <std::unsigned_integral T>
  Value(T number) : value_(static_cast<std::uint64_t>(number)) {}
  template <std::floating_point T>
  Value(T number) : value_(static_cast<double>(number)) {}
  Value(char const* text) : value_(std::string(text)) {}
  Value(std::string text) : value_(std::move(text)) {}
  /// Refused, A18: anything else.
  template <class T>
    requires(!std::is_same_v<T, Value> && !std::is_arithmetic_v<T> &&
             !std::is_convertible_v<T const&, std::string>)
  Value(T const&) {  // NOLINT(google-explicit-constructor)
    checking::refused<rules::Code::A18_no_such_call_of_checkpoint, false, T>{};
  }

  Kinds const& kinds() const { return value_; }
  /// Integers are equal by their values, whatever their sign's type.
  friend bool operator==(Value const& a, Value const& b);

 private:
  Kinds value_;
};

/// Values by their names: `Extra extra{{"epoch", 3}, {"key", key.bits()}, {"note", "warm"}}`.
class Extra {
 public:
  Extra() = default;
  Extra(std::initializer_list<std::pair<std::string const, Value>> values) : values_(values) {}

  void set(std::string name, Value value) {
    values_.insert_or_assign(std::move(name), std::move(value));
  }
  bool has(std::string_view name) const { return values_.contains(std::string(name)); }
  /// The value of this name as a number or a text: `extra.get<std::int64_t>("epoch")`. Error E95:
  /// there is none, or it is of another kind, or `T` cannot represent it.
  template <class T>
  T get(std::string_view name) const;

  /// Refused, A18: `extra["loss"]` has no type.
  template <class Name>
  checking::Poisoned operator[](Name const&) const {
    return checking::Poisoned(
        checking::refused<rules::Code::A18_no_such_call_of_checkpoint, false, Name>{});
  }

  std::map<std::string, Value> const& values() const { return values_; }
  friend bool operator==(Extra const&, Extra const&) = default;

 private:
  Value const& find(std::string_view name) const;
  [[noreturn]] static void refuse(std::string_view name, char const* wanted);

  std::map<std::string, Value> values_;
};

template <class T>
T Extra::get(std::string_view name) const {
  Value::Kinds const& value = find(name).kinds();
  if constexpr (std::integral<T>) {
    if (auto const* n = std::get_if<std::int64_t>(&value); n != nullptr && std::in_range<T>(*n))
      return static_cast<T>(*n);
    if (auto const* n = std::get_if<std::uint64_t>(&value); n != nullptr && std::in_range<T>(*n))
      return static_cast<T>(*n);
    refuse(name, "an integer in the range that is asked for");
  } else if constexpr (std::floating_point<T>) {
    if (auto const* x = std::get_if<double>(&value)) return static_cast<T>(*x);
    refuse(name, "a floating number");
  } else {
    static_assert(std::is_same_v<T, std::string>,
                  "a value is an integer, a floating number or a std::string");
    if (auto const* text = std::get_if<std::string>(&value)) return *text;
    refuse(name, "a text");
  }
}

}  // namespace shardtype::checkpoint

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/extra.ipp>
#endif
