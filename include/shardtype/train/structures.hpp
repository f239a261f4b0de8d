#pragma once
/// Models as structures of tensors (autodiff/parameters.hpp): their tensors by name, and structures like
/// them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/autodiff/structure.hpp>
#include <shardtype/train/member_names.hpp>

namespace shardtype::train {

namespace detail {

inline std::string joined(std::string const& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

/// How the tensors of a structure are visited with their paths. This primary template is for a tensor, and
/// for what stands in the place of one.
template <class P>
struct Named {
  template <class F, class A, class... Bs>
  static void each(F const& f, std::string const& path, A& a, Bs&... bs) {
    f(std::string_view(path), a, bs...);
  }
};
template <class F, class A, class... Bs>
void each_named(F const& f, std::string const& path, A& a, Bs&... bs) {
  Named<std::remove_const_t<A>>::each(f, path, a, bs...);
}

template <class P>
struct Named<std::vector<P>> {
  using parts = P;
  template <class F, class A, class... Bs>
  static void each(F const& f, std::string const& path, A& a, Bs&... bs) {
    for (std::size_t k = 0; k < a.size(); ++k)
      detail::each_named(f, joined(path, std::to_string(k)), a[k], bs[k]...);
  }
};
template <class P, std::size_t N>
struct Named<std::array<P, N>> : Named<std::vector<P>> {};

template <std::size_t Count>
struct NamedByNumber {
  using parts = void;
  template <class F, class A, class... Bs>
  static void each(F const& f, std::string const& path, A& a, Bs&... bs) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (at<K>(f, path, a, bs...), ...);
    }(std::make_index_sequence<Count>{});
  }

 private:
  template <std::size_t K, class F, class A, class... Bs>
  static void at(F const& f, std::string const& path, A& a, Bs&... bs) {
    detail::each_named(f, joined(path, std::to_string(K)), std::get<K>(a), std::get<K>(bs)...);
  }
};
template <class... Ps>
struct Named<std::tuple<Ps...>> : NamedByNumber<sizeof...(Ps)> {};
template <class A, class B>
struct Named<std::pair<A, B>> : NamedByNumber<2> {};

template <template <template <class> class> class M, template <class> class As>
struct Named<M<As>> {
  using parts = void;
  template <class F, class A, class... Bs>
  static void each(F const& f, std::string const& path, A& a, Bs&... bs) {
    tied(f, path, autodiff::tied_members(a), autodiff::tied_members(bs)...);
  }

 private:
  template <class F, class... Ms, class... Bs>
  static void tied(F const& f, std::string const& path, std::tuple<Ms&...> const& a,
                   Bs const&... bs) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (at<K>(f, path, a, bs...), ...);
    }(std::index_sequence_for<Ms...>{});
  }
  template <std::size_t K, class F, class A, class... Bs>
  static void at(F const& f, std::string const& path, A const& a, Bs const&... bs) {
    detail::each_named(f, detail::joined(path, member_name<M<As>, K>), std::get<K>(a),
                       std::get<K>(bs)...);
  }
};

/// Whether `P` is a tensor or a structure, whose tensors are visited.
template <class P>
inline constexpr bool is_model =
    is_tensor<P> || checking::any_poisoned<P> || requires { typename Named<P>::parts; };

}  // namespace detail

/// Calls `f(path, tensor, ...)` with every tensor of `model`, and with those at its place in structures of
/// the same form, such as the gradient. The path names members and numbers elements: "blocks.3.wq".
/// Communicates nothing.
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

/// The number of the model's floating numbers, of all ranks, replicated ones once. Communicates nothing.
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

