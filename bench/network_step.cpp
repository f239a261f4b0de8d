// A training step of a GPT on ranks with a slow network between them
// (scripts/bench.d/network_step): 4 layers, 256 features, 8 heads, 64 positions, 128 bytes, float,
// AdamW with clipping. Data parallel, and with split parameters (FSDP).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

#include "gpt.hpp"
#include "paired.hpp"

using namespace shardtype;

namespace {

char const* const help =
    "bench_network_step [--case=data] [--sequences=16] [--rounds=9] [--label=TEXT]\n"
    "CASE is data or fsdp. Each round runs, in an order that rotates: the step with blocking\n"
    "reductions of gradients, with overlap_grad_reduce, and with join_grad_reduce; of fsdp with\n"
    "prefetch_layers that keeps what it gathered; this rank's part\n"
    "of the step alone, of its gradient, and of its loss (on a mesh of one rank each, all at "
    "once);\n"
    "and the communication alone: one AllReduce of all gradients, or one AllGather of all\n"
    "parameters and one ReduceScatter of all gradients. Last lines: value network_step\n"
    "CASE_SEQUENCES_WHAT RANKS MS (medians), and ratio network_step CASE_SEQUENCES_RATIO RANKS\n"
    "MEDIAN Q1 Q3 of the rounds: the step with the smallest median over\n"
    "  backward   forward + max(backward, communication)\n"
    "  update     the same and the optimizer's update, which needs all gradients\n"
    "  compute    max(compute, communication)\n"
    "and, of fsdp, prefetch_layers, which gathers twice and computes the forward pass again, over\n"
    "  prefetched max(that compute, its communication)\n";

struct X : Axis<"data"> {};
struct B : Index<"B"> {};       // sequences
struct S : Index<"S", 64> {};   // positions
struct V : Index<"V", 128> {};  // bytes
using train::Shardings;
using train::Split;

struct DataParallel {
  using Data = X;
  using Sequences = B;
  using Positions = S;
  using Bytes = V;
  using Parameters = Shardings<>;
  using Activations = Shardings<Split<B, X>>;
  using In = nn::Use<>;
};
struct SplitParameters : DataParallel {
  using Parameters = Shardings<Split<gpt::D, X>>;
};
template <class P>
using Gpt = gpt::Gpt<P, float>;

constexpr train::AdamW adam{{.rate = 1e-3, .decay = 0.1, .clip = 1}};
enum What {
  blocking,
  overlapped,
  joined,
  ahead,
  prefetched,
  compute,
  again,
  gradient,
  forward,
  moving
};
constexpr std::array<char const*, 10> names{
    "blocking", "overlapped",    "joined",   "ahead",   "prefetched",
    "compute",  "compute_again", "gradient", "forward", "communication"};
using Call = std::function<double()>;  // gives the loss

// Calls of one mesh, with a model and random bytes of their own.
template <class P>
class Trained {
  using Model = typename Gpt<P>::template Model<value_t>;
  using Ids = typename Gpt<P>::Ids;

 public:
  Trained(Mesh<X> const& mesh, std::int64_t sequences)
      : model_(train::initialize<Model>(mesh, RandomKey{5},
                                        [](std::string_view path, auto) {
                                          if (path.ends_with("gain")) return train::Initial::ones();
                                          return path.ends_with("bias") || path.ends_with("b1") ||
                                                         path.ends_with("b2")
                                                     ? train::Initial::zeros()
                                                     : train::Initial::normal(0.02);
                                        })),
        ids_(integers<Ids>(mesh, {sequences, 64}, RandomKey{11}, 0, 128)),
        targets_(integers<Ids>(mesh, {sequences, 64}, RandomKey{12}, 0, 128)) {}

  std::int64_t parameters() const { return train::parameters(model_); }
  double loss() const { return item(Gpt<P>::loss(model_, ids_, targets_)); }
  double gradient() const {
    return item(value_and_grad<0>(Gpt<P>::loss)(model_, ids_, targets_).value);
  }
  template <class Loss, class... Options>
  Call step(Loss loss, Options... options) {
    return [this, of = train::step(adam, value_and_grad<0>(loss, options...)),
            state = std::make_shared<decltype(adam.init(model_))>(adam.init(model_))] {
      return item(of(model_, *state, ids_, targets_).loss);
    };
  }

