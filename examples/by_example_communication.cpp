// The programs of docs/by_example/communication.md, one for each function. On 2 ranks.
// SHOWN: docs
// ALONE: it calls all functions of a family, which checks of all examples would read again
// RANKS: 2
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

// docs: names
struct X : Axis<"X", 2> {};  // two ranks
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
// docs: end

bool first = true;  // of the ranks
void say(std::string const& line) {
  if (first) std::printf("%s\n", line.c_str());
}
void part(char const* name) { say(std::string("== ") + name); }

void resharding(Mesh<X> const& mesh) {
  {
    part("reshard");
    // docs: reshard
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 4}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    auto const b = reshard<Dim<I>, Dim<J, X>>(a);  // the cheapest collectives: one all_to_all
    visualize(b, "b");
    // docs: end
  }
  {
    part("all_gather");
    // docs: all_gather
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(all_gather<X>(a));  // all ranks have all elements
    // docs: end
  }
  {
    part("all_reduce");
    // docs: all_reduce
    auto const a =
        from_host<double, Dim<I, X>, Dim<J>>(mesh, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
    auto const sums = sum<I>(a);  // f64[J]{U:X}: each rank has the sum of its rows
    print(all_reduce<X>(sums));
    // docs: end
  }
  {
    part("reduce_scatter");
    // docs: reduce_scatter
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 4}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    auto const sums = sum<I>(a);  // f64[J]{U:X}: each rank has the sum of its rows
    print(reduce_scatter<X, J>(sums));
    // docs: end
  }
  {
    part("all_to_all");
    // docs: all_to_all
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {2, 4}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    print(all_to_all<X, I, J>(a));  // split along J in place of I
    // docs: end
  }
  {
    part("to_partial");
    // docs: to_partial
    auto const a = from_host<double, Dim<I>>(mesh, {2}, std::vector<double>{1.0, 2.0});
    auto const p = to_partial<X>(a);  // the first rank has a, the second zeros
    say(type_name(p));
    print(all_reduce<X>(p));
    // docs: end
  }
  {
    part("reduced");
    // docs: reduced
    auto const a = from_host<double, Dim<I>>(mesh, {2}, std::vector<double>{1.0, 2.0});
    print(reduced<X>(a));  // a cast: its gradient is unreduced over X
    // docs: end
  }
  {
    part("used_as");
    // docs: used_as
    auto const w = from_host<double, Dim<I, X>>(mesh, {2}, std::vector<double>{1.0, 2.0});
    auto const x =
        from_host<double, Dim<J, X>, Dim<I>>(mesh, {2, 2}, std::vector<double>{1, 2, 3, 4});
    // A parameter that is stored in blocks, and samples in blocks.
    auto const loss = [](auto const& p, auto const& s) {
      return sum<Tensor<double>>(
          matmul(s, used_as<Dim<I>, Reduced<X>>(p)));  // gathered for the product
    };
    print(grad<0>(loss)(w, x));  // summed over the ranks, in blocks as w
    // docs: end
  }
  {
    part("transfer");
    // docs: transfer
    struct P : Axis<"P"> {};
    Mesh<P> const one(MPI_COMM_WORLD, {1});  // the first rank alone
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(transfer<Dim<I>>(a, one));
    // docs: end
  }
  {
    part("plan_transfer");
    // docs: plan_transfer
    struct P : Axis<"P"> {};
    Mesh<P> const one(MPI_COMM_WORLD, {1});  // the first rank alone
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    TransferPlan const plan = plan_transfer<Dim<I>>(a, one);
    say(std::to_string(plan.total_bytes()) + " bytes in " + std::to_string(plan.messages()) +
        " message");
    // docs: end
  }
  {
    part("to_memory");
    // docs: to_memory
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    auto const b = to_memory<Kokkos::HostSpace>(a);  // from a GPU to the host, where there is one
    print(b);
    // docs: end
  }
  {
    part("start");
    // docs: start
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    auto pending = start(op::AllGather<X>{}, a);
    auto const b = square(a).tensor();  // meanwhile
    print(std::move(pending).wait());
    // docs: end
  }
  {
    part("to_host");
    // docs: to_host
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    std::vector<double> const whole = to_host(a);  // on every rank
    say(std::to_string(whole.size()) + " elements, the last " + std::to_string(whole.back()));
    // docs: end
  }
}

