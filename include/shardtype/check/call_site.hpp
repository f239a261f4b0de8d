#pragma once
/// The last parameter of every operation: the user's source line, for run-time messages.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

/// The line of the call: as a default argument `{}`, that of the call of the function. Any other
/// argument is refused, A06; otherwise the compiler would complain about a std::source_location,
/// which users do not know.
class CallSite {
 public:
  constexpr CallSite(std::source_location const& where = std::source_location::current())
      : where_(where) {}
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
