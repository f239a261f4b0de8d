// Programs that must end a job of 8 ranks; the argument selects the case (CMakeLists.txt).
// SOURCES: tests/harness/yield.cpp
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct P : Axis<"P"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct N : Index<"N", 20> {};

namespace {

using Grid = Mesh<X, Y>;
using Case = std::function<void(Environment&, Grid const&)>;

// All other ranks are in a collective while rank 3 throws `what`.
template <class E>
void throw_in_barrier(Environment& env, Grid const& mesh, E what) {
  if (env.rank() == 3) throw what;
  mesh.state().whole().barrier();
}

std::map<std::string, Case> const cases = {
    {"extents",
     [](auto&, Grid const& mesh) {
       matmul(zeros<float, Dim<I, X>, Dim<J>>(mesh, {6, 8}),
              zeros<float, Dim<J>, Dim<K, Y>>(mesh, {9, 7}));
     }},
    {"static_extent", [](auto&, Grid const& mesh) { zeros<float, Dim<N, X>>(mesh, {21}); }},
    {"negative_extent", [](auto&, Grid const& mesh) { zeros<float, Dim<I, X>>(mesh, {-4}); }},
    {"static_axis", [](Environment& env, auto&) { Grid(env.world(), {4, 2}); }},
    {"no_ranks", [](Environment& env, auto&) { Mesh<P>(env.world(), {0}); }},
    {"too_many_ranks", [](Environment& env, auto&) { Mesh<P>(env.world(), {9}); }},
    {"list_too_short", [](Environment& env, auto&) { Mesh<P>(env.world(), {3}, {0, 1}); }},
    {"list_repeats", [](Environment& env, auto&) { Mesh<P>(env.world(), {3}, {0, 1, 0}); }},
    {"list_outside", [](Environment& env, auto&) { Mesh<P>(env.world(), {3}, {0, 1, 8}); }},
    {"error_in_barrier",
     [](Environment& env, Grid const& mesh) {
       throw_in_barrier(env, mesh, Error("MINE", "an error of the program"));
     }},
    {"exception_in_barrier",
     [](Environment& env, Grid const& mesh) {
       throw_in_barrier(env, mesh, std::runtime_error("an exception of the program"));
     }},
    {"int_in_barrier", [](Environment& env, Grid const& mesh) { throw_in_barrier(env, mesh, 42); }},
    {"exception_in_all_reduce",
     [](Environment& env, Grid const& mesh) {
       if (env.rank() == 3) throw std::runtime_error("an exception of the program");
       all_reduce<Y>(full<float, Dim<I>, Unreduced<Y>>(mesh, {100}, 1.0f));
     }},
    {"exception_in_world",
     [](Environment& env, auto&) {
       if (env.rank() == 3) throw std::runtime_error("an exception of the program");
       MPI_Barrier(env.world());
     }},
    {"exception_everywhere",
     [](auto&, auto&) { throw std::runtime_error("an exception of the program"); }},
    {"rank_7_alone_shares",
     [](Environment& env, Grid const& mesh) {
       if (env.rank() == 7) throw Error("MINE", "an error of the program", FailedOn::every_rank);
       mesh.state().whole().barrier();
     }},
    {"terminate",
     [](Environment& env, Grid const& mesh) {
       if (env.rank() == 3) std::terminate();
       mesh.state().whole().barrier();
     }},
    {"id_outside",
     [](auto&, Grid const& mesh) {
       auto const ids = full<std::int32_t, Dim<I, X>>(mesh, {6}, 20);
       take<N>(full<float, Dim<N, Y>>(mesh, {20}, 1.0f), ids);
       throw std::runtime_error("the id was not seen");
     }},
    {"two_meshes",
     [](Environment& env, Grid const& mesh) {
       Grid const other(env.world());
       matmul(zeros<float, Dim<I, X>, Dim<J>>(mesh, {6, 9}),
              zeros<float, Dim<J>, Dim<K, Y>>(other, {9, 7}));
     }},
    {"item_outside",
     [](Environment& env, auto&) {
       Mesh<P> const half(env.world(), {4});
       item(full<float>(half, {}, 1.0f));
     }},
    {"write_shared",
     [](auto&, Grid const& mesh) {
       auto a = zeros<float, Dim<I, X>>(mesh, {9});
       auto const held = a;
       a.mutable_local();
     }},
    {"dropped_pending",
     [](auto&, Grid const& mesh) {
       auto const pending = start(op::AllGather<X>{}, zeros<float, Dim<I, X>>(mesh, {9}));
       static_cast<void>(pending);
     }},
    {"waited_twice",
     [](auto&, Grid const& mesh) {
       auto pending = start(op::AllGather<X>{}, zeros<float, Dim<I, X>>(mesh, {9}));
       auto const whole = std::move(pending).wait();
       auto const again = std::move(pending).wait();
     }},
    {"from_host",
     [](auto&, Grid const& mesh) {
       std::vector<float> const values(53);
       from_host<float, Dim<I, X>, Dim<J>>(mesh, {6, 9}, values);
     }},
    // rank 0 and the other even ranks do not take part
    {"sub_mesh",
     [](Environment& env, auto&) {
       Mesh<P> const small(env.world(), {4}, {7, 5, 3, 1});
       if (small.here()) zeros<float, Dim<N, P>>(small, {21});
       MPI_Barrier(env.world());
     }},
    // all ranks create the tensor, four are in the mesh
    {"around_a_sub_mesh",
     [](Environment& env, auto&) {
       Mesh<P> const small(env.world(), {4}, {7, 5, 3, 1});
       zeros<float, Dim<N, P>>(small, {21});
     }},
    {"memory",
     [](auto&, Grid const& mesh) {
       zeros<double, Dim<I, X>, Dim<J>>(mesh, {std::int64_t{1} << 28, std::int64_t{1} << 28});
     }},
    {"memory_of_result",
     [](auto&, Grid const& mesh) {
       broadcast<Dim<J>>(zeros<float, Dim<I, X>>(mesh, {2}), {std::int64_t{1} << 48});
     }},
    {"exit",
     [](Environment& env, Grid const& mesh) {
       if (env.rank() == 3) {
         std::fputs("rank 3 exits\n", stderr);
         std::exit(0);
       }
       mesh.state().whole().barrier();
     }},
    {"exit_everywhere",
     [](auto&, Grid const&) {
       std::puts("every rank exits");
       std::exit(0);
     }},
    {"returns",
     [](Environment& env, Grid const& mesh) {
       auto const part = full<float, Dim<I>, Unreduced<Y>>(mesh, {100}, 1.0f);
       if (env.rank() != 3) all_reduce<Y>(part);
     }},
    // the others use a second mesh, on which rank 3 ran fewer steps
    {"returns_from_the_second_mesh",
     [](Environment& env, Grid const& mesh) {
       Grid const other(env.world());
       auto const part = full<float, Dim<I>, Unreduced<Y>>(mesh, {100}, 1.0f);
       auto const apart = full<float, Dim<I>, Unreduced<Y>>(other, {100}, 1.0f);
       all_reduce<Y>(part);
       all_reduce<Y>(apart);
       if (env.rank() != 3) item(sum<I>(all_reduce<Y>(apart)));
     }},
    // late, but all ranks come: no error
    {"ends_late",
     [](Environment& env, Grid const& mesh) {
       all_reduce<Y>(full<float, Dim<I>, Unreduced<Y>>(mesh, {100}, 1.0f));
       if (env.rank() == 3) usleep(1500000);
     }},
    {"moved_from",
     [](auto&, Grid const& mesh) {
       auto a = zeros<float, Dim<I, X>>(mesh, {6});
       auto const b = std::move(a);
       sum<I>(a);
     }},
    {"moved_second",
     [](auto&, Grid const& mesh) {
       auto a = zeros<float, Dim<I, X>>(mesh, {6});
       auto b = a;
       auto const c = std::move(b);
       sum<I>(a + b);
     }},
    {"unequal_blocks",
     [](auto&, Grid const& mesh) {
       shard_map<Dim<I>>(
           [&](auto b) {
             return assume_invariant<X>(slice<I>(b, 0, mesh.coordinate<X>() + 1));
           },
           zeros<float, Dim<I, X>>(mesh, {6}));
     }},
    {"moved_local",
     [](auto&, Grid const& mesh) {
       auto a = zeros<float, Dim<I, X>>(mesh, {6});
       auto const b = std::move(a);
       static_cast<void>(a.local());
     }},
    {"moved_in_an_expression",
     [](auto&, Grid const& mesh) {
       auto a = zeros<float, Dim<I, X>>(mesh, {6});
       auto const b = std::move(a);
       Tensor<float, Dim<I, X>> const c = a * 2;
     }},
    {"extents_of_an_expression",
     [](auto&, Grid const& mesh) {
       auto const a = zeros<float, Dim<I, X>>(mesh, {6});
       auto const b = zeros<float, Dim<I, X>>(mesh, {7});
       Tensor<float, Dim<I, X>> c = zeros<float, Dim<I, X>>(mesh, {6});
       c = a + b;
     }},
    {"extents_in_place",
     [](auto&, Grid const& mesh) {
       auto a = zeros<float, Dim<I, X>>(mesh, {6});
       a += zeros<float, Dim<I, X>>(mesh, {7});
     }},
    {"shared_in_place",
     [](auto&, Grid const& mesh) {
       auto a = zeros<float, Dim<I, X>>(mesh, {6});
       auto const b = a;
       a -= 1;
     }},
    {"quick_exit",
     [](Environment& env, Grid const& mesh) {
       if (env.rank() == 3) std::quick_exit(0);
       mesh.state().whole().barrier();
     }},
    {"rows_outside",
     [](auto&, Grid const& mesh) {
       slice<I>(zeros<float, Dim<I>>(mesh, {6}), 4, 9);
     }},
    {"extents_of_three",
     [](auto&, Grid const& mesh) {
       auto const a = zeros<float, Dim<I>>(mesh, {6});
       stack<K>(a, a, zeros<float, Dim<I>>(mesh, {7}));
     }},
    {"killed",
     [](Environment& env, Grid const& mesh) {
       auto const a = all_reduce<Y>(full<float, Dim<I, X>, Unreduced<Y>>(mesh, {100}, 1.0f));
       if (env.rank() == 3) {
         ::usleep(500'000);  // until the others wait
         ::kill(::getpid(), SIGKILL);
       }
       all_gather<X>(a);
     }},
};

void run(int argc, char** argv, Case const& body) {
  Environment env(argc, argv);
  Grid const mesh(env.world());
  body(env, mesh);
}

}  // namespace

int main(int argc, char** argv) {
  std::string const name = argc > 1 ? argv[1] : "";
  if (name == "second_environment") {
    {
      Environment const first(argc, argv);
    }
    Environment const second(argc, argv);
  }
  if (name == "after_the_end" || name == "outlives") {
    std::optional<Tensor<float, Dim<I>>> a;
    {
      Environment env(argc, argv);
      Mesh<P> const mesh(env.world(), {env.size()});
      a = all_gather<P>(full<float, Dim<I, P>>(mesh, {6}, 1.0f));
    }
    Tensor<float, Dim<I>> const b = *a;
    if (name == "after_the_end") sum<I>(b);
    std::printf("%s\n", b.local().data()[5] == 1.0f ? "the block is there" : "wrong");
    return 0;
  }
  // caught outside of the Environment's scope, on one rank while the others wait, or on all ranks
  if (name == "caught_outside" || name == "caught_outside_everywhere") {
    try {
      run(argc, argv, [&](Environment& env, Grid const& mesh) {
        if (env.rank() == 3 || name != "caught_outside")
          throw Error("MINE", "rank " + std::to_string(env.rank()) + " threw");
        mesh.state().whole().barrier();
      });
    } catch (Error const& e) {
      std::fprintf(stderr, "caught: %s\n", e.what());
      return name == "caught_outside" ? 0 : 3;
    }
    return 0;
  }
  run(argc, argv, cases.at(name));
  std::puts("came to its end");
}
