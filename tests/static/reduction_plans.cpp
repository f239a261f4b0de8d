// Plans of reductions: operands, sizes, collectives, bytes, flops and memory of strict and named
// ones.
#include <complex>
#include <cstdint>

#include <shardtype/types.hpp>

using namespace shardtype;
using namespace shardtype::planning;
namespace r = reductions;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct V : Axis<"V"> {};
struct L : Index<"L", 1000> {};
struct M : Index<"M", 12> {};
struct I : Index<"I"> {};

template <class... Parts>
using T = Tensor<float, Parts...>;
using Z = std::complex<float>;
using A = T<Dim<L, Y>, Dim<M>>;  // blocks of [250, 12]
constexpr std::int64_t read = 250 * 12;

/// Whether a strict reduction is one local step with one operand of `given` bytes: `flops`, a
/// result of `made` bytes, and totals of `totals` bytes in the workspace.
constexpr bool is_local(Plan const& p, std::int64_t flops, std::int64_t given, std::int64_t made,
                        std::int64_t totals) {
  return p.size == 1 && p.steps[0].move == Move::compute && p.collectives() == 0 &&
         p.bytes_per_rank() == 0 && p.operand_count == 1 && p.flops() == flops &&
         p.given_bytes() == given && p.block_bytes(p.result, Slot::result) == made &&
         p.workspace == totals && p.peak_bytes() == given + made + totals;
}

// Strict: one flop per element; float is added in double.
static_assert(is_local(plan(op::Sum<L>{}, type<A>), read, 4 * read, 12 * 4, 12 * 8));
static_assert(is_local(plan(op::Mean<L>{}, type<A>), read, 4 * read, 12 * 4, 12 * 8));
static_assert(is_local(plan(op::Sum<M>{}, type<A>), read, 4 * read, 250 * 4, 250 * 8));
static_assert(is_local(plan(op::Sum<>{}, type<A>), read, 4 * read, 4, 8));
static_assert(is_local(plan(op::Max<L>{}, type<A>), read, 4 * read, 12 * 4, 12 * 4));
static_assert(is_local(plan(op::Min<L>{}, type<A>), read, 4 * read, 12 * 4, 12 * 4));
static_assert(is_local(plan(op::NormInf<L>{}, type<A>), read, 4 * read, 12 * 4, 12 * 4));
static_assert(is_local(plan(op::Norm1<L>{}, type<A>), read, 4 * read, 12 * 4, 12 * 8));
static_assert(is_local(plan(op::Prod<M>{}, type<A>), read, 4 * read, 250 * 4, 250 * 8));
static_assert(is_local(plan(op::Norm<M>{}, type<A>), read, 4 * read, 250 * 4, 250 * 8));
static_assert(is_local(plan(op::LogSumExp<M>{}, type<A>), read, 4 * read, 250 * 4, 250 * 16));
// with a count: two results of 4 bytes each; the totals, twice at first
static_assert(is_local(plan(op::CountedMax<M>{}, type<A>), read, 4 * read, 250 * 8,
                       250 * (2 * 16 - 8)));
static_assert(is_local(plan(op::CountedProd<M>{}, type<A>), read, 4 * read, 250 * 8,
                       250 * (2 * 16 - 8)));
static_assert(is_local(plan(op::ReproducibleSum<M>{}, type<A>), read, 4 * read, 250 * 4, 250 * 40));
static_assert(is_local(plan(op::ReproducibleNorm<M>{}, type<A>), read, 4 * read, 250 * 4,
                       250 * 40));
static_assert(is_local(plan(op::Sum<L>{}, type<Tensor<double, Dim<L, Y>, Dim<M>>>), read, 8 * read,
                       12 * 8, 12 * 8));
