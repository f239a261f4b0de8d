// Products that overlap with their communication, against the same products without overlap. The
// product alone and the communication alone are the lower bounds.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "forms.hpp"
#include "paired.hpp"

using namespace shardtype;
using namespace forms;

namespace {

char const* const help =
    "bench_overlap [--n=2048] [--rounds=9] [--form=FORM] [--label=TEXT]\n"
    "Products of n^3 float on all ranks. FORM: gather (A[I@X, J] B[J, K@X] -> [I, K@X]), "
    "gather_inner\n"
    "(A[I@X, J] B[J@X, K] -> [I@X, K]), scatter (A[I, J@X] B[J@X, K] -> [I@X, K]), reduce (-> [I, "
    "K]).\n"
    "Each round runs blocking, ring, bidirectional, shared, automatic, the product alone and the\n"
    "communication alone, one after the other. Last lines: value overlap FORM_WHAT_TEXT RANKS "
    "MILLISECONDS\n"
    "(medians), and ratio overlap FORM_RATIO_TEXT RANKS MEDIAN Q1 Q3 of the rounds, where RATIO "
    "is\n"
    "WHAT_blocking, WHAT_floor (over the longer of product and communication), "
    "bidirectional_ring, or\n"
    "automatic_best.\n";

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  std::int64_t const n = option(argc, argv, "n", 2048);
  std::int64_t const rounds = option(argc, argv, "rounds", 9);
  std::string label = option(argc, argv, "label", "");
  if (!label.empty()) label = "_" + label;
  Mesh<X> const mesh(env.world(), {env.size()});

  for (Form& form : make(mesh, n, option(argc, argv, "form", ""))) {
    measure(form, rounds);
    auto const& s = form.seconds;
    if (env.rank() == 0)
      for (int w = 0; w < whats; ++w)
        std::printf("value overlap %s_%s%s %d %.2f\n", form.name.c_str(), names[w], label.c_str(),
                    env.size(), 1e3 * median(s[static_cast<std::size_t>(w)]));
    std::vector<double> floor;
    for (std::size_t k = 0; k < s[0].size(); ++k)
      floor.push_back(std::max(s[product][k], s[communication][k]));
    auto const ratio = [&](std::string const& what, std::vector<double> const& a,
                           std::vector<double> const& b) {
      print_ratio("ratio", "overlap", form.name + "_" + what + label, env.size(), divided(a, b));
    };
    for (What w : {ring, bidirectional, automatic})
      ratio(std::string(names[w]) + "_blocking", s[w], s[blocking]);
    ratio("ring_floor", s[ring], floor);
    ratio("bidirectional_ring", s[bidirectional], s[ring]);
    ratio("automatic_best", s[automatic], best_of(form, {blocking, ring, bidirectional}));
  }
  return 0;
}
