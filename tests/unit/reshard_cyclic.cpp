// The reshard planner with block-cyclic dims: every pair of shardings of tensors with up to two
// dims on three axes, block and cyclic with two block sizes. Every plan consists of steps of the
// written list. None costs more than the cheapest sequence of those steps over layouts that have
// only block-cyclic dims of the source or the destination. The bytes of each step are those that
// simulated ranks send.
// TIMEOUT: 300
// OPTIMIZE: 1
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include <shardtype/types.hpp>

#include "harness/catch.hpp"
#include "harness/settings.hpp"
#include "harness/simulate.hpp"

using namespace shardtype;
using namespace shardtype::planning;
using namespace settings;
using namespace simulate;

namespace {

constexpr int axes = 3;
std::vector<std::int32_t> const turns{1, 3};

std::int64_t element(Extents const& at) { return at[0] * 7 + at[1] * 13 - 11; }

// The sharding as a number: 8 bits for each axis.
std::uint32_t code_of(Spec const& s) {
  std::uint32_t code = 0;
  for (int x = 0; x < axes; ++x) {
    int place = s.unreduced.contains(x) ? 1 : 0;
    if (int const d = s.dim_of(x); d >= 0)
      place = 2 + (d * max_axes + s.dims[d].axes.position(x)) * 4 + s.dims[d].axes.cyclic;
    code |= static_cast<std::uint32_t>(place) << (8 * x);
  }
  return code;
}

std::uint8_t in_use(Spec const& s) {
  std::uint8_t bits = s.unreduced.bits;
  for (int x = 0; x < axes; ++x)
    if (s.dim_of(x) >= 0) bits = static_cast<std::uint8_t>(bits | (1U << x));
  return bits;
}

struct Edge {
  std::size_t to = 0;
  Step step{};
  Cost cost{};
};
using Edges = std::vector<std::vector<Edge>>;

Cost const never{std::numeric_limits<std::int64_t>::max() / 4, 0, 0, 0, 0};

// Whether each block-cyclic dim of `s` has the block size of `to`, or is sharded as in `from`.
bool known_turns(Spec const& s, Spec const& from, Spec const& to) {
  for (int d = 0; d < s.rank; ++d)
    if (s.dims[d].axes.cyclic != 0 && s.dims[d].axes.cyclic != to.dims[d].axes.cyclic &&
        !(s.dims[d] == from.dims[d]))
      return false;
  return true;
}

// The cheapest costs from one sharding over all sequences of steps on the axes `usable` through
// layouts with known_turns; valid for every destination with the same block sizes as `to`.
std::vector<Cost> best_from(std::size_t from, Spec const& to, std::uint8_t usable,
                            Edges const& edges, std::vector<Spec> const& all) {
  std::vector<bool> open(all.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    open[k] = (in_use(all[k]) & ~usable) == 0 && known_turns(all[k], all[from], to);
  std::vector<Cost> best(edges.size(), never);
  best[from] = {};
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 0; k < edges.size(); ++k) {
      if (best[k] == never) continue;
      for (Edge const& e : edges[k]) {
        if (!open[e.to]) continue;
        Cost const cost = best[k] + e.cost;
        if (cost < best[e.to]) {
          best[e.to] = cost;
          changed = true;
        }
      }
    }
  }
  return best;
}

struct Tally {
  std::int64_t pairs = 0, cyclic_pairs = 0, unlawful = 0, astray = 0, dearer = 0;
  std::int64_t triples = 0;
  std::int64_t known_triples = 0;     // the middle sharding has known_turns
  std::int64_t own_triples = 0;       // and uses only the axes of the ends
  std::int64_t detours = 0;           // of the known_triples; plans may use all axes
  std::int64_t detours_that_pay = 0;  // by plans on the axes of their ends
  std::int64_t far_detours = 0;       // over other block sizes, which save more than a third
};

// Every sharding of one rank, the steps from each, and the costs of the plans between them.
class Check {
 public:
  Check(int rank, Sizing const& z, Machine const& m)
      : z_(z), m_(m), all_(all_specs(rank, axes, true, turns)), edges_(all_.size()) {
    for (std::size_t k = 0; k < all_.size(); ++k) numbers_[code_of(all_[k])] = k;
    for (std::size_t k = 0; k < all_.size(); ++k)
      for (Step const& step : steps_from(all_[k], axes, turns))
        edges_[k].push_back({numbers_.at(code_of(step.after)), step, step_cost(step, z, m)});
  }

