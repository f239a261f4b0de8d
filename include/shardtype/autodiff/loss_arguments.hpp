#pragma once
/// The arguments of a loss in automatic mode, as values of its program, and their gradients.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/container.hpp>
#include <shardtype/autodiff/loss_program.hpp>
#include <shardtype/autodiff/parameters.hpp>

namespace shardtype::autodiff {

/// The form of an argument `P` in a function whose program `R` writes: tensors are values.
template <class R, bool wanted>
struct RecordedForm {
  template <class P>
  struct Of {
    using type = P;  // no tensor: as it is
  };
  template <class P>
  using of = typename Of<P>::type;
  template <class P>
    requires(is_tensor<P>)
  struct Of<P> {
    using type = automatic_mode::RecordedValue<
        automatic_mode::whole_t<P>, P,
        std::conditional_t<wanted && shardtype::detail::is_floating<element_t<P>>,
                           automatic_mode::Flows, void>,
        R>;
  };
  template <StdContainer C>
  struct Of<C> {
    using type = typename Container<C>::template with<of>;
  };
  template <template <template <class> class> class M>
  struct Of<M<value_t>> {
    using type = M<of>;
  };
};

/// Whether the mesh of recorder `R` has all axes of the tensors of a structure.
template <class R, class P>
constexpr bool has_axes_of_leaves() {
  bool out = true;
  autodiff::each_leaf_type<P>([&]<class A>(Type<A>) {
    if constexpr (is_tensor<A>) out = out && R::template has_axes<A>();
  });
  return out;
}
/// Whether gradients with respect to a `P` are tensors.
template <class P>
constexpr bool has_gradient_as() {
  if constexpr (is_tensor<P>) {
    return shardtype::detail::is_floating<element_t<P>>;
  } else {
    return false;
  }
}

/// In the place of a named gradient: the argument itself, after its update by the gradient, which
/// is computed in the shardings of the structure `State`.
template <class State>
struct Updated {};

/// The arguments of a loss as values of the program that `R` writes, and which gradients are wanted
/// of them.
template <class R>
class LossArguments {
 public:
  R to;
  shardtype::detail::List<WantedValue> wanted;
  /// Of each argument the place of its first gradient in `wanted`.
  shardtype::detail::List<std::size_t> first;

  /// An argument of number `J`. `Named`: the type of its gradient, or Updated; void: its
  /// cotangent's.
  template <bool is_wanted, class Named, class P>
  auto given(P const& p) {
    first.push_back(wanted.size());
    return autodiff::map_values<RecordedForm<R, is_wanted>::template of, P>(
        [&]<class A>(Type<A>, A const& a) {
          if constexpr (is_tensor<A>) {
            return value<is_wanted, Named, A>(to.record(automatic_mode::LazyTensor<A>(a)));
          } else {
            return a;
          }
        },
        p);
  }
  /// The same without data.
  template <bool is_wanted, class P, class Named = void>
  auto symbol() {
    first.push_back(wanted.size());
    return autodiff::map_values<RecordedForm<R, is_wanted>::template of, P>(
        [&]<class A>(Type<A>) { return value<is_wanted, Named, A>(to.template symbol<A>()); });
  }

 private:
  template <bool is_wanted, class Named, class A>
  auto value(int number) {
    if constexpr (is_wanted && autodiff::has_gradient_as<A>()) {
      using G = typename ResultOf<Named, A>::type;
      wanted.push_back(WantedValue::of<G>(number));
    }
    return typename RecordedForm<R, is_wanted>::template of<A>(to, number);
  }
  template <class Named, class A>
  struct ResultOf {
    using type = Named;
  };
  template <class A>
  struct ResultOf<void, A> {
    using type = cotangent_t<A>;
  };
  template <class State, class A>
  struct ResultOf<Updated<State>, A> {
    using type = A;
  };
};

}  // namespace shardtype::autodiff
