// Checkpoints: saved in one sharding and loaded in others, on other meshes; files that are damaged,
// or of another model; which steps are kept; saving in a thread; safetensors files of other
// programs, one or several with an index.
// RANKS: 1 2 4 8
// TIMEOUT: 240
// NEEDS: JSON
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <shardtype/checkpoint/npz.hpp>
#include <shardtype/train/adafactor.hpp>

#include "harness/catch.hpp"
#include "harness/checkpoint_models.hpp"

using namespace checkpoint_models;
namespace fs = std::filesystem;

namespace {

using harness::meet;
using harness::TempDir;
using on_ranks::my_rank;

std::string contents(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
// Rank 0 replaces a file.
void put(std::string const& path, std::string const& text) {
  meet();
  if (my_rank() == 0) std::ofstream(path, std::ios::binary) << text;
  meet();
}
void flip(std::string const& path, std::string text, std::size_t at) {
  text[at] = static_cast<char>(text[at] ^ 0x10);
  put(path, text);
}

train::AdamW const adam{{.rate = 0.1}};

template <class To, class T>
void loads_as(std::string const& run, std::int64_t salt, Mesh<X, Y> const& mesh) {
  auto model = model_of<To, T>(mesh, 0);
  auto state = adam.init(model);
  auto const loaded = checkpoint::load(run, model, state);
  CHECK(loaded.step == salt);
  CHECK(wrong(model, salt) == 0);
  CHECK(wrong_state(state, salt) == 0);
}
template <class From, class T>
void saves_as(std::int64_t salt, Mesh<X, Y> const& mesh, std::string& manifest) {
  TempDir const dir("checkpoint");
  auto model = model_of<From, T>(mesh, salt);
  auto state = adam.init(model);
  fill_state(state, salt);
  REQUIRE(state.master.has_value() == std::is_same_v<T, bfloat16>);
  checkpoint::save(dir / "run", salt, model, state);
  // neither the files nor the checksums depend on the sharding
  std::string const text = contents(dir / "run/step_00000007/manifest.json") +
                           contents(dir / "run/step_00000007/model.safetensors");
  if (manifest.empty()) manifest = text;
  CHECK(text == manifest);
  auto const all = meshes();
  loads_as<Grid, T>(dir / "run", salt, all.front());
  loads_as<Turned, T>(dir / "run", salt, all[all.size() / 2]);
  loads_as<Whole, T>(dir / "run", salt, all.back());
}

}  // namespace

TEST_CASE("what is saved in one sharding is loaded in all, on all meshes") {
  std::string floats, small;
  for (auto const& mesh : meshes()) {
    saves_as<Grid, float>(7, mesh, floats);
    saves_as<Turned, float>(7, mesh, floats);
  }
  saves_as<Whole, float>(7, meshes().front(), floats);
  saves_as<Grid, bfloat16>(7, meshes().front(), small);
  saves_as<Turned, bfloat16>(7, meshes().back(), small);
}

TEST_CASE("a mesh of a part of the ranks loads what all have saved") {
  TempDir const dir("checkpoint");
  {
    auto const mesh = on_ranks::two_axes<X, Y>();
    auto const model = model_of<Grid, double>(mesh, 3);
    checkpoint::save(dir / "run", 3, model, {{"kept", 1}});
  }
  int const n = std::max(1, on_ranks::rank_total() / 2);
  Mesh<X, Y> const part(MPI_COMM_WORLD, {1, n});
  auto model = model_of<Grid, double>(part, 0);
  auto const loaded = checkpoint::load(dir / "run", model);
  CHECK(wrong(model, 3) == 0);
  // the other ranks have the numbers too
  CHECK(loaded.extra.get<int>("kept") == 1);
  meet();
  checkpoint::save(dir / "run", 4, model);
  meet();
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto again = model_of<Turned, double>(mesh, 0);
  CHECK(checkpoint::load(dir / "run", again).step == 4);
  CHECK(wrong(again, 3) == 0);
}

TEST_CASE("training goes on with the same bits") {
  TempDir const dir("checkpoint");
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const steps = [](auto const& optimizer, auto& model, auto& state, std::int64_t first,
                        std::int64_t last) {
    auto gradient = model;
    for (std::int64_t k = first; k < last; ++k) {
      gradient.first = gradient.first.clone();
      gradient.second = gradient.second.clone();
      fill(gradient, k);
      optimizer.update(model, gradient, state);
    }
  };
  auto const trained = [&]<class A, class B>(auto const& optimizer, Type<A>, Type<B>,
                                             bool resumes) {
    std::pair<A, B> model(zeros<A>(mesh), zeros<B>(mesh));
    auto state = optimizer.init(model);
    if (resumes) {
      CHECK(checkpoint::load(dir / "run", model, state).step == 3);
      CHECK(state.step == 3);
    } else {
      steps(optimizer, model, state, 0, 3);
      checkpoint::save(dir / "run", 3, model, state);
    }
    steps(optimizer, model, state, 3, 6);
    meet();
    return std::pair(to_host(model.first), to_host(model.second));
  };
  using A = Tensor<float, Dim<I, X>, Dim<J, Y>>;
  using B = Tensor<bfloat16, Dim<Wide, X>>;
  auto const whole = trained(adam, type<A>, type<B>, false);
  CHECK(trained(adam, type<A>, type<B>, true) == whole);
  CHECK(trained(adam, type<Tensor<float, Dim<I>, Dim<J, Y, X>>>, type<Tensor<bfloat16, Dim<Wide>>>,
                true) == whole);
  // its means are added up in another order on another sharding
  train::Adafactor const adafactor{{.rate = 0.1}};
  auto const by_factors = trained(adafactor, type<A>, type<B>, false);
  CHECK(trained(adafactor, type<A>, type<B>, true) == by_factors);
}

TEST_CASE("numbers and texts keep all their bits") {
  TempDir const dir("checkpoint");
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<Grid, float>(mesh, 1);
  double const inf = std::numeric_limits<double>::infinity();
  checkpoint::Extra extra{{"least", std::numeric_limits<std::int64_t>::min()},
                          {"most", std::numeric_limits<std::uint64_t>::max()},
                          {"third", 1.0 / 3},
                          {"three", 3.0},
                          {"inf", -inf},
                          {"text", "\"a\"\n\\ \xc3\xa9"}};
  extra.set("nan", std::nan(""));
  checkpoint::save(dir / "run", 0, model, extra);
  auto const got = checkpoint::load(dir / "run", model).extra;
  CHECK(got.get<std::int64_t>("least") == std::numeric_limits<std::int64_t>::min());
  CHECK(got.get<std::uint64_t>("most") == std::numeric_limits<std::uint64_t>::max());
  CHECK(got.get<double>("third") == 1.0 / 3);
  CHECK(got.get<double>("three") == 3.0);
  CHECK(got.get<double>("inf") == -inf);
  CHECK(std::isnan(got.get<double>("nan")));
  CHECK(got.get<std::string>("text") == "\"a\"\n\\ \xc3\xa9");
  CHECK(on_ranks::code_of([&] { got.get<int>("most"); }) == "E95");
  CHECK(on_ranks::code_of([&] { got.get<int>("third"); }) == "E95");
  CHECK(on_ranks::code_of([&] { got.get<int>("none"); }) == "E95");
  CHECK(contains(failure_of([&] { checkpoint::save(dir / "run", -1, model); }), "E95"));
}

TEST_CASE("the last steps are kept, and one of the same number is replaced") {
  TempDir const dir("checkpoint");
  std::string const run = dir / "run/deep";
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<Grid, float>(mesh, 1);
  CHECK(!checkpoint::latest(mesh, run).has_value());
  for (std::int64_t const step : {10, 20, 30, 40, 20}) {
    fill(model, step);
    checkpoint::save(run, step, model, {}, {.keep = 2});
    meet();
    auto const last = checkpoint::latest(mesh, run);
    REQUIRE(last.has_value());
    CHECK(last->number == step);
    meet();
  }
  // later ones are left alone
  CHECK(harness::names_in(run) == std::vector<std::string>{".lock", "latest", "step_00000020",
                                                           "step_00000030", "step_00000040"});
  meet();
  fill(model, 21);
  checkpoint::save(run, 20, model, {}, {.keep = 1});
  CHECK(checkpoint::load(run, model).step == 20);
  CHECK(wrong(model, 21) == 0);
  CHECK(checkpoint::load(run + "/step_00000040", model).step == 40);
  CHECK(wrong(model, 40) == 0);
  meet();
  // what killed programs left is removed by the next save
  if (my_rank() == 0) {
    fs::create_directory(run + "/.step_00000050.0123456789abcdef.partial");
    fs::create_directory(run + "/.step_00000010.0123456789abcdef.removed");
    fs::remove(run + "/latest");
  }
  meet();
  CHECK(checkpoint::latest(mesh, run)->number == 40);
  meet();
  checkpoint::save(run, 60, model, {}, {.keep = 2});
  meet();
  CHECK(harness::names_in(run) ==
        std::vector<std::string>{".lock", "latest", "step_00000040", "step_00000060"});
}

TEST_CASE("a tensor that shares its memory gets memory of its own") {
  TempDir const dir("checkpoint");
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<Grid, float>(mesh, 1);
  checkpoint::save(dir / "run", 1, model);
  fill(model, 2);
  auto const copy = model;
  checkpoint::load(dir / "run", model);
  CHECK(wrong(model, 1) == 0);
  CHECK(wrong(copy, 2) == 0);
}

TEST_CASE("a checkpoint of another model is refused by tensor and file") {
  TempDir const dir("checkpoint");
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto model = model_of<Grid, float>(mesh, 1);
  std::string const run = dir / "run", folder = run + "/step_00000001";
  CHECK(contains(failure_of([&] { checkpoint::load(run, model); }),
                 "[shardtype E90] there is no checkpoint at " + run));
  checkpoint::save(run, 1, model);
  std::string const file = folder + "/model.safetensors";
  {
    auto other = model_of<Grid, double>(mesh, 2);
    CHECK(contains(failure_of([&] { checkpoint::load(run, other); }),
                   "[shardtype E93] tensor \"layers.0.weights\" of " + file +
                       " has elements of type f32, the program's have type f64"));
    CHECK(wrong(other, 2) == 0);
  }
  {
    std::array more{model.layers[0].weights.clone()};
    CHECK(contains(failure_of([&] { checkpoint::load(run, more); }),
                   "[shardtype E91] " + file + " has no tensor \"0\", which the program has"));
  }
  {
    auto state = adam.init(model);
    CHECK(contains(failure_of([&] { checkpoint::load(run, model, state); }),
                   "the checkpoint has no file " + folder + "/state.safetensors"));
  }
  // other extents, and names that are not read
  struct Small : Index<"Small", 5> {};
  using Vector = Tensor<float, Dim<Small, X>>;
  std::pair const both(zeros<Vector>(mesh), zeros<Tensor<float, Dim<J>>>(mesh));
  checkpoint::save(run, 2, both);
  std::string const second = run + "/step_00000002/model.safetensors";
  std::pair turned(zeros<Tensor<float, Dim<J>>>(mesh), zeros<Tensor<float, Dim<J>>>(mesh));
  CHECK(contains(
      failure_of([&] { checkpoint::load(run, turned); }),
      "[shardtype E92] tensor \"0\" of " + second + " has shape [5], the program's has [6]"));
  std::array one{zeros<Vector>(mesh)};
  CHECK(contains(failure_of([&] { checkpoint::load(run, one); }),
                 "[shardtype E91] tensor \"1\" of " + second + " is not in the program"));
  CHECK(failure_of([&] { checkpoint::load(run, one, {.ignore_others = true}); }) == "none");
}

TEST_CASE("damaged files are told by tensor and file") {
  TempDir const dir("checkpoint");
  auto const mesh = on_ranks::two_axes<X, Y>();
  std::string const run = dir / "run", folder = run + "/step_00000001";
  {
    auto model = model_of<Grid, float>(mesh, 1);
    auto state = adam.init(model);
    fill_state(state, 1);
    checkpoint::save(run, 1, model, state);
  }
  meet();
  auto model = model_of<Turned, float>(mesh, 2);
  auto state = adam.init(model);
  auto const fails = [&] { return failure_of([&] { checkpoint::load(run, model, state); }); };
  std::string const file = folder + "/state.safetensors", manifest = folder + "/manifest.json";
  std::string const good = contents(file), text = contents(manifest);
  std::size_t const header = 8 + static_cast<std::size_t>(static_cast<unsigned char>(good[0])) +
                             256 * static_cast<std::size_t>(static_cast<unsigned char>(good[1]));
  // cut off: nothing is loaded
  for (std::size_t const bytes :
       {good.size() - 1, good.size() / 2, header, header / 2, std::size_t{5}, std::size_t{0}}) {
    put(file, good.substr(0, bytes));
    std::string const failure = fails();
    CHECK(
        contains(failure, "[shardtype E94] " + file + " has " + std::to_string(bytes) + " bytes"));
    CHECK(contains(failure, "tensor \"moments."));
    CHECK(wrong(model, 2) == 0);
  }
  put(file, good + "x");
  CHECK(contains(fails(), "[shardtype E94] " + file));
  // one bit of the header, of the manifest, of the data
  for (std::size_t at = 0; at < header; at += 301) {
    flip(file, good, at);
    CHECK(contains(fails(), "[shardtype E94] " + file));
  }
  CHECK(wrong(model, 2) == 0);
  put(file, good);
  for (std::size_t at = 0; at + 1 < text.size(); at += 877) {
    flip(manifest, text, at);
    CHECK(contains(fails(), "[shardtype E94] " + manifest));
  }
  put(manifest, text);
  for (std::size_t at = good.size() - 1; at >= header; at -= std::min(at, good.size() / 8)) {
    flip(file, good, at);
    std::string const failure = fails();
    CHECK(contains(failure, "[shardtype E94] tensor \"moments."));
    CHECK(contains(failure, " of " + file + " is damaged"));
  }
  // two elements that change places
  std::string swapped = good;
  auto const first = swapped.begin() + static_cast<std::ptrdiff_t>(header);
  std::swap_ranges(first, first + 8, first + 8);
  REQUIRE(swapped != good);
  put(file, swapped);
  CHECK(contains(fails(), "is damaged"));
  meet();
  if (my_rank() == 0) fs::remove(file);
  meet();
  CHECK(contains(fails(), "[shardtype IO1] cannot open " + file + ": no such file"));
  put(file, good);
  CHECK(fails() == "none");
  CHECK(wrong(model, 1) == 0);
  CHECK(wrong_state(state, 1) == 0);
}

TEST_CASE("a thread saves what the tensors were") {
  TempDir const dir("checkpoint");
  auto const mesh = on_ranks::two_axes<X, Y>();
  std::string const run = dir / "run";
  checkpoint::Saver saver(run, {.keep = 2});
  saver.wait();
  {
    auto model = model_of<Turned, bfloat16>(mesh, 1);
    auto state = adam.init(model);
    for (std::int64_t step = 1; step <= 4; ++step) {
      fill(model, step);
      fill_state(state, step);
      saver.save(step, model, state, {{"step", step}});
      fill(model, 100 + step);
      fill_state(state, 100 + step);
      meet();
      // the step under way is not there yet
      if (step > 1) CHECK(checkpoint::latest(mesh, run)->number == step - 1);
      meet();
    }
  }
  saver.wait();
  auto model = model_of<Grid, bfloat16>(mesh, 0);
  auto state = adam.init(model);
  auto const loaded = checkpoint::load(run, model, state);
  CHECK(loaded.step == 4);
  CHECK(loaded.extra.get<int>("step") == 4);
  CHECK(wrong(model, 4) == 0);
  CHECK(wrong_state(state, 4) == 0);
  {
    checkpoint::Saver dropped(run);  // rank 0 says E96
    dropped.save(9, model);
  }
  meet();
  CHECK(checkpoint::latest(mesh, run)->number == 4);
  CHECK(harness::names_in(run) ==
        std::vector<std::string>{".lock", "latest", "step_00000003", "step_00000004"});
}

TEST_CASE("a folder that cannot be written is an error of all ranks") {
  TempDir const dir("checkpoint");
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const model = model_of<Grid, float>(mesh, 1);
  put(dir / "file", "no folder");
  CHECK(contains(failure_of([&] { checkpoint::save(dir / "file", 1, model); }),
                 "[shardtype IO8] cannot write " + (dir / "file")));
  checkpoint::Saver saver(dir / "file");
  CHECK(contains(failure_of([&] { saver.save(1, model); }), "[shardtype IO8]"));
  CHECK(failure_of([&] { saver.wait(); }) == "none");
}

TEST_CASE("single files have the names and the orientation of other programs") {
  TempDir const dir("checkpoint");
  auto const mesh = on_ranks::two_axes<X, Y>();
  std::string const path = dir / "model.safetensors";
  checkpoint::FileOptions options;
  options.names = [](std::string_view name) -> checkpoint::NameInFile {
    if (name == "wide") return {};
    return {"net." + std::string(name), name.ends_with("weights") || name == "waves"};
  };
  options.metadata = {{"format", "pt"}, {"made", "here"}};
  for (auto const& other : meshes()) {
    auto const model = model_of<Grid, float>(mesh, 1);
    checkpoint::save_safetensors(path, model, options);
    auto loaded = model_of<Turned, float>(other, 2);
    CHECK(checkpoint::load_safetensors(path, loaded, options) == options.metadata);
    loaded.wide = model_of<Turned, float>(other, 1).wide;
    CHECK(wrong(loaded, 1) == 0);
  }
  // a transposed tensor, as the array that the file has
  std::array turned{zeros<Tensor<float, Dim<J, X>, Dim<I, Y>>>(mesh)};
  checkpoint::FileOptions one;
  one.names = [](std::string_view) -> checkpoint::NameInFile { return {"net.layers.0.weights"}; };
  CHECK(contains(failure_of([&] { checkpoint::load_safetensors(path, turned, one); }), "E91"));
  one.ignore_others = true;
  checkpoint::load_safetensors(path, turned, one);
  CHECK(on_ranks::wrong(turned[0], [](std::int64_t j, std::int64_t i) {
          return value_at<float>("layers.0.weights", 1, i * 6 + j);
        }) == 0);
  one.names = [](std::string_view) -> checkpoint::NameInFile { return {"net.rows"}; };
  CHECK(contains(failure_of([&] { checkpoint::load_safetensors(path, turned, one); }),
                 "[shardtype E92] tensor \"net.rows\" of " + path +
                     " has shape [13, 6], the program's has [6, 13]"));
  // files that are none
  std::string const good = contents(path);
  auto const fails = [&](std::string const& text) {
    put(path, text);
    return failure_of([&] { checkpoint::load_safetensors(path, turned, one); });
  };
  auto const with = [](std::string const& json) {
    std::string start(8, '\0');
    start[0] = static_cast<char>(json.size());
    return start + json;
  };
  CHECK(contains(fails(""), "[shardtype E94] " + path));
  CHECK(contains(fails(good.substr(0, good.size() - 1)), "[shardtype E94] " + path));
  CHECK(contains(fails(std::string(64, '\xff')), "[shardtype E94] " + path));
  CHECK(contains(fails(with("[1]")), "its header is no JSON object"));
  CHECK(contains(fails(with("{\"a\":")), "its header is no JSON object"));
  CHECK(contains(fails(with(R"({"a":{"dtype":"F32","shape":[2]}})")), "entry \"a\" is invalid"));
  CHECK(contains(fails(with(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})")),
                 "cut off"));
  CHECK(contains(fails(with(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})") +
                       std::string(9, 'x')),
                 "tensor \"a\": its bytes are not those of its shape and type"));
  CHECK(contains(fails(with(R"({"a":{"dtype":"F32","shape":[-2,-1],"data_offsets":[0,8]}})") +
                       std::string(8, 'x')),
                 "tensor \"a\""));
  CHECK(contains(failure_of([&] { checkpoint::load_safetensors(dir / "none", turned, one); }),
                 "[shardtype IO1] cannot open " + (dir / "none") + ": no such file"));
}

