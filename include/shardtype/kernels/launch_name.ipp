#pragma once
/// Definitions of launch_name.hpp.

#include <cstdint>
#include <utility>

#include <shardtype/kernels/launch_name.hpp>

namespace shardtype::detail {

/// The strings of the literals seen so far, by address.
class LaunchNames {
 public:
  LaunchNames() = default;
  LaunchNames(LaunchNames const&) = delete;
  LaunchNames& operator=(LaunchNames const&) = delete;
  ~LaunchNames() {
    for (Entry* first : rows_)
      while (first != nullptr) delete std::exchange(first, first->next);
  }

  std::string const& of(char const* text) {
    Entry*& first = rows_[reinterpret_cast<std::uintptr_t>(text) / 8 % rows];
    for (Entry const* e = first; e != nullptr; e = e->next)
      if (e->text == text) return e->name;
    first = new Entry{text, text, first};
    return first->name;
  }
  static LaunchNames& here() {
    static LaunchNames all;
    return all;
  }

 private:
  struct Entry {
    char const* text;
    std::string name;
    Entry* next;
  };
  static constexpr std::uintptr_t rows = 64;
  Entry* rows_[rows]{};
};

}  // namespace shardtype::detail

namespace shardtype::kernels {

SHARDTYPE_INLINE std::string const& launch_name(char const* text) {
  return shardtype::detail::LaunchNames::here().of(text);
}

}  // namespace shardtype::kernels
