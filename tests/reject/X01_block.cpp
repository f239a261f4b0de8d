// Manual mode: an invariant weight meets rows that vary over X.
// EXPECT: \[shardtype X01\] the gradient of an operand needs an all_reduce over a mesh axis
// EXPECT: varying<X>\(w\)
// EXPECT: op::Matmul<>, shardtype::Local<double, shardtype::Dim<B>, shardtype::Dim<D>, shardtype::Varying<X> ?>, shardtype::Local<double, shardtype::Dim<D>, shardtype::Dim<H> ?>, X>
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X"> {};
struct B : Index<"B"> {};
struct D : Index<"D"> {};
struct H : Index<"H"> {};

auto train(Local<double, Dim<D>, Dim<H>> const& w,
           Local<double, Dim<B>, Dim<D>, Varying<X>> const& x) {
  return grad<0>([](auto v, auto rows) {
#ifdef LEGAL
    return all_reduce<X>(sum(square(matmul(rows, varying<X>(v)))));
#else
    return all_reduce<X>(sum(square(matmul(rows, v))));
#endif
  })(w, x);
}
