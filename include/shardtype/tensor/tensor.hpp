#pragma once
/// The distributed tensor.

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/tensor/tensor_base.hpp>

namespace shardtype {

namespace detail {

/// The mesh of a new tensor. Error E60: tensors cannot be created while the body of a shard_map
/// runs on their mesh.
inline MeshRef const& not_manual(MeshRef const& mesh) {
  if (mesh.state().in_manual_mode())
    throw Error(
        "E60",
        "an operation on Tensors inside of shard_map; pass the tensors to shard_map as arguments, "
        "and its function gets their blocks",
        FailedOn::every_rank);
  return mesh;  // NOLINT: not of a temporary
}

}  // namespace detail

/// A tensor of `T` distributed over a mesh as its type says: `Tensor<float, Dim<I, X>, Dim<J>>` is
/// split over mesh axis X along I and replicated over every other axis. Printed `f32[I@X, J]`.
///
/// A value: copies share memory until one is written, and writing needs the only reference.
/// Functions that create tensors are in tensor/create.hpp. Refused at declaration: T01 to T08, B01,
/// B02.
template <class T, class... Parts>
class Tensor : public detail::TensorBase<Tensor<T, Parts...>, T, Parts...> {
  using Base = detail::TensorBase<Tensor, T, Parts...>;

 public:
  /// Refused, T14: a tensor has a mesh and a value from the beginning.
  /// std::is_default_constructible holds all the same.
  Tensor() : Tensor(without_mesh(), std::array<std::int64_t, Base::rank>(), runtime::Buffer()) {
    checking::refused<rules::Code::T14_no_value, false, Tensor>{};
  }
  /// Refused, A08: `a = reshard<Dim<I>>(a)`; L01: `a = lazy(a) * 2`; X11: in a function that is
  /// differentiated. std::is_assignable holds all the same: a trait sees that overload resolution
  /// finds a function, and without one there would be no sentence.
  template <class B>
    requires(detail::is_another<B, Tensor> || core::is_lazy<B> || core::is_active<B>)
  Tensor& operator=(B const&) {
    if constexpr (core::is_lazy<B>) {
      checking::refused<rules::Code::L01_not_recorded, false, B>{};
    } else if constexpr (core::is_active<B>) {
      checking::refused<rules::Code::X11_assigned, false, Tensor>{};
    } else {
      checking::refused<rules::Code::A08_another_type, false, Tensor, B>{};
    }
    return *this;
  }
  /// The value of an elementwise expression, `Tensor<float, Dim<I, X>> c = a + b;`.
  template <class E>
    requires std::is_same_v<typename E::converts_to, Tensor>
  Tensor(E const& expression, std::source_location const& where = std::source_location::current())
      : Tensor(expression.tensor(where)) {}
  /// A tensor whose local block is `buffer`; for operations and creation. Refused: T10 static
  /// extents of more than 2^58 elements. Errors: E13 an axis the mesh lacks, E20 an extent that
  /// does not fit its label, E60 inside of shard_map.
  Tensor(runtime::MeshRef const& mesh, std::array<std::int64_t, Base::rank> const& extents,
         runtime::Buffer buffer)
      : Base(detail::not_manual(mesh), extents, buffer) {
    // checked here and not in the type, because automatic mode names types of values that it never
    // creates
    using Own = core::Scope<Tensor>;
    if constexpr (!core::countable(Own::names.label_extent, Own::names.labels))
      checking::refused<rules::Code::T10_too_many_elements, false, Tensor>{};
  }

 private:
  static runtime::MeshRef const& without_mesh();  // for T14: never called
};

/// Bytes of the largest local block, if the type determines all extents and axis sizes.
template <class A>
inline constexpr std::int64_t bytes_per_rank = [] {
  using S = core::Scope<A>;
  static_assert(S::names.all_static(),
                "bytes_per_rank needs static extents and axis sizes in the tensor's type");
  return core::mul_sat(
      core::largest_elements(S::template spec<0>, S::names.extents(), S::names.sizes()),
      static_cast<std::int64_t>(sizeof(checking::element_t<A>)));
}();

/// Binary sizes: `static_assert(bytes_per_rank<A> <= 16_GiB)`.
namespace literals {
constexpr std::int64_t operator""_KiB(unsigned long long n) {
  return static_cast<std::int64_t>(n) << 10;
}
constexpr std::int64_t operator""_MiB(unsigned long long n) {
  return static_cast<std::int64_t>(n) << 20;
}
constexpr std::int64_t operator""_GiB(unsigned long long n) {
  return static_cast<std::int64_t>(n) << 30;
}
}  // namespace literals
using namespace literals;

}  // namespace shardtype
