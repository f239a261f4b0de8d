// Block-cyclic dims: their types and spelling, the rows of each rank, the rules, and the plan
// between a block-cyclic and a block sharding, which is one all_to_all.
#include <shardtype/core/text.hpp>
#include <shardtype/types.hpp>

using namespace shardtype;
using namespace shardtype::checking;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 3> {};
struct I : Index<"I", 100> {};
struct J : Index<"J", 60> {};
struct K : Index<"K", 7> {};
struct N : Index<"N", 1'000'000> {};

template <class... Parts>
using T = Tensor<float, Parts...>;
using IX = Dim<I, Cyclic<X, 16>>;
using JY = Dim<J, Cyclic<Y, 8>>;

// Types and values.
using A = T<IX, JY>;
constexpr Spec a = Scope<A>::spec<0>;
static_assert(a.rank == 2 && a.dims[0].axes.size == 1 && a.dims[0].axes.cyclic == 16);
static_assert(a.dims[1].axes.cyclic == 8 && a.cyclic_dim() == 0);
static_assert(std::is_same_v<tensor_t<float, IX, JY>, A>);
static_assert(Scope<A>::names.axes == 2 && Scope<A>::names.find_axis(identity<Y>) == 1);
static_assert(sizeof(DimSpec) <= 16);

// Equal: the same axis and the same block size.
constexpr bool same(AxisList const& l, AxisList const& m) { return l == m; }
template <class D, class E>
constexpr bool equal_dims = same(Scope<T<D>, T<E>>::template spec<0>.dims[0].axes,
                                 Scope<T<D>, T<E>>::template spec<1>.dims[0].axes);
static_assert(equal_dims<IX, IX>);
static_assert(!equal_dims<IX, Dim<I, X>> && !equal_dims<IX, Dim<I, Cyclic<X, 8>>>);
static_assert(!equal_dims<IX, Dim<I, Cyclic<Y, 16>>> && !equal_dims<IX, Dim<I>>);
constexpr AxisList turns = a.dims[0].axes;
static_assert(turns.starts_with({}) && turns.starts_with(turns) && turns.prefix(0) == AxisList{});
static_assert(turns.prefix(1) == turns &&
              !turns.starts_with(Scope<T<Dim<I, X>>>::spec<0>.dims[0].axes));

// Laws.
template <class Tensor>
constexpr Code law = rules::lawful(Scope<Tensor>::names, Scope<Tensor>::parsed, 1).code;
static_assert(law<A> == Code::ok);
static_assert(law<T<Dim<I, Cyclic<X, 1>>>> == Code::ok);
static_assert(law<T<Dim<I, Cyclic<X, 2147483647>>>> == Code::ok);
static_assert(law<T<Dim<I, Cyclic<X, 16>, Y>>> == Code::B01_cyclic_beside_others);
static_assert(law<T<Dim<I, Y, Cyclic<X, 16>>>> == Code::B01_cyclic_beside_others);
static_assert(law<T<Dim<I, Cyclic<X, 16>, Cyclic<Y, 16>>>> == Code::B01_cyclic_beside_others);
static_assert(law<T<Dim<I, Cyclic<X, 0>>>> == Code::B02_block_size);
static_assert(law<T<Dim<I, Cyclic<X, -1>>>> == Code::B02_block_size);
static_assert(law<T<Dim<I, Cyclic<X, 2147483648>>>> == Code::B02_block_size);
static_assert(law<T<IX, Dim<J, Cyclic<X, 16>>>> == Code::T01_axis_twice);
static_assert(law<T<IX, Unreduced<X>>> == Code::T01_axis_twice);
static_assert(law<T<Dim<I, Cyclic<J, 16>>>> == Code::T05_not_an_axis);
static_assert(law<T<Dim<I>, Unreduced<Cyclic<X, 16>>>> == Code::T05_not_an_axis);

