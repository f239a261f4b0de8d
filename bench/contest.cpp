// The planner's message passing on instances of the ASPLOS 2025 contest on intra-operator
// parallelism, without their memory limits: https://github.com/google/iopddl has them as .json.gz.
// RANKS: 1
// NEEDS: JSON
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <shardtype/plan/case_search.hpp>

using namespace shardtype::planning;

namespace {

char const* const help =
    "bench_contest [--sweeps=400] FILE.json...\n"
    "The cost of the best choice of strategies found, and a lower bound. Lines: value contest "
    "FILE\n"
    "GAP, the difference as a part of the cost.\n";

/// An instance: costs of each node's strategies, and of pairs of strategies of two nodes.
struct Instance {
  std::vector<std::vector<std::int64_t>> nodes;
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  std::vector<std::vector<std::int64_t>> pairs;

  explicit Instance(char const* file) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error(std::string(file) + ": cannot be read");
    nlohmann::json const all = nlohmann::json::parse(in);
    nlohmann::json const& problem = all.at("problem");
    problem.at("nodes").at("costs").get_to(nodes);
    problem.at("edges").at("nodes").get_to(edges);
    problem.at("edges").at("costs").get_to(pairs);
    for (std::size_t k = 0; k < edges.size(); ++k) {
      auto const [a, b] = edges[k];
      if (a >= nodes.size() || b >= nodes.size() || a == b ||
          pairs.at(k).size() != nodes[a].size() * nodes[b].size())
        throw std::runtime_error(std::string(file) + ": edge " + std::to_string(k) +
                                 " does not fit its nodes");
    }
  }
  std::int64_t pair(std::size_t edge, std::size_t a, std::size_t b) const {
    return pairs[edge][a * nodes[edges[edge].second].size() + b];
  }
  /// The cost of these strategies; summed up here, not by the network.
  std::int64_t cost(std::vector<std::size_t> const& at) const {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < nodes.size(); ++k) sum += nodes[k][at[k]];
    for (std::size_t k = 0; k < edges.size(); ++k)
      sum += pair(k, at[edges[k].first], at[edges[k].second]);
    return sum;
  }
  /// The network whose homes are the nodes; all have as many layouts, of which some are impossible.
  CostNetwork network() const {
    std::size_t most = 0;
    for (auto const& costs : nodes) most = std::max(most, costs.size());
    std::size_t const layouts = most + 1;  // and one for none
    CostNetwork out;
    for (auto const& costs : nodes) {
      CostNetwork::Variable v;
      v.node = static_cast<int>(out.variables.size());
      v.is_home = true;
      v.unary.resize(layouts, impossible_cost);
      for (std::size_t s = 0; s < costs.size(); ++s) v.unary[s] = known(costs[s]);
      out.homes.push_back(v.node);
      out.variables.push_back(v);
    }
    for (std::size_t k = 0; k < edges.size(); ++k) {
      auto const [a, b] = edges[k];
      Costs table(layouts * layouts, impossible_cost);
      for (std::size_t x = 0; x < nodes[a].size(); ++x)
        for (std::size_t y = 0; y < nodes[b].size(); ++y)
          table[a < b ? x * layouts + y : y * layouts + x] = known(pair(k, x, y));
      CostNetwork::Edge e;
      e.from = static_cast<int>(std::min(a, b));
      e.to = static_cast<int>(std::max(a, b));
      e.layouts = static_cast<int>(layouts);
      e.moves = static_cast<int>(out.moves.size());
      out.variables[static_cast<std::size_t>(e.from)].out.push_back(static_cast<int>(k));
      out.variables[static_cast<std::size_t>(e.to)].in.push_back(static_cast<int>(k));
      out.edges.push_back(e);
      out.moves.push_back(std::move(table));
    }
    out.scale_costs();
    return out;
  }

 private:
  static std::int64_t known(std::int64_t cost) {
    return is_possible(cost) ? cost : impossible_cost;
  }
};

void close(char const* file, int sweeps) {
  Instance const instance(file);
  auto const begin = std::chrono::steady_clock::now();
  CostNetwork const network = instance.network();
  if (!network.usable) throw std::runtime_error(std::string(file) + ": its costs are out of range");
  MessagePassing messages(network);
  messages.run(sweeps);
  double const seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (messages.best >= impossible_cost) throw std::runtime_error(std::string(file) + ": no choice");
  std::vector<std::size_t> at;
  for (std::size_t k = 0; k < instance.nodes.size(); ++k)
    at.push_back(static_cast<std::size_t>(messages.homes[k]));
  std::int64_t const cost = instance.cost(at);
  // costs are whole numbers, so that the bound is one of the next whole number
  std::int64_t const bound = (messages.bound + network.scale - 1) / network.scale;
  std::printf("%s: %zu nodes, %zu edges; cost %lld, bound %lld, %d sweeps, %.2f s\n", file,
              instance.nodes.size(), instance.edges.size(), static_cast<long long>(cost),
              static_cast<long long>(bound), messages.sweeps, seconds);
  std::printf("value contest %s %.2e\n", file,
              static_cast<double>(cost - bound) / static_cast<double>(cost));
}

}  // namespace

int main(int argc, char** argv) {
  int sweeps = 400;
  try {
    if (argc < 2) throw std::runtime_error(help);
    for (int k = 1; k < argc; ++k) {
      std::string const argument = argv[k];
      if (argument.starts_with("--sweeps="))
        sweeps = std::stoi(argument.substr(9));
      else if (argument.starts_with("--"))
        throw std::runtime_error(help);
      else
        close(argv[k], sweeps);
    }
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
