#pragma once
/// The common base of Tensor and Local: a block of memory on a mesh, described by the type.

#include <array>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/check/resolve.hpp>
#include <shardtype/core/bfloat16.hpp>
#include <shardtype/core/block.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/running_call.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::detail {

/// `bool`, `bf16`, `f32`, `f64`, `i32`, `i64`, `c64`, `c128`.
template <class T>
constexpr char const* element_name() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, bfloat16>) return "bf16";
  if constexpr (std::is_same_v<T, float>) return "f32";
  if constexpr (std::is_same_v<T, double>) return "f64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "i32";
  if constexpr (std::is_same_v<T, std::int64_t>) return "i64";
  if constexpr (sizeof(T) == 8) return "c64";
  return "c128";
}

/// Types that can be elements of a tensor.
template <class T>
inline constexpr bool is_element =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, bfloat16> ||
    std::is_same_v<T, bool> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> ||
    std::is_same_v<T, Kokkos::complex<float>> || std::is_same_v<T, Kokkos::complex<double>>;

/// Error E21.
[[noreturn]] void throw_shared(std::string_view operation, std::source_location const& where,
                               std::string_view what);
/// Error E21: another tensor or operation shares a tensor's memory, or it is const memory of the
/// user.
[[noreturn]] void throw_not_writable(Buffer const& memory, std::string_view operation,
                                     std::source_location const& where);

template <class A>
struct Declaration {
  using S = Scope<A>;
  static constexpr Verdict verdict = is_element<element_t<A>>
                                         ? rules::lawful(S::names, S::parsed, 1)
                                         : refuse(Code::T08_element_type);
};

/// Whether `B` is a tensor, or an expression of a tensor, of another type than `A`.
template <class B, class A>
inline constexpr bool is_another =
    (is_tensor<B> && !std::is_same_v<B, A>) || (!is_tensor<B> && !is_lazy<B> && requires {
      typename B::tensor_type;
      requires !std::is_same_v<typename B::tensor_type, A>;
    });

/// Whether `B` is a tensor of another sharding than `A`, with the same indices: a mistake where an
/// `A` is turned into a `B`. Not with other indices, so that a function may be overloaded for
/// matrices and vectors.
template <class B, class A>
constexpr bool differs_in_sharding() {
  if constexpr (is_tensor<B> && is_another<B, A>) {
    using S = Scope<B, A>;
    Spec const b = S::template spec<0>;
    Spec const a = S::template spec<1>;
    bool equal = a.rank == b.rank && is_local<A> == is_local<B>;
    for (int d = 0; equal && d < a.rank; ++d) equal = b.find(a.dims[d].label) >= 0;
    return equal;
  } else {
    return false;
  }
}

/// Numbers as which a user may want to read a loss or a total. (std::is_arithmetic would make
/// classes for each type to which a conversion is tried.)
template <class T>
inline constexpr bool is_plain_number = false;
template <>
inline constexpr bool is_plain_number<float> = true;
template <>
inline constexpr bool is_plain_number<double> = true;
template <>
inline constexpr bool is_plain_number<int> = true;
template <>
inline constexpr bool is_plain_number<std::int64_t> = true;

/// The type of `a.T`, which NumPy has: refused, A14, where it is made, for the value to be used.
template <class Self>
struct NoTransposed : checking::Poisoned {
  // as in Unlawful
  static_assert(alignof(checking::refused<Code::A14_no_member, false, Self>) > 0);
};

/// The base of a Tensor or Local whose type keeps the laws, and of one whose type breaks them: it
/// triggers the refusal's static_assert without being erroneous itself, because clang drops a base
/// class that has an error, and with it the derived class's members.
struct Lawful {};
template <class A>
struct Unlawful {
  static_assert(alignof(refusal<Declaration<A>, A>) > 0);
};

