// The programs of docs/by_example/networks.md, one for each function. On 2 ranks.
// SHOWN: docs
// ALONE: it calls all functions of a family, which checks of all examples would read again
// RANKS: 2
// NEEDS: Random123
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;

namespace {

// docs: names
struct X : Axis<"X", 2> {};  // two ranks
struct B : Index<"B"> {};    // sequences, or images
struct S : Index<"S"> {};    // samples, or positions of a sequence
struct T : Index<"T"> {};    // positions of keys
struct H : Index<"H"> {};    // heads, or rows of an image
struct W : Index<"W"> {};    // columns of an image
struct C : Index<"C"> {};    // channels
struct D : Index<"D"> {};    // features
struct F : Index<"F"> {};    // hidden features
struct V : Index<"V"> {};    // classes, or words
struct E : Index<"E"> {};    // experts
// docs: end

bool first = true;  // of the ranks
void say(std::string const& line) {
  if (first) std::printf("%s\n", line.c_str());
}
void part(char const* name) { say(std::string("== ") + name); }

void norms(Mesh<X> const& mesh) {
  {
    part("nn::layer_norm");
    // docs: nn::layer_norm
    auto const x = from_host<double, Dim<S, X>, Dim<D>>(mesh, {2, 3},
                                                        std::vector<double>{1, 2, 3, 10, 20, 30});
    auto const gain = ones<double, Dim<D>>(mesh, {3});
    auto const bias = zeros<double, Dim<D>>(mesh, {3});
    print(nn::layer_norm<D>(x, gain, bias));  // each row: mean 0, variance 1
    // docs: end
  }
  {
    part("nn::rms_norm");
    // docs: nn::rms_norm
    auto const x =
        from_host<double, Dim<S, X>, Dim<D>>(mesh, {2, 2}, std::vector<double>{3, 4, 30, 40});
    auto const gain = ones<double, Dim<D>>(mesh, {2});
    print(nn::rms_norm<D>(x, gain));  // each row: mean square 1
    // docs: end
  }
  {
    part("nn::group_norm");
    // docs: nn::group_norm
    auto const x = from_host<double, Dim<B, X>, Dim<C>, Dim<W>>(
        mesh, {2, 2, 2}, std::vector<double>{1, 2, 3, 4, 10, 20, 30, 40});
    print(nn::group_norm<1, C, W>(x));  // one group of all channels
    // docs: end
  }
  {
    part("nn::dropout");
    // docs: nn::dropout
    auto const x = from_host<double, Dim<S, X>, Dim<D>>(
        mesh, {2, 4}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    print(nn::dropout(x, RandomKey{7}, 0.5));  // others are divided by 1 - 0.5
    // docs: end
  }
}

void layers(Mesh<X> const& mesh) {
  {
    part("nn::linear");
    // docs: nn::linear
    auto const x =
        from_host<double, Dim<S, X>, Dim<D>>(mesh, {2, 2}, std::vector<double>{1, 2, 3, 4});
    auto const w =
        from_host<double, Dim<D>, Dim<F>>(mesh, {2, 3}, std::vector<double>{1, 0, 1, 0, 1, 1});
    auto const b = from_host<double, Dim<F>>(mesh, {3}, std::vector<double>{10, 20, 30});
    print(nn::linear(x, w, b));  // x w + b
    // docs: end
  }
  {
    part("nn::embedding");
    // docs: nn::embedding
    auto const table = from_host<double, Dim<V>, Dim<D>>(
        mesh, {3, 2}, std::vector<double>{1, 2, 10, 20, 100, 200});
    auto const ids = from_host<std::int64_t, Dim<S, X>>(mesh, {2}, std::vector<std::int64_t>{2, 0});
    print(nn::embedding<V>(table, ids));
    // docs: end
  }
  {
    part("nn::swiglu");
    // docs: nn::swiglu
    auto const gate =
        from_host<double, Dim<S, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 1.0, 2.0});
    auto const up =
        from_host<double, Dim<S, X>>(mesh, {4}, std::vector<double>{1.0, 1.0, 2.0, 2.0});
    print(nn::swiglu(gate, up));  // silu(gate) up
    // docs: end
  }
  {
    part("nn::geglu");
    // docs: nn::geglu
    auto const gate =
        from_host<double, Dim<S, X>>(mesh, {4}, std::vector<double>{-1.0, 0.0, 1.0, 2.0});
    auto const up =
        from_host<double, Dim<S, X>>(mesh, {4}, std::vector<double>{1.0, 1.0, 2.0, 2.0});
    print(nn::geglu(gate, up));  // gelu(gate) up
    // docs: end
  }
  {
    part("nn::ragged_dot");
    // docs: nn::ragged_dot
    // Each rank has an expert, and its rows behind one another.
    auto const x = from_host<double, Dim<S, X>, Dim<D>>(
        mesh, {4, 2}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    auto const w = from_host<double, Dim<E, X>, Dim<D>, Dim<F>>(mesh, {2, 2, 1},
                                                                std::vector<double>{1, 1, 10, 0});
    auto const sizes =
        from_host<std::int64_t, Dim<E, X>>(mesh, {2}, std::vector<std::int64_t>{2, 1});
    print(nn::ragged_dot<D>(x, w, sizes));  // the last row is no expert's: zeros
    // docs: end
  }
}

void sequences(Mesh<X> const& mesh) {
  {
    part("nn::attention");
    // docs: nn::attention
    auto const q = from_host<double, Dim<B, X>, Dim<S>, Dim<H>, Dim<F>>(
        mesh, {2, 2, 1, 2}, std::vector<double>{1, 0, 0, 1, 2, 0, 0, 2});
    auto const k = from_host<double, Dim<B, X>, Dim<T>, Dim<H>, Dim<F>>(
        mesh, {2, 2, 1, 2}, std::vector<double>{1, 0, 0, 1, 1, 0, 0, 1});
    auto const v = from_host<double, Dim<B, X>, Dim<T>, Dim<H>, Dim<F>>(
        mesh, {2, 2, 1, 2}, std::vector<double>{1, 2, 3, 4, 1, 2, 3, 4});
    print(squeeze<H>(nn::attention(q, k, v)));                     // causal
    print(squeeze<H>(nn::attention(q, k, v, {.causal = false})));  // all keys
    // docs: end
  }
  {
    part("nn::rotary");
    // docs: nn::rotary
    auto const x = from_host<double, Dim<S, X>, Dim<F>>(
        mesh, {2, 4}, std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0});
    print(nn::rotary<S, F>(x));  // position 1 is turned by one radian
    // docs: end
  }
  {
    part("nn::causal_mask");
    // docs: nn::causal_mask
    auto const scores = from_host<double, Dim<S, X>, Dim<T>>(
        mesh, {3, 3}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9});
    print(nn::causal_mask<S, T>(scores));
    print(softmax<T>(nn::causal_mask<S, T>(scores)));  // later positions have no share
    // docs: end
  }
  {
    part("nn::queries_keys_values");
    // docs: nn::queries_keys_values
    using Qkv = Tensor<double, Dim<D>, Dim<H>, Dim<F>>;
    using Out = Tensor<double, Dim<H>, Dim<F>, Dim<D>>;
    auto const x =
        from_host<double, Dim<S, X>, Dim<D>>(mesh, {2, 2}, std::vector<double>{1, 2, 3, 4});
    auto const w = ones<Qkv>(mesh, {2, 1, 2});
    nn::Attention<value_t, Qkv, Qkv, Out> const p{w, w, (2.0 * w).tensor(),
                                                  ones<Out>(mesh, {1, 2, 2})};
    auto const [q, k, v] = nn::queries_keys_values(x, p);
    print(q);
    print(v);
    // docs: end
  }
  {
    part("nn::self_attention");
    // docs: nn::self_attention
    using Qkv = Tensor<double, Dim<D>, Dim<H>, Dim<F>>;
    using Out = Tensor<double, Dim<H>, Dim<F>, Dim<D>>;
    auto const x = from_host<double, Dim<B, X>, Dim<S>, Dim<D>>(
        mesh, {2, 2, 2}, std::vector<double>{1, 0, 0, 1, 2, 0, 0, 2});
    auto const w = ones<Qkv>(mesh, {2, 1, 2});
    nn::Attention<value_t, Qkv, Qkv, Out> const p{w, w, w, ones<Out>(mesh, {1, 2, 2})};
    print(nn::self_attention(x, p));  // causal
    // docs: end
  }
  {
    part("nn::transformer_block");
    // docs: nn::transformer_block
    using Gain = Tensor<double, Dim<D>>;
    using Qkv = Tensor<double, Dim<D>, Dim<H>, Dim<F>>;
    using Out = Tensor<double, Dim<H>, Dim<F>, Dim<D>>;
    using Up = Tensor<double, Dim<D>, Dim<V>>;
    using Down = Tensor<double, Dim<V>, Dim<D>>;
    struct Block {
      nn::Norm<value_t, Gain> norm1;
      nn::Attention<value_t, Qkv, Qkv, Out> attention;
      nn::Norm<value_t, Gain> norm2;
      nn::Mlp<value_t, Up, Tensor<double, Dim<V>>, Down, Gain> mlp;
    };
    auto const w = ones<Qkv>(mesh, {2, 1, 2});
    auto const gain = ones<Gain>(mesh, {2});
    Block const p{
        {gain, gain},
        {w, w, w, ones<Out>(mesh, {1, 2, 2})},
        {gain, gain},
        {ones<Up>(mesh, {2, 4}), zeros<double, Dim<V>>(mesh, {4}), ones<Down>(mesh, {4, 2}), gain}};
    auto const x = from_host<double, Dim<B, X>, Dim<S>, Dim<D>>(
        mesh, {2, 2, 2}, std::vector<double>{1, 0, 0, 1, 2, 0, 0, 2});
    print(nn::transformer_block(x, p));
    // docs: end
  }
}

