// Generates text with a GPT-2 or a Llama from a folder as Hugging Face writes it: config.json and
// safetensors files in their names and layouts. Heads, hidden features and the vocabulary are split
// over the ranks (tensor parallelism), and a cache has the keys and values of all positions. The
// text is token ids:
//
//     mpiexec -n 4 generate FOLDER --ids 464,3290 --new 20 --temperature 0.8 --top-k 40 --top-p 0.9
//
// A temperature of 0 takes the most probable token. --logits 1 prints the logits of each step.
// NEEDS: JSON Random123
// TEST: none
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <shardtype/checkpoint/checkpoint.hpp>
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;

struct Y : Axis<"model"> {};
struct B : Index<"B"> {};  // texts
struct S : Index<"S"> {};  // positions of one call
struct K : Index<"K"> {};  // positions of the cache
struct P : Index<"P"> {};  // positions that the model knows
struct D : Index<"D"> {};  // features
struct H : Index<"H"> {};  // heads
struct G : Index<"G"> {};  // heads of keys and values
struct F : Index<"F"> {};  // features of a head
struct Q : Index<"Q"> {};  // queries, keys and values
struct M : Index<"M"> {};  // hidden features
struct V : Index<"V"> {};  // vocabulary
struct R : Index<"R"> {};  // tokens by their probability

using Rules = train::Shardings<train::Split<H, Y>, train::Split<G, Y>, train::Split<M, Y>,
                               train::Split<V, Y>>;
template <class... Is>
using T = train::Placed<Rules, float, Is...>;
using Ids = Tensor<std::int64_t, Dim<B>, Dim<S>>;

// docs: model
template <template <class> class As>
struct Gpt2Block {
  nn::Norm<As, T<D>> ln_1;
  nn::FusedAttention<As, T<D, Q, H, F>, T<H, F, D>, T<Q, H, F>, T<D>> attn;
  nn::Norm<As, T<D>> ln_2;
  nn::Mlp<As, T<D, M>, T<M>, T<M, D>, T<D>> mlp;
};
template <template <class> class As>
struct Gpt2 {
  As<T<V, D>> wte;
  As<T<P, D>> wpe;
  std::vector<Gpt2Block<As>> h;
  nn::Norm<As, T<D>> ln_f;
};
// docs: end

// Hugging Face has the weights of a Llama as [out, in], so these dims are in that order.
template <template <class> class As>
struct LlamaBlock {
  As<T<D>> input_layernorm;
  nn::Attention<As, T<H, F, D>, T<G, F, D>, T<D, H, F>> self_attn;
  As<T<D>> post_attention_layernorm;
  nn::GatedMlp<As, T<M, D>, T<D, M>> mlp;
};
template <template <class> class As>
struct Llama {
  As<T<V, D>> embed_tokens;
  std::vector<LlamaBlock<As>> layers;
  As<T<D>> norm;
  As<T<V, D>> lm_head;
};

// docs: names
// The end of a path of ours, the name that Hugging Face has for it, and how many of our
// neighbouring dims are one dim there.
struct Name {
  std::string_view ours, theirs;
  std::vector<int> merged{};
};
std::vector<Name> const gpt2_names{{".attn.qkv", ".attn.c_attn.weight", {1, 3}},
                                   {".attn.qkv_bias", ".attn.c_attn.bias", {3}},
                                   {".attn.out", ".attn.c_proj.weight", {2, 1}},
                                   {".attn.out_bias", ".attn.c_proj.bias"},
                                   {".mlp.w1", ".mlp.c_fc.weight"},
                                   {".mlp.b1", ".mlp.c_fc.bias"},
                                   {".mlp.w2", ".mlp.c_proj.weight"},
                                   {".mlp.b2", ".mlp.c_proj.bias"},
                                   {".gain", ".weight"},
                                   {"wte", "wte.weight"},
                                   {"wpe", "wpe.weight"}};
checkpoint::NameInFile name_in(std::vector<Name> const& names, std::string_view path) {
  for (Name const& n : names)
    if (path.ends_with(n.ours))
      return {std::string(path.substr(0, path.size() - n.ours.size())) + std::string(n.theirs),
              false, n.merged};
  return {std::string(path)};
}
// docs: end
std::vector<Name> const llama_names{{".self_attn.q", ".self_attn.q_proj.weight", {2, 1}},
                                    {".self_attn.k", ".self_attn.k_proj.weight", {2, 1}},
                                    {".self_attn.v", ".self_attn.v_proj.weight", {2, 1}},
                                    {".self_attn.out", ".self_attn.o_proj.weight", {1, 2}},
                                    {".mlp.gate", ".mlp.gate_proj.weight"},
                                    {".mlp.up", ".mlp.up_proj.weight"},
                                    {".mlp.down", ".mlp.down_proj.weight"},
                                    {"norm", "norm.weight"},
                                    {"embed_tokens", "embed_tokens.weight"}};

template <class... Is>
T<Is...> empty(Mesh<Y> const& mesh, std::array<std::int64_t, sizeof...(Is)> const& extents) {
  return zeros<T<Is...>>(mesh, extents);
}

