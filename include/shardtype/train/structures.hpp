#pragma once
/// Models as structures of tensors (autodiff/parameters.hpp): their tensors by name, and structures
/// like them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/autodiff/structure.hpp>
#include <shardtype/train/member_names.hpp>

namespace shardtype::train {

namespace detail {

inline std::string joined(std::string const& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

inline std::string name_of(std::size_t number) { return std::to_string(number); }
template <class S, std::size_t K>
constexpr std::string_view name_of(autodiff::MemberOf<S, K>) {
  return member_name<S, K>;
}
template <class F, class A, class... Bs>
void each_named(F const& f, std::string const& path, A& a, Bs&... bs) {
  if constexpr (autodiff::is_structure<A>) {
    autodiff::Container<std::remove_const_t<A>>::each(
        [&](auto const& at, auto& m, auto&... ms) {
          detail::each_named(f, detail::joined(path, detail::name_of(at)), m, ms...);
        },
        a, bs...);
  } else {
    f(std::string_view(path), a, bs...);
  }
}

/// Whether `P` is a tensor or a structure, whose tensors are visited.
template <class P>
inline constexpr bool is_model =
    is_tensor<P> || checking::any_poisoned<P> || autodiff::is_structure<P>;

}  // namespace detail

/// Calls `f(path, tensor, ...)` with every tensor of `model`, and with those at its place in
/// structures of the same form, such as the gradient. The path names members and numbers elements:
/// "blocks.3.wq". Communicates nothing.
template <class F, class Model, class... Others>
void for_each_tensor(F const& f, Model& model, Others&... others) {
  detail::each_named(f, {}, model, others...);
}

/// Whether a value of a structure is a tensor of floating numbers, which has a gradient.
template <class A>
inline constexpr bool is_trained = [] {
  if constexpr (is_tensor<std::remove_const_t<A>>) {
    return autodiff::is_differentiable<std::remove_const_t<A>>;
  } else {
    return false;
  }
}();

/// The number of the model's floating numbers, of all ranks, replicated ones once. Communicates
/// nothing.
template <class Model>
std::int64_t parameters(Model const& model) {
  std::int64_t n = 0;
  train::for_each_tensor(
      [&]<class A>(std::string_view, A const& a) {
        if constexpr (is_trained<A>) {
          std::int64_t elements = 1;
          for (std::int64_t const e : a.extents()) elements *= e;
          n += elements;
        }
      },
      model);
  return n;
}

namespace detail {

/// The type in the place of a `P` in the structure `Of`: for a container one of the members' `Of`,
/// for a tensor `Leaf<P>`, for one that is not trained NoGradient.
template <template <class> class Of, template <class> class Leaf, class P>
struct Kept {
  static constexpr auto choose() {
    if constexpr (autodiff::StdContainer<P>) {
      return Type<typename autodiff::Container<P>::template with<Of>>{};
    } else if constexpr (is_trained<P>) {
      return Type<typename Leaf<P>::type>{};
    } else {
      return Type<autodiff::NoGradient>{};
    }
  }
  using type = typename decltype(choose())::type;
};
template <template <class> class Of, template <class> class Leaf,
          template <template <class> class> class M>
struct Kept<Of, Leaf, M<value_t>> {
  using type = M<Of>;
};

template <class A>
struct InComputed;
template <class T, class... Parts>
struct InComputed<Tensor<T, Parts...>> {
  using type = Tensor<shardtype::detail::computed_t<T>, Parts...>;
};
template <class P>
struct InState;

}  // namespace detail

/// The type of a tensor that an optimizer keeps for each parameter `P`: in its sharding, with
/// elements of type float for bfloat16. `Model<state_t>` is made by optimizers.
template <class P>
using state_t = typename detail::InState<P>::type;

namespace detail {

template <class P>
struct InState : Kept<state_t, InComputed, P> {};

template <class Layout, class Model>
using LayoutOf = std::conditional_t<std::is_void_v<Layout>, Model, Layout>;
/// The structure `Of<Layout>` of `make(tensor, Type<Of<tensor>>{})` of each tensor of which one is
/// kept. `Layout`: another model of the same tensors in other shardings; void: the model's type.
template <template <class> class Of, class Layout = void, class Model, class Make>
Of<LayoutOf<Layout, Model>> keep(Model const& model, Make const& make) {
  return autodiff::map_values<Of, LayoutOf<Layout, Model>>(
      [&]<class A>(Type<A>, auto const& a) -> Of<A> {
        if constexpr (std::is_same_v<Of<A>, autodiff::NoGradient>) {
          return {};
        } else {
          return make(a, Type<Of<A>>{});
        }
      },
      model);
}

}  // namespace detail

namespace detail {

/// Whether a tensor has the elements and the indices of another, in the same order; and whether
/// the tensors of two models have.
template <class A, class B>
struct SameTensor {
  static constexpr bool value = std::is_same_v<A, B>;
};
template <class A, class B>
  requires(is_tensor<A> && is_tensor<B>)
struct SameTensor<A, B> {
  static constexpr bool value = [] {
    constexpr Spec a = Scope<A, B>::template spec<0>;
    constexpr Spec b = Scope<A, B>::template spec<1>;
    bool same = a.rank == b.rank && a.unreduced.empty() && a.cyclic_dim() < 0;
    for (int d = 0; same && d < a.rank; ++d) same = a.dims[d].label == b.dims[d].label;
    return same && std::is_same_v<element_t<A>, element_t<B>>;
  }();
};
template <class A, class B>
struct SameMembers {
  static constexpr bool value = false;
};
template <class... As, class... Bs>
  requires(sizeof...(As) == sizeof...(Bs))
struct SameMembers<shardtype::detail::Pack<As...>, shardtype::detail::Pack<Bs...>> {
  static constexpr bool value = (SameTensor<As, Bs>::value && ...);
};
template <class A, class B>
  requires(autodiff::is_structure<A> && autodiff::is_structure<B>)
struct SameTensor<A, B> : SameMembers<autodiff::members_t<A>, autodiff::members_t<B>> {};
/// `Layout`: in which shardings the tensors of a model are, where an optimizer's state has them.
template <class Layout, class Model>
inline constexpr bool same_tensors =
    std::is_same_v<Layout, Model> || SameTensor<Layout, Model>::value;

/// A tensor in the sharding and with the elements of another type.
template <class Out>
struct BroughtTo;
template <class T, class... Parts>
struct BroughtTo<Tensor<T, Parts...>> {
  static Tensor<T, Parts...> of(auto const& a) {
    return api::reshard<Parts...>(api::cast<T>(a).tensor());
  }
};

}  // namespace detail

/// A structure like `model` with zeros, as an optimizer's state: of each tensor the sharding, or
/// that of the model `Layout`, and elements of type float for bfloat16. Communicates nothing.
template <class Layout = void, class Model>
state_t<detail::LayoutOf<Layout, Model>> zeros_like_state(Model const& model) {
  return detail::keep<state_t, Layout>(
      model, []<class A, class Out>(A const& a, Type<Out>) { return autodiff::filled<Out>(a, 0); });
}
/// A structure like `model` with its values, as an optimizer's state; in other shardings it
/// communicates as reshard.
template <class Layout = void, class Model>
state_t<detail::LayoutOf<Layout, Model>> copy_as_state(Model const& model) {
  return detail::keep<state_t, Layout>(model, []<class A, class Out>(A const& a, Type<Out>) -> Out {
    if constexpr (std::is_same_v<A, Out>) {
      return a.clone();
    } else if constexpr (std::is_same_v<state_t<A>, Out>) {
      return api::cast<typename Out::element>(a);
    } else {
      return detail::BroughtTo<Out>::of(a);
    }
  });
}

}  // namespace shardtype::train
