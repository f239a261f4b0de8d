// Rank 3 of 8 disagrees with the others under SHARDTYPE_CHECK=agree; the argument selects the case
// (CMakeLists.txt, by lines of this file). Each collective of a case is on its own line.
// SOURCES: tests/harness/yield.cpp
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>

#include <shardtype/checkpoint/checkpoint.hpp>
#include <shardtype/shardtype.hpp>
using namespace shardtype;

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct P : Axis<"P"> {};
struct I : Index<"I"> {};

namespace {

using Grid = Mesh<X, Y>;
using Case = std::function<void(Environment&, std::optional<Grid>&, bool odd)>;

auto unreduced(Grid const& mesh) { return full<float, Dim<I>, Unreduced<Y>>(mesh, {100}, 1.0f); }
auto split(Grid const& mesh) { return full<float, Dim<I, X>>(mesh, {100}, 1.0f); }

void sleep_for(int seconds) { std::this_thread::sleep_for(std::chrono::seconds(seconds)); }

std::map<std::string, Case> const cases = {
    {"skips",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       all_gather<X>(split(*mesh));
       if (!odd) all_reduce<Y>(unreduced(*mesh));
       all_gather<X>(split(*mesh));
     }},
    {"skips_the_last",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       all_gather<X>(split(*mesh));
       if (!odd) all_reduce<Y>(unreduced(*mesh));
     }},
    {"calls_another",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       if (odd) {
         all_gather<X>(split(*mesh));
       } else {
         all_reduce<Y>(unreduced(*mesh));
       }
     }},
    {"other_extent",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       all_gather<X>(full<float, Dim<I, X>>(*mesh, {odd ? 90 : 100}, 1.0f));
     }},
    {"item_against_reduce",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       auto const one = full<float>(*mesh, {}, 1.0f);
       if (odd) item(one);
       all_reduce<Y>(unreduced(*mesh));
     }},
    {"destroys_its_mesh",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       all_gather<X>(split(*mesh));
       if (odd) mesh.reset();
       if (odd) sleep_for(60);
       all_reduce<Y>(unreduced(*mesh));
     }},
    {"leaves_by_exception",
     [](Environment& env, std::optional<Grid>&, bool odd) {
       try {
         Grid const inner(env.world());
         if (odd) throw std::runtime_error("caught");
         all_reduce<Y>(unreduced(inner));
       } catch (std::exception const&) {
       }
     }},
    {"hangs",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       all_gather<X>(split(*mesh));
       if (odd) sleep_for(60);
       all_reduce<Y>(unreduced(*mesh));
     }},
    {"throws",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       all_gather<X>(split(*mesh));
       if (odd) throw std::runtime_error("an exception of the program");
       all_reduce<Y>(unreduced(*mesh));
     }},
    {"other_mesh",
     [](Environment& env, std::optional<Grid>& mesh, bool odd) {
       Grid const other(env.world());
       all_gather<X>(split(*mesh));
       all_gather<X>(split(odd ? other : *mesh));
     }},
    {"reversed_ranks",
     [](Environment& env, std::optional<Grid>&, bool odd) {
       Mesh<P> const line(env.world(), {4}, {5, 3, 1, 0});
       auto const a = full<float, Dim<I, P>>(line, {8}, 1.0f);
       if (!odd) all_gather<P>(a);
     }},
    {"skips_in_manual_mode",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       (void)shard_map<Dim<I>>(
           [&](auto a) {
             auto const b = odd ? full_local<float, Dim<I>>({100}, 0.0f) : all_gather<X, I>(a);
             return all_reduce<Y>(varying<Y>(b));
           },
           split(*mesh));
     }},
    {"another_group",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       (void)shard_map<Dim<I>>(*mesh, [&] {
         auto const a = full_local<float, Dim<I>>({7}, 1.0f);
         if (odd) return all_reduce<X>(varying<X>(a));
         return all_reduce<Y>(varying<Y>(a));
       });
     }},
    {"other_outputs",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       (void)shard_map<Dim<I, X, Y>>(
           *mesh, [&] { return full_local<float, Dim<I>>({odd ? 3 : 4}, 1.0f); });
     }},
    {"differs_in_a_gradient",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       auto const a = full<float, Dim<I, X>>(*mesh, {3}, 1.0f);
       (void)grad<0>([&](auto const& v) { return odd ? sum(v) : sum(exp(v)); })(a);
     }},
    {"skips_a_gradient",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       auto const w = full<float, Dim<I>>(*mesh, {100}, 1.0f);
       (void)grad<0>([&](auto const& v) {
         auto const loss = sum(reduced<Y>(v));
         return odd ? decltype(loss)(stop_gradient(loss)) : loss;
       })(w);
     }},
    {"rolls_against_flips",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       auto const a = full<float, Dim<I>>(*mesh, {3}, 1.0f);
       (void)grad<0>([&](auto const& v) { return sum(odd ? roll<I>(v, 1) : flip<I>(v)); })(a);
     }},
    {"constant_in_a_gradient",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       struct J : Index<"J"> {};
       auto const a = full<float, Dim<I>>(*mesh, {3}, 1.0f);
       (void)grad<0, 1>([&]<class A>(A const& v, A const& u) {
         return sum(stack<J>(v, odd ? A(u.value()) : u));
       })(a, a);
     }},
    {"other_extent_in_a_gradient",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       auto const a = full<float, Dim<I>>(*mesh, {odd ? 3 : 4}, 1.0f);
       (void)grad<0>([](auto const& v) { return sum(flip<I>(v)); })(a);
     }},
    {"differs_in_an_inner_gradient",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       auto const a = full<float, Dim<I>>(*mesh, {3}, 1.0f);
       (void)grad<0>([&](auto const& v) {
         auto const inner = [&](auto const& u) { return sum(odd ? roll<I>(u, 1) : flip<I>(u)); };
         return sum(v) + sum(stop_gradient(grad<0>(inner)(v)));
       })(a);
     }},
    {"skips_a_gradient_by_hand",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       auto const twice = custom_vjp([](auto const& v) { return v * 2.0f; },
                                     [](auto const& v) { return std::pair(v * 2.0f, 0); },
                                     [](int, auto const& ct) { return ct * 2.0f; });
       (void)grad<0>([&](auto const& v) {
         return sum(odd ? flip<I>(v) : twice(flip<I>(v)));
       })(full<float, Dim<I>>(*mesh, {3}, 1.0f));
     }},
    {"other_shift",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       shift<I>(split(*mesh), odd ? 2 : 1);
     }},
    {"other_running_values",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       odd ? cummax<I>(split(*mesh)) : cumsum<I>(split(*mesh));
     }},
    {"exclusive_running_values",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       cumsum<I>(split(*mesh), odd ? op::Cumulate::exclusive : op::Cumulate::inclusive);
     }},
    {"skips_a_product",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       struct J : Index<"J"> {};
       struct K : Index<"K"> {};
       auto const a = full<float, Dim<I, X>, Dim<J>>(*mesh, {100, 4}, 1.0f);
       auto const b = full<float, Dim<J>, Dim<K>>(*mesh, {4, 3}, 1.0f);
       if (!odd) matmul<Dim<I>, Dim<K>>(a, b, Overlap::shared);
     }},
    {"skips_a_function_of_expressions",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       auto const a = split(*mesh);
       auto const f = [](auto b) { return exp(b); };
       if (!odd) evaluate<Dim<I>>(*mesh, f, a);
     }},
    {"skips_results_of_a_function",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       using A = Tensor<float, Dim<I>>;
       auto const f = [](auto b, auto c) { return std::tuple(exp(b), b + c); };
       if (!odd) evaluate<Outs<A, A>>(*mesh, f, split(*mesh), split(*mesh));
     }},
    {"skips_a_product_of_three",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       struct J : Index<"J"> {};
       struct K : Index<"K"> {};
       auto const a = full<float, Dim<I, X>, Dim<J>>(*mesh, {100, 4}, 1.0f);
       auto const b = full<float, Dim<J>, Dim<K>>(*mesh, {4, 3}, 1.0f);
       if (!odd) einsum<Dim<I>>(a, b, full<float, Dim<K>>(*mesh, {3}, 1.0f));
     }},
    {"skips_a_named_map",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       if (!odd) map<Dim<I>>(functions::Add{}, split(*mesh), split(*mesh));
     }},
    {"hangs_after_a_gradient",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       struct J : Index<"J"> {};
       auto const x = full<float, Dim<J, X>, Dim<I>>(*mesh, {4, 100}, 1.0f);
       (void)grad<0>([&](auto const& v) {
         auto const w = all_gather<X>(v, to_reduced);
         return sum(x * w);
       })(split(*mesh));
       if (odd) sleep_for(60);
       all_reduce<Y>(unreduced(*mesh));
     }},
    {"differs_in_a_matrix_gradient",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       auto const a = full<float, Dim<I>>(*mesh, {3}, 1.0f);
       (void)grad<0>([&](auto const& v) {
         auto const u = exp(v) * v;
         return odd ? sum(v) : sum(u);
       })(a);
     }},
    {"prints_against_reduce",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       if (odd) print(full<float>(*mesh, {}, 1.0f));
       all_reduce<Y>(unreduced(*mesh));
     }},
    {"saves_other_extents",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       save_npy(full<float, Dim<I, X>>(*mesh, {odd ? 90 : 100}, 1.0f), "/dev/null");
     }},
    {"saves_another_file",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       save_npy(split(*mesh), odd ? "of\x1b" "c.npy" : "a.npy");
     }},
#ifdef SHARDTYPE_HAVE_JSON
    {"saves_another_state",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       auto const model = split(*mesh);
       auto state = train::Sgd{{.rate = 0.1}}.init(model);
       if (odd) ++state.step;
       checkpoint::save("/dev/null/run", 7, model, state);
     }},
    {"saves_another_extra",
     [](Environment&, std::optional<Grid>& mesh, bool odd) {
       checkpoint::save("/dev/null/run", 7, split(*mesh), {{"epoch", odd ? 4 : 3}});
     }},
#endif
};

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  std::optional<Grid> mesh(env.world());
  bool const odd = env.rank() == 3;
  cases.at(argc > 1 ? argv[1] : "")(env, mesh, odd);
  mesh.reset();
  std::puts("came to its end");
}
