// Two NumPy matrices multiplied on 8 ranks, in the four ways in which their shardings can meet.
//
//     mpiexec -n 8 matmul_npy A.npy B.npy -o C.npy
//
// NEEDS: CLI11
// TEST: none
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X", 8> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

namespace {

bool speaks = false;  // true on the one rank that prints

void say(std::string const& text) {
  if (speaks) std::fputs((text + "\n").c_str(), stdout), std::fflush(stdout);
}

// Prints the plan of a step and the largest difference between its result and that of the first
// case.
template <class C>
void report(std::string const& plan, C const& c, std::vector<float> const& reference) {
  double most = 0;
  std::vector<float> const values = to_host(c);
  for (std::size_t k = 0; k < values.size(); ++k)
    most = std::max(most, std::abs(double{values[k]} - double{reference[k]}));
  say(plan + "  result " + type_name(c) +
      ", largest difference from case 1: " + std::to_string(most) + "\n");
  if (most > 1e-2) throw Error("DEMO", "the cases disagree", FailedOn::every_rank);
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  CLI::App app(
      "Multiplies two .npy matrices (float32) on 8 ranks: mpiexec -n 8 matmul_npy A.npy B.npy "
      "-o C.npy");
  std::string a_path, b_path, c_path;
  app.add_option("A", a_path, "left matrix, I x J")->required();
  app.add_option("B", b_path, "right matrix, J x K")->required();
  app.add_option("-o,--output", c_path, "where the product goes");
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return env.rank() == 0 ? app.exit(e) : e.get_exit_code();
  }
  speaks = env.rank() == 0;
  Mesh<X> mesh(env.world());

  auto a1 = load_npy<float, Dim<I, X>, Dim<J>>(mesh, a_path);
  auto a2 = load_npy<float, Dim<I>, Dim<J, X>>(mesh, a_path);
  auto b1 = load_npy<float, Dim<J>, Dim<K>>(mesh, b_path);
  auto b3 = load_npy<float, Dim<J, X>, Dim<K>>(mesh, b_path);
  auto b4 = load_npy<float, Dim<J>, Dim<K, X>>(mesh, b_path);
  visualize(a2, "A");
  visualize(b3, "B");

  say("\nCase 1: J is split in neither. Nothing is sent.");
  auto c1 = matmul(a1, b1);
  auto const reference = to_host(c1);
  report(explain(op::Matmul<>{}, a1, b1), c1, reference);

  say("Case 2: J is split in A alone. AllGather A, then multiply.");
  auto a = all_gather<X>(a2);
  auto c2 = matmul(a, b1);
  report(explain(op::AllGather<X>{}, a2) + explain(op::Matmul<>{}, a, b1), c2, reference);

  say("Case 3: J is split alike in both. The product is an unreduced sum, {U:X}; name the\n"
      "result and it is reduced, by AllReduce or by ReduceScatter.");
  auto c3 = matmul<Dim<I>, Dim<K>>(a2, b3);
  report(explain(op::Matmul<Dim<I>, Dim<K>>{}, a2, b3), c3, reference);
  auto c = matmul<Dim<I>, Dim<K, X>>(a2, b3);
  report(explain(op::Matmul<Dim<I>, Dim<K, X>>{}, a2, b3), c, reference);

  say("Case 4: X would split both dims of the product. matmul(a1, b4) does not compile:");
  static_assert(!Contractible<decltype(a1), decltype(b4)>);
  say("  error: static assertion failed: [shardtype C04] a mesh axis would split two dims of the\n"
      "  product. all_gather one operand over it first (each rank receives the other blocks), or\n"
      "  name the result: matmul<Out>(a, b) gathers the one that the result does not keep.\n"
      "Named, it does:");
  auto c4 = matmul<Dim<I, X>, Dim<K>>(a1, b4);
  report(explain(op::Matmul<Dim<I, X>, Dim<K>>{}, a1, b4), c4, reference);

  if (!c_path.empty()) {
    save_npy(c, c_path);
    say("saved " + type_name(c) + " to " + c_path);
  }
}