 private:
  Model model_;
  Ids ids_, targets_;
};

// One AllReduce of all gradients, or the gather and the sum of split parameters.
Call moved(Mesh<X> const& mesh, std::int64_t parameters, bool split) {
  std::int64_t const ranks = mesh.state().size();
  std::int64_t const part = parameters / ranks;
  auto const in = std::make_shared<HostArray<float>>(part * ranks);
  auto const out = std::make_shared<HostArray<float>>(part * ranks);
  runtime::Counts counts(static_cast<std::size_t>(ranks));
  counts.assign(counts.size(), part);
  return [=, &comm = mesh.state().whole()] {
    if (split) {
      comm.all_gather(in->data(), out->data(), counts);
      comm.reduce_scatter(in->data(), out->data(), counts, core::ReduceKind::sum);
    } else {
      comm.all_reduce(in->data(), out->data(), part * ranks, core::ReduceKind::sum);
    }
    return 0.0;
  };
}

template <class P>
void measure(Environment const& env, std::string const& name, std::int64_t sequences,
             std::int64_t rounds) {
  Mesh<X> const mesh(env.world(), {env.size()});
  Mesh<X> const self(MPI_COMM_SELF, {1});
  constexpr bool split = std::is_same_v<P, SplitParameters>;
  constexpr auto loss = Gpt<P>::loss;
  Trained<P> first(mesh, sequences), second(mesh, sequences), third(mesh, sequences);
  Trained<P> fourth(mesh, sequences), fifth(mesh, sequences), alone(self, sequences / env.size());
  std::array<Call, 10> calls{first.step(loss),
                             second.step(loss, overlap_grad_reduce),
                             third.step(loss, join_grad_reduce),
                             {},
                             {},
                             alone.step(loss),
                             {},
                             [&] { return alone.gradient(); },
                             [&] { return alone.loss(); },
                             moved(mesh, first.parameters(), split)};
  if constexpr (split) {
    calls[ahead] = fifth.step(Gpt<P>::ahead_loss, overlap_grad_reduce);
    calls[prefetched] = fourth.step(Gpt<P>::prefetched_loss, join_grad_reduce);
    calls[again] = alone.step(Gpt<P>::prefetched_loss, join_grad_reduce);
  }
  std::array<std::vector<double>, 10> seconds;
  std::array<double, 10> losses{};
  for (std::int64_t k = -2; k < rounds; ++k)
    for (std::size_t w = 0; w < calls.size(); ++w) {
      std::size_t const at = (w + static_cast<std::size_t>(k + 2)) % calls.size();
      if (!calls[at]) continue;
      double const took = timed([&] { losses[at] = calls[at](); });
      if (k >= 0) seconds[at].push_back(took);
    }
  std::size_t best = blocking;
  for (What const w : {overlapped, joined, ahead, prefetched}) {
    if (!calls[w]) continue;
    if (!(std::abs(losses[w] - losses[blocking]) <= 1e-3 * losses[blocking]))
      stop(std::string("another loss ") + names[w]);
    if (median(seconds[w]) < median(seconds[best])) best = w;
  }
  std::string const what = name + "_" + std::to_string(sequences);
  if (env.rank() == 0) {
    std::printf("%s: %lld parameters, loss %.5f\ntook %s %.2f\n", what.c_str(),
                static_cast<long long>(first.parameters()), losses[best], what.c_str(),
                1e3 * median(seconds[best]));
    for (std::size_t w = 0; w < calls.size(); ++w)
      if (calls[w])
        std::printf("value network_step %s_%s %d %.2f\n", what.c_str(), names[w], env.size(),
                    1e3 * median(seconds[w]));
  }
  std::vector<double> backward, update, most, most_again;
  for (std::size_t k = 0; k < seconds[best].size(); ++k) {
    double const moves = seconds[moving][k], forth = seconds[forward][k];
    double const back = seconds[gradient][k] - forth;
    backward.push_back(forth + std::max(back, moves));
    update.push_back(backward.back() + std::max(0.0, seconds[compute][k] - seconds[gradient][k]));
    most.push_back(std::max(seconds[compute][k], moves));
    if (split) most_again.push_back(std::max(seconds[again][k], 1.5 * moves));
  }
  auto const ratio = [&](std::size_t of, char const* over, std::vector<double> const& floor) {
    print_ratio("ratio", "network_step", what + "_" + over, env.size(),
                divided(seconds[of], floor));
  };
  ratio(best, "backward", backward);
  ratio(best, "update", update);
  ratio(best, "compute", most);
  if (split) ratio(prefetched, "prefetched", most_again);
}

}  // namespace

int main(int argc, char** argv) {
  if (asked_for_help(argc, argv, help)) return 0;
  Environment const env(argc, argv);
  std::string const name = option(argc, argv, "case", std::string("data"));
  std::int64_t const sequences = option(argc, argv, "sequences", 16);
  std::int64_t const rounds = option(argc, argv, "rounds", 9);
  if (name == "data") measure<DataParallel>(env, name, sequences, rounds);
  if (name == "fsdp") measure<SplitParameters>(env, name, sequences, rounds);
}
