// Saves steps of a run until it is killed: saves RUN [--thread]. It begins with the latest step
// that is there, whose values it checks, and says "loaded N" and then "saved N" when a step is
// saved. saves RUN --check: checks all steps that are there, and ends.
// SOURCES: tests/harness/yield.cpp
// NEEDS: JSON
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <shardtype/checkpoint/checkpoint.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct X : Axis<"X"> {};
struct I : Index<"I", 331> {};
struct J : Index<"J", 1009> {};

namespace {

template <template <class> class As>
struct Model {
  As<Tensor<float, Dim<I, X>, Dim<J>>> rows;
  As<Tensor<double, Dim<I>, Dim<J, X>>> columns;
  As<Tensor<std::int64_t, Dim<J>>> whole;
};

Model<value_t> model_of(Mesh<X> const& mesh, std::int64_t step) {
  auto const value = [step](std::int64_t i, std::int64_t j) {
    return (step * 131 + i * 1009 + j) % 65521;
  };
  return {from_function<float, Dim<I, X>, Dim<J>>(mesh, value),
          from_function<double, Dim<I>, Dim<J, X>>(mesh, value),
          from_function<std::int64_t, Dim<J>>(mesh, [&](std::int64_t j) { return value(7, j); })};
}
bool good(Mesh<X> const& mesh, std::string const& path, std::int64_t& step) {
  auto model = model_of(mesh, 0);
  step = checkpoint::load(path, model).step;
  auto const wanted = model_of(mesh, step);
  return array_equal(model.rows, wanted.rows) && array_equal(model.columns, wanted.columns) &&
         array_equal(model.whole, wanted.whole);
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<X> const mesh(env.world(), {env.size()});
  std::string const run = argc > 1 ? argv[1] : "run";
  std::string_view const how = argc > 2 ? argv[2] : "";
  auto const say = [&](char const* what, std::int64_t step) {
    if (env.rank() != 0) return;
    std::printf("%s %lld\n", what, static_cast<long long>(step));
    std::fflush(stdout);
  };
  std::int64_t step = 0;
  if (checkpoint::latest(mesh, run) && !good(mesh, run, step)) {
    say("wrong values of step", step);
    return 1;
  }
  say("loaded", step);
  if (how == "--check") {
    std::vector<std::string> folders;
    for (auto const& entry : std::filesystem::directory_iterator(run))
      if (entry.path().filename().string().starts_with("step_")) folders.push_back(entry.path());
    for (std::string const& folder : folders)
      if (!good(mesh, folder, step)) {
        say("wrong values of step", step);
        return 1;
      }
    say("checked", static_cast<std::int64_t>(folders.size()));
    return 0;
  }
  checkpoint::Saver saver(run, {.keep = 3});
  for (;;) {
    auto const model = model_of(mesh, ++step);
    if (how == "--thread") {
      saver.save(step, model);
      say("saved", step - 1);
    } else {
      checkpoint::save(run, step, model, {}, {.keep = 3});
      say("saved", step);
    }
  }
}