static_assert(plan(op::Sum<L>{}, type<A>).name == "sum");
static_assert(plan(op::Mean<L>{}, type<A>).name == "mean");
// element types other than the operand's
using B = Tensor<bool, Dim<L, Y>, Dim<M>>;
using C = Tensor<Z, Dim<L, Y>, Dim<M>>;
static_assert(is_local(plan(op::Sum<L>{}, type<B>), read, read, 12 * 8, 12 * 8));
static_assert(is_local(plan(op::Any<L>{}, type<B>), read, read, 12, 12));
static_assert(is_local(plan(op::All<L>{}, type<B>), read, read, 12, 12));
static_assert(is_local(plan(op::ArgMax<M>{}, type<A>), read, 4 * read, 250 * 8, 250 * 16));
static_assert(is_local(plan(op::ArgMin<M>{}, type<A>), read, 4 * read, 250 * 8, 250 * 16));
static_assert(is_local(plan(op::Norm<M>{}, type<C>), read, 8 * read, 250 * 4, 250 * 8));
static_assert(is_local(plan(op::Sum<M>{}, type<C>), read, 8 * read, 250 * 8, 250 * 16));
static_assert(is_local(plan(op::ReproducibleSum<M>{}, type<C>), read, 8 * read, 250 * 8, 250 * 80));
// uneven blocks: the flops of the busiest rank
using Uneven = T<Dim<M, Y>, Dim<L, X>>;
static_assert(plan(op::Sum<>{}, type<Uneven>).flops() == 3 * 500);
// of a Local: the extents are those of the block
using Block = Local<float, Dim<L>, Dim<M>, Varying<X>>;
static_assert(plan(op::Sum<M>{}, type<Block>).collectives() == 0);
static_assert(is_local(plan(op::Sum<M>{}, type<Block>).at({250, 12}, {2}), read, 4 * read, 250 * 4,
                       250 * 8));

// Named: the local reduction, then the reshard of its partial results, with `partial` bytes in each
// block.
constexpr bool is_named(Plan const& p, Collective c, std::int64_t bytes, std::int64_t partial,
                        std::int64_t totals) {
  Step const& local = p.steps[0];
  return p.size == 2 && local.move == Move::compute && p.steps[1].collective() == c &&
         p.count(c) == 1 && p.collectives() == 1 && p.bytes_per_rank() == bytes &&
         p.operand_count == 1 && p.given_bytes() == 4 * read && p.flops() == read &&
         p.workspace == totals && local.slot == Slot::result && p.steps[1].slot == Slot::result &&
         p.block_bytes(local.after, local.slot) == partial && local.after == p.steps[1].before;
}
static_assert(is_named(plan(op::Sum<Dim<M>>{}, type<A>), Collective::all_reduce, 2 * 48 * 3 / 4, 48,
                       12 * 8));
static_assert(is_named(plan(op::Mean<Dim<M>>{}, type<A>), Collective::all_reduce, 2 * 48 * 3 / 4,
                       48, 12 * 8));
static_assert(is_named(plan(op::Sum<Dim<M, Y>>{}, type<A>), Collective::reduce_scatter, 48 * 3 / 4,
                       48, 12 * 8));
static_assert(is_named(plan(op::Max<Dim<M>>{}, type<A>), Collective::all_reduce, 2 * 48 * 3 / 4, 48,
                       12 * 4));
// the partial results are alive together with the packed data and the result of the collective
static_assert(plan(op::Sum<Dim<M>>{}, type<A>).peak_bytes() == 4 * read + 3 * 48);
// no reshard: as strict
static_assert(is_local(plan(op::Sum<Dim<M>, Unreduced<Y>>{}, type<A>), read, 4 * read, 48, 96));
static_assert(plan(op::Sum<Dim<M>>{}, type<B>).bytes_per_rank() == 2 * 96 * 3 / 4);

// Totals that no unreduced kind represents are values of their own; the last step computes the
// results from them. `summed`: bytes in which they are summed up, if more than those sent.
constexpr bool is_carried(Plan const& p, Collective c, std::int64_t bytes, std::int64_t totals,
                          std::int64_t made, std::int64_t summed = 0) {
  Step const& local = p.steps[0];
  Step const& last = p.steps[p.size - 1];
  return p.size == 3 && local.move == Move::compute && p.steps[1].collective() == c &&
         p.collectives() == 1 && p.bytes_per_rank() == bytes && last.move == Move::finish &&
         local.slot == Slot::b && p.steps[1].slot == Slot::b && last.slot == Slot::result &&
         p.operand_count == 1 && p.flops() == read && p.workspace == std::max(totals, summed) &&
         p.block_bytes(local.after, local.slot) == totals &&
         p.block_bytes(last.after, last.slot) == made;
}
static_assert(is_carried(plan(op::Norm<Dim<M>>{}, type<A>), Collective::all_reduce, 2 * 96 * 3 / 4,
                         96, 48));