// The rows of each rank. 100 rows in blocks of 16 over two ranks: 0-15, 32-47, 64-79, 96-99 on the
// first, the others on the second.
constexpr Sizes sizes{{2, 3, 1, 1}};
constexpr Rows first = rows_of(100, turns, sizes, Coords{{0}});
constexpr Rows second = rows_of(100, turns, sizes, Coords{{1}});
static_assert(first.count == 52 && first[0] == 0 && first[16] == 32 && first[51] == 99);
static_assert(second.count == 48 && second[0] == 16 && second[47] == 95 && second.end() == 96);
static_assert(first.below(40) == 24 && first.in_a_row(20) == 12 && first.in_a_row(48) == 4);
static_assert(common(first, second) == 0 && common(first, first) == 52);
static_assert(common(first, Rows{40, 20, 0, 0}) == 8 && common(Rows{40, 20, 0, 0}, second) == 12);
static_assert(largest_block(100, turns, sizes) == 52);
// short dims: one block is not full, and the last ranks have no rows
static_assert(rows_of(5, turns, sizes, Coords{{0}}).count == 5);
static_assert(rows_of(5, turns, sizes, Coords{{1}}).count == 0);
static_assert(rows_of(0, turns, sizes, Coords{{0}}).count == 0);
// two block-cyclic lists with a common period: every sixth block of 100 up to 6 * 10^11
constexpr AxisList of(int axis, std::int32_t cyclic) {
  AxisList l;
  l.push(axis);
  l.cyclic = cyclic;
  return l;
}
constexpr std::int64_t huge = 600'000'000'000;
static_assert(common(rows_of(huge, of(0, 100), sizes, Coords{{0, 0}}),
                     rows_of(huge, of(1, 100), sizes, Coords{{0, 0}})) == huge / 6);
static_assert(local_elements(a, Scope<A>::names.extents(), sizes, Coords{{0, 2}}) == 52 * 16);

// Rules.
template <class... Ts>
using product = result_t<op::Matmul<>, Ts...>;
static_assert(std::is_same_v<product<A, T<JY, Dim<K>>>, T<IX, Dim<K>, Unreduced<Y>>>);
template <class... Ts>
constexpr Code product_code = Resolve<op::Matmul<>, Ts...>::verdict.code;
static_assert(product_code<A, T<Dim<J, Y>, Dim<K>>> == Code::B06_block_sizes_differ);
static_assert(product_code<A, T<Dim<J, Cyclic<Y, 4>>, Dim<K>>> == Code::B06_block_sizes_differ);
static_assert(product_code<A, T<Dim<J>, Dim<K>>> == Code::C02_one_side_only);
static_assert(product_code<A, T<JY, Dim<K, Cyclic<X, 16>>>> == Code::C04_axis_splits_two);
static_assert(std::is_same_v<result_t<op::Einsum<I>, A, T<Dim<I>, JY>>, T<IX, Unreduced<Y>>>);
static_assert(Resolve<op::Einsum<I, K>, T<Dim<I, X>, Dim<J>>, T<IX, Dim<J>, Dim<K>>>::verdict
                  .code == Code::C09_batch_lists_differ);
template <class... Ts>
using added = result_t<op::Map<functions::Add>, Ts...>;
static_assert(std::is_same_v<added<A, T<Dim<J>>>, A> &&
              std::is_same_v<added<T<Dim<I>, Dim<J>>, A>, A>);
static_assert(!Mappable<functions::Add, A, T<Dim<I, X>, JY>>);
static_assert(!Mappable<functions::Add, A, T<Dim<I, Cyclic<X, 8>>, JY>>);
static_assert(std::is_same_v<result_t<op::Reduce<reductions::Sum, J>, A>, T<IX, Unreduced<Y>>>);
static_assert(std::is_same_v<result_t<op::AllGather<Y>, A>, T<IX, Dim<J>>>);
static_assert(std::is_same_v<result_t<op::ToPartial<Y>, A>, T<IX, Dim<J>, Unreduced<Y>>>);
static_assert(std::is_same_v<result_t<op::AllToAll<X, I, K>, T<IX, Dim<K>>>, T<Dim<I>, Dim<K, X>>>);
static_assert(Resolve<op::AllToAll<X, I, J>, A>::verdict.code == Code::B04_behind_cyclic);
static_assert(Resolve<op::ReduceScatter<X, J>, T<JY, Unreduced<X>>>::verdict.code ==
              Code::B04_behind_cyclic);

// Shape operations: those that need blocks are refused, the others follow the rules for blocks.
struct M : Index<"M"> {};
template <class Op, class... Ts>
constexpr Code shape_code = Resolve<Op, Ts...>::verdict.code;
static_assert(shape_code<op::Slice<I, K>, A> == Code::B03_through_cyclic);
static_assert(shape_code<op::Pad<I, K>, A> == Code::B03_through_cyclic);
static_assert(shape_code<op::Repeat<I, K>, A> == Code::B03_through_cyclic);
static_assert(shape_code<op::Tile<I, K>, A> == Code::B03_through_cyclic);
static_assert(shape_code<op::Flip<I>, A> == Code::B03_through_cyclic);
static_assert(shape_code<op::Roll<I>, A> == Code::B03_through_cyclic);
static_assert(shape_code<op::Concat<I, M>, A, A> == Code::B03_through_cyclic);
struct P : Index<"P", 10> {};
struct Q : Index<"Q", 10> {};
static_assert(shape_code<op::SplitDim<I, P, Q>, A> == Code::B03_through_cyclic);
static_assert(shape_code<op::SplitDim<I, Dim<P, Cyclic<X, 2>>, Dim<Q>>, T<Dim<I, X>>> ==
              Code::B03_through_cyclic);
