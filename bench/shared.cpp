// Products on one node: every policy of Overlap, the product without communication, and for the
// gathers a hand-written program with MPI_Allgather and sgemm_.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "forms.hpp"
#include "paired.hpp"
#include "sgemm.hpp"
#include "yield.hpp"

using namespace shardtype;
using namespace forms;

namespace {

char const* const help =
    "bench_shared [--sizes=256,512,1024,2048,4096] [--rounds=11] [--form=FORM]\n"
    "Products of n^3 float on all ranks of one node, in the forms of bench_overlap. Last lines: "
    "ratio "
    "shared\n"
    "FORM_N_RATIO RANKS MEDIAN Q1 Q3 of the rounds, where RATIO is automatic_best (over the best "
    "policy's\n"
    "median), WHAT_product (over the product without communication), or hand_written_product.\n";

/// One blocking collective and one sgemm_, with buffers that are allocated once; the number of
/// ranks divides n.
std::function<void()> hand_written(std::string const& form, std::int64_t n) {
  std::int64_t const p = ranks_here();
  auto const mine = std::make_shared<HostArray<float>>(n * n / p);
  auto const other = std::make_shared<HostArray<float>>(n * n / p);
  auto const whole = std::make_shared<HostArray<float>>(n * n);
  auto const c = std::make_shared<HostArray<float>>(n * n / p);
  bool const free_dim = form == "gather";
  return [=] {
    auto const count = static_cast<int>(n * n / p);
    yield_in_mpi = shardtype::runtime::run_time.yield_while_waiting;
    MPI_Allgather(mine->data(), count, MPI_FLOAT, whole->data(), count, MPI_FLOAT, MPI_COMM_WORLD);
    yield_in_mpi = false;
    if (free_dim)
      sgemm(n, n / p, n, whole->data(), other->data(), c->data());
    else
      sgemm(n / p, n, n, other->data(), whole->data(), c->data());
  };
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  std::int64_t const rounds = option(argc, argv, "rounds", 11);
  std::istringstream sizes(option(argc, argv, "sizes", "256,512,1024,2048,4096"));
  Mesh<X> const mesh(env.world(), {env.size()});

  for (std::string size; std::getline(sizes, size, ',');) {
    std::int64_t const n = std::stoll(size);
    for (Form& form : make(mesh, n, option(argc, argv, "form", ""))) {
      bool const gathers = form.name.starts_with("gather") && n % env.size() == 0;
      if (gathers) form.run[communication] = hand_written(form.name, n);
      // smaller products run more often
      measure(form, std::max<std::int64_t>(rounds, rounds * (1024 * 1024) / (n * n)));
      auto const& s = form.seconds;
      auto const ratio = [&](std::string const& what, std::vector<double> const& a,
                             std::vector<double> const& b) {
        print_ratio("ratio", "shared", form.name + "_" + size + "_" + what, env.size(),
                    divided(a, b));
      };
      ratio("automatic_best", s[automatic], best_of(form, {blocking, ring, bidirectional, shared}));
      for (What w : {blocking, shared}) ratio(std::string(names[w]) + "_product", s[w], s[product]);
      if (gathers) ratio("hand_written_product", s[communication], s[product]);
    }
  }
  return 0;
}
