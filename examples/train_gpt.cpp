// A GPT learns a text, byte by byte: mpiexec -n 8 train_gpt corpus.txt --mesh 2x4. Parameters and
// the optimizer's state are split over the axis "data" (FSDP), heads, hidden features and bytes
// over "model"; the mesh's shape is an option, and a run that was stopped goes on with --run FOLDER
// on any other. What it writes there: checkpoints, losses.csv and losses.svg. At the end it
// continues the text. With --experts 4 --top-k 2 each layer has four gated networks in place of
// one, split over "data", and a router that sends each byte to two of them.
// RANKS: 4
// ARGS: --steps 3 --every 2 --mesh 2x2 --sample 4
// AGAIN: --steps 3 --every 2 --mesh 2x2 --sample 4 --experts 3 --top-k 2
// TIMEOUT: 300
// NEEDS: CLI11 JSON Random123
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <shardtype/checkpoint/checkpoint.hpp>
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>
#include <shardtype/visualize/curves.hpp>

using namespace shardtype;

struct X : Axis<"data"> {};
struct Y : Axis<"model"> {};
struct B : Index<"B", 8> {};    // sequences
struct S : Index<"S", 128> {};  // positions
struct D : Index<"D", 128> {};  // features
struct H : Index<"H", 8> {};    // heads
struct F : Index<"F", 16> {};   // features of a head
struct M : Index<"M", 512> {};  // hidden features
struct V : Index<"V", 256> {};  // bytes
struct E : Index<"E"> {};       // experts
constexpr int layers = 4;

template <class... Parts>
using T = Tensor<float, Parts...>;
using Ds = Dim<D, X>;
using Hs = Dim<H, Y>;
using Ms = Dim<M, Y>;
using Vs = Dim<V, Y>;
using Ids = Tensor<std::int64_t, Dim<B, X>, Dim<S>>;

template <template <class> class As>
struct Block {
  nn::Norm<As, T<Ds>> norm1;
  nn::Attention<As, T<Ds, Hs, Dim<F>>, T<Ds, Hs, Dim<F>>, T<Hs, Dim<F>, Ds>> attention;
  nn::Norm<As, T<Ds>> norm2;
  nn::Mlp<As, T<Ds, Ms>, T<Ms>, T<Ms, Ds>, T<Ds>> mlp;
};
template <template <class> class As>
struct ExpertBlock {
  nn::Norm<As, T<Ds>> norm1;
  nn::Attention<As, T<Ds, Hs, Dim<F>>, T<Ds, Hs, Dim<F>>, T<Hs, Dim<F>, Ds>> attention;
  nn::Norm<As, T<Ds>> norm2;
  As<T<Ds, Dim<E>>> router;
  nn::GatedMlp<As, T<Dim<E, X>, Dim<D>, Ms>, T<Dim<E, X>, Ms, Dim<D>>> experts;
};
template <template <template <class> class> class Layer>
struct Of {
  template <template <class> class As>
  struct Gpt {
    As<T<Vs, Ds>> table;
    std::array<Layer<As>, layers> blocks;
    nn::Norm<As, T<Ds>> norm;
  };
};
using Dense = Of<Block>::Gpt<value_t>;
using WithExperts = Of<ExpertBlock>::Gpt<value_t>;

// Parameters are gathered along "data" where they are used; activations are whole along "model".
constexpr nn::Use<Reduced<X>> use;
constexpr nn::Use<Reduced<Y>> whole;

// What a router is told, and the weights of its losses.
struct Routing {
  std::int64_t experts = 0, choices = 2;
  float balance = 0.01F, z = 0.001F;
};