static_assert(shape_code<op::MergeDims<I, J, M>, A> == Code::B03_through_cyclic);
static_assert(shape_code<op::MergeDims<K, J, M>, T<Dim<K>, JY>> == Code::B03_through_cyclic);
static_assert(shape_code<op::Shift<I>, A> == Code::B03_through_cyclic);
static_assert(shape_code<op::HaloExchange<I>, A> == Code::B03_through_cyclic);
static_assert(shape_code<op::CumSum<I>, A> == Code::B03_through_cyclic);
// a shift along another dim is legal; a halo_exchange is not, because it reports ranges of all dims
static_assert(Resolve<op::Shift<K>, T<IX, Dim<K, Y>>>::verdict);
static_assert(Resolve<op::HaloExchange<K>, T<IX, Dim<K, Y>>>::verdict.code ==
              Code::B03_through_cyclic);
static_assert(std::is_same_v<result_t<op::Transpose<J, I>, A>, T<JY, IX>>);
static_assert(std::is_same_v<result_t<op::Stack<M>, A, A>, T<Dim<M>, IX, JY>>);
static_assert(shape_code<op::Stack<M>, A, T<Dim<I, X>, JY>> == Code::D12_dims_differ);
static_assert(std::is_same_v<result_t<op::Broadcast<JY>, T<IX>>, T<JY, IX>>);
static_assert(!Transferable<A, T<Dim<I>, Dim<J>>> && !Transferable<T<Dim<I>, Dim<J>>, A>);

// Plans.
constexpr bool is_one(Plan const& p, Collective c) {
  return p.collectives() == 1 && p.count(c) == 1 && p.size == 1;
}
template <class From, class To>
constexpr Plan planned = plan(op::Reshard<To>{}, type<From>);
static_assert(is_one(planned<A, T<Dim<I, X>, JY>>, Collective::all_to_all));
static_assert(is_one(planned<T<Dim<I, X>, JY>, A>, Collective::all_to_all));
static_assert(is_one(planned<A, T<Dim<I, Cyclic<X, 4>>, JY>>, Collective::all_to_all));
static_assert(is_one(planned<T<IX>, T<Dim<I, Cyclic<Y, 16>>>>, Collective::all_to_all));
static_assert(is_one(planned<T<IX>, T<Dim<I, Y>>>, Collective::all_to_all));
static_assert(is_one(planned<T<Dim<N, X, Y>>, T<Dim<N, Cyclic<Y, 4>>>>, Collective::all_to_all));
static_assert(is_one(planned<A, T<Dim<I>, JY>>, Collective::all_gather));
static_assert(is_one(planned<T<IX, Dim<K>>, T<Dim<I>, Dim<K, Cyclic<X, 2>>>>,
                     Collective::all_to_all));
static_assert(is_one(planned<T<Dim<J>, Unreduced<Y>>, T<JY>>, Collective::reduce_scatter));
static_assert(planned<T<Dim<I>, JY>, A>.collectives() == 0 && planned<A, A>.size == 0);
// bytes: rank 0 has 0-49 in blocks, keeps 0-15 and 32-47, and sends the other 18 columns of 60
static_assert(plan(op::Reshard<IX, Dim<J>>{}, type<T<Dim<I, X>, Dim<J>>>).bytes(Coords{{0}}) ==
              18 * 60 * 4);
// as ScaLAPACK's product: a named result keeps its block size
static_assert(plan(op::Matmul<IX, Dim<K, Cyclic<Y, 2>>>{}, type<A>,
                   type<T<Dim<J, Cyclic<X, 8>>, Dim<K, Cyclic<Y, 2>>>>)
                  .result.dims[1]
                  .axes.cyclic == 2);
static_assert(valid_on<op::Reshard<Dim<I, X>, JY>, OperandTypes<A>> &&
              !valid_on<op::Matmul<>, OperandTypes<A, A>>);

}  // namespace