/// A view that writes to a tensor's block, and marks it as being written while it exists.
template <class V>
class WritingView : public V {
 public:
  WritingView() = default;
  WritingView(V const& view, std::shared_ptr<void> writing)
      : V(view), writing_(std::move(writing)) {}

 private:
  std::shared_ptr<void> writing_;
};

template <class T, std::size_t N>
struct Pointers {
  using type = typename Pointers<T, N - 1>::type*;
};
template <class T>
struct Pointers<T, 0> {
  using type = T;
};

/// Not a template, so that all tensor types share its code.
void local_rows(MeshState const& mesh, Names const& names, Spec const& spec,
                std::int64_t const* extents, Rows* out);

template <class... Parts>
struct MemoryOf {
  using type = Kokkos::DefaultExecutionSpace::memory_space;
};
template <class Space, class... Rest>
struct MemoryOf<Memory<Space>, Rest...> {
  using type = Space;
};
template <class First, class... Rest>
struct MemoryOf<First, Rest...> : MemoryOf<Rest...> {};

/// Members that are the same for all tensor types. Not inline: else each call that creates a tensor
/// would get a copy, which costs compile time.
class HeldBlock {
 public:
  [[gnu::noinline]] HeldBlock(HeldBlock const& other) : mesh_(other.mesh_), buffer_(other.buffer_) {
    buffer_.part_from_writer();
  }
  HeldBlock(HeldBlock&&) noexcept = default;
  [[gnu::noinline]] HeldBlock& operator=(HeldBlock const& other) {
    mesh_ = other.mesh_;
    buffer_ = other.buffer_;
    buffer_.part_from_writer();
    return *this;
  }
  HeldBlock& operator=(HeldBlock&&) noexcept = default;

  /// The mesh of the tensor.
  MeshRef const& mesh() const { return mesh_; }
  /// The memory, for operations.
  Buffer const& buffer() const { return buffer_; }
  /// Whether another tensor or operation holds the same memory, or it is const memory of the user
  /// (`wrap`).
  bool shared() const { return buffer_.holders() > 1; }

 protected:
  [[gnu::noinline]] HeldBlock(MeshRef const& mesh, Buffer& buffer)
      : mesh_(mesh), buffer_(std::move(buffer)) {
    buffer_.part_from_writer();  // the buffer may come from another tensor, for example in relabel
  }
  [[gnu::noinline]] ~HeldBlock() = default;

  /// Error E26 if the value was moved away.
  void check_has_value(char const* operation, std::source_location const& where) const {
    if (mesh_.state_ == nullptr) throw_moved(operation, where);
  }

  MeshRef mesh_;
  Buffer buffer_;

 private:
  [[noreturn]] static void throw_moved(char const* operation, std::source_location const& where);
};

/// Members that are the same for all tensor types of one rank.
template <std::size_t rank>
class HeldRows : public HeldBlock {
 public:
  /// Global extents, in the order of the dims.
  std::array<std::int64_t, rank> const& extents() const { return extents_; }
  /// Global indices of each dim that the calling rank holds.
  std::array<Rows, rank> const& rows() const { return rows_; }
  /// Extents of the local block.
  std::array<std::int64_t, rank> local_extents() const {
    std::array<std::int64_t, rank> out{};
    for (std::size_t d = 0; d < rank; ++d) out[d] = rows_[d].size();
    return out;
  }
  /// Elements of the local block; 0 on ranks outside the mesh.
  std::int64_t local_size() const {
    std::int64_t n = mesh_.here() ? 1 : 0;
    for (Rows const& r : rows_) n *= r.size();
    return n;
  }

 protected:
  HeldRows(MeshRef const& mesh, std::array<std::int64_t, rank> const& extents, Buffer& buffer,
           Names const& names, Spec const& spec)
      : HeldBlock(mesh, buffer), extents_(extents) {
    detail::local_rows(mesh.state(), names, spec, extents.data(), rows_.data());
  }