  Tally run() {
    std::size_t const n = all_.size();
    own_.assign(n * n, never);
    any_.assign(n * n, never);
    for (std::size_t a = 0; a < n; ++a) pairs_from(a);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t c = 0; c < n; ++c)
        if (!(own_[a * n + c] == never)) triples_between(a, c);
    return t_;
  }

 private:
  void pairs_from(std::size_t a) {
    std::size_t const n = all_.size();
    std::map<int, std::vector<Cost>> best;  // by axes and block sizes of the destination
    auto best_to = [&](std::size_t b, std::uint8_t usable) {
      int kind = usable;
      for (int d = 0; d < all_[b].rank; ++d) kind = kind * 8 + all_[b].dims[d].axes.cyclic;
      if (best[kind].empty()) best[kind] = best_from(a, all_[b], usable, edges_, all_);
      return best[kind][b];
    };
    for (std::size_t b = 0; b < n; ++b) {
      if (!rules::reshard(all_[a], all_[b])) continue;
      ++t_.pairs;
      if (all_[a].cyclic_dim() >= 0 || all_[b].cyclic_dim() >= 0) ++t_.cyclic_pairs;
      std::uint8_t const usable = static_cast<std::uint8_t>(in_use(all_[a]) | in_use(all_[b]));
      Cost const cost = follow(a, b, planning::reshard_plan(all_[a], all_[b], z_, m_));
      if (!(cost == best_to(b, usable))) ++t_.dearer;
      own_[a * n + b] = any_[a * n + b] = cost;
      if (usable == every) continue;
      any_[a * n + b] = follow(a, b, planning::reshard_plan(all_[a], all_[b], z_, m_, {every}));
      if (!(any_[a * n + b] == best_to(b, every))) ++t_.dearer;
    }
  }
  // The cost of a plan, step by step. Counts the errors of the plan.
  Cost follow(std::size_t a, std::size_t b, Plan const& plan) {
    Spec at = all_[a];
    Cost sum;
    for (Step const& step : plan) {
      bool listed = false;
      for (Edge const& e : edges_[numbers_.at(code_of(at))]) {
        bool same = e.step.move == step.move && e.step.after == step.after &&
                    e.step.from == step.from && e.step.to == step.to &&
                    e.step.axes.size == step.axes.size;
        for (int k = 0; same && k < step.axes.size; ++k) same = e.step.axes.contains(step.axes[k]);
        listed = listed || same;
      }
      if (!(step.before == at) || !listed) ++t_.unlawful;
      at = step.after;
      sum = sum + step_cost(step, z_, m_);
    }
    if (!(at == all_[b])) ++t_.astray;
    return sum;
  }
  void triples_between(std::size_t a, std::size_t c) {
    std::size_t const n = all_.size();
    int const usable = in_use(all_[a]) | in_use(all_[c]);
    for (std::size_t b = 0; b < n; ++b) {
      if (own_[a * n + b] == never || own_[b * n + c] == never) continue;
      ++t_.triples;
      if (known_turns(all_[b], all_[a], all_[c])) {
        ++t_.known_triples;
        if (any_[a * n + b] + any_[b * n + c] < any_[a * n + c]) ++t_.detours;
        if ((in_use(all_[b]) & ~usable) != 0) continue;
        ++t_.own_triples;
        if (own_[a * n + b] + own_[b * n + c] < own_[a * n + c]) ++t_.detours_that_pay;
      } else {
        // no plan uses a block size that neither end has; a detour over such a sharding may be
        // cheaper
        std::int64_t const time = any_[a * n + b].picoseconds + any_[b * n + c].picoseconds;
        if (3 * time < 2 * any_[a * n + c].picoseconds) ++t_.far_detours;
      }
    }
  }

  static constexpr std::uint8_t every = (1U << axes) - 1;
  Sizing z_;
  Machine m_;
  std::vector<Spec> all_;
  std::map<std::uint32_t, std::size_t> numbers_;
  Edges edges_;
  std::vector<Cost> own_;  // by plans on the axes that either end uses
  std::vector<Cost> any_;  // by plans on all axes of the mesh
  Tally t_{};
};

// The bytes that the rank at these coordinates sends to others in an exchange, element by element.
std::int64_t sent_by_elements(Step const& s, Sizing const& z, Coords const& me) {
  std::int64_t n = 0;
  for (std::int64_t g = 0; g < z.sizes.product(s.axes); ++g) {
    Coords const other = member(s.axes, z.sizes, me, g);
    if (rank_of(z.sizes, other) == rank_of(z.sizes, me)) continue;
    for (std::int64_t k = 0; k < volume(s.before, z.extents); ++k) {
      Extents const at = indices(s.before, z.extents, k);
      if (holds(s.before, z, me, at) && holds(s.after, z, other, at)) ++n;
    }
  }
  return n * z.element_bytes;
}

void expect_none_wrong(Tally const& t) {
  CHECK(t.unlawful == 0);
  CHECK(t.astray == 0);
  CHECK(t.dearer == 0);
  CHECK(t.detours == 0);
  CHECK(t.detours_that_pay == 0);
}

}  // namespace