static_assert(is_carried(plan(op::Prod<Dim<M>>{}, type<A>), Collective::all_reduce, 2 * 96 * 3 / 4,
                         96, 48));
static_assert(is_carried(plan(op::LogSumExp<Dim<M, Y>>{}, type<A>), Collective::reduce_scatter,
                         96 * 3 / 4, 96, 12, 192));
static_assert(is_carried(plan(op::Var<Dim<M>>{{1}}, type<A>), Collective::all_reduce,
                         2 * 192 * 3 / 4, 192, 48, 384));
static_assert(is_carried(plan(op::StdDev<Dim<M, Y>>{}, type<C>), Collective::reduce_scatter,
                         576 * 3 / 4, 576, 12));
static_assert(is_local(plan(op::Var<M>{}, type<A>), read, 4 * read, 250 * 4, 250 * 32));
static_assert(is_carried(plan(op::ArgMax<Dim<M>>{}, type<A>), Collective::all_reduce,
                         2 * 192 * 3 / 4, 192, 96));
static_assert(is_carried(plan(op::ReproducibleSum<Dim<M>>{}, type<A>), Collective::all_reduce,
                         2 * 480 * 3 / 4, 480, 48));
static_assert(is_carried(plan(op::ReproducibleSum<Dim<M>>{}, type<C>), Collective::all_reduce,
                         2 * 960 * 3 / 4, 960, 96));
static_assert(is_carried(plan(op::ReproducibleNorm<Dim<M>>{}, type<C>), Collective::all_reduce,
                         2 * 480 * 3 / 4, 480, 48));
// if the last collective gathers, the totals of the whole result and the local ones are alive
// together, and the outermost dim needs no packing
constexpr Plan gathered = plan(op::ReproducibleNorm<Dim<L>>{}, type<A>);
static_assert(gathered.count(Collective::all_gather) == 1 && gathered.collectives() == 1);
static_assert(gathered.bytes_per_rank() == 750 * 40);
static_assert(gathered.peak_bytes() == 4 * read + 1000 * 40 + 250 * 40);

// Sizes at run time: counts hold for all of them, and a plan is exact once they are known.
using Open = T<Dim<I, V>, Dim<M>>;
constexpr auto open_strict = plan(op::Sum<I>{}, type<Open>);
constexpr auto open_named = plan(op::Sum<Dim<M>>{}, type<Open>);
constexpr auto open_norm = plan(op::Norm<Dim<M, V>>{}, type<Open>);
static_assert(open_strict.collectives() == 0);
static_assert(open_named.collectives() == 1 && open_named.count(Collective::all_reduce) == 1);
static_assert(open_norm.collectives() == 1 && open_norm.count(Collective::reduce_scatter) == 1);
constexpr int label_i = Scope<Open>::names.find_label(identity<I>);
constexpr Plan exact = open_named.at(
    [] {
      std::array<std::int64_t, max_dims> extents{};
      extents[label_i] = 90;
      return extents;
    }(),
    {3});
static_assert(exact.flops() == 30 * 12 && exact.given_bytes() == 4 * 30 * 12);
static_assert(exact.bytes_per_rank() == 2 * 48 * 2 / 3);

// Each tag gives the bytes of a total; ranks exchange totals where no kind is unreduced.
static_assert(detail::carried_bytes<r::Sum, bool> == 8 && r::Product::total_bytes<bool> == 1);
static_assert(detail::carried_bytes<r::Sum, float> == 4 && r::Sum::total_bytes<float> == 8);
static_assert(detail::carried_bytes<r::Product, float> == 8);
static_assert(detail::carried_bytes<r::Product, Z> == 16);
static_assert(detail::carried_bytes<r::Product, std::int32_t> == 4);
static_assert(detail::carried_bytes<r::PlaceOfMinimum, std::int32_t> == 16);
static_assert(detail::carried_bytes<r::Norm1, Z> == 4 && r::Norm1::total_bytes<Z> == 8);

