// One mistake, one message: the rows are used further.
// EXPECT: \[shardtype I04\] a mesh axis splits the index that is looked up
// EXPECT: false, .*, V, B, X>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct V : Index<"V"> {};
struct D : Index<"D"> {};
struct B : Index<"B"> {};
struct N : Index<"N"> {};
using Ids = Tensor<std::int32_t, Dim<B, X>>;

#ifdef LEGAL
using A = Tensor<float, Dim<V, Y>, Dim<D>>;
#else
using A = Tensor<float, Dim<V, X>, Dim<D>>;
#endif

void use(A const& table, Ids const& ids) {
  auto rows = take<V>(table, ids);
  auto sums = scatter_add<V>(rows, ids, 10);
  auto whole = all_reduce<X, Y>(sums);
  auto best = top_k<D>(take_along<D>(whole, argsort<D>(sort<D>(whole))), 2);
  auto part = dynamic_update<D, N>(best.values, dynamic_slice<D, N>(whole, 0, 1), 1);
  (void)one_hot<B>(best.places, 10), (void)part.local();
}