void feed_forward(Mesh<X> const& mesh) {
  {
    part("nn::mlp");
    // docs: nn::mlp
    using Up = Tensor<double, Dim<D>, Dim<F>>;
    using Down = Tensor<double, Dim<F>, Dim<D>>;
    nn::Mlp<value_t, Up, Tensor<double, Dim<F>>, Down, Tensor<double, Dim<D>>> const p{
        ones<Up>(mesh, {2, 3}), zeros<double, Dim<F>>(mesh, {3}), ones<Down>(mesh, {3, 2}),
        zeros<double, Dim<D>>(mesh, {2})};
    auto const x =
        from_host<double, Dim<S, X>, Dim<D>>(mesh, {2, 2}, std::vector<double>{1, 2, 3, 4});
    print(nn::mlp(x, p));  // gelu_tanh(x w1 + b1) w2 + b2
    // docs: end
  }
  {
    part("nn::gated_mlp");
    // docs: nn::gated_mlp
    using Up = Tensor<double, Dim<D>, Dim<F>>;
    using Down = Tensor<double, Dim<F>, Dim<D>>;
    auto const w = ones<Up>(mesh, {2, 3});
    nn::GatedMlp<value_t, Up, Down> const p{w, w, ones<Down>(mesh, {3, 2})};
    auto const x =
        from_host<double, Dim<S, X>, Dim<D>>(mesh, {2, 2}, std::vector<double>{1, 2, 3, 4});
    print(nn::gated_mlp(x, p));  // swiglu(x gate, x up) down
    // docs: end
  }
  {
    part("nn::load_balance_loss");
    // docs: nn::load_balance_loss
    auto const logits = from_host<double, Dim<S, X>, Dim<E>>(
        mesh, {4, 2}, std::vector<double>{1, 0, 1, 0, 0, 1, 0, 1});
    auto const routes = nn::router<E>(logits, 1);  // two tokens for each expert
    say(std::to_string(item(nn::load_balance_loss<E>(logits, routes))));
    // docs: end
  }
  {
    part("nn::z_loss");
    // docs: nn::z_loss
    auto const logits = from_host<double, Dim<S, X>, Dim<E>>(
        mesh, {4, 2}, std::vector<double>{1, 0, 1, 0, 0, 1, 0, 1});
    say(std::to_string(item(nn::z_loss<E>(logits))));
    // docs: end
  }
}