// Softmax: over split rows one all_reduce of a pair for each row; no element is sent.
using Rows = T<Dim<M>, Dim<L, Y>>;  // 12 rows in blocks of 250
constexpr bool is_softmax(Plan const& p, int collectives, std::int64_t bytes,
                          std::int64_t elements) {
  return p.count(Collective::all_reduce) == collectives && p.collectives() == collectives &&
         p.bytes_per_rank() == bytes && p.flops() == 2 * elements && p.operand_count == 1;
}
static_assert(is_softmax(plan(op::Softmax<M>{}, type<A>), 0, 0, read));
static_assert(is_softmax(plan(op::Softmax<L, Dim<M>, Dim<L, Y>>{}, type<Rows>), 1,
                         2 * 12 * 8 * 3 / 4, read));
static_assert(is_softmax(plan(op::LogSoftmax<L, Rows>{}, type<Rows>), 1, 2 * 12 * 8 * 3 / 4, read));
static_assert(is_softmax(plan(op::Softmax<L, M, Rows>{}, type<Rows>), 1, 2 * 8 * 3 / 4, read));
// rows that are not split stay so: the result is sliced, and nothing is sent
static_assert(is_softmax(plan(op::Softmax<L, Dim<M>, Dim<L, Y>>{}, type<T<Dim<M>, Dim<L>>>), 0, 0,
                         12 * 1000));
// other dims are sliced first, and each rank computes its own part
static_assert(is_softmax(plan(op::Softmax<L, Dim<M, Y>, Dim<L>>{}, type<T<Dim<M>, Dim<L>>>), 0, 0,
                         3 * 1000));
// a result with another sharding is resharded, the operand is not
constexpr Plan turned = plan(op::Softmax<L, Dim<M, Y>, Dim<L>>{}, type<Rows>);
static_assert(turned.count(Collective::all_reduce) == 1 &&
              turned.count(Collective::all_to_all) == 1 && turned.collectives() == 2 &&
              turned.flops() == 2 * read);
// operand, a second copy of its size, two totals per row
static_assert(plan(op::Softmax<M>{}, type<A>).peak_bytes() == 2 * 4 * read + 250 * 8);

// Reductions with a count: one collective for both results, and the rules of a product.
static_assert(plan(op::CountedMax<Dim<M>>{}, type<A>).collectives() == 1);
static_assert(plan(op::CountedMax<Dim<M>>{}, type<A>).count(Collective::all_reduce) == 1);
static_assert(plan(op::CountedMin<Dim<M, Y>>{}, type<A>).count(Collective::reduce_scatter) == 1);
static_assert(plan(op::CountedMax<Dim<M>>{}, type<A>).bytes({}) == 2 * 12 * 16 * 3 / 4);
static_assert(plan(op::CountedProd<Dim<L, Y>>{}, type<A>).collectives() == 0);
static_assert(plan(op::CountedProd<Dim<M>>{}, type<T<Dim<I, V>, Dim<M>>>).collectives() == 1);
template <class Op, class B>
constexpr rules::Code counted_code = checking::Resolve<Op, B>::verdict.code;
static_assert(counted_code<op::CountedMax<L>, A> == rules::Code::S03_split);
static_assert(counted_code<op::CountedMax<M>, A> == rules::Code::ok);
static_assert(counted_code<op::CountedMax<M>, T<Dim<M>, Reduced<X>>> == rules::Code::ok);
static_assert(counted_code<op::CountedMax<M>, T<Dim<M>, Unreduced<Max, X>>> ==
              rules::Code::S02_other_kind);
static_assert(counted_code<op::CountedMax<M>, Tensor<Z, Dim<M>>> == rules::Code::S04_no_order);
static_assert(counted_code<op::CountedProd<M>, Tensor<Z, Dim<M>>> == rules::Code::ok);
static_assert(counted_code<op::CountedMin<M>, Tensor<int, Dim<M>>> ==
              rules::Code::P12_not_floating);
static_assert(counted_code<op::CountedMin<M>, int> == rules::Code::T09_not_a_tensor);

}  // namespace
