// shard_map in an expression gives one tensor.
// EXPECT: \[shardtype L01\] automatic mode does not record this operation
// FORBID: error:.*error:
// NEEDS: full
#include <tuple>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};

struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
using B = Tensor<float, Dim<I, X>>;

struct Both {
  template <class L>
  auto operator()(L const& a) const {
    return std::tuple(sum<J>(a), max<J>(a));
  }
};

auto both(A const& a) {
#ifdef LEGAL
  return shard_map<Outs<B, B>>(Both{}, a);
#else
  return shard_map<Outs<B, B>>(Both{}, lazy(a));
#endif
}