void images(Mesh<X> const& mesh) {
  {
    part("nn::conv");
    // docs: nn::conv
    auto const x =
        from_host<double, Dim<H, X>, Dim<C>>(mesh, {6, 1}, std::vector<double>{1, 2, 3, 4, 5, 6});
    auto const w =
        from_host<double, Dim<W>, Dim<C>, Dim<F>>(mesh, {3, 1, 1}, std::vector<double>{1, 1, 1});
    // Sums of three rows; rows beyond the ends are zeros. A rank gets one row of each neighbour.
    print(nn::conv<nn::Window<H, W, nn::same>>(x, w));
    // docs: end
  }
  {
    part("nn::conv_transposed");
    // docs: nn::conv_transposed
    auto const y = from_host<double, Dim<H, X>, Dim<F>>(mesh, {3, 1}, std::vector<double>{1, 2, 3});
    auto const w =
        from_host<double, Dim<W>, Dim<C>, Dim<F>>(mesh, {2, 1, 1}, std::vector<double>{1, 10});
    constexpr nn::WindowOptions by_two{.stride = 2};
    print(nn::conv_transposed<nn::Window<H, W, by_two>>(y, w));
    // docs: end
  }
  {
    part("nn::max_pool");
    // docs: nn::max_pool
    auto const x = from_host<double, Dim<H, X>, Dim<W>>(
        mesh, {4, 4}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    print(nn::max_pool<nn::Pool<H, 2>, nn::Pool<W, 2>>(x));
    // docs: end
  }
  {
    part("nn::avg_pool");
    // docs: nn::avg_pool
    auto const x = from_host<double, Dim<H, X>, Dim<W>>(
        mesh, {4, 4}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    print(nn::avg_pool<nn::Pool<H, 2>, nn::Pool<W, 2>>(x));
    // docs: end
  }
}

void losses(Mesh<X> const& mesh) {
  {
    part("nn::cross_entropy");
    // docs: nn::cross_entropy
    auto const logits =
        from_host<double, Dim<S, X>, Dim<V>>(mesh, {2, 3}, std::vector<double>{0, 0, 0, 0, 0, 5});
    auto const ids = from_host<std::int64_t, Dim<S, X>>(mesh, {2}, std::vector<std::int64_t>{1, 2});
    print(nn::cross_entropy<V>(logits, ids));  // of equal logits log 3
    // docs: end
  }
  {
    part("nn::mean_cross_entropy");
    // docs: nn::mean_cross_entropy
    auto const logits =
        from_host<double, Dim<S, X>, Dim<V>>(mesh, {2, 3}, std::vector<double>{0, 0, 0, 0, 0, 5});
    auto const ids = from_host<std::int64_t, Dim<S, X>>(mesh, {2}, std::vector<std::int64_t>{1, 2});
    say(std::to_string(item(nn::mean_cross_entropy<V, Tensor<double>>(logits, ids))));
    // docs: end
  }
  {
    part("train::accuracy");
    // docs: train::accuracy
    auto const logits = from_host<double, Dim<S, X>, Dim<V>>(
        mesh, {4, 3}, std::vector<double>{9, 0, 0, 0, 9, 0, 0, 0, 9, 9, 0, 0});
    auto const targets =
        from_host<std::int64_t, Dim<S, X>>(mesh, {4}, std::vector<std::int64_t>{0, 1, 2, 1});
    say(std::to_string(train::accuracy<V>(logits, targets)));
    // docs: end
  }
  {
    part("train::confusion_matrix");
    // docs: train::confusion_matrix
    auto const logits = from_host<double, Dim<S, X>, Dim<V>>(
        mesh, {4, 2}, std::vector<double>{9, 0, 0, 9, 9, 0, 0, 9});
    auto const targets =
        from_host<std::int64_t, Dim<S, X>>(mesh, {4}, std::vector<std::int64_t>{0, 1, 1, 1});
    // rows: the targets; columns: the classes with the largest logits
    print(train::confusion_matrix<V, Tensor<std::int64_t, Dim<C>, Dim<V>>>(logits, targets));
    // docs: end
  }
}

}  // namespace

int main(int argc, char** argv) {
  Environment const env(argc, argv);
  first = env.rank() == 0;
  // docs: mesh
  Mesh<X> const mesh(env.world());
  // docs: end
  norms(mesh);
  layers(mesh);
  sequences(mesh);
  feed_forward(mesh);
  images(mesh);
  losses(mesh);
  return 0;
}