/// A structure with other tensors in the places of those of `P`: `How::leaf<A>` in that of tensor A, or NoGradient of
/// integers; `How::struct_of<M>` is the struct M that holds them. `make(p, f)`: of `f(a, Type<leaf>{})`.
template <class How, class P>
struct Mapped;
template <class How, class T, class... Parts>
struct Mapped<How, Tensor<T, Parts...>> {
  using A = Tensor<T, Parts...>;
  static constexpr auto choose() {
    if constexpr (is_trained<A>) {
      return Type<typename How::template leaf<A>>{};
    } else {
      return Type<autodiff::NoGradient>{};
    }
  }
  using type = typename decltype(choose())::type;
  template <class Make>
  static type make(A const& a, Make const& make) {
    if constexpr (std::is_same_v<type, autodiff::NoGradient>) {
      return {};
    } else {
      return make(a, Type<type>{});
    }
  }
};
template <class How, class P>
struct Mapped<How, std::vector<P>> {
  using type = std::vector<typename Mapped<How, P>::type>;
  template <class Make>
  static type make(std::vector<P> const& v, Make const& make) {
    type out;
    out.reserve(v.size());
    for (P const& p : v) out.push_back(Mapped<How, P>::make(p, make));
    return out;
  }
};
template <class How, class P, std::size_t N>
struct Mapped<How, std::array<P, N>> {
  using type = std::array<typename Mapped<How, P>::type, N>;
  template <class Make>
  static type make(std::array<P, N> const& v, Make const& make) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return type{Mapped<How, P>::make(v[K], make)...};
    }(std::make_index_sequence<N>{});
  }
};
template <class How, class... Ps>
struct Mapped<How, std::tuple<Ps...>> {
  using type = std::tuple<typename Mapped<How, Ps>::type...>;
  template <class Make>
  static type make(std::tuple<Ps...> const& v, Make const& make) {
    return std::apply([&](Ps const&... p) { return type{Mapped<How, Ps>::make(p, make)...}; }, v);
  }
};
template <class How, class A, class B>
struct Mapped<How, std::pair<A, B>> {
  using type = std::pair<typename Mapped<How, A>::type, typename Mapped<How, B>::type>;
  template <class Make>
  static type make(std::pair<A, B> const& v, Make const& make) {
    return type{Mapped<How, A>::make(v.first, make), Mapped<How, B>::make(v.second, make)};
  }
};
template <class How, template <template <class> class> class M>
struct Mapped<How, M<value_t>> {
  using type = typename How::template struct_of<M>;
  template <class Make>
  static type make(M<value_t> const& s, Make const& make) {
    return autodiff::with_members(
        s, [&]<class... Ps>(Ps const&... p) { return type{Mapped<How, Ps>::make(p, make)...}; });
  }
};
struct AsState;

}  // namespace detail

/// How a model holds what an optimizer keeps of each parameter: a tensor in its sharding, with elements of
/// type float for bfloat16. `Model<state_t>` is made by optimizers.
template <class P>
using state_t = typename detail::Mapped<detail::AsState, P>::type;

namespace detail {

template <class A>
struct InComputed;
template <class T, class... Parts>
struct InComputed<Tensor<T, Parts...>> {
  using type = Tensor<shardtype::detail::computed_t<T>, Parts...>;
};
struct AsState {
  template <class A>
  using leaf = typename InComputed<A>::type;
  template <template <template <class> class> class M>
  using struct_of = M<state_t>;
};

}  // namespace detail

/// A structure like `model` with zeros, as an optimizer's state: of each tensor the sharding, and elements of
/// type float for bfloat16. Communicates nothing.
template <class Model>
state_t<Model> zeros_like_state(Model const& model) {
  return detail::Mapped<detail::AsState, Model>::make(
      model, []<class A, class Out>(A const& a, Type<Out>) { return autodiff::filled<Out>(a, 0); });
}
/// A structure like `model` with its values, as an optimizer's state.
template <class Model>
state_t<Model> copy_as_state(Model const& model) {
  return detail::Mapped<detail::AsState, Model>::make(
      model, []<class A, class Out>(A const& a, Type<Out>) -> Out {
        if constexpr (std::is_same_v<A, Out>) {
          return a.clone();
        } else {
          return api::cast<typename Out::element>(a);
        }
      });
}

}  // namespace shardtype::train