// A model with the caches of its layers.
struct Gpt2Text {
  using Cache = nn::KeyValueCache<T<B, K, H, F>>;
  Gpt2<value_t> model;
  std::vector<Cache> caches{};

  Gpt2Text(Mesh<Y> const& mesh, std::string const& folder, nlohmann::json const& config,
           std::int64_t positions)
      : model{empty<V, D>(mesh, {config.at("vocab_size"), config.at("n_embd")}),
              empty<P, D>(mesh, {config.at("n_positions"), config.at("n_embd")}),
              {},
              norm(mesh, config.at("n_embd"))} {
    std::int64_t const d = config.at("n_embd"), h = config.at("n_head"), f = d / h;
    for (int layer = 0; layer < config.at("n_layer"); ++layer) {
      model.h.push_back({norm(mesh, d),
                         {empty<D, Q, H, F>(mesh, {d, 3, h, f}), empty<H, F, D>(mesh, {h, f, d}),
                          empty<Q, H, F>(mesh, {3, h, f}), empty<D>(mesh, {d})},
                         norm(mesh, d),
                         {empty<D, M>(mesh, {d, 4 * d}), empty<M>(mesh, {4 * d}),
                          empty<M, D>(mesh, {4 * d, d}), empty<D>(mesh, {d})}});
      caches.push_back(Cache::of(mesh, {1, positions, h, f}));
    }
    // docs: load
    checkpoint::FileOptions options{.ignore_others = true};
    options.names = [](std::string_view path) { return name_in(gpt2_names, path); };
    try {
      checkpoint::load_safetensors(folder, model, options);
    } catch (Error const& error) {
      if (error.code() != "E91") throw;
      // other names: GPT2LMHeadModel writes a prefix that GPT2Model does not
      options.names = [](std::string_view path) {
        return name_in(gpt2_names, "transformer." + std::string(path));
      };
      checkpoint::load_safetensors(folder, model, options);
    }
    // docs: end
  }
  static nn::Norm<value_t, T<D>> norm(Mesh<Y> const& mesh, std::int64_t d) {
    return {empty<D>(mesh, {d}), empty<D>(mesh, {d})};
  }
  // docs: forward
  // The logits [B, V@Y] of the token after these, which are appended to the text.
  auto operator()(Ids const& ids) {
    using Rows = T<B, S, D>;
    std::int64_t const n = ids.extents()[1], t = caches[0].length;
    auto const places = relabel<P, S>(slice<P>(model.wpe, t, t + n));
    Rows x = nn::embedding<V, Rows>(model.wte, ids) + places;
    for (std::size_t layer = 0; layer < model.h.size(); ++layer) {
      auto const& b = model.h[layer];
      Cache& cache = caches[layer];
      auto const [q, k, v] = nn::queries_keys_values(nn::layer_norm<D>(x, b.ln_1), b.attn);
      cache.append(k, v);
      auto const mixed = nn::attention(q, cache.keys, cache.values, cache.options(n));
      x = x + einsum<Rows>(mixed, b.attn.out) + b.attn.out_bias;
      x = x + nn::mlp<Rows>(nn::layer_norm<D>(x, b.ln_2), b.mlp);
    }
    return matmul(nn::layer_norm<D>(at<S>(x, n - 1), model.ln_f), model.wte);
  }
  // docs: end
};

struct LlamaText {
  using Cache = nn::KeyValueCache<T<B, K, G, F>>;
  Llama<value_t> model;
  double theta, epsilon;
  std::vector<Cache> caches{};

  LlamaText(Mesh<Y> const& mesh, std::string const& folder, nlohmann::json const& config,
            std::int64_t positions)
      : model{empty<V, D>(mesh, {config.at("vocab_size"), config.at("hidden_size")}),
              {},
              empty<D>(mesh, {config.at("hidden_size")}),
              empty<V, D>(mesh, {config.at("vocab_size"), config.at("hidden_size")})},
        theta(config.value("rope_theta", 10000.0)),
        epsilon(config.at("rms_norm_eps")) {
    std::int64_t const d = config.at("hidden_size"), h = config.at("num_attention_heads"),
                       g = config.value("num_key_value_heads", h),
                       f = config.value("head_dim", d / h), m = config.at("intermediate_size");
    for (int layer = 0; layer < config.at("num_hidden_layers"); ++layer) {
      model.layers.push_back(
          {empty<D>(mesh, {d}),
           {empty<H, F, D>(mesh, {h, f, d}), empty<G, F, D>(mesh, {g, f, d}),
            empty<G, F, D>(mesh, {g, f, d}), empty<D, H, F>(mesh, {d, h, f})},
           empty<D>(mesh, {d}),
           {empty<M, D>(mesh, {m, d}), empty<M, D>(mesh, {m, d}), empty<D, M>(mesh, {d, m})}});
      caches.push_back(Cache::of(mesh, {1, positions, g, f}));
    }
    bool const tied = config.value("tie_word_embeddings", false);
    checkpoint::FileOptions options{.ignore_others = true};
    options.names = [tied](std::string_view path) -> checkpoint::NameInFile {
      if (path == "lm_head") return {tied ? "model.embed_tokens.weight" : "lm_head.weight"};
      return name_in(llama_names, "model." + std::string(path));
    };
    checkpoint::load_safetensors(folder, model, options);
  }
  auto operator()(Ids const& ids) {
    using Rows = T<B, S, D>;
    std::int64_t const n = ids.extents()[1], t = caches[0].length;
    Rows x = nn::embedding<V, Rows>(model.embed_tokens, ids);
    for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
      auto const& b = model.layers[layer];
      Cache& cache = caches[layer];
      auto const [q, k, v] =
          nn::queries_keys_values(nn::rms_norm<D>(x, b.input_layernorm, epsilon), b.self_attn);
      cache.append(nn::rotary<S, F>(k, t, theta), v);
      auto const mixed =
          nn::attention(nn::rotary<S, F>(q, t, theta), cache.keys, cache.values, cache.options(n));
      x = x + einsum<Rows>(mixed, b.self_attn.out);
      x = x + nn::gated_mlp<Rows>(nn::rms_norm<D>(x, b.post_attention_layernorm, epsilon), b.mlp);
    }
    return matmul(nn::rms_norm<D>(at<S>(x, n - 1), model.norm, epsilon), model.lm_head);
  }
};

