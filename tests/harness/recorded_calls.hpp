// Operations that communicate by themselves, recorded in automatic mode beside strict mode: the
// same bits, and what plans say about bytes, messages, flops and memory.
#pragma once

#include <cstdint>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"
#include "harness/panel_ways.hpp"

namespace recorded {

using Int = std::int64_t;

// Whether the sent bytes are those of the plan, or at most those, as where pivots decide.
enum class Bytes { exact, at_most };

// This rank's coordinates along the axes of a program.
template <class... Axes>
shardtype::Coords at(shardtype::PlannedProgram const& p, shardtype::Mesh<Axes...> const& mesh) {
  shardtype::Coords out;
  for (int x = 0; x < p.names.axes; ++x)
    ((p.names.axis[x].id == shardtype::core::identity<Axes>
          ? void(out.at[x] = mesh.template coordinate<Axes>())
          : void()),
     ...);
  return out;
}
inline Int of_all(Int mine) {
  Int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

// The result of `run`; what all ranks give each other is what `p` has, and, unless `local` steps
// need memory of their own, no rank holds more.
template <class M, class Run>
auto measured(shardtype::PlannedProgram const& p, M const& mesh, Bytes how, Run run,
              bool local = false) {
  auto& memory = shardtype::runtime::run_time.memory;
  Int const before = memory.now();
  memory.reset();
  panel_ways::Counted const counted;
  auto out = run();
  Int const sent = of_all(counted.bytes());
  Int const held = memory.most() - before;
  Int const mine = p.plan.bytes(at(p, mesh));
  Int const planned = of_all(mine);
  INFO("sent " << sent << ", planned " << planned << "; held " << held << ", planned "
               << p.plan.temporary_bytes());
  CHECK(mine <= p.plan.bytes_per_rank());
  CHECK(sent <= planned);
  if (how == Bytes::exact) CHECK(sent == planned);
  if (local) return out;
  CHECK(held <= p.plan.temporary_bytes());
  if (how == Bytes::exact && p.plan.temporary_bytes() >= measured_plan::large &&
      counted.windows() == 0)
    CHECK(static_cast<double>(p.plan.temporary_bytes()) <=
          1.1 * static_cast<double>(measured_plan::most_of_ranks(held)));
  return out;
}

// `f` of tensors in the three recorded forms: of expressions, as a function, and planned from
// types, for the sizes that `sizes` sets. Returns its plan.
template <class Out, class M, class F, class Sizes, class... As>
shardtype::PlannedProgram check(M const& mesh, Bytes how, F f, Sizes sizes, As const&... as) {
  using namespace shardtype;
  panel_ways::Counted const counted;
  auto const strict = f(as...);
  Int const sent = of_all(counted.bytes());
  auto const e = f(lazy(as)...);
  PlannedProgram const p = planned(evaluate_to<Out>, mesh, e);
  CHECK(array_equal(measured(p, mesh, how, [&] { return evaluate<Out>(mesh, e); }), strict));
  auto from_types = dry_run<As...>([f](auto const&... a) { return evaluate<Out>(f(a...)); });
  sizes(from_types);
  PlannedProgram const q = from_types.planned();
  CHECK(array_equal(measured(q, mesh, how, [&] { return evaluate<Out>(mesh, f, as...); }), strict));
  CHECK(q.plan.bytes_per_rank() == p.plan.bytes_per_rank());
  CHECK(q.plan.messages() == p.plan.messages());
  CHECK(q.plan.collectives() == p.plan.collectives());
  if (how == Bytes::exact) CHECK(sent == of_all(q.plan.bytes(at(q, mesh))));
  return p;
}

// The plan of one operation in a program is that of its call.
template <class P, class Q>
constexpr bool same_plan(P const& program, Q const& strict) {
  return program.possible && program.collectives() == strict.collectives() &&
         program.bytes_per_rank() == strict.bytes_per_rank() &&
         program.messages() == strict.messages() && program.flops() == strict.flops() &&
         program.peak_bytes() == strict.peak_bytes();
}

}  // namespace recorded