TEST_CASE("several files with an index are one model, in any sharding") {
  TempDir const dir("checkpoint");
  auto const mesh = on_ranks::two_axes<X, Y>();
  using Table = Tensor<float, Dim<I>, Dim<J, X>>;
  using Fused = Tensor<float, Dim<J>, Dim<Few, Y>, Dim<I>>;  // [J, Few I] in the file
  struct Both : Index<"Both", 39> {};
  auto const table = [](std::int64_t i, std::int64_t j) { return static_cast<float>(i * 8 + j); };
  auto const fused = [](std::int64_t j, std::int64_t k, std::int64_t i) {
    return static_cast<float>(j * 100 + k * 10 + i);
  };
  using Pair = std::tuple<Table, Fused>;
  std::string const first = dir / "model-00001-of-00002.safetensors",
                    second = dir / "model-00002-of-00002.safetensors",
                    index = dir / "model.safetensors.index.json", folder = dir / ".";
  checkpoint::FileOptions options;
  options.names = [](std::string_view name) -> checkpoint::NameInFile {
    if (name == "0") return {"table", true};
    return {"fused", false, {1, 2}};
  };
  auto const no_table = [](std::string_view) -> checkpoint::NameInFile {
    return {"fused", false, {1, 2}};
  };
  checkpoint::save_safetensors(
      first, std::tuple{from_function<Tensor<float, Dim<I, X>, Dim<J>>>(mesh, table)},
      {.names = options.names, .metadata = {{"format", "pt"}}});
  auto const whole = from_function<Tensor<float, Dim<J, Y>, Dim<Few>, Dim<I>>>(mesh, fused);
  checkpoint::save_safetensors(second, std::array{whole}, {.names = no_table});
  std::string const good =
      R"({"metadata": {"total_size": 300, "a": [1.5e3, {"b": null}, true, "c"]}, "weight_map": )"
      R"({"table": "model-00001-of-00002.safetensors", )"
      R"("fused": "model-00002-of-00002.safetensors"}})";
  put(index, good);
  auto const empty = [&] { return Pair{zeros<Table>(mesh), zeros<Fused>(mesh)}; };
  for (std::string const& path : {folder, dir / "", index}) {
    Pair model = empty();
    CHECK(checkpoint::load_safetensors(path, model, options) ==
          checkpoint::Metadata{{"format", "pt"}});
    CHECK(on_ranks::wrong(std::get<0>(model), table) == 0);
    CHECK(on_ranks::wrong(std::get<1>(model), fused) == 0);
  }
  // an array of the file's dims has the same elements
  std::array flat{zeros<Tensor<float, Dim<J>, Dim<Both, X>>>(mesh)};
  checkpoint::FileOptions plain{
      .names = [](std::string_view) -> checkpoint::NameInFile { return {"fused"}; },
      .ignore_others = true};
  checkpoint::load_safetensors(folder, flat, plain);
  CHECK(on_ranks::wrong(flat[0], [&](std::int64_t j, std::int64_t k) {
          return fused(j, k / 13, k % 13);
        }) == 0);
  Pair model = empty();
  auto const fails = [&](std::string const& text) {
    put(index, text);
    return failure_of([&] { checkpoint::load_safetensors(folder, model, options); });
  };
  auto const changed = [&](std::string const& from, std::string const& to) {
    std::string out = good;
    return out.replace(out.find(from), from.size(), to);
  };
  CHECK(contains(fails(""),
                 "[shardtype E94] " + folder + "/model.safetensors.index.json is no index"));
  CHECK(contains(fails("{}"), "it has not one weight_map"));
  CHECK(contains(fails(good + "}"), "goes on after its end"));
  CHECK(contains(fails(std::string(99, '[')), "[shardtype E94]"));
  CHECK(contains(fails(R"({"a": )" + std::string(99, '[')), "is nested more than 16 deep"));
  CHECK(contains(fails(changed("model-00002", "../model")), "which is not beside it"));
  CHECK(contains(fails(changed("fused", "table")), "has the tensor \"table\" twice"));
  CHECK(contains(fails(changed("fused", "other")), "[shardtype E91]"));
  CHECK(contains(fails(changed("model-00002", "model-00003")),
                 "[shardtype IO1] cannot open " + folder + "/model-00003-of-00002.safetensors"));
  // the second file is compared before the first is read
  put(index, good);
  checkpoint::save_safetensors(second, std::array{whole},
                               {.names = [](std::string_view) -> checkpoint::NameInFile {
                                 return {"fused", true, {1, 2}};
                               }});
  CHECK(contains(
      failure_of([&] { checkpoint::load_safetensors(folder, model, options); }),
      "[shardtype E92] tensor \"fused\" of " + folder +
          "/model-00002-of-00002.safetensors has shape [13, 18], the program's has [6, 39]"));
  CHECK(on_ranks::wrong(std::get<0>(model), [](auto...) { return 0.0F; }) == 0);
  options.names = [](std::string_view) -> checkpoint::NameInFile {
    return {"fused", false, {2, 2}};
  };
  CHECK(contains(failure_of([&] { checkpoint::load_safetensors(folder, flat, options); }),
                 "[shardtype E92] tensor \"fused\" has 2 dims"));
}

