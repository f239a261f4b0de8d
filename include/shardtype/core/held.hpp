#pragma once
/// An array that owns its values or looks at those of a constant.

#include <cstddef>

#include <shardtype/core/namespaces.hpp>

namespace shardtype::detail {

/// Values that grow while something is written, and that a constant keeps in an array of exactly
/// their number: there it looks at that array. A copy owns its values if the original does.
template <class T>
class Held {
 public:
  /// The values. Constants read it in place of calls, which compilers count.
  T const* at = nullptr;

  constexpr Held() = default;
  /// Looks at `size` values that outlive it and its copies.
  constexpr Held(T const* values, std::size_t size) : at(values), size_(static_cast<int>(size)) {}
  constexpr Held(Held const& other) { copy(other); }
  constexpr Held(Held&& other) noexcept { swap(other); }
  constexpr Held& operator=(Held const& other) {
    if (this == &other) return *this;
    delete[] own_;
    own_ = nullptr;
    copy(other);
    return *this;
  }
  constexpr Held& operator=(Held&& other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~Held() { delete[] own_; }

  constexpr int size() const { return size_; }
  constexpr T const* data() const { return at; }
  constexpr T const& operator[](int k) const { return at[k]; }
  constexpr T const* begin() const { return at; }
  constexpr T const* end() const { return at + size_; }

  /// The values, to be changed; the array owns them from then on.
  constexpr T* own() {
    if (own_ == nullptr) reserve(size_);
    return own_;
  }
  constexpr T& edit(int k) { return own()[k]; }
  constexpr void push_back(T const& value) {
    if (own_ == nullptr || size_ == room_) {
      T const copied = value;  // which may be in the array
      reserve(size_ < 4 ? 8 : 2 * size_);
      own_[size_++] = copied;
    } else {
      own_[size_++] = value;
    }
  }
  constexpr void resize(int n, T const& value) {
    reserve(n > size_ ? n : size_);
    for (int k = size_; k < n; ++k) own_[k] = value;
    size_ = n;
  }

 private:
  constexpr void swap(Held& other) noexcept {
    T const* const values = at;
    T* const own = own_;
    int const size = size_;
    int const room = room_;
    at = other.at;
    own_ = other.own_;
    size_ = other.size_;
    room_ = other.room_;
    other.at = values;
    other.own_ = own;
    other.size_ = size;
    other.room_ = room;
  }
  constexpr void copy(Held const& other) {
    at = other.at;
    size_ = other.size_;
    room_ = 0;
    if (other.own_ != nullptr) reserve(size_);
  }
  /// Memory of its own for `n` values.
  constexpr void reserve(int n) {
    T* const more = new T[static_cast<std::size_t>(n)];
    for (int k = 0; k < size_; ++k) more[k] = at[k];
    delete[] own_;
    at = own_ = more;
    room_ = n;
  }

  T* own_ = nullptr;
  int size_ = 0;
  int room_ = 0;
};

}  // namespace shardtype::detail
