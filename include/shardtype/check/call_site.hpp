#pragma once
/// The last parameter of every operation: the user's line, for messages at run time.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

/// The line of the call. Any other argument is refused, A06: without this it would be C++ that complains, of a
/// std::source_location that no user knows of.
class CallSite {
 public:
  constexpr CallSite(std::source_location const& where) : where_(where) {}
  template <class T>
    requires(!std::is_base_of_v<std::source_location, T> && !std::is_base_of_v<CallSite, T> &&
             !std::is_base_of_v<Poisoned, T>)
  constexpr CallSite(T const&) {
    refused<Code::A06_no_such_argument, false, T>{};
  }
  constexpr operator std::source_location const&() const { return where_; }
  constexpr std::uint_least32_t line() const { return where_.line(); }

 private:
  std::source_location where_;
};

}  // namespace shardtype::checking
