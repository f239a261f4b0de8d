// What automatic mode promises of a call, for an operation of the registry on drawn layouts of its
// operands and its result: no slower, as predicted, than the same call with a named result; what
// is sent is what the plan says, and no more is held; a memory limit is kept or refused. One
// expression is recorded, of operands whose layouts are named by constraints; layouts are drawn at
// run time, into the recorded program.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <set>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/random/random.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/measured_plan.hpp"
#include "harness/on_ranks.hpp"
#include "harness/sample.hpp"
#include "shim/pmpi.hpp"

namespace registry_costs {

using namespace shardtype;
using planning::RecordedProgram;

struct U : Axis<"U"> {};
struct W : Axis<"W"> {};
using Grid = Mesh<U, W>;

// A type without its sharding.
template <class A>
struct Bare;
template <class D>
struct BareDim {
  using type = void;
};
template <class I, class... Xs>
struct BareDim<Dim<I, Xs...>> {
  using type = Dim<I>;
};
template <class T, class Dims>
struct TensorOf;
template <class T, class... Dims>
struct TensorOf<T, detail::Pack<Dims...>> {
  using type = Tensor<T, Dims...>;
};
template <class D>
using OneDim = std::conditional_t<std::is_void_v<typename BareDim<D>::type>, detail::Pack<>,
                                  detail::Pack<typename BareDim<D>::type>>;
template <class T, class... Parts>
struct Bare<Tensor<T, Parts...>> {
  using type = typename TensorOf<T, decltype((detail::Pack<>{} | ... | OneDim<Parts>{}))>::type;
};
template <class A>
using bare_t = typename Bare<A>::type;

struct Draw {
  std::mt19937 engine;
  int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
};

// The operands of a sample: numbers that all operations take, matrices near the identity.
template <class A>
A operand(Grid const& mesh, int which) {
  using T = typename A::element;
  return from_function<A>(mesh, [which](auto... at) {
    std::int64_t const i[] = {static_cast<std::int64_t>(at)...};
    std::int64_t hash = 7 + which;
    for (std::int64_t const k : i) hash = (hash * 31 + k * 17 + 5) % 101;
    if constexpr (std::is_same_v<T, bool>) {
      return hash % 3 != 0;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(hash % 2);
    } else {
      constexpr std::size_t n = sizeof...(at);
      bool const diagonal = n >= 2 && i[n - 1] == i[n < 2 ? 0 : n - 2];
      return T(0.001 * static_cast<double>(hash) + (diagonal ? 2 : 0));
    }
  });
}

// The first result of an operation, called as users call it.
template <class Op, class... As>
auto called(Op const& op, As const&... as) {
  auto const made = shardtype::call(detail::without_axes(op), {}, as...);
  if constexpr (detail::HasResults<Op>) {
    return std::get<0>(made);
  } else {
    return made;
  }
}
template <class F, class... As>
auto called(op::Map<F> const&, As const&... as) {
  return shardtype::map(F{}, as...);
}

// The strict result, of operands that are not split.
template <class Made, class A>
Made dense(A const& a) {
  return reshard<Made>(a);
}

// Over which axes dims are split: of each axis the dim, or -1.
struct Layout {
  std::array<int, 2> dim{-1, -1};
  bool swapped = false;  // the second axis is the major one, where both split a dim
};
inline Layout drawn(Draw& draw, Grid const& mesh, int rank) {
  Layout out;
  // an axis of one rank splits nothing
  if (mesh.size_of<U>() > 1) out.dim[0] = draw.below(rank + 1) - 1;
  if (mesh.size_of<W>() > 1) out.dim[1] = draw.below(rank + 1) - 1;
  out.swapped = draw.below(2) == 1;
  return out;
}
inline Spec spec_of(Layout const& l, int rank) {
  Spec s;
  for (int d = 0; d < rank; ++d) {
    core::AxisList axes;
    for (int k = 0; k < 2; ++k) {
      int const x = l.swapped ? 1 - k : k;
      if (l.dim[static_cast<std::size_t>(x)] == d) axes.push(x);
    }
    s.add(d, axes);
  }
  return s;
}

// The time of the call with a named result, in these layouts, of operations with such a form; -1:
// there is none, or it refuses extents whose blocks do not line up.
// The extents of a call's labels, those of its `n` operands so many times as long.
template <class S, int n>
core::Extents longer(std::int64_t times) {
  core::Extents out = S::names.extents();
  for (int l = 0; l < S::names.labels; ++l) {
    bool given = false;
    for (int k = 0; k < n; ++k) given = given || S::parsed[k].spec.find(l) >= 0;
    if (given) out.at[l] *= times;
  }
  return out;
}
template <class S, class Op, int n>
bool refuses_extents(Op const& op, planning::LocalPlan const& local, core::Sizes const& sizes,
                     std::array<std::array<std::int64_t, core::max_dims>,
                                static_cast<std::size_t>(n)> const& given) {
  if constexpr (requires(ResultExtents const& c) { op.extents(c); }) {
    core::ParsedType types[S::types]{};
    std::int64_t const* extents[static_cast<std::size_t>(n)]{};
    for (int k = 0; k < S::types; ++k) types[k] = S::parsed[k];
    for (int k = 0; k < n; ++k) {
      types[k].spec = local.operands[k];
      extents[k] = given[static_cast<std::size_t>(k)].data();
    }
    std::int64_t made[core::max_dims]{};
    ResultExtents const c{S::names, types, n, local.result, sizes, extents, made};
    try {
      c.carry();
      op.extents(c);
    } catch (Error const&) {
      return true;
    }
  }
  return false;
}
template <class Op, class Out, class... As>
double strict_seconds(Op const& op, std::int64_t times, Machine const& m, core::Sizes const& sizes,
                      std::vector<Spec> const& given, Spec const& made) {
  if constexpr (!detail::has_named_form<Op>) {
    return -1;
  } else {
    using S =
        core::Scope<As..., typename detail::FromOf<Op>::type, typename detail::ToOf<Op>::type, Out>;
    constexpr int n = static_cast<int>(sizeof...(As));
    std::array<std::array<std::int64_t, core::max_dims>, sizeof...(As)> given_extents{};
    for (int k = 0; k < n; ++k)
      for (int d = 0; d < S::parsed[k].spec.rank; ++d)
        given_extents[static_cast<std::size_t>(k)][static_cast<std::size_t>(d)] =
            times * S::names.label_extent[S::parsed[k].spec.dims[d].label];
    auto const in_scope = [](Spec s, int k) {
      for (int d = 0; d < s.rank; ++d) s.dims[d].label = S::parsed[k].spec.dims[d].label;
      return s;
    };
    Spec operands[sizeof...(As)];
    for (int k = 0; k < n; ++k) operands[k] = in_scope(given[static_cast<std::size_t>(k)], k);
    Spec const wanted = in_scope(made, n + 2);
    Spec const from = S::template spec<n>;
    std::int64_t const bytes[] = {static_cast<std::int64_t>(sizeof(typename As::element))...,
                                  static_cast<std::int64_t>(sizeof(typename Out::element))};
    core::Extents const extents = longer<S, n>(times);
    double best = -1;
    for (int candidate = 0; candidate < detail::candidates_of<Op>; ++candidate) {
      planning::LocalPlan const local =
          detail::meet<Op>({operands, n, from, S::template spec<n + 1>, extents, sizes,
                            (std::is_same_v<typename As::element, bool> || ...)},
                           wanted, candidate);
      if (!local.verdict || refuses_extents<S, Op, n>(op, local, sizes, given_extents)) continue;
      planning::Sizing z;
      z.extents = extents;
      z.sizes = sizes;
      z.element_bytes = bytes[0];
      planning::NamedCall c{Op::name, operands, &local, wanted, z, bytes};
      c.from = from;
      if constexpr (requires { Op::sent_bytes(0); }) {
        c.totals = Op::totals(local.operands[0], from);
        c.total_bytes = Op::sent_bytes(bytes[0]);
      }
      if constexpr (detail::runs_steps<Op>)
        c.steps = [](Plan& p, planning::CallSizing const& call) {
          Op{}.steps(p, call, call.operands[0].find(call.from.dims[0].label));
        };
      double const time =
          planning::named_plan(c, m, false, [&](planning::CallSizing const& call) {
            return detail::work_of(op, call,
                                   from.rank > 0 ? call.operands[0].find(from.dims[0].label) : -1);
          }).seconds(m);
      if (best < 0 || time < best) best = time;
    }
    return best;
  }
}

// The same of a reduction: partial results, and their reshard.
template <class F, class... Ls, class Out, class A>
double strict_reduction(op::Reduce<F, Ls...> const&, detail::Pack<Out, A>, std::int64_t times,
                        Machine const& m, core::Sizes const& sizes, Spec given, Spec wanted) {
  using S = core::Scope<A, Out>;
  using T = typename A::element;
  for (int d = 0; d < given.rank; ++d) given.dims[d].label = S::parsed[0].spec.dims[d].label;
  for (int d = 0; d < wanted.rank; ++d) wanted.dims[d].label = S::parsed[1].spec.dims[d].label;
  rules::Labels kept;
  for (int d = 0; d < given.rank; ++d)
    if (wanted.find(given.dims[d].label) >= 0) kept.push(given.dims[d].label);
  bool const whole = F::kind == rules::ReductionKind::whole;
  Spec const met =
      rules::reduction(given, kept, whole ? rules::ReductionKind::sum : F::kind).result;
  planning::Sizing z{longer<S, 1>(times), sizes, detail::carried_bytes<F, T>};
  Plan const moves = planning::reshard_plan(met, wanted, z, m);
  core::ParsedType types[S::types]{};
  for (int k = 0; k < S::types; ++k) types[k] = S::parsed[k];
  types[0].spec = given;
  std::int64_t extents[2][core::max_dims]{};
  for (int k = 0; k < 2; ++k)
    for (int d = 0; d < S::parsed[k].spec.rank; ++d)
      extents[k][d] = times * S::names.label_extent[S::parsed[k].spec.dims[d].label];
  std::int64_t const* const of[] = {extents[0]};
  std::int64_t const bytes[] = {sizeof(T), sizeof(typename Out::element)};
  core::Names names = S::names;
  for (int l = 0; l < names.labels; ++l) names.label_extent[l] = z.extents[l];
  detail::CallValues<1> const values(names, types, wanted, sizes, of, extents[1], bytes);
  return planning::reduction_plan(F::name, values.call, F::template total_bytes<T>, moves,
                                  detail::carried_bytes<F, T>, whole)
      .seconds(m);
}
template <class Op>
constexpr bool is_reduction = false;
template <class F, class... Ls>
constexpr bool is_reduction<op::Reduce<F, Ls...>> = true;

template <class P, class Out, class E>
struct Recorded {
  Grid const& mesh;
  E const& e;
  runtime::AxisMap axes = detail::program_axes(P::names, mesh);

