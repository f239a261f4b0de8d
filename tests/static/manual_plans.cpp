// Plans of manual mode's collectives: operands, one step, bytes by the conventions of
// plan/step.hpp, memory. The extents are those of the block.
#include <array>
#include <cstdint>

#include <shardtype/types.hpp>

using namespace shardtype;
using namespace shardtype::checking;

namespace {

struct X : Axis<"X", 4> {};
struct Y : Axis<"Y", 2> {};
struct Z : Axis<"Z"> {};
struct I : Index<"I", 1000> {};  // the extent of the whole tensor, not of a block
struct J : Index<"J"> {};
struct K : Index<"K"> {};

template <class... Parts>
using L = Local<float, Parts...>;
using Inv = L<Dim<I>, Dim<J>>;
using Var = L<Dim<I>, Dim<J>, Varying<X>>;
using Both = L<Dim<I>, Dim<J>, Varying<X, Y>>;
using Summand = L<Dim<I>, Dim<J>, Unreduced<X>>;

constexpr std::int64_t n = 8;
constexpr std::int64_t m = 12;
constexpr std::int64_t block = n * m * 4;  // bytes

// The plan of one call on a block of n x m; for operations with a third label, K, its extent is
// open.
template <class A, class Op>
constexpr Plan of(Op const& op, std::int64_t ranks = dynamic) {
  return plan(op, type<A>).at({n, m}, {ranks});
}
constexpr Coords first{};

template <class A, class Op>
constexpr bool one_step(Op const& op, Collective what, std::int64_t bytes) {
  Plan const p = of<A>(op);
  return p.name == Op::name && p.operand_count == 1 && p.size == 1 && p.count(what) == 1 &&
         p.bytes(first) == bytes && p.bytes_per_rank() == bytes && p.given_bytes() == block &&
         plan(op, type<A>).count(what) == 1 && plan(op, type<A>).collectives() == 1;
}
template <class A, class Op>
constexpr bool no_collective(Op const& op) {
  Plan const p = of<A>(op);
  return p.collectives() == 0 && p.size == 1 && p.bytes_per_rank() == 0 &&
         plan(op, type<A>).collectives() == 0;
}

// blocks concatenated, and stacked
static_assert(one_step<Var>(op::AllGather<X, I>{}, Collective::all_gather, 3 * block));
static_assert(one_step<Var>(op::AllGather<X, J, ToVarying>{}, Collective::all_gather, 3 * block));
static_assert(one_step<Var>(op::AllGather<X, K, ToReduced>{}, Collective::all_gather, 3 * block));
static_assert(one_step<Both>(op::AllGather<X, Y, I>{}, Collective::all_gather, 7 * block));
static_assert(one_step<Both>(op::AllGather<Y, X, K>{}, Collective::all_gather, 7 * block));
static_assert(of<Var>(op::AllGather<X, I>{}).peak_bytes() == (1 + 4) * block);
static_assert(of<Var>(op::AllGather<X, J>{}).peak_bytes() == (1 + 4 + 4) * block);  // then joined
static_assert(of<Var>(op::AllGather<X, I>{}).result == Scope<Inv>::spec<0>);
// the sum of blocks, on all ranks
static_assert(one_step<Var>(op::AllReduce<X>{}, Collective::all_reduce, 2 * block * 3 / 4));
static_assert(one_step<Summand>(op::AllReduce<X>{}, Collective::all_reduce, 2 * block * 3 / 4));
static_assert(one_step<Var>(op::AllReduce<Max, X>{}, Collective::all_reduce, 2 * block * 3 / 4));
static_assert(one_step<Both>(op::AllReduce<X, Y>{}, Collective::all_reduce, 2 * block * 7 / 8));
static_assert(of<Var>(op::AllReduce<X>{}).peak_bytes() == 2 * block);
// divided by the number of ranks: one division per element
static_assert(of<Var>(op::AllReduce<Mean, X>{}).count(Collective::all_reduce) == 1);
static_assert(of<Var>(op::AllReduce<Mean, X>{}).flops() == n * m);
static_assert(of<Var>(op::AllReduce<X>{}).flops() == 0);
// each rank has one piece of the sum
static_assert(one_step<Var>(op::ReduceScatter<X, I>{}, Collective::reduce_scatter, block * 3 / 4));
static_assert(one_step<Summand>(op::ReduceScatter<X, J>{}, Collective::reduce_scatter,
                                block * 3 / 4));
static_assert(of<Var>(op::ReduceScatter<X, I>{}).peak_bytes() == block + block / 4);
static_assert(of<Var>(op::ReduceScatter<X, J>{}).peak_bytes() ==
              2 * block + block / 4);  // first cut
// pieces of two dims, of one, and single rows
static_assert(one_step<Var>(op::AllToAll<X, I, J>{}, Collective::all_to_all, block * 3 / 4));
static_assert(one_step<Var>(op::AllToAll<X, J, I>{}, Collective::all_to_all, block * 3 / 4));
static_assert(one_step<Var>(op::AllToAll<X, I, I>{}, Collective::all_to_all, block * 3 / 4));
static_assert(one_step<Both>(op::AllToAll<X, Y, I, I>{}, Collective::all_to_all, block * 7 / 8));
static_assert(one_step<Both>(op::AllToAll<Y, X, I, J>{}, Collective::all_to_all, block * 7 / 8));
static_assert(one_step<Both>(op::AllToAll<X, Y, I, K>{}, Collective::all_to_all, block * 7 / 8));
static_assert(of<Var>(op::AllToAll<X, I, J>{}).peak_bytes() == 3 * block);
static_assert(of<Var>(op::AllToAll<X, I, I>{}).peak_bytes() == 2 * block);
static_assert(of<Var>(op::AllToAll<X, J, J>{}).peak_bytes() == 4 * block);  // cut, and joined
static_assert(of<Var>(op::Rotate<X>{1}).peak_bytes() == 2 * block);
static_assert(of<Var>(op::BroadcastFrom<X>{3}).peak_bytes() == 2 * block);
// what passes through the host, if MPI cannot access the blocks' memory: sent and received
static_assert(of<Var>(op::AllGather<X, J>{}).staging_bytes() == (1 + 4) * block);
static_assert(of<Var>(op::AllReduce<X>{}).staging_bytes() == 2 * block);
static_assert(of<Var>(op::ReduceScatter<X, J>{}).staging_bytes() == block + block / 4);
static_assert(of<Var>(op::AllToAll<X, J, J>{}).staging_bytes() == 2 * block);
static_assert(of<Var>(op::Rotate<X>{1}).staging_bytes() == 2 * block);
static_assert(of<Inv>(op::Shard<X, I>{}).staging_bytes() == 0);
// whole blocks
constexpr SourceDestination pairs[] = {{0, 1}, {1, 2}};
constexpr SourceDestination to_itself[] = {{1, 1}};
static_assert(one_step<Var>(op::Permute<X>{pairs}, Collective::permute, block));
static_assert(one_step<Var>(op::Rotate<X>{1}, Collective::permute, block));
static_assert(one_step<Var>(op::Rotate<X>{-1}, Collective::permute, block));
static_assert(one_step<Var>(op::BroadcastFrom<X>{3}, Collective::broadcast, block));
static_assert(one_step<Var>(op::BroadcastFrom<X, ToVarying>{0}, Collective::broadcast, block));
static_assert(of<Var>(op::Rotate<X>{1}).messages() == 1);
// nothing is sent
static_assert(of<Var>(op::Permute<X>{to_itself}).collectives() == 0);
static_assert(of<Var>(op::Permute<X>{}).collectives() == 0);
static_assert(of<Var>(op::Rotate<X>{8}).collectives() == 0);
static_assert(of<Var>(op::Rotate<X>{8}).peak_bytes() == 2 * block);
static_assert(plan(op::Rotate<X>{8}, type<Var>).count(Collective::permute) == 1);  // at most
// local
static_assert(no_collective<Inv>(op::Shard<X, I>{}));
static_assert(of<Inv>(op::Shard<X, I>{}).peak_bytes() == block + block / 4);
static_assert(no_collective<Inv>(op::ToVarying<X>{}));
static_assert(no_collective<Inv>(op::ToReduced<X>{}));
static_assert(no_collective<Var>(op::ToUnreduced<X>{}));
static_assert(of<Inv>(op::ToVarying<X>{}).peak_bytes() == block);  // shared

// an axis size known at run time; a group of one rank sends nothing
using Open = L<Dim<I>, Dim<J>, Varying<Z>>;
static_assert(of<Open>(op::AllGather<Z, I>{}, 5).bytes(first) == 4 * block);
static_assert(of<Open>(op::Rotate<Z>{1}, 5).bytes(first) == block);
static_assert(of<Open>(op::BroadcastFrom<Z>{0}, 1).bytes(first) == 0);
static_assert(of<Open>(op::AllToAll<Z, J, J>{}, 1).bytes(first) == 0);
// no rows
static_assert(plan(op::AllToAll<X, I, I>{}, type<Var>).at({0, m}).bytes(first) == 0);
static_assert(plan(op::AllToAll<X, I, J>{}, type<Var>).at({0, m}).bytes(first) == 0);
// the type of a block without dims gives all sizes
static_assert(plan(op::AllReduce<X>{}, type<L<Varying<X>>>).bytes(first) == 2 * 4 * 3 / 4);
static_assert(plan(op::AllGather<X, I>{}, type<L<Varying<X>>>).bytes(first) == 3 * 4);

// uneven pieces: two numbers of eight bytes for each rank, and at most all rows
constexpr Plan ragged = plan(op::RaggedAllToAll<X>{}, type<Var>, type<Var>).at({n, m});
static_assert(ragged.operand_count == 2 && ragged.count(Collective::all_to_all) == 2);
static_assert(ragged.bytes(first) == 3 * 16 + block);
static_assert(ragged.given_bytes() == 2 * block && ragged.peak_bytes() == 4 * block + 3 * 16);
static_assert(plan(op::RaggedAllToAll<X>{}, type<Var>, type<Var>).count(Collective::all_to_all) ==
              2);

}  // namespace