TEST_CASE("a name that is saved is loaded, and another is refused when it is saved") {
  TempDir const dir("checkpoint");
  auto const mesh = on_ranks::two_axes<X, Y>();
  std::string const tensors = dir / "a.safetensors", arrays = dir / "a.npz";
  std::array const model{from_function<Tensor<float, Dim<J, X>>>(
      mesh, [](std::int64_t j) { return static_cast<float>(j); })};
  std::string const zero("a\0b", 3), nothing;
  struct Name {
    std::string name;
    bool in_tensors = true, in_arrays = true;
  };
  for (Name const& n : std::vector<Name>{{"a/b"},
                                         {"/"},
                                         {".."},
                                         {"../../etc"},
                                         {"\"\\'{}[],:"},
                                         {"a\nb\r\t\x1b\x7f"},
                                         {"a.npy"},
                                         {".npy"},
                                         {"F32 2 13 5 1 w\n0 0"},
                                         {"\xc3\xa9\xf0\x9f\x98\x80"},
                                         {" "},
                                         {"__metadata__", false, true},
                                         {std::string(60000, 'x')},
                                         {std::string(65532, 'x'), true, false},
                                         {zero, true, false},
                                         {"\xe9", false, false},
                                         {"a\xc3", false, false},
                                         {"\xed\xa0\x80", false, false}}) {
    INFO(n.name.substr(0, 100));
    checkpoint::FileOptions options;
    options.names = [&](std::string_view) -> checkpoint::NameInFile { return {n.name}; };
    auto const saves = [&](bool good, std::string const& path, auto save, auto load) {
      std::string const failure = failure_of([&] { save(path, model, options); });
      if (!good) {
        CHECK(contains(failure, "[shardtype E91]"));
        CHECK(contains(failure, path));
        CHECK(!fs::exists(path));
        return;
      }
      CHECK(failure == "none");
      std::array loaded{zeros<Tensor<float, Dim<J>>>(mesh)};
      load(path, loaded, options);
      CHECK(on_ranks::wrong(loaded[0], [](std::int64_t j) { return static_cast<float>(j); }) == 0);
      meet();
      if (my_rank() == 0) fs::remove(path);
      meet();
    };
    saves(
        n.in_tensors, tensors, [](auto const&... a) { checkpoint::save_safetensors(a...); },
        [](auto&... a) { checkpoint::load_safetensors(a...); });
    saves(
        n.in_arrays, arrays, [](auto const&... a) { checkpoint::save_npz(a...); },
        [](auto&... a) { checkpoint::load_npz(a...); });
  }
  // texts too
  CHECK(contains(failure_of([&] {
                   checkpoint::save_safetensors(tensors, model, {.metadata = {{"made", "\xff"}}});
                 }),
                 "[shardtype E95] the text \"made\""));
  checkpoint::save_safetensors(tensors, model, {.metadata = {{zero, zero}}});
  auto loaded = model;
  CHECK(checkpoint::load_safetensors(tensors, loaded) == checkpoint::Metadata{{zero, zero}});
  CHECK(contains(failure_of([&] { checkpoint::save(dir / "run", 1, model, {{"note", "\xff"}}); }),
                 "[shardtype E95] the value \"note\""));
  CHECK(!checkpoint::latest(mesh, dir / "run").has_value());
}

