#pragma once
/// Containers for the library's own bookkeeping.
///
/// They do less than std::vector and std::unique_ptr, and cost a tenth of the compile time:
/// otherwise every file that includes the library would take 5 ms or more per element type, and
/// constant evaluation of plans three times the steps.

#include <cstddef>
#include <initializer_list>

#include <shardtype/core/namespaces.hpp>

namespace shardtype::detail {

/// A growing array of default-constructible values. Members have the meaning that they have in
/// std::vector.
template <class T>
class List {
 public:
  constexpr List() = default;
  constexpr explicit List(std::size_t n, T const& value = T()) { resize(n, value); }
  constexpr List(std::initializer_list<T> values) {
    reserve(values.size());
    for (T const& v : values) data_[size_++] = v;
  }
  constexpr List(List const& other) { copy(other); }
  constexpr List(List&& other) noexcept { swap(other); }
  constexpr List& operator=(List const& other) {
    if (this == &other) return *this;
    size_ = 0;
    copy(other);
    return *this;
  }
  constexpr List& operator=(List&& other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~List() { delete[] data_; }

  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* data() { return data_; }
  constexpr T const* data() const { return data_; }
  constexpr T& operator[](std::size_t k) { return data_[k]; }
  constexpr T const& operator[](std::size_t k) const { return data_[k]; }
  constexpr T& front() { return data_[0]; }
  constexpr T const& front() const { return data_[0]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr T const& back() const { return data_[size_ - 1]; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr T const* begin() const { return data_; }
  constexpr T const* end() const { return data_ + size_; }

  constexpr T& push_back(T value) {
    if (size_ == room_) reserve(size_ < 4 ? 4 : 2 * size_);
    data_[size_] = static_cast<T&&>(value);  // as std::move, which is a class more per type
    return data_[size_++];
  }
  constexpr void pop_back() { --size_; }
  constexpr void clear() { size_ = 0; }
  constexpr void resize(std::size_t n, T const& value = T()) {
    if (n > room_) reserve(n);
    for (std::size_t k = size_; k < n; ++k) data_[k] = value;
    size_ = n;
  }
  constexpr void assign(std::size_t n, T const& value) {
    size_ = 0;
    resize(n, value);
  }
  /// Removes the element at index `place`.
  constexpr void erase(std::size_t place) {
    for (std::size_t k = place; k + 1 < size_; ++k) data_[k] = static_cast<T&&>(data_[k + 1]);
    data_[--size_] = T();
  }
  constexpr void reserve(std::size_t n) {
    if (n <= room_) return;
    T* const more = new T[n];
    for (std::size_t k = 0; k < size_; ++k) more[k] = static_cast<T&&>(data_[k]);
    delete[] data_;
    data_ = more;
    room_ = n;
  }

  friend constexpr bool operator==(List const& a, List const& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t k = 0; k < a.size_; ++k)
      if (!(a.data_[k] == b.data_[k])) return false;
    return true;
  }

 private:
  constexpr void swap(List& other) noexcept {
    T* const data = data_;
    std::size_t const size = size_;
    std::size_t const room = room_;
    data_ = other.data_;
    size_ = other.size_;
    room_ = other.room_;
    other.data_ = data;
    other.size_ = size;
    other.room_ = room;
  }
  constexpr void copy(List const& other) {
    reserve(other.size_);
    for (; size_ < other.size_; ++size_) data_[size_] = other.data_[size_];
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

/// The only owner of an object.
template <class T>
class Owned {
 public:
  Owned() = default;
  /// Takes ownership of an object created by `new`.
  explicit Owned(T* object) : object_(object) {}
  Owned(Owned const&) = delete;
  Owned& operator=(Owned const&) = delete;
  Owned(Owned&& other) noexcept { swap(other); }
  Owned& operator=(Owned&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Owned() { delete object_; }

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  void swap(Owned& other) noexcept {
    T* const mine = object_;
    object_ = other.object_;
    other.object_ = mine;
  }

  T* object_ = nullptr;
};

/// The distinct ranks of a list, in increasing order.
inline List<int> rising(List<int> const& ranks) {
  List<char> there;
  for (int r : ranks) {
    auto const k = static_cast<std::size_t>(r);
    if (k >= there.size()) there.resize(k + 1, 0);
    there[k] = 1;
  }
  List<int> out;
  for (std::size_t k = 0; k < there.size(); ++k)
    if (there[k] != 0) out.push_back(static_cast<int>(k));
  return out;
}

}  // namespace shardtype::detail