auto attended(auto const& x, auto const& b) {
  auto const a = whole(nn::layer_norm<D>(x, b.norm1, use));
  auto const q = nn::rotary<S, F>(matmul(a, use(b.attention.q)));
  auto const k = nn::rotary<S, F>(matmul(a, use(b.attention.k)));
  auto const mixed = nn::attention(q, k, matmul(a, use(b.attention.v)));
  return (x + einsum<Dim<B, X>, Dim<S>, Dim<D>>(mixed, use(b.attention.out))).tensor();
}
template <class P>
concept Routed = requires(P const& p) { p.router; };
// The next activations.
auto block(auto const& x, auto const& b, Routing const&) {
  auto const y = attended(x, b);
  auto const c = whole(nn::layer_norm<D>(y, b.norm2, use));
  return std::pair((y + nn::mlp<Dim<B, X>, Dim<S>, Dim<D>>(c, b.mlp, use)).tensor(), std::tuple());
}
// The next activations, and how even the loads of experts are, the loss of large logits, and the
// loads.
auto block(auto const& x, Routed auto const& b, Routing const& routing) {
  auto const y = attended(x, b);
  auto const c = nn::layer_norm<D>(y, b.norm2, use);
  auto const logits = matmul(c, use(b.router));
  auto const routes = nn::router<E>(logits, routing.choices);
  // of each token every rank of "model" computes a part of the hidden features, of the same choices
  auto const weights = whole(routes.weights);
  nn::Routes<std::remove_cvref_t<decltype(routes.experts)>,
             std::remove_cvref_t<decltype(weights)>> const used{routes.experts, weights};
  auto const made = nn::moe<Dim<B, X>, Dim<S>, Dim<D>>(whole(c), used, b.experts);
  return std::pair((y + made).tensor(),
                   std::tuple(nn::load_balance_loss<E>(logits, routes), nn::z_loss<E>(logits),
                              nn::expert_load<E>(routes, routing.experts)));
}
// f32[B@data, S, V@model], and what blocks give beside activations, of each block.
auto forward(auto const& m, auto const& ids, Routing const& routing) {
  auto const table = use(m.table);
  auto [x, first] =
      block(nn::embedding<V, Dim<B, X>, Dim<S>, Dim<D>>(table, ids), m.blocks[0], routing);
  std::vector routers{first};
  for (std::size_t k = 1; k < layers; ++k) {
    auto const [next, of_router] = block(x, m.blocks[k], routing);
    x = next;
    routers.push_back(of_router);
  }
  auto const last = whole(nn::layer_norm<D>(x, m.norm, use));
  return std::pair(matmul(last, table), routers);
}
// The loss of training, and that of the text alone.
struct Loss {
  Routing routing;
  template <class Model>
  auto operator()(Model const& m, auto const& ids, auto const& targets) const {
    auto const [logits, routers] = forward(m, ids, routing);
    auto const of_text = nn::mean_cross_entropy<V, T<>>(logits, targets);
    if constexpr (Routed<std::remove_cvref_t<decltype(m.blocks[0])>>) {
      auto total = of_text;
      for (auto const& [balance, z, load] : routers)
        total = (total + (routing.balance / layers) * balance + (routing.z / layers) * z).tensor();
      return std::pair(total, of_text);
    } else {
      return std::pair(of_text, of_text);
    }
  }
};

// Of tokens held out: the loss, the mean of load_balance_loss, and the rows of the busiest expert
// of a layer over the mean of experts.
struct HeldOut {
  double loss = 0, balance = 0, busiest = 0;
};
template <class Model>
HeldOut evaluate_on(train::Tokens<Mesh<X, Y>> const& text, Model const& model,
                    Routing const& routing) {
  std::int64_t const batches = std::min<std::int64_t>(4, text.evaluation_batches<Ids>());
  HeldOut sum;
  for (std::int64_t k = 0; k < batches; ++k) {
    // docs: evaluation
    auto const [ids, targets] = text.evaluation<Ids>(k);  // the end of the file, in order
    // docs: end
    auto const [logits, routers] = forward(model, ids, routing);
    sum.loss += static_cast<double>(item(nn::mean_cross_entropy<V, T<>>(logits, targets)));
    if constexpr (Routed<std::remove_cvref_t<decltype(model.blocks[0])>>) {
      for (auto const& [balance, z, load] : routers) {
        sum.balance += static_cast<double>(item(balance)) / layers;
        double rows = 0, most = 0;
        for (std::int64_t const n : to_host(load)) {
          rows += static_cast<double>(n);
          most = std::max(most, static_cast<double>(n));
        }
        sum.busiest = std::max(sum.busiest, most * static_cast<double>(routing.experts) / rows);
      }
    }
  }
  if (batches == 0) return {std::nan(""), std::nan(""), std::nan("")};
  auto const n = static_cast<double>(batches);
  return {sum.loss / n, sum.balance / n, sum.busiest};
}

