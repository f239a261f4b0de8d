#pragma once
/// The bytes of models, from their types.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <shardtype/train/clip.hpp>
#include <shardtype/train/structures.hpp>

namespace shardtype::train::detail {

/// The bytes of a rank's blocks of a structure: of all tensors, of those with a gradient, and of
/// these in the element type of a state.
struct ModelBytes {
  std::int64_t all = 0;
  std::int64_t trained = 0;
  std::int64_t state = 0;
  bool small = false;     ///< whether an element type is computed in a larger one
  std::int64_t norm = 0;  ///< most that the norm of a tensor takes besides

  constexpr ModelBytes& operator+=(ModelBytes const& o) {
    all = add_sat(all, o.all);
    trained = add_sat(trained, o.trained);
    state = add_sat(state, o.state);
    small = small || o.small;
    norm = std::max(norm, o.norm);
    return *this;
  }
};
template <class A>
constexpr ModelBytes tensor_bytes() {
  using T = typename A::element;
  using C = shardtype::detail::computed_t<T>;
  Spec const& spec = Scope<A>::parsed[0].spec;
  std::int64_t const elements =
      core::largest_elements(spec, Scope<A>::names.extents(), Scope<A>::names.sizes());
  std::int64_t const own = mul_sat(elements, static_cast<std::int64_t>(sizeof(T)));
  if constexpr (!is_trained<A>) return {own, 0, 0, false, 0};
  return {own, own, mul_sat(elements, static_cast<std::int64_t>(sizeof(C))), !std::is_same_v<T, C>,
          detail::squares_bytes<A>()};
}
/// The bytes of all tensors of the structures `Ps`.
template <class... Ps>
constexpr ModelBytes model_bytes() {
  ModelBytes out;
  (autodiff::each_type<Ps>([&]<class A>(Type<A>) {
     if constexpr (is_tensor<A>) out += detail::tensor_bytes<A>();
   }),
   ...);
  return out;
}

}  // namespace shardtype::train::detail
