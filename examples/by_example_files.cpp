// The programs of docs/by_example/files.md, one for each function. On 2 ranks.
// SHOWN: docs
// ALONE: it calls all functions of a family, which checks of all examples would read again
// RANKS: 2
// NEEDS: JSON PNG Random123
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <shardtype/checkpoint/checkpoint.hpp>
#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>
#include <shardtype/visualize/png.hpp>

using namespace shardtype;

namespace {

// docs: names
struct X : Axis<"X", 2> {};  // two ranks
struct D : Index<"D", 4> {};
struct F : Index<"F", 2> {};
using Weights = Tensor<double, Dim<D, X>, Dim<F>>;
using Bias = Tensor<double, Dim<F>>;
template <template <class> class As>
struct Layer {
  As<Weights> weights;
  As<Bias> bias;
};
// docs: end

bool first = true;  // of the ranks
void say(std::string const& line) {
  if (first) std::printf("%s\n", line.c_str());
}
void part(char const* name) { say(std::string("== ") + name); }

void models(Mesh<X> const& mesh) {
  {
    part("train::initialize");
    // docs: train::initialize
    using Model = Layer<value_t>;
    auto const model =
        train::initialize<Model>(mesh, RandomKey{7}, [](std::string_view path, auto) {
          return path == "bias" ? train::Initial::zeros() : train::Initial::normal(0.1);
        });
    print(model.weights);
    print(model.bias);
    // docs: end
  }
  {
    part("train::for_each_tensor");
    // docs: train::for_each_tensor
    Layer<value_t> const model{ones<Weights>(mesh), zeros<Bias>(mesh)};
    train::for_each_tensor(
        [](std::string_view path, auto const& a) { say(std::string(path) + " " + type_name(a)); },
        model);
    // docs: end
  }
  {
    part("train::parameters");
    // docs: train::parameters
    Layer<value_t> const model{ones<Weights>(mesh), zeros<Bias>(mesh)};
    say(std::to_string(train::parameters(model)));
    // docs: end
  }
}

void files(Mesh<X> const& mesh) {
  {
    part("save_npy");
    // docs: save_npy
    auto const a = from_host<double, Dim<D, X>, Dim<F>>(
        mesh, {4, 2}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    save_npy(a, "a.npy");  // for numpy.load("a.npy")
    print(load_npy<double, Dim<D, X>, Dim<F>>(mesh, "a.npy"));
    // docs: end
  }
  {
    part("load_npy");
    // docs: load_npy
    auto const a = from_host<double, Dim<D, X>, Dim<F>>(
        mesh, {4, 2}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
    save_npy(a, "a.npy");
    print(load_npy<double, Dim<D>, Dim<F, X>>(mesh, "a.npy"));  // in any sharding
    // docs: end
  }
}

void pictures(Mesh<X> const& mesh) {
  {
    part("save_png");
    // docs: save_png
    auto const a = from_function<double, Dim<D, X>, Dim<F>>(
        mesh, [](double d, double f) { return d - 2 * f; });
    save_png(a, "a.png", {.colors = visualizing::ColorMap::diverging, .zoom = 64});
    say(std::filesystem::exists("a.png") ? "a picture of 128 x 256 pixels" : "none");
    // docs: end
  }
}

void checkpoints(Mesh<X> const& mesh) {
  {
    part("checkpoint::save");
    // docs: checkpoint::save
    auto model = std::tuple(ones<double, Dim<D, X>>(mesh, {4}));
    checkpoint::save("run", 100, model);
    std::get<0>(model) = zeros<double, Dim<D, X>>(mesh, {4});
    auto const loaded = checkpoint::load("run", model);
    say("step " + std::to_string(loaded.step));
    print(std::get<0>(model));
    // docs: end
  }
  {
    part("checkpoint::load");
    // docs: checkpoint::load
    auto model = std::tuple(ones<double, Dim<D, X>>(mesh, {4}));
    checkpoint::save("run_of_ones", 7, model, {{"epoch", 3}});
    auto whole = std::tuple(zeros<double, Dim<D>>(mesh, {4}));
    auto const loaded = checkpoint::load("run_of_ones", whole);  // in any sharding
    print(std::get<0>(whole));
    say("epoch " + std::to_string(loaded.extra.get<std::int64_t>("epoch")));
    // docs: end
  }
  {
    part("checkpoint::latest");
    // docs: checkpoint::latest
    auto const model = std::tuple(ones<double, Dim<D, X>>(mesh, {4}));
    checkpoint::save("run_of_two", 1, model);
    checkpoint::save("run_of_two", 2, model);
    if (auto const step = checkpoint::latest(mesh, "run_of_two"))
      say("step " + std::to_string(step->number));
    // docs: end
  }
  {
    part("checkpoint::save_safetensors");
    // docs: checkpoint::save_safetensors
    auto const model = std::tuple(ones<double, Dim<D, X>>(mesh, {4}));
    checkpoint::save_safetensors("model.safetensors", model);
    auto loaded = std::tuple(zeros<double, Dim<D, X>>(mesh, {4}));
    checkpoint::load_safetensors("model.safetensors", loaded);
    print(std::get<0>(loaded));
    // docs: end
  }
  {
    part("checkpoint::save_npz");
    // docs: checkpoint::save_npz
    auto const model = std::tuple(ones<double, Dim<D, X>>(mesh, {4}));
    checkpoint::save_npz("model.npz", model);  // for numpy.load("model.npz")
    auto loaded = std::tuple(zeros<double, Dim<D, X>>(mesh, {4}));
    checkpoint::load_npz("model.npz", loaded);
    print(std::get<0>(loaded));
    // docs: end
  }
  {
    part("checkpoint::load_safetensors");
    // docs: checkpoint::load_safetensors
    auto const model = std::tuple(ones<double, Dim<D, X>>(mesh, {4}));
    checkpoint::save_safetensors("ones.safetensors", model);
    auto whole = std::tuple(zeros<double, Dim<D>>(mesh, {4}));
    checkpoint::load_safetensors("ones.safetensors", whole);  // in any sharding
    print(std::get<0>(whole));
    // docs: end
  }
  {
    part("checkpoint::load_npz");
    // docs: checkpoint::load_npz
    auto const model = std::tuple(ones<double, Dim<D, X>>(mesh, {4}));
    checkpoint::save_npz("ones.npz", model);  // a file of numpy.savez, too
    auto whole = std::tuple(zeros<double, Dim<D>>(mesh, {4}));
    checkpoint::load_npz("ones.npz", whole);  // in any sharding
    print(std::get<0>(whole));
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
  models(mesh);
  files(mesh);
  pictures(mesh);
  checkpoints(mesh);
  return 0;
}