// Continues the first sequence of a batch. All ranks have the same logits and numbers, so they
// choose the same bytes.
template <class Model>
std::string continued(Mesh<X, Y> const& mesh, Model const& model, Routing const& routing,
                      std::string const& begin, int count, RandomKey const& key) {
  std::string out = begin;
  constexpr std::size_t window = 128;
  auto const numbers = to_host(uniform<double, Dim<M>>(mesh, key));
  for (int k = 0; k < count; ++k) {
    std::size_t const first = out.size() > window ? out.size() - window : 0;
    auto const ids = from_function<Ids>(mesh, [&](std::int64_t, std::int64_t s) {
      std::size_t const at = first + static_cast<std::size_t>(s);
      return static_cast<std::int64_t>(at < out.size() ? static_cast<unsigned char>(out[at]) : 0);
    });
    auto const place = static_cast<std::int64_t>(out.size() - first - 1);
    auto const row = to_host(at<S>(forward(model, ids, routing).first, place));
    constexpr double temperature = 0.7;
    double const top = *std::max_element(row.begin(), row.begin() + 256);
    std::array<double, 256> below{};
    double total = 0;
    for (std::size_t v = 0; v < 256; ++v)
      below[v] = total += std::exp((static_cast<double>(row[v]) - top) / temperature);
    double const drawn = numbers[static_cast<std::size_t>(k) % 512] * total;
    auto const* const found = std::upper_bound(below.begin(), below.end() - 1, drawn);
    out += static_cast<char>(found - below.begin());
  }
  return out;
}

// The losses of a run as a table and as a picture.
class Losses {
 public:
  // Steps after `last` were lost with the program that made them.
  Losses(std::string const& folder, std::int64_t last) : folder_(folder) {
    std::ifstream table(folder + "/losses.csv");
    std::string line;
    for (std::getline(table, line); std::getline(table, line);) {
      std::int64_t step = 0;
      double of_training = 0;
      double of_held_out = 0;
      if (std::sscanf(line.c_str(), "%ld,%lf,%lf", &step, &of_training, &of_held_out) == 3 &&
          step <= last)
        push(step, of_training, of_held_out);
    }
  }
  void add(std::int64_t step, double of_training, double of_held_out) {
    push(step, of_training, of_held_out);
    {
      std::ofstream table(folder_ + "/losses.csv.partial");
      table << "step,training,held out\n";
      for (std::size_t k = 0; k < training_.steps.size(); ++k)
        table << static_cast<std::int64_t>(training_.steps[k]) << ',' << training_.values[k] << ','
              << held_out_.values[k] << '\n';
    }
    std::filesystem::rename(folder_ + "/losses.csv.partial", folder_ + "/losses.csv");
    write_svg({training_, held_out_}, folder_ + "/losses.svg");
  }

 private:
  void push(std::int64_t step, double of_training, double of_held_out) {
    for (Curve* const curve : {&training_, &held_out_})
      curve->steps.push_back(static_cast<double>(step));
    training_.values.push_back(of_training);
    held_out_.values.push_back(of_held_out);
  }

  std::string folder_;
  Curve training_{"training", {}};
  Curve held_out_{"held out", {}};
};

struct Asked {
  std::string run = "run", prompt = "The ";
  std::int64_t steps = 300, every = 50;
  int sample = 200;
  double rate = 3e-3;
  bool speaks = false;  // on one rank
  Routing routing;
};

