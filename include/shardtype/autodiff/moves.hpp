#pragma once
/// The gradients of reshards and casts of strict mode: the cotangent is moved back. Those of the
/// collectives, which manual mode has too, are in block_moves.hpp.

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/reshard.hpp>

namespace shardtype::autodiff {

template <class... Out>
struct Vjp<op::Reshard<Out...>> : Movement {};
template <class... Out>
struct Vjp<op::UsedAs<Out...>> : Movement {};
template <class... Xs>
struct Vjp<op::ToPartial<Xs...>> : Movement {};

}  // namespace shardtype::autodiff