// docs: sampling
struct Sampling {
  float temperature = 1;
  std::int64_t top_k = 0;  // 0: all tokens
  float top_p = 1;
};

// The next token of each text.
template <class Logits>
Ids next_token(Logits const& logits, Sampling const& how, RandomKey const& key) {
  std::int64_t const all = logits.extents()[1];
  if (how.temperature == 0) return transpose<B, S>(expand<S>(argmax<Dim<B>>(logits)));
  auto const whole = reshard<Dim<B>, Dim<V>>(logits);
  auto const [best, tokens] = top_k<V, R>(whole, how.top_k > 0 ? std::min(how.top_k, all) : all);
  auto const scaled = (best / how.temperature).tensor();
  // a token stays if those before it have less than top_p together
  auto const before = cumsum<R>(softmax<R>(scaled), op::Cumulate::exclusive);
  auto const kept = where(before < how.top_p, scaled, -std::numeric_limits<float>::infinity());
  return take_along<R, S>(tokens, transpose<B, S>(expand<S>(categorical<R>(kept, key))));
}
// docs: end

template <class Text>
void generate(Environment const& env, Mesh<Y> const& mesh, Text& text,
              std::vector<std::int64_t> const& prompt, std::int64_t count, Sampling const& how,
              bool prints_logits) {
  // docs: generate
  RandomKey const key{7};
  auto ids = from_function<Ids>(
      mesh, {1, static_cast<std::int64_t>(prompt.size())},
      [&](std::int64_t, std::int64_t s) { return prompt[static_cast<std::size_t>(s)]; });
  for (std::int64_t step = 0; step < count; ++step) {
    auto const logits = text(ids);
    ids = next_token(logits, how, key.fold_in(static_cast<std::uint64_t>(step)));
    // docs: end
    std::vector<std::int64_t> const drawn = to_host(ids);
    std::vector<float> const numbers = prints_logits ? to_host(logits) : std::vector<float>{};
    if (env.rank() != 0) continue;
    std::printf("%lld", static_cast<long long>(drawn[0]));
    for (float const x : numbers) std::printf(" %.9g", static_cast<double>(x));
    std::printf("\n");
  }
}

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  std::vector<std::int64_t> prompt{0};
  std::int64_t count = 10;
  Sampling how;
  bool prints_logits = false;
  for (int a = 2; a + 1 < argc; a += 2) {
    std::string_view const name = argv[a];
    char const* const value = argv[a + 1];
    if (name == "--new") count = std::atoll(value);
    if (name == "--temperature") how.temperature = static_cast<float>(std::atof(value));
    if (name == "--top-k") how.top_k = std::atoll(value);
    if (name == "--top-p") how.top_p = static_cast<float>(std::atof(value));
    if (name == "--logits") prints_logits = std::atoi(value) != 0;
    if (name == "--ids") {
      prompt.clear();
      std::istringstream in(value);
      for (std::string id; std::getline(in, id, ',');) prompt.push_back(std::atoll(id.c_str()));
    }
  }
  if (argc < 2 || prompt.empty()) return 2;
  std::string const folder = argv[1];
  std::ifstream file(folder + "/config.json");
  auto const config = nlohmann::json::parse(file);
  Mesh<Y> const mesh(env.world(), {env.size()});
  auto const positions = static_cast<std::int64_t>(prompt.size()) + count;
  std::string const type = config.at("model_type");
  if (type == "gpt2") {
    Gpt2Text text(mesh, folder, config, positions);
    generate(env, mesh, text, prompt, count, how, prints_logits);
  } else if (type == "llama" && config.value("rope_scaling", nlohmann::json()).is_null()) {
    LlamaText text(mesh, folder, config, positions);
    generate(env, mesh, text, prompt, count, how, prints_logits);
  } else {
    if (env.rank() == 0) std::printf("%s: this program has no such model\n", type.c_str());
    return 1;
  }
  return 0;
}
