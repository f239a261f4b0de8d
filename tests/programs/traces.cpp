// Evaluates expressions, or with `calls` calls operations; check_traced.py checks the records of
// SHARDTYPE_TRACE. Rank 0 prints the number of steps of each run.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <shardtype/pipeline/pipeline.hpp>
#include <shardtype/shardtype.hpp>

#include "../harness/host_block.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

template <class... Out, class M, class E>
void tell(Environment const& env, M const& mesh, E const& e) {
  auto const text = explain(evaluate_to<Out...>, mesh, e);
  auto const steps = planned(evaluate_to<Out...>, mesh, e).plan;
  int ran = 0;
  for (planning::ProgramStep const& s : steps)
    ran += s.kind == planning::ProgramStep::Kind::given ? 0 : 1;
  if (env.rank() == 0) std::printf("run %d\n%s", ran, text.c_str());
}
template <class... Out, class M, class E>
auto run(Environment const& env, M const& mesh, E const& e) {
  tell<Out...>(env, mesh, e);
  return evaluate<Out...>(mesh, e);
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {env.size()});
  auto const a = full<float, Dim<I, X>, Dim<J>>(mesh, {37, 20}, 1);
  // strict and manual calls and both passes of a gradient
  if (argc > 1 && std::string(argv[1]) == "calls") {
    auto const even = full<float, Dim<I, X>, Dim<J>>(mesh, {36, 20}, 1);
    static_cast<void>(all_gather<X>(even));
    static_cast<void>(
        shard_map<Dim<I>, Dim<J>>([](auto const& x) { return all_gather<X, I>(x); }, even));
    static_cast<void>(
        value_and_grad<0>([](auto const& x) { return all_reduce<X>(sum(tanh(x))); })(even));
    // three microbatches of two rows in a pipeline
    auto const stage = [](auto const& x, auto const& w) { return x * at<K>(w, 0); };
    auto const loss = [](auto const& x, auto const& y) { return sum(x * y); };
    auto const rows = full<float, Dim<I>, Dim<J>>(mesh, {3, 2}, 1);
    auto const gains = full<float, Dim<K, X>, Dim<J>>(mesh, {env.size(), 2}, 1);
    static_cast<void>(shard_map<Outs<Tensor<float>, Tensor<float, Dim<K, X>, Dim<J>>>>(
        pipeline::value_and_grad<X, I>(pipeline::gpipe(env.size(), 3), stage, loss), rows, rows,
        gains));
    return 0;
  }
  auto const b = full<float, Dim<J, X>, Dim<K>>(mesh, {20, 11}, 2);
  auto const c = full<float, Dim<I, X>, Dim<J>>(mesh, {9, 20}, 3);
  bool good = true;
  for (int turn = 0; turn < 3; ++turn) {
    auto const r = run<Dim<I, X>, Dim<K>>(env, mesh, lazy(a) * lazy(b));
    auto const block = harness::host_block(r);
    for (std::int64_t k = 0; k < r.local_size(); ++k) good = good && block.data()[k] == 40;
    // other sizes of the same type, and another type of the same sizes
    static_cast<void>(run<Dim<I, X>, Dim<K>>(env, mesh, lazy(c) * lazy(b)));
    static_cast<void>(run<Dim<I>, Dim<K, X>>(env, mesh, exp(lazy(c) * lazy(b))));
  }
  // the line of a function of expressions is the program's, too
  auto const f = [](auto p, auto q) { return exp(p * q); };
  tell<Dim<I>, Dim<K, X>>(env, mesh, f(lazy(a), lazy(b)));
  static_cast<void>(evaluate<Dim<I>, Dim<K, X>>(mesh, f, a, b));
  // ranks outside of a mesh evaluate nothing
  Mesh<X> const first(env.world(), {1});
  auto const d = zeros<double, Dim<I, X>>(first, {5});
  static_cast<void>(run<>(env, first, sum(lazy(d))));
  if (argc > 1 && std::string(argv[1]) == "throws") throw Error("MINE", "an error of the program");
  if (env.rank() == 0) std::printf("%s\n", good ? "came to its end" : "wrong");
}