TEST_CASE("every number of a step is found") {
  TempDir const dir("checkpoint");
  std::string const run = dir / "run";
  auto const mesh = on_ranks::two_axes<X, Y>();
  std::array model{zeros<Tensor<float, Dim<J, X>>>(mesh)};
  constexpr std::int64_t large = 1'000'000'000'000'000'000,
                         most = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t const step : {large - 1, large, large + 3, most}) {
    checkpoint::save(run, step, model, {}, {.keep = 2});
    CHECK(checkpoint::load(run, model).step == step);
    meet();
  }
  CHECK(harness::names_in(run) == std::vector<std::string>{".lock", "latest",
                                                           "step_1000000000000000003",
                                                           "step_9223372036854775807"});
  meet();
  // names that no step has are left alone
  if (my_rank() == 0) {
    fs::remove(run + "/latest");
    for (char const* const name : {"step_9223372036854775808", "step_99999999999999999999",
                                   "step_000000000009", "step_-0000001"}) {
      fs::create_directory(run + "/" + name);
      std::ofstream(run + "/" + name + "/manifest.json") << "{}";
    }
  }
  meet();
  CHECK(checkpoint::latest(mesh, run)->number == most);
  CHECK(checkpoint::load(run, model).step == most);
}

TEST_CASE("a save writes no file that a link in the run names") {
  TempDir const dir("checkpoint");
  std::string const run = dir / "run";
  auto const mesh = on_ranks::two_axes<X, Y>();
  std::array model{zeros<Tensor<float, Dim<J, X>>>(mesh)};
  if (my_rank() == 0) {
    fs::create_directory(run);
    fs::create_symlink("../other", run + "/.lock");
    fs::create_symlink("../other", run + "/latest");
  }
  meet();
  checkpoint::save(run, 3, model);
  meet();
  CHECK(!fs::exists(dir / "other"));
  CHECK(checkpoint::load(run, model).step == 3);
}