void manual_mode(Mesh<X> const& mesh) {
  {
    part("shard_map");
    // docs: shard_map
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {4, 2}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    // A function of the blocks, two rows on each rank. The result names its sharding.
    print(shard_map<Dim<J>>([](auto const& block) { return all_reduce<X>(sum<I>(block)); }, a));
    // docs: end
  }
  {
    part("manual_axes");
    // docs: manual_axes
    auto const a = from_host<double, Dim<I, X>, Dim<J>>(
        mesh, {4, 2}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    // Manual over X; other axes of the mesh would stay strict.
    print(shard_map<Dim<J>>(
        manual_axes<X>, [](auto const& block) { return all_reduce<X>(sum<I>(block)); }, a));
    // docs: end
  }
  {
    part("strict");
    // docs: strict
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    // Inside: a function of tensors, whose result is a block again.
    print(shard_map<Dim<I>>(
        [](auto const& block) {
          return strict<Tensor<double, Dim<I, X>>>([](auto const& t) { return all_gather<X>(t); },
                                                   block);
        },
        a));
    // docs: end
  }
  {
    part("axis_index");
    // docs: axis_index
    // an element of each rank
    print(shard_map<Dim<I, X>>(mesh, [] { return expand<I>(axis_index<X>()); }));
    // docs: end
  }
  {
    part("axis_size");
    // docs: axis_size
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(shard_map<Dim<I, X>>(
        [](auto const& block) { return block / static_cast<double>(axis_size<X>()); }, a));
    // docs: end
  }
  {
    part("rotate");
    // docs: rotate
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(shard_map<Dim<I, X>>([](auto const& block) { return rotate<X>(block, 1); }, a));
    // docs: end
  }
  {
    part("permute");
    // docs: permute
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    // The block of rank 0 goes to rank 1. Rank 0 receives none: zeros.
    print(shard_map<Dim<I, X>>([](auto const& block) { return permute<X>(block, {{0, 1}}); }, a));
    // docs: end
  }
  {
    part("broadcast_from");
    // docs: broadcast_from
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(shard_map<Dim<I>>([](auto const& block) { return broadcast_from<X>(block, 1); }, a));
    // docs: end
  }
  {
    part("ragged_all_to_all");
    // docs: ragged_all_to_all
    auto const a =
        from_host<double, Dim<I, X>>(mesh, {6}, std::vector<double>{1.0, 2.0, 3.0, 4.0, 5.0, 6.0});
    // Each rank sends its first row to rank 0 and the other two to rank 1.
    std::int64_t const rank = mesh.coordinate<X>();
    std::array<std::int64_t, 2> const from{0, 1}, sizes{1, 2}, to{rank, 2 * rank};
    std::array<std::int64_t, 2> const received{rank + 1, rank + 1};
    print(shard_map<Dim<I, X>>(
        [&](auto const& block) {
          auto const out = zeros_local<double, Dim<I>>({4});
          return ragged_all_to_all<X>(block, out, {from, sizes, to, received});
        },
        a));
    // docs: end
  }
  {
    part("shard");
    // docs: shard
    auto const a = from_host<double, Dim<I>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(shard_map<Dim<I, X>>([](auto const& whole) { return shard<X, I>(whole); }, a));
    // docs: end
  }
  {
    part("varying");
    // docs: varying
    // The same block on all ranks; the cast lets a split dim take it.
    print(shard_map<Dim<I, X>>(mesh,
                               [] { return varying<X>(full_local<double, Dim<I>>({2}, 1.0)); }));
    // docs: end
  }
  {
    part("unreduced");
    // docs: unreduced
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    // The blocks as summands of one vector.
    auto const sums =
        shard_map<Dim<I>, Unreduced<X>>([](auto const& block) { return unreduced<X>(block); }, a);
    say(type_name(sums));
    print(all_reduce<X>(sums));
    // docs: end
  }
  {
    part("assume_invariant");
    // docs: assume_invariant
    // Each rank computes the same number, which the compiler does not know.
    print(shard_map<Dim<I>>(mesh, [] {
      auto const index = expand<I>(axis_index<X>());
      return assume_invariant<X>(index - index);
    }));
    // docs: end
  }
  {
    part("full_local");
    // docs: full_local
    print(shard_map<Dim<I>>(mesh, [] { return full_local<double, Dim<I>>({3}, 2.5); }));
    // docs: end
  }
  {
    part("zeros_local");
    // docs: zeros_local
    print(shard_map<Dim<I>>(mesh, [] { return zeros_local<double, Dim<I>>({3}); }));
    // docs: end
  }
  {
    part("raw_local");
    // docs: raw_local
    // Memory for a loop of your own; it varies over X.
    print(shard_map<Dim<I, X>>(mesh, [&] {
      auto a = raw_local<double, Dim<I>>(mesh, {2});
      auto const out = a.mutable_local();
      for (std::size_t i = 0; i < out.extent(0); ++i) out(i) = static_cast<double>(i);
      return a;
    }));
    // docs: end
  }
  {
    part("loop");
    // docs: loop
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(shard_map<Dim<I, X>>(
        [](auto const& block) {
          return loop(3, block, [](std::int64_t, auto const& b) { return (2.0 * b).tensor(); });
        },
        a));
    // docs: end
  }
  {
    part("loop_while");
    // docs: loop_while
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    // The sum over all ranks is 10. It is doubled until it is at least 100.
    print(shard_map<Tensor<double>>(
        [](auto const& block) {
          return loop_while([](auto const& c) { return c < 100.0; }, all_reduce<X>(sum(block)),
                            [](auto const& c) { return (c * 2.0).tensor(); });
        },
        a));
    // docs: end
  }
  {
    part("branch");
    // docs: branch
    auto const a = from_host<double, Dim<I, X>>(mesh, {4}, std::vector<double>{1.0, 2.0, 3.0, 4.0});
    print(shard_map<Dim<I, X>>(
        [](auto const& block) {
          auto const total = all_reduce<X>(sum(block));  // the same on all ranks
          return branch(
              total > 5.0, [](auto const& b) { return (b / 10.0).tensor(); },
              [](auto const& b) { return (b * 1.0).tensor(); }, block);
        },
        a));
    // docs: end
  }
}

}  // namespace

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  first = env.rank() == 0;
  // docs: mesh
  Mesh<X> const mesh(env.world());
  // docs: end
  resharding(mesh);
  manual_mode(mesh);
  return 0;
}
