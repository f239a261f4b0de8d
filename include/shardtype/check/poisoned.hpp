#pragma once
/// The result of an operation after an error, so that one mistake gives one message.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <shardtype/core/block.hpp>
#include <shardtype/core/dim.hpp>

namespace shardtype::checking {

/// An inert stand-in for the tensor that a refused operation would have returned. It converts to
/// any type, is accepted by every operation, and has Tensor's public members (a test holds the
/// lists equal). It exists only in programs that do not compile, so its functions are not defined.
struct Poisoned : core::Argument<Poisoned> {
  using element = double;
  using memory_space = Poisoned;
  using execution_space = Poisoned;
  static constexpr Spec spec{};
  static constexpr std::size_t rank = 0;
  template <class U>
  using View = Poisoned;

  template <class T>
  operator T() const;

  template <class... Args>
  static std::array<Rows, max_dims> local_rows(Args const&...);
  static Poisoned mesh();
  static std::array<std::int64_t, max_dims> extents();
  template <class I>
  static std::int64_t extent();
  static std::array<Rows, max_dims> rows();
  static std::array<Range, max_dims> ranges();
  static std::array<std::int64_t, max_dims> local_extents();
  template <class I>
  static std::int64_t local_extent();
  static std::int64_t local_size();
  template <class I>
  static std::int64_t global_index(std::int64_t);
  static Poisoned local();
  static Poisoned unreduced_local();
  static Poisoned mutable_local();
  static Poisoned clone();
  static bool shared();
  static Poisoned buffer();

  static Poisoned tensor();

  // Members that Tensor refuses.
  static Poisoned T;  // NOLINT(readability-identifier-naming)
  template <class... Args>
  static Poisoned sum(Args const&...);
  template <class... Args>
  static Poisoned mean(Args const&...);
  template <class... Args>
  static Poisoned reshape(Args const&...);
  template <class... Args>
  static Poisoned astype(Args const&...);
  static Poisoned* begin();
  static Poisoned* end();

  // Assignment and in-place operators, like Tensor's.
  template <class B>
  Poisoned& operator=(B const&);
  template <class B>
  Poisoned& operator+=(B const&);
  template <class B>
  Poisoned& operator-=(B const&);
  template <class B>
  Poisoned& operator*=(B const&);
  template <class B>
  Poisoned& operator/=(B const&);

  // Beyond Tensor: reading values, and access to local blocks and host copies.
  friend Poisoned to_host(Poisoned const&);
  friend double item(Poisoned const&);
  friend void save_npy(Poisoned const&, std::string const&);
  template <class... Is>
  double& operator()(Is const&...) const;
  template <class N>
  double& operator[](N const&) const;
};

/// The result of `begin()` of a tensor, which is refused: a loop of C++ compiles with it, and it is
/// no iterator, so that a tensor is no range of the standard library.
struct NoRow {
  Poisoned operator*() const;
  NoRow& operator++();
  bool operator!=(NoRow const&) const;
};

}  // namespace shardtype::checking

namespace shardtype {

namespace detail {

/// The base of every Tensor type that obeys the laws (tensor/tensor.hpp).
struct Lawful;

template <class T>
inline constexpr bool is_poisoned = std::derived_from<T, Poisoned>;
/// Does not test for the base of an unlawful tensor type, because clang drops bases that have
/// errors.
template <class T, class... Parts>
inline constexpr bool is_poisoned<Tensor<T, Parts...>> =
    !std::is_base_of_v<Lawful, Tensor<T, Parts...>>;
template <class T, class... Parts>
inline constexpr bool is_poisoned<Local<T, Parts...>> =
    !std::is_base_of_v<Lawful, Local<T, Parts...>>;

}  // namespace detail

}  // namespace shardtype

namespace shardtype::checking {

/// Whether one of these is the result of a refused operation, or a tensor type that breaks a law.
template <class... Ts>
inline constexpr bool any_poisoned = (detail::is_poisoned<Ts> || ...);

}  // namespace shardtype::checking
