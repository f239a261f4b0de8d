#pragma once
/// The labels of an argument of a call, and its tensor type.

#include <cstddef>

#include <shardtype/check/operand.hpp>

namespace shardtype::detail {

/// The label of a part of a tensor type, as a Pack; of what is no dim none.
template <class Part>
struct LabelOfPart {
  using type = Pack<>;
};
template <class I, class... Xs>
struct LabelOfPart<Dim<I, Xs...>> {
  using type = Pack<I>;
};
/// The labels of a tensor type in order, as a Pack; of the result of a refused operation none.
template <class A>
struct LabelsOfType {
  using type = Pack<>;
};
template <class T, class... Parts>
struct LabelsOfType<Tensor<T, Parts...>> {
  using type = decltype((Pack<>{} | ... | typename LabelOfPart<Parts>::type{}));
};
template <class T, class... Parts>
struct LabelsOfType<Local<T, Parts...>> : LabelsOfType<Tensor<T, Parts...>> {};
/// The tensor type of an argument of a call. Specialised for values whose gradient is wanted.
template <class A>
struct TensorOfArgument {
  using type = argument_t<A>;
};
template <class A>
using tensor_of_argument_t = typename TensorOfArgument<A>::type;
/// The labels of an argument of a call.
template <class A>
using labels_of_argument_t = typename LabelsOfType<tensor_of_argument_t<A>>::type;

template <class... Ls>
constexpr std::size_t length(Pack<Ls...>) {
  return sizeof...(Ls);
}

}  // namespace shardtype::detail