  RecordedProgram program() const {
    execute::PartFinder finder;
    detail::walk(finder, &e);
    return detail::program_for(P::program, P::names, mesh, axes, finder.parts);
  }
  Out run(ProgramPlan const& plan) const {
    execute::PartFinder finder;
    detail::walk(finder, &e);
    return detail::packed_result<Out>(
        mesh, plan.program,
        detail::run_plan<P, Out>(mesh, axes, plan, finder, std::source_location::current()));
  }
  Coords coords() const {
    Coords at;
    for (int x = 0; x < P::names.axes; ++x)
      at.at[x] = P::names.axis[x].id == core::identity<U> ? mesh.template coordinate<U>()
                                                          : mesh.template coordinate<W>();
    return at;
  }
};

struct Checked {
  int layouts = 0;
  int beside_strict = 0;
  int within_limit = 0;
};

// The largest difference between two tensors of one sharding, relative to elements above 1.
template <class A>
double difference(A const& a, A const& b) {
  auto const x = to_host(a);
  auto const y = to_host(b);
  double most = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    double off = 0;
    if constexpr (std::is_same_v<typename A::element, Kokkos::complex<double>>) {
      off = std::max(std::abs(x[k].real() - y[k].real()), std::abs(x[k].imag() - y[k].imag()));
    } else {
      auto const u = static_cast<double>(x[k]);
      auto const v = static_cast<double>(y[k]);
      off = u == v ? 0 : std::abs(u - v) / std::max(1.0, std::abs(v));
    }
    most = off <= most ? most : off;
  }
  return most;
}

