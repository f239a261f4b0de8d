// Six mesh axes in one operation: data, fsdp, tensor, sequence, expert and pipe.
#include <type_traits>

#include <shardtype/types.hpp>

using namespace shardtype;

namespace {

struct Data : Axis<"data", 2> {};
struct Fsdp : Axis<"fsdp", 4> {};
struct Model : Axis<"tensor", 8> {};
struct Sequence : Axis<"sequence", 2> {};
struct Expert : Axis<"expert", 4> {};
struct Pipe : Axis<"pipe", 2> {};
struct B : Index<"B", 1024> {};
struct S : Index<"S", 4096> {};
struct D : Index<"D", 8192> {};
struct F : Index<"F", 32768> {};
struct E : Index<"E", 64> {};

using Activations = Tensor<float, Dim<B, Data, Fsdp>, Dim<S, Sequence>, Dim<D, Model>>;
using Weights = Tensor<float, Dim<E, Expert>, Dim<D, Model>, Dim<F, Fsdp, Pipe>>;

// Strict: D is contracted over `tensor`; the batch keeps its axes. The weights must be gathered
// over fsdp first.
using Whole = Tensor<float, Dim<E, Expert>, Dim<D, Model>, Dim<F, Pipe>>;
using Product = result_t<op::Matmul<>, Activations, Whole>;
constexpr Spec product = core::Scope<Product>::spec<0>;
static_assert(product.rank == 4 && product.unreduced.size() == 1 &&
              product.mentioned().size() == 6);

// Named: one ReduceScatter or AllReduce over `tensor`, and the weights are gathered over fsdp.
using Result = Tensor<float, Dim<B, Data, Fsdp>, Dim<S, Sequence>, Dim<E, Expert>, Dim<F, Pipe>>;
constexpr auto const& named = plan(op::Matmul<Result>{}, type<Activations>, type<Weights>);
static_assert(named.count(Collective::all_reduce) + named.count(Collective::reduce_scatter) >= 1);
static_assert(named.result.mentioned().size() == 5);

// A loss is reduced over all axes in one step.
using Partial = tensor_t<float, Unreduced<Data, Expert, Fsdp, Model, Pipe, Sequence>>;
constexpr auto const& total = plan(op::Reshard<Tensor<float>>{}, type<Partial>);
static_assert(total.size == 1 && total.count(Collective::all_reduce) == 1);
static_assert(total.steps[0].axes.size == 6);

// Parameters that all axes split, to another sharding over all axes: legal steps with a cost.
using Here = Tensor<float, Dim<D, Data, Fsdp, Model>, Dim<F, Sequence, Expert, Pipe>>;
using There = Tensor<float, Dim<D, Pipe, Sequence, Expert>, Dim<F, Model, Data, Fsdp>>;
constexpr auto const& moved = plan(op::Reshard<There>{}, type<Here>);
static_assert(moved.size > 0 && moved.size <= 8 && moved.bytes({}) > 0);

// Elementwise operations and reductions over six axes.
using Grid = Tensor<float, Dim<B, Data, Fsdp, Model>, Dim<S, Sequence, Expert, Pipe>>;
static_assert(std::is_same_v<result_t<op::Map<functions::Add>, Grid, Grid>, Grid>);
static_assert(core::Scope<result_t<op::Reduce<reductions::Sum>, Grid>>::spec<0>.unreduced.size() ==
              6);

}  // namespace
