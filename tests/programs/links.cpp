// Nodes of two ranks in network namespaces (scripts/slow_network --per-node 2 --links): the library
// finds them, shares windows inside of one and none between two, and yields while it waits, because
// one host has them all. Then 8 MB go from the first node to the last, which the link must show.
#include <cstdio>
#include <vector>

#include <unistd.h>

#include <shardtype/runtime/environment.hpp>
#include <shardtype/runtime/mesh.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};

bool holds(bool fact, char const* what) {
  if (!fact) std::printf("WRONG: %s\n", what);
  return fact;
}

}  // namespace

int main(int argc, char** argv) {
  Environment env(argc, argv);
  bool right = true;
  auto const mesh = Mesh<X, Y>::by_node(env.world());
  right = holds(mesh.size_of<Y>() == 2, "two ranks a node") && right;
  right = holds(mesh.coordinate<X>() == env.rank() / 2, "nodes in the order of ranks") && right;
  right = holds(!mesh.state().window().possible(), "no window between nodes") && right;
  Mesh<Y> const first(env.world(), {2}, {0, 1});
  if (first.here()) right = holds(first.state().window().possible(), "a window inside") && right;
  bool const crowded = env.size() > sysconf(_SC_NPROCESSORS_ONLN);
  right = holds(runtime::run_time.yield_while_waiting || !crowded, "ranks yield") && right;

  runtime::Comm& all = mesh.state().whole();
  std::vector<float> data(std::size_t{1} << 21);
  auto const n = static_cast<std::int64_t>(data.size());
  int const last = env.size() - 1;
  if (env.rank() == 0) all.messages<float>({{last, data.data(), n}}, {});
  if (env.rank() == last) all.messages<float>({}, {{0, data.data(), n}});
  return right ? 0 : 1;
}