  std::array<std::int64_t, rank> extents_;
  std::array<Rows, rank> rows_{};
};

/// The calling rank's part of a `Self`, a Tensor or a Local; its base refuses a type that breaks
/// the laws. A value: copies share memory until one is written, and writing needs the only
/// reference.
template <class Self, class Element, class... Parts>
class TensorBase
    : public detail::Resolved<bool(
          detail::Declaration<Self>::verdict)>::template of<detail::Lawful, detail::Unlawful<Self>>,
      public core::Argument<Self>,
      public detail::HeldRows<static_cast<std::size_t>(Scope<Self>::parsed[0].spec.rank)> {
  using S = Scope<Self>;
  using Block = detail::HeldRows<static_cast<std::size_t>(S::parsed[0].spec.rank)>;
  using Block::buffer_;
  using Block::extents_;
  using Block::mesh_;
  using Block::rows_;

 public:
  using element = Element;
  using memory_space = typename detail::MemoryOf<Parts...>::type;
  using execution_space = typename memory_space::execution_space;
  /// The sharding, numbered in the type's own scope.
  static constexpr auto const& spec = S::parsed[0].spec;
  static constexpr std::size_t rank = static_cast<std::size_t>(spec.rank);
  /// The local block, row-major in the order of the dims.
  template <class U>
  using View = Kokkos::View<typename detail::Pointers<U, rank>::type, Kokkos::LayoutRight,
                            memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// The global indices of each dim that the calling rank holds. Empty on ranks outside the mesh.
  static std::array<Rows, rank> local_rows(MeshRef const& mesh,
                                           std::array<std::int64_t, rank> const& extents) {
    std::array<Rows, rank> out{};
    detail::local_rows(mesh.state(), S::names, spec, extents.data(), out.data());
    return out;
  }

  /// Global extent of `I`.
  template <class I>
  std::int64_t extent() const {
    return extents_[dim<I>()];
  }
  /// The global indices that the calling rank holds, as ranges. Refused, B05: a block-cyclic dim,
  /// whose indices are not a range.
  std::array<Range, rank> ranges() const {
    if constexpr (spec.cyclic_dim() >= 0) refused<Code::B05_no_range, false, Self>{};
    std::array<Range, rank> out{};
    for (std::size_t d = 0; d < rank; ++d) out[d] = rows_[d].range();
    return out;
  }
  /// The local block's extent of `I`.
  template <class I>
  std::int64_t local_extent() const {
    return rows_[dim<I>()].size();
  }
  /// The global index along `I` of local index `local`.
  template <class I>
  std::int64_t global_index(std::int64_t local) const {
    return rows_[dim<I>()][local];
  }

  /// Refused, A07: `if (a > 1)`.
  template <class Truth>
    requires std::is_same_v<Truth, bool>
  explicit operator Truth() const {
    refused<Code::A07_truth, false, Self>{};
    return false;
  }

  /// Refused, A08: `B g(A const& a) { return a; }`. So std::is_convertible holds of two shardings:
  /// a refusal with a sentence is a function that overload resolution finds.
  template <class To>
    requires(detail::differs_in_sharding<To, Self>())
  operator To() const {
    return refused<Code::A08_another_type, false, To, Self>{};
  }

  /// Refused, A11: `float l = sum(a);`. No bool, whose conversion is A07.
  template <class To>
    requires detail::is_plain_number<To>
  operator To() const {
    return refused<Code::A11_no_number, false, Self, To>{};
  }

  // Refused, A14: members of NumPy's arrays, `T` where it is used. The results are named, so that
  // to ask for them
  // (`requires { a.begin(); }`) is no error yet.
  static detail::NoTransposed<Self> const& T;  // NOLINT(readability-identifier-naming): NumPy's
  template <class... Args>
  Poisoned sum(Args const&...) const {
    return refused<Code::A14_no_member, false, Self, Args...>{};
  }
  template <class... Args>
  Poisoned mean(Args const&...) const {
    return refused<Code::A14_no_member, false, Self, Args...>{};
  }
  template <class... Args>
  Poisoned reshape(Args const&...) const {
    return refused<Code::A14_no_member, false, Self, Args...>{};
  }
  template <class... Args>
  Poisoned astype(Args const&...) const {
    return refused<Code::A14_no_member, false, Self, Args...>{};
  }
  template <class N>
  Poisoned operator[](N const&) const {
    return refused<Code::A14_no_member, false, Self>{};
  }
  template <class... None>
  checking::NoRow begin(None const&...) const {
    refused<Code::A14_no_member, false, Self, None...>{};
    return {};
  }
  template <class... None>
  checking::NoRow end(None const&...) const {
    return {};
  }

  /// The tensor itself. An elementwise expression has the same member, which computes it.
  Self const& tensor() const& { return static_cast<Self const&>(*this); }
  Self tensor() && { return std::move(static_cast<Self&>(*this)); }

  /// The local block, to read. Not for temporaries, whose memory would be gone. Refused, A10: of an
  /// unreduced Tensor, whose block is a summand. Error E26 if the value was moved away.
  View<Element const> local(
      std::source_location const& where = std::source_location::current()) const& {
    if constexpr (!spec.unreduced.empty() && !is_local<Self>)
      refused<Code::A10_summand_read, false, Self>{};
    return view<Element const>("local", where);
  }
  View<Element const> local() const&& = delete;
  /// The local block, to read, also if it is a summand.
  View<Element const> unreduced_local(
      std::source_location const& where = std::source_location::current()) const& {
    return view<Element const>("unreduced_local", where);
  }
  View<Element const> unreduced_local() const&& = delete;
  /// The local block, to write. While the view (or a copy of it, but not a plain Kokkos::View made
  /// from it) exists, copies of the tensor get memory of their own, and so does the data that
  /// `start` sends. Error E21 if another tensor shares the memory: write `a = a.clone()` first, or
  /// destroy the other tensor; or if it is const memory of the user.
  WritingView<View<Element>> mutable_local(
      std::source_location const& where = std::source_location::current()) & {
    if (buffer_.holders() > 1) detail::throw_not_writable(buffer_, "mutable_local", where);
    return WritingView<View<Element>>(view<Element>("mutable_local", where), buffer_.write());
  }
  /// A copy with memory of its own. Communicates nothing.
  Self clone() const {
    core::RunningCall const making(detail::element_name<Element>(), spec, S::names);
    Buffer copy = mesh_.state().pool().template take<memory_space>(bytes());
    Self out(mesh_, extents_, std::move(copy));
    runtime::copy_bytes<memory_space, memory_space>(out.buffer().data(), buffer_.data(), bytes());
    return out;
  }

 protected:
  TensorBase(MeshRef const& mesh, std::array<std::int64_t, rank> const& extents, Buffer& buffer)
      : Block(mesh, extents, buffer, S::names, spec) {}

 private:
  template <class I>
  static constexpr std::size_t dim() {
    constexpr int d = spec.find(S::names.find_label(identity<I>));
    if constexpr (d < 0) {
      refused<Code::A03_no_such_index, false, Self, I>{};
      return 0;
    } else {
      return static_cast<std::size_t>(d);
    }
  }
  std::size_t bytes() const {
    return static_cast<std::size_t>(this->local_size()) * sizeof(Element);
  }

  template <class U>
  View<U> view(char const* operation, std::source_location const& where) const {
    this->check_has_value(operation, where);
    return make_view<U>(std::make_index_sequence<rank>{});
  }
  template <class U, std::size_t... D>
  View<U> make_view(std::index_sequence<D...>) const {
    return View<U>(static_cast<U*>(buffer_.data()), static_cast<std::size_t>(rows_[D].size())...);
  }
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/tensor/tensor_base.ipp>
#endif