// Whether ranks choose what they send: at most as much as the plan says.
inline bool chooses_rows(ProgramPlan const& plan) {
  for (int k = 0; k < plan.size; ++k)
    if (plan.is_own_call(k))
      for (planning::Step const& s : plan.own_plan(k))
        if (s.move == planning::Move::send_rows) return true;
  return false;
}

template <class R, class Want>
void measured(R const& recorded, ProgramPlan const& plan, std::int64_t limit, Want const& want) {
  auto& memory = runtime::run_time.memory;
  std::int64_t const before = memory.now();
  memory.reset();
  shim::reset();
  auto const got = recorded.run(plan);
  std::int64_t const held = memory.most() - before;
  std::int64_t const sent = shim::bytes();
  INFO("held " << held << ", planned " << plan.temporary_bytes() << "; sent " << sent
               << ", planned " << plan.bytes(recorded.coords()));
  CHECK(held <= plan.temporary_bytes());
  if (chooses_rows(plan)) {
    CHECK(sent <= plan.bytes(recorded.coords()));
  } else {
    CHECK(sent == plan.bytes(recorded.coords()));
  }
  if (limit >= 0) CHECK(held <= limit);
  CHECK(difference(got, want) <= 1e-9);
}

template <samples::Name object, samples::Name function, class Op, class... As, std::size_t... N>
Checked check(samples::Sample<object, function, Op, As...> const& sample, Grid const& mesh,
              int draws, std::index_sequence<N...>) {
  Checked out;
  std::tuple<bare_t<As>...> const given{operand<bare_t<As>>(mesh, static_cast<int>(N))...};
  auto const made =
      registry_costs::called(sample.op, constrain<bare_t<As>>(lazy(std::get<N>(given)))...);
  using Made = bare_t<typename std::remove_cvref_t<decltype(made)>::whole>;
  auto const e = constrain<Made>(made);
  using E = std::remove_cvref_t<decltype(e)>;
  using P = detail::planned_t<detail::DefaultPolicy, E, detail::MeshAxes<Grid>::type, Made>;
  Recorded<P, Made, E> const recorded{mesh, e};
  RecordedProgram const base = recorded.program();
  Machine const machine = machine_here();
  planning::Rates const rates = detail::rates_for(machine, -1, base.sizes, P::names);
  Made const want =
      registry_costs::dense<Made>(registry_costs::called(sample.op, std::get<N>(given)...));
  // constraints of operands, and of the result
  std::vector<int> operands;
  int result = -1;
  for (int k = 0; k < base.size; ++k) {
    if (base.nodes[k].making == planning::Making::given || base.nodes[k].pinned < 0) continue;
    if (operands.size() < sizeof...(As))
      operands.push_back(k);
    else
      result = k;
  }
  REQUIRE(operands.size() == sizeof...(As));
  REQUIRE(result >= 0);
  Draw draw{std::mt19937(12345)};
  for (int round = 0; round < draws; ++round) {
    RecordedProgram p = base;
    RecordedProgram apart = base;
    std::vector<Spec> specs;
    for (int const k : operands) {
      specs.push_back(spec_of(drawn(draw, mesh, p.nodes[k].rank), p.nodes[k].rank));
      p.nodes.edit(k).pinned = p.code(k).of(specs.back());
      apart.nodes.edit(k).pinned = apart.nodes.edit(p.operand(k, 0, 0)).pinned = p.nodes[k].pinned;
    }
    Spec const wanted = spec_of(drawn(draw, mesh, p.nodes[result].rank), p.nodes[result].rank);
    p.nodes.edit(result).pinned = apart.nodes.edit(result).pinned = p.code(result).of(wanted);
    ProgramPlan const plan = planning::plan_program(p, rates);
    REQUIRE(plan.possible);
    INFO(object.view() << ", layouts " << round << "\n"
                       << explain(PlannedProgram{plan, P::names, machine}));
    measured(recorded, plan, -1, want);
    ++out.layouts;
    planning::Rates less = rates;
    less.memory_limit = plan.temporary_bytes() * 2 / 3;
    ProgramPlan const within = planning::plan_program(p, less);
    if (within.possible) {
      INFO("within " << less.memory_limit);
      CHECK(within.temporary_bytes() <= less.memory_limit);
      measured(recorded, within, less.memory_limit, want);
      ++out.within_limit;
    }
    if (apart.root != result) continue;
    // where groups are split, rows of a rank are those of its groups: another function
    if (object.view() == "RaggedDot" && specs.back().dims[0].axes.size > 0) continue;
    // the named call exchanges the ends of blocks of a split window dim, the second one; automatic
    // mode brings the rows together
    if (detail::moves_windows<Op> &&
        (wanted.dims[1].axes.size > 0 || specs[0].dims[1].axes.size > 0))
      continue;
    apart.wanted = apart.nodes[result].pinned;
    // long dims, too, unless the operation makes some
    constexpr bool makes_dims = !std::is_same_v<typename detail::ToOf<Op>::type, Mentions<>> ||
                                requires { Op::makes_parts; };
    RecordedProgram const small = apart;
    for (std::int64_t const times : {1, Made::rank > 2 ? 8 : 300}) {
      if (times > 1 && makes_dims) break;
      apart = small;
      for (int l = 0; l < apart.labels; ++l) apart.extents.edit(l) *= times;
      double strict = -1;
      if constexpr (is_reduction<Op>)
        strict = strict_reduction(sample.op, detail::Pack<Made, bare_t<As>...>{}, times, machine,
                                  base.sizes, specs[0], wanted);
      else
        strict = strict_seconds<Op, Made, bare_t<As>...>(sample.op, times, machine, base.sizes,
                                                         specs, wanted);
      if (strict < 0) continue;
      ProgramPlan const alone = planning::plan_program(apart, rates);
      double const time = static_cast<double>(alone.picoseconds(rates)) * 1e-12;
      INFO("alone\n" << explain(PlannedProgram{alone, P::names, machine}));
      INFO("strict " << strict << ", automatic " << time);
      CHECK(time <= strict * (1 + 1e-9) + 4e-12);
      out.beside_strict += times == 1 ? 1 : 0;
    }
  }
  return out;
}

constexpr bool is_recorded(std::string_view name) {
  constexpr std::string_view not_recorded[] = {
      "AllGather",     "AllReduce", "AllToAll",  "HaloAdd",     "HaloExchange",
      "ReduceScatter", "ToMemory",  "ToPartial", "ToReduced",   "Transfer",
      "UsedAs",        "Named",     "Reshard",   "FftFourStep", "IfftFourStep"};
  for (std::string_view const n : not_recorded)
    if (n == name) return false;
  return true;
}

template <auto const& list>
void check_all(int draws) {
  Grid const mesh(MPI_COMM_WORLD, on_ranks::grids().front());
  std::apply(
      [&](auto const&... s) {
        auto const one = [&]<samples::Name object, samples::Name function, class Op, class... As>(
                             samples::Sample<object, function, Op, As...> const& sample) {
          if constexpr (is_recorded(object.view())) {
            Checked const c =
                registry_costs::check(sample, mesh, draws, std::index_sequence_for<As...>{});
            if (on_ranks::my_rank() == 0)
              std::printf("%s: %d layouts, %d beside strict, %d within a limit\n", object.text,
                          c.layouts, c.beside_strict, c.within_limit);
          }
        };
        (one(s), ...);
      },
      list);
}

}  // namespace registry_costs
