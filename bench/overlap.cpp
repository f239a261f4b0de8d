// Products whose communication is hidden behind them, against the same products one step after the other;
// and beside both the product alone and the communication alone, which are the floor.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "paired.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_overlap [--n=2048] [--rounds=9] [--form=FORM] [--label=TEXT]\n"
    "Products of n^3 float on all ranks. FORM: gather (A[I@X, J] B[J, K@X] -> [I, K@X]), "
    "gather_inner\n"
    "(A[I@X, J] B[J@X, K] -> [I@X, K]), scatter (A[I, J@X] B[J@X, K] -> [I@X, K]), reduce (-> [I, "
    "K]).\n"
    "Each round runs blocking, ring, bidirectional, automatic, the product alone and the "
    "communication\n"
    "alone, one after the other. Last lines: value overlap FORM_WHAT_TEXT RANKS MILLISECONDS "
    "(medians),\n"
    "and ratio overlap FORM_RATIO_TEXT RANKS MEDIAN Q1 Q3 of the rounds, where RATIO is "
    "WHAT_blocking, or\n"
    "WHAT_floor (over the longer of product and communication), bidirectional_ring, "
    "automatic_best.\n";

struct X : Axis<"X"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};

enum What { blocking, ring, bidirectional, automatic, product, communication, whats };
char const* const names[] = {"blocking",  "ring",    "bidirectional",
                             "automatic", "product", "communication"};

struct Form {
  std::string name;
  std::array<std::function<void()>, whats> run{};
  std::array<std::vector<double>, whats> seconds{};
};

template <class... Dims>
auto random_like(Mesh<X> const& mesh, std::int64_t n) {
  return from_function<float, Dims...>(mesh, {n, n}, [](std::int64_t i, std::int64_t j) {
    return static_cast<float>((i * 13 + j * 7) % 31) / 31.0f - 0.5f;
  });
}

// The four ways of one product, which all give the same.
template <class... Out, class A, class B>
void four_ways(Form& form, A const& a, B const& b) {
  auto const expected = matmul<Out...>(a, b);
  Overlap const how[] = {Overlap::none, Overlap::ring, Overlap::bidirectional, Overlap::automatic};
  for (int w = blocking; w <= automatic; ++w) {
    Overlap const overlap = how[w];
    auto const got = matmul<Out...>(a, b, overlap);
    float worst = 0;
    for (std::int64_t k = 0; k < got.local_size(); ++k)
      worst = std::max(worst, std::abs(got.local().data()[k] - expected.local().data()[k]));
    if (!(worst < 1e-2f)) stop(form.name + " " + names[w] + " differs by " + std::to_string(worst));
    form.run[static_cast<std::size_t>(w)] = [a, b, overlap] {
      benchmark::DoNotOptimize(matmul<Out...>(a, b, overlap).local_size());
    };
  }
}

template <class F>
std::function<void()> kept(F f) {
  return [f] { benchmark::DoNotOptimize(f().local_size()); };
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment env(argc, argv);
  std::int64_t const n = option(argc, argv, "n", 2048);
  std::int64_t const rounds = option(argc, argv, "rounds", 9);
  std::string const only = option(argc, argv, "form", "");
  std::string label = option(argc, argv, "label", "");
  if (!label.empty()) label = "_" + label;
  Mesh<X> const mesh(env.world(), {env.size()});

  std::vector<Form> forms;
  auto const wanted = [&](std::string const& name) { return only.empty() || only == name; };
  if (wanted("gather")) {
    auto const a = random_like<Dim<I, X>, Dim<J>>(mesh, n);
    auto const b = random_like<Dim<J>, Dim<K, X>>(mesh, n);
    Form& form = forms.emplace_back(Form{"gather"});
    four_ways<Dim<I>, Dim<K, X>>(form, a, b);
    auto const whole = all_gather<X>(a);
    form.run[product] = kept([=] { return matmul(whole, b); });
    form.run[communication] = kept([=] { return all_gather<X>(a); });
  }
  if (wanted("gather_inner")) {
    auto const a = random_like<Dim<I, X>, Dim<J>>(mesh, n);
    auto const b = random_like<Dim<J, X>, Dim<K>>(mesh, n);
    Form& form = forms.emplace_back(Form{"gather_inner"});
    four_ways<Dim<I, X>, Dim<K>>(form, a, b);
    auto const whole = all_gather<X>(b);
    form.run[product] = kept([=] { return matmul(a, whole); });
    form.run[communication] = kept([=] { return all_gather<X>(b); });
  }
  auto const left = random_like<Dim<I>, Dim<J, X>>(mesh, n);
  auto const right = random_like<Dim<J, X>, Dim<K>>(mesh, n);
  auto const owed = matmul(left, right);
  if (wanted("scatter")) {
    Form& form = forms.emplace_back(Form{"scatter"});
    four_ways<Dim<I, X>, Dim<K>>(form, left, right);
    form.run[product] = kept([=] { return matmul(left, right); });
    form.run[communication] = kept([=] { return reduce_scatter<X, I>(owed); });
  }
  if (wanted("reduce")) {
    Form& form = forms.emplace_back(Form{"reduce"});
    four_ways<Dim<I>, Dim<K>>(form, left, right);
    form.run[product] = kept([=] { return matmul(left, right); });
    form.run[communication] = kept([=] { return all_reduce<X>(owed); });
  }

  for (Form& form : forms)
    for (std::int64_t round = -1; round < rounds; ++round)  // the first warms up
      for (int k = 0; k < whats; ++k) {
        auto const w = static_cast<std::size_t>((k + std::max<std::int64_t>(round, 0)) % whats);
        double const t = timed(form.run[w]);
        if (round >= 0) form.seconds[w].push_back(t);
      }
  for (Form const& form : forms) {
    auto const& s = form.seconds;
    if (env.rank() == 0)
      for (int w = 0; w < whats; ++w)
        std::printf("value overlap %s_%s%s %d %.2f\n", form.name.c_str(), names[w], label.c_str(),
                    env.size(), 1e3 * median(s[static_cast<std::size_t>(w)]));
    std::vector<double> floor, best;
    for (std::size_t k = 0; k < s[0].size(); ++k) {
      floor.push_back(std::max(s[product][k], s[communication][k]));
      best.push_back(std::min({s[blocking][k], s[ring][k], s[bidirectional][k]}));
    }
    auto const ratio = [&](std::string const& what, std::vector<double> const& a,
                           std::vector<double> const& b) {
      print_ratio("ratio", "overlap", form.name + "_" + what + label, env.size(), divided(a, b));
    };
    for (What w : {ring, bidirectional, automatic})
      ratio(std::string(names[w]) + "_blocking", s[w], s[blocking]);
    ratio("ring_floor", s[ring], floor);
    ratio("bidirectional_ring", s[bidirectional], s[ring]);
    ratio("automatic_best", s[automatic], best);
  }
  return 0;
}
