// A value of five dims that is read twice has too many layouts for a plan that is a constant.
// EXPECT: \[shardtype L03\] the values that this expression reads several times have too many layouts for a plan that is a constant
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct A : Index<"A", 8> {};
struct B : Index<"B", 8> {};
struct C : Index<"C", 8> {};
struct D : Index<"D", 8> {};
struct E : Index<"E", 8> {};
using Value = Tensor<float, Dim<A, X>, Dim<B, Y>, Dim<C>, Dim<D>, Dim<E>>;

auto normal_rows(auto const& a) {
  auto const e = share(exp(a));
  return evaluate<Value>(e / sum<E>(e));
}
constexpr int moves() {
#ifdef LEGAL
  return plan_traced<Value>([](auto a) { return evaluate<Value>(exp(a)); }).collectives();
#else
  return plan_traced<Value>([](auto a) { return normal_rows(a); }).collectives();
#endif
}
