// Loads a NumPy file on a mesh and saves it: loads FILE [OUTPUT [--at-most BYTES]], where files may
// have so many bytes. Or prints the errors of load_npy
// and then loads a good file: loads BAD... --then GOOD.
// SOURCES: tests/harness/yield.cpp
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include <sys/resource.h>

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
  if (words.size() > 3 && words[2] == "--at-most") {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = std::stoul(words[3]);
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (!output.empty()) save_npy(a, output);
  if (env.rank() == 0) std::printf("loaded %s\n", type_name(a).c_str());
}
