#pragma once
/// Whether a gradient has the form of a model, and lies as it: what an optimizer's step asks of its
/// arguments.

#include <type_traits>
#include <utility>

#include <shardtype/autodiff/plan.hpp>
#include <shardtype/check/sentences.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/train/structures.hpp>

namespace shardtype::train::detail {

/// One tensor, or what stands in the place of one. `other`: the types of the parameter and its
/// gradient, if the gradient is unreduced or lies otherwise; else void.
template <class A>
inline constexpr bool is_leaf = is_tensor<A> || std::is_same_v<A, autodiff::NoGradient>;
template <class W, class G>
struct Alike {
  static constexpr bool form = is_leaf<W> && is_leaf<G>;
  static constexpr auto find() {
    if constexpr (is_trained<W> && is_tensor<G>) {
      constexpr bool lies = G::spec.unreduced.empty() && shardtype::detail::lies_as<W, G>;
      return Type<std::conditional_t<lies, void, shardtype::detail::Pack<W, G>>>{};
    } else {
      return Type<void>{};
    }
  }
  using other = typename decltype(find())::type;
};
template <class... Each>
struct AllAlike {
  static constexpr bool form = true;
  using other = void;
};
template <class One, class... Each>
struct AllAlike<One, Each...> {
  static constexpr bool form = One::form && AllAlike<Each...>::form;
  using other = std::conditional_t<std::is_void_v<typename One::other>,
                                   typename AllAlike<Each...>::other, typename One::other>;
};
struct Member {};
template <class>
using Erased = Member;
/// A structure without the types of its members.
template <class S>
struct Form {
  using type = void;
};
template <autodiff::StdContainer C>
struct Form<C> {
  using type = typename autodiff::Container<C>::template with<Erased>;
};
template <template <template <class> class> class M, template <class> class As>
struct Form<M<As>> {
  using type = M<Erased>;
};
template <class Ws, class Gs>
struct MembersAlike;
template <class... Ws, class... Gs>
struct MembersAlike<shardtype::detail::Pack<Ws...>, shardtype::detail::Pack<Gs...>>
    : AllAlike<Alike<Ws, Gs>...> {};
template <class W, class G>
  requires(autodiff::is_structure<W> &&
           std::is_same_v<typename Form<W>::type, typename Form<G>::type>)
struct Alike<W, G> : MembersAlike<autodiff::members_t<W>, autodiff::members_t<G>> {};

/// Refusals of models and gradients, X10, X13, X14, with the types at fault; `ok` with those that
/// are accepted.
template <class Model, class Gradient>
constexpr auto judge_update() {
  using rules::Code;
  using shardtype::detail::Pack;
  if constexpr (!autodiff::is_known<Model>) {
    return std::pair(Code::X10_no_parameters, Type<Pack<Model>>{});
  } else if constexpr (!Alike<Model, Gradient>::form) {
    return std::pair(Code::X13_no_such_update, Type<Pack<Model, Gradient>>{});
  } else if constexpr (!std::is_void_v<typename Alike<Model, Gradient>::other>) {
    return std::pair(Code::X14_gradient_of_other_form,
                     Type<typename Alike<Model, Gradient>::other>{});
  } else {
    return std::pair(Code::ok, Type<Pack<>>{});
  }
}
template <rules::Code code, class Types>
struct RefusedUpdate;
template <rules::Code code, class... Types>
struct RefusedUpdate<code, Type<shardtype::detail::Pack<Types...>>> {
  using type = checking::refused<code, false, Types...>;
};
/// `refusal`, complete only if there is one.
template <class Model, class Gradient>
struct Update {
  static constexpr auto judged = detail::judge_update<Model, Gradient>();
  static constexpr bool accepted = judged.first == rules::Code::ok;
  using refusal = typename RefusedUpdate<judged.first, decltype(judged.second)>::type;
};
template <class Model, class Gradient>
  requires checking::any_poisoned<Model, Gradient>
struct Update<Model, Gradient> {
  static constexpr bool accepted = false;
  using refusal = checking::Poisoned;
};

}  // namespace shardtype::train::detail
