#pragma once
/// The gradients of reshards, collectives and casts: the cotangent is moved back.

#include <shardtype/autodiff/vjp.hpp>
#include <shardtype/check/reshard.hpp>

namespace shardtype::autodiff {

template <class... Out>
struct Vjp<op::Reshard<Out...>> : Movement {};
template <class... Out>
struct Vjp<op::UsedAs<Out...>> : Movement {};
template <class... Xs>
struct Vjp<op::AllGather<Xs...>> : Movement {};
template <class... Xs>
struct Vjp<op::AllReduce<Xs...>> : Movement {};
template <class... XI>
struct Vjp<op::ReduceScatter<XI...>> : Movement {};
template <class... XFromTo>
struct Vjp<op::AllToAll<XFromTo...>> : Movement {};
template <class... Xs>
struct Vjp<op::ToPartial<Xs...>> : Movement {};
template <class... Xs>
struct Vjp<op::ToReduced<Xs...>> : Movement {};

}  // namespace shardtype::autodiff
