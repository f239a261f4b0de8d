// Loads a NumPy file on a mesh and saves it: loads FILE [OUTPUT]. Or prints the errors of load_npy
// and then loads a good file: loads BAD... --then GOOD.
// SOURCES: tests/harness/yield.cpp
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct P : Axis<"P"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

namespace {

auto load(Mesh<P> const& mesh, std::string const& path) {
  return load_npy<float, Dim<I, P>, Dim<J>>(mesh, path);
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  Mesh<P> const mesh(env.world(), {env.size()});
  std::vector<std::string> const words(argv + 1, argv + argc);
  auto const then = std::find(words.begin(), words.end(), "--then");
  if (then != words.end()) {
    for (auto bad = words.begin(); bad != then; ++bad) {
      try {
        load(mesh, *bad);
      } catch (Error const& e) {
        if (env.rank() == 0) std::printf("caught: %s\n", e.what());
      }
    }
  }
  std::string const path = then != words.end() ? then[1] : words.at(0);
  std::string const output = then == words.end() && words.size() > 1 ? words[1] : "";
  auto const a = load(mesh, path);
  if (!output.empty()) save_npy(a, output);
  if (env.rank() == 0) std::printf("loaded %s\n", type_name(a).c_str());
}