TEST_CASE("rows and what two ranks have in common, counted one by one") {
  std::int64_t wrong = 0;
  std::int64_t cases = 0;
  Sizes const sizes{{1, 2, 3, 5}};
  std::vector<AxisList> lists;
  for (int x = 0; x < max_axes; ++x)
    for (std::int32_t turn : {0, 1, 2, 3, 4, 7, 64}) {
      AxisList list;
      list.push(x);
      list.cyclic = turn;
      lists.push_back(list);
    }
  for (std::int64_t n : {0, 1, 2, 5, 12, 61, 150})
    for (AxisList const& la : lists)
      for (std::int64_t ka = 0; ka < sizes[la[0]]; ++ka) {
        Coords at;
        at.at[la[0]] = ka;
        Rows const a = rows_of(n, la, sizes, at);
        std::int64_t k = 0;
        for (std::int64_t i = 0; i <= n; ++i) {
          if (a.below(i) != k) ++wrong;
          bool const mine = i < n && (la.cyclic != 0 ? i / la.cyclic % sizes[la[0]] == ka
                                                     : i >= block({0, n}, la, sizes, at).begin &&
                                                           i < block({0, n}, la, sizes, at).end);
          if (!mine) continue;
          if (k >= a.count || a[k] != i) ++wrong;
          ++k;
        }
        if (k != a.count || a.count != held(n, la, sizes, at) ||
            a.count > largest_block(n, la, sizes) || (k > 0 && a.end() != a[k - 1] + 1))
          ++wrong;
        for (std::int64_t l = 0; l < a.count;) {
          std::int64_t const row = a.in_a_row(l);
          for (std::int64_t r = 1; r < row; ++r)
            if (a[l + r] != a[l] + r) ++wrong;
          if (row < 1 || l + row > a.count) ++wrong;
          l += row;
        }
        for (AxisList const& lb : lists)
          for (std::int64_t kb = 0; kb < sizes[lb[0]]; ++kb) {
            Coords there;
            there.at[lb[0]] = kb;
            Rows const b = rows_of(n, lb, sizes, there);
            std::int64_t both = 0;
            for (std::int64_t i = 0; i < n; ++i)
              both += a.below(i + 1) - a.below(i) == 1 && b.below(i + 1) - b.below(i) == 1 ? 1 : 0;
            ++cases;
            if (common(a, b) != both) ++wrong;
          }
      }
  CHECK(cases == 7 * 91 * 91);
  CHECK(wrong == 0);
}

TEST_CASE("with cyclic dims every reshard arrives by single steps at the least cost") {
  Machine const cluster{};
  for (Setting const& s : {Setting{"", sizing(2, 3, 4, 5, 7), cluster},
                           Setting{"", sizing(4, 2, 2, 4096, 1024), cluster},
                           Setting{"", sizing(2, 3, 2, 130, 7), slow_network()},
                           Setting{"", sizing(1, 8, 2, 64, 3), cluster}})
    for (int rank = 1; rank <= 2; ++rank) {
      INFO("extent " << s.z.extents[0] << ", rank " << rank);
      Tally const t = Check(rank, s.z, s.m).run();
      std::int64_t const pairs[] = {0, 1911, 39999};
      std::int64_t const triples[] = {0, 47776, 5516680};
      std::int64_t const known_triples[] = {0, 35308, 2723104};
      std::int64_t const own_triples[] = {0, 28822, 2437312};
      std::int64_t const cyclic[] = {0, 1134, 34860};
      CHECK(t.pairs == pairs[rank]);
      CHECK(t.cyclic_pairs == cyclic[rank]);
      CHECK(t.triples == triples[rank]);
      CHECK(t.known_triples == known_triples[rank]);
      CHECK(t.own_triples == own_triples[rank]);
      expect_none_wrong(t);
      CHECK(t.far_detours == 0);
    }
}

TEST_CASE("with cyclic dims of drawn sizes every reshard costs least") {
  for (int rank = 1; rank <= 2; ++rank)
    for (Setting const& s : drawn(static_cast<unsigned>(rank), rank < 2 ? 30 : 2)) {
      INFO(s.name << ", rank " << rank);
      Tally const t = Check(rank, s.z, s.m).run();
      expect_none_wrong(t);
    }
}

TEST_CASE("each step with a cyclic dim brings the value, at the bytes that are sent") {
  std::int64_t steps = 0;
  std::int64_t within = 0;
  std::int64_t wrong = 0;
  for (Sizing const& z : {sizing(2, 3, 2, 11, 7), sizing(2, 2, 2, 4, 1), sizing(3, 1, 2, 0, 5)})
    for (int rank = 1; rank <= 2; ++rank)
      for (Spec const& from : all_specs(rank, axes, true, turns))
        for (Step const& step : steps_from(from, axes, turns)) {
          if (step.before.cyclic_dim() < 0 && step.after.cyclic_dim() < 0) continue;
          ++steps;
          Distributed v = distribute(from, z, element);
          if (!apply(step, z, v) || !equals(v, z, element)) ++wrong;
          if (step.collective() != Collective::all_to_all) continue;
          within += step.from == step.to ? 1 : 0;
          for (std::int64_t r = 0; r < rank_count(z.sizes); ++r) {
            Coords const me = coords_of(z.sizes, r);
            if (step_bytes(step, z, me) != sent_by_elements(step, z, me)) ++wrong;
          }
        }
  CHECK(steps == 9684);
  CHECK(within == 5184);
  CHECK(wrong == 0);
}
