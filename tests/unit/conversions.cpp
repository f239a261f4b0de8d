// The assignment of another tensor type and `if (a)` are refused with a message (A07, A08); other
// queries of the types have their usual answers.
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<I>, Dim<J>>;
using L = Local<float, Dim<I>, Varying<X>>;
using M = Local<float, Dim<I>>;
using Twice = decltype(std::declval<A const&>() * 2);

// To another sharding of the same dims there is a conversion, which is refused with its sentence
// (A08); to other dims there is none.
using C = Tensor<float, Dim<I, X>>;
static_assert(!std::is_convertible_v<C, A> && !std::is_constructible_v<A, C>);
static_assert(std::is_convertible_v<Twice, A> && !std::is_convertible_v<Twice, C>);
static_assert(!std::is_convertible_v<A, bool> && !std::is_convertible_v<Twice, bool> &&
              !std::is_convertible_v<A, char> && !std::is_convertible_v<A, unsigned>);
// To numbers as which a total may be read there is one, which is refused with its sentence (A11).
static_assert(std::is_convertible_v<A, float> && std::is_convertible_v<A, int>);
static_assert(std::is_nothrow_move_constructible_v<A> && std::is_nothrow_move_assignable_v<A> &&
              std::is_copy_assignable_v<A> && std::is_nothrow_move_assignable_v<L>);
static_assert(!std::is_assignable_v<A&, int> && !std::is_assignable_v<Twice&, int>);

/// An expression selects the overload of its tensor type; between two shardings of the same dims,
/// its `tensor()` does.
struct Which {
  int operator()(A const&) const;
  char operator()(C const&) const;
};
static_assert(std::is_same_v<std::invoke_result_t<Which, Twice>, int>);
struct WhichSharding {
  int operator()(A const&) const;
  char operator()(B const&) const;
};
static_assert(std::is_same_v<std::invoke_result_t<WhichSharding, A>, int>);
static_assert(
    std::is_same_v<
        std::invoke_result_t<WhichSharding, decltype(std::declval<Twice const&>().tensor())>, int>);

/// The axes of to_partial are a set.
using Both = Tensor<float, Dim<I, X, Y>>;
using Sum = Tensor<float, Dim<I>, Unreduced<X, Y>>;
static_assert(std::is_same_v<decltype(to_partial<X, Y>(std::declval<Both>())), Sum> &&
              std::is_same_v<decltype(to_partial<Y, X>(std::declval<Both>())), Sum>);

}  // namespace

TEST_CASE("what the types answer is known when they compile") { SUCCEED(); }