template <class Model>
void train_on(Mesh<X, Y> const& mesh, train::Tokens<Mesh<X, Y>> const& text, Asked const& asked) {
  bool const speaks = asked.speaks;
  RandomKey const key{5};
  auto model = train::initialize<Model>(
      mesh, key,
      [](std::string_view path, auto) {
        if (path.ends_with("gain")) return train::Initial::ones();
        return path.ends_with("bias") || path.ends_with("b1") || path.ends_with("b2")
                   ? train::Initial::zeros()
                   : train::Initial::normal(0.02);
      },
      train::Extent<E>{asked.routing.experts});
  Loss const loss{asked.routing};
  train::AdamW const adam{
      {.rate = train::Rate::cosine(asked.rate, 20, asked.steps, asked.rate / 10),
       .decay = 0.1,
       .decays = &train::matrices_decay,
       .clip = 1,
       .skip_not_finite = true},
      0.9,
      0.95};
  auto state = adam.init(model);
  std::int64_t first = 0;
  if (checkpoint::latest(mesh, asked.run)) first = checkpoint::load(asked.run, model, state).step;
  checkpoint::Saver saver(asked.run, {.keep = 2});
  Losses losses(asked.run, first);
  if (speaks)
    std::printf("%lld parameters, %lld bytes of text, mesh %lldx%lld, from step %lld\n",
                static_cast<long long>(train::parameters(model)),
                static_cast<long long>(text.size()),
                static_cast<long long>(mesh.template size_of<X>()),
                static_cast<long long>(mesh.template size_of<Y>()), static_cast<long long>(first));

  using Clock = std::chrono::steady_clock;
  auto const begin = Clock::now();
  double mean = 0;
  std::int64_t counted = 0;
  for (std::int64_t step = first; step < asked.steps; ++step) {
    // docs: batch
    auto const [ids, targets] = text.template batch<Ids>(step, key.fold_in(1));
    // docs: end
    auto const [value, gradient] = value_and_grad<0>(loss, has_aux)(model, ids, targets);
    adam.update(model, gradient, state);
    mean += static_cast<double>(item(value.second));
    ++counted;
    std::int64_t const done = step + 1;
    if (done % asked.every != 0 && done != asked.steps) continue;
    mean /= static_cast<double>(counted);
    HeldOut const held_out = evaluate_on(text, model, asked.routing);
    // before the checkpoint: what has none is dropped, should a rank die in between
    if (speaks) losses.add(done, mean, held_out.loss);
    saver.save(done, model, state);
    if (speaks) {
      double const seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      double const each = seconds / static_cast<double>(done - first);
      std::printf("step %5lld of %lld  loss %.4f  held out %.4f", static_cast<long long>(done),
                  static_cast<long long>(asked.steps), mean, held_out.loss);
      if (asked.routing.experts > 0)
        std::printf("  balance %.3f  busiest expert %.2f", held_out.balance, held_out.busiest);
      std::printf("  %.0f tokens/s  %.0f s left\n", 8 * 128 / each,
                  each * static_cast<double>(asked.steps - done));
      std::fflush(stdout);
    }
    mean = 0;
    counted = 0;
  }
  saver.wait();
  if (asked.sample > 0) {
    std::string const out =
        continued(mesh, model, asked.routing, asked.prompt, asked.sample, key.fold_in(2));
    if (speaks) std::printf("%s\n", out.c_str());
  }
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  CLI::App app("Trains a GPT on the bytes of a text: mpiexec -n 8 train_gpt corpus.txt --mesh 2x4");
  std::string corpus, shape;
  Asked asked;
  app.add_option("corpus", corpus, "a text; without it, one that is made here");
  app.add_option("--run", asked.run,
                 "folder of checkpoints and losses; a run that is there goes on");
  app.add_option("--steps", asked.steps, "steps in all");
  app.add_option("--every", asked.every, "steps between evaluations and checkpoints")
      ->check(CLI::PositiveNumber);
  app.add_option("--mesh", shape, "data x model, as 2x4; without it, all ranks along data");
  app.add_option("--rate", asked.rate, "largest rate");
  app.add_option("--prompt", asked.prompt, "a text to continue at the end");
  app.add_option("--sample", asked.sample, "bytes to continue it by");
  Routing& routing = asked.routing;
  app.add_option("--experts", routing.experts, "experts of a layer, in place of one network")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--top-k", routing.choices, "experts of a byte")->check(CLI::PositiveNumber);
  app.add_option("--balance", routing.balance, "weight of the loss of uneven loads");
  app.add_option("--z", routing.z, "weight of the loss of large logits of routers");
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return env.rank() == 0 ? app.exit(e) : e.get_exit_code();
  }
  bool const speaks = asked.speaks = env.rank() == 0;
  long data = env.size(), model_ranks = 1;
  if (!shape.empty() && std::sscanf(shape.c_str(), "%ldx%ld", &data, &model_ranks) != 2)
    throw Error("DEMO", "--mesh " + shape + " is no shape; write it as 2x4", FailedOn::every_rank);
  Mesh<X, Y> const mesh(env.world(), {data, model_ranks});

  if (routing.experts > 0 && routing.choices > routing.experts)
    throw Error("DEMO",
                "--top-k " + std::to_string(routing.choices) + " of --experts " +
                    std::to_string(routing.experts) + ": a byte goes to as many as there are",
                FailedOn::every_rank);

  bool const made = corpus.empty();
  if (made) corpus = "corpus.txt";
  if (speaks) {
    std::filesystem::create_directories(asked.run);
    if (made) {
      std::ofstream out(corpus);
      for (int k = 0; k < 2000; ++k)
        out << "The square of " << k % 97 << " is " << k % 97 * (k % 97) << ".\n";
    }
  }
  MPI_Barrier(env.world());
  // docs: text
  train::Tokens const text(mesh, corpus, {.held_out = 0.05});
  // docs: end

  if (asked.routing.experts > 0) {
    train_on<WithExperts>(mesh, text, asked);
  } else {
    train_on<Dense>(mesh, text, asked);
  }
  return 0;
}
