#pragma once
/// Arrays with room for a fixed number of values, of which few are used.

#include <cstddef>
#include <memory>
#include <string>

#include <shardtype/core/error.hpp>
#include <shardtype/core/namespaces.hpp>

namespace shardtype::planning {

/// Error E84: something has more than `most` of what a plan has room for.
[[noreturn]] inline void no_room(char const* what_has, int most, char const* of_what) {
  std::string const number = std::to_string(most);
  std::string text;  // literals, appended as such, would be a type each
  char const* const parts[] = {what_has, " more than ", number.c_str(), " ", of_what};
  for (char const* part : parts) text += part;
  throw Error("E84", text, FailedOn::every_rank);
}

/// Iterates in order over the values `T` that `Values` gives by their numbers.
template <class Values, class T>
struct NumberedIterator {
  using value_type = T;
  using difference_type = std::ptrdiff_t;

  Values const* values = nullptr;
  int at = 0;

  constexpr T const& operator*() const { return (*values)[at]; }
  constexpr T const* operator->() const { return &(*values)[at]; }
  constexpr NumberedIterator& operator++() {
    ++at;
    return *this;
  }
  constexpr NumberedIterator operator++(int) {
    NumberedIterator const before = *this;
    ++at;
    return before;
  }
  friend constexpr bool operator==(NumberedIterator, NumberedIterator) = default;
};

/// At most `Most` values. Unused elements are not constructed, because a compiler would write,
/// check and copy each of their members.
template <class T, std::size_t Most>
class Rooms {
  union Room {
    char empty;
    T value;
    // a member initializer instead would make nvcc reject plans as constants
    constexpr Room() : empty(0) {}
  };

 public:
  using Iterator = NumberedIterator<Rooms, T>;

  constexpr T const& operator[](int k) const { return rooms_[k].value; }
  constexpr T& operator[](int k) { return rooms_[k].value; }
  /// Constructs the value at `k`.
  constexpr void put(int k, T const& value) { std::construct_at(&rooms_[k].value, value); }
  constexpr Iterator iterator(int k) const { return {this, k}; }

 private:
  Room rooms_[Most];
};

}  // namespace shardtype::planning
