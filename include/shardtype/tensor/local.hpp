#pragma once
/// The block of one rank, as a type.

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>

#include <shardtype/check/manual.hpp>
#include <shardtype/tensor/tensor_base.hpp>

namespace shardtype {

/// A block of `T` in the body of a shard_map. `Local<float, Dim<I>, Varying<X>>` has dims of its
/// own, none of them split; along X the ranks hold different blocks, along every other axis
/// identical ones (invariant). Printed `f32[I]{V:X}`. Along each axis it is varying, invariant,
/// unreduced or reduced.
///
/// All local operations take Locals: elementwise, products, reductions, shapes, lookups. The result
/// varies over the axes over which any operand varies. It cannot be mixed with a Tensor: refused
/// V01. Extents are the block's, so a label's static extent does not apply. A value, as a Tensor
/// is. JAX: arrays inside of shard_map, with their varying manual axes.
template <class T, class... Parts>
class Local : public detail::TensorBase<Local<T, Parts...>, T, Parts...> {
  using Base = detail::TensorBase<Local, T, Parts...>;

 public:
  /// Refused, A08: `a = reshard<Dim<I>>(a)`. std::is_assignable holds all the same (Tensor).
  template <class B>
    requires(detail::is_another<B, Local>)
  Local& operator=(B const&) {
    checking::refused<rules::Code::A08_another_type, false, Local, B>{};
    return *this;
  }
  /// The value of an elementwise expression of blocks: `Local<float, Dim<I>, Varying<X>> c = a +
  /// b;`, `c = c * 2`.
  template <class E>
    requires std::is_same_v<typename E::converts_to, Local>
  Local(E const& expression, std::source_location const& where = std::source_location::current())
      : Local(expression.tensor(where)) {}
  /// A block with memory `buffer`; for operations. Error E13 an axis the mesh lacks.
  Local(runtime::MeshRef const& mesh, std::array<std::int64_t, Base::rank> const& extents,
        runtime::Buffer buffer)
      : Base(mesh, extents, buffer) {}

  /// The block, to write. Each rank may write other values, so the type must vary over every axis
  /// of the mesh. Errors: E62 if it is invariant along an axis, E21 shared memory.
  auto mutable_local() & {
    runtime::MeshState const& mesh = this->mesh().state();
    for (runtime::MeshAxisInfo const& axis : mesh.axes()) {
      int const x = core::Scope<Local>::names.find_axis(axis.id);
      if (axis.size == 1 || (x >= 0 && Base::spec.varying.contains(x))) continue;
      throw Error("E62",
                  "the block is promised to be the same on all ranks along axis " + axis.name +
                      ", so it cannot be written rank by rank; cast it, varying<" + axis.name +
                      ">(a), first",
                  FailedOn::every_rank);
    }
    return Base::mutable_local();
  }
};

}  // namespace shardtype
