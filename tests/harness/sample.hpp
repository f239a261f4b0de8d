// One accepted call of each operation, for tests/structure/registry.cpp, which requires of each a
// rule, a plan and a run. They are the list of all operations. One that is a case of the random
// programs has its call beside the case (cases/). Not listed, because they have no rule or no plan:
// `item`, `to_host`, `allclose`, `array_equal` and printing (they give C++ values), files, creation
// and random numbers (no operand). Elementwise functions are tags of `Map`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

#include <shardtype/types.hpp>

// In namespaces without functions: tests/structure/unqualified_calls.py declares functions of a
// user's in them.
struct Y : shardtype::Axis<"Y", 4> {};
struct L : shardtype::Index<"L", 8> {};
namespace user {
using shardtype::Axis, shardtype::Index;
struct X : Axis<"X", 2> {};
struct I : Index<"I", 16> {};
struct J : Index<"J", 8> {};
struct K : Index<"K", 12> {};
struct M : Index<"M", 16> {};
struct One : Index<"One", 1> {};
struct P : Index<"P", 2> {};
struct Q : Index<"Q", 4> {};
struct V : Index<"V", 32> {};
}  // namespace user

namespace samples {

using namespace shardtype;
using ::Y, ::L, user::X, user::I, user::J, user::K, user::M, user::One, user::P, user::Q, user::V;

using A = Tensor<double, Dim<I, X>, Dim<J>>;
using B = Tensor<double, Dim<J>, Dim<K, Y>>;
using Small = Tensor<double, Dim<One>, Dim<J, X>>;
using Bools = Tensor<bool, Dim<I, X>, Dim<J>>;
using Sums = Tensor<double, Dim<I>, Dim<J>, Unreduced<X>>;
using Whole = Tensor<double, Dim<I>, Dim<J>>;
using Split = Tensor<double, Dim<P, X>, Dim<Q>>;
using Table = Tensor<double, Dim<V>, Dim<J, Y>>;
using Ids = Tensor<std::int64_t, Dim<I, X>>;
using Along = Tensor<std::int64_t, Dim<I, X>, Dim<J>>;
using Block = Local<double, Dim<I>, Dim<J>, Varying<X>>;
using Same = Local<double, Dim<I>, Dim<J>>;

// A name as a template argument.
struct Name {
  char text[32]{};
  template <std::size_t N>
  consteval Name(char const (&literal)[N]) : Name(std::string_view(literal, N - 1)) {}
  consteval Name(std::string_view of) {
    for (std::size_t k = 0; k < of.size(); ++k) text[k] = of[k];
  }
  constexpr std::string_view view() const { return text; }
};

// An operation by its names: of the object in namespace `op`, and of the function that users call;
// and an accepted call.
template <Name its_object, Name its_function, class Op, class... As>
struct Sample {
  static constexpr Name object = its_object;
  static constexpr Name function = its_function;
  Op op;
};
template <Name object, Name function, class... As>
struct On {
  template <class Op>
  constexpr Sample<object, function, Op, As...> operator()(Op const& op) const {
    return {op};
  }
};
// No function, which would be called as one of user's.
template <Name object, Name function, class... As>
inline constexpr On<object, function, As...> on{};

}  // namespace samples
