// Gradients in automatic mode, for the operations of the registry on drawn layouts of their
// operands: values as in strict mode, what is sent as the plan says, and no more held.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/registry_costs.hpp"

namespace registry_gradients {

using namespace shardtype;
using planning::RecordedProgram;
using registry_costs::bare_t, registry_costs::Grid, registry_costs::Draw;

template <class A>
inline constexpr bool is_real = std::is_same_v<typename A::element, double>;
// The numbers of the operands that have gradients.
template <class... As, int... N>
constexpr auto wanted(detail::Pack<As...>, std::integer_sequence<int, N...>) {
  constexpr unsigned bits = (0U | ... | (is_real<As> ? 1U << N : 0U));
  return autodiff::bits_of<bits>(std::integer_sequence<int>{});
}

// Operations whose results may be infinite.
template <class Op>
inline constexpr bool has_infinities = false;
template <class V, class F>
inline constexpr bool has_infinities<shardtype::op::ExtremeRows<V, F>> = true;
// A sum of sines of an operation's finite results.
template <class Op>
struct Loss {
  Op op;
  template <class... As>
  auto operator()(As const&... as) const {
    auto const out = registry_costs::called(op, as...);
    if constexpr (has_infinities<Op>) {
      return sum(sin(where(isfinite(out), out, shardtype::op::zero)));
    } else {
      return sum(sin(out));
    }
  }
};
// A loss of operands whose layouts are named, so that layouts can be drawn into the program.
template <class F, class... Xs>
struct Constrained {
  F f;
  template <class... As>
  auto operator()(As const&... as) const {
    return f(share(constrain<Xs>(as))...);  // one layout each
  }
};

// Whether an expression has no gradient in automatic mode.
template <class E>
inline constexpr bool refuses_gradient = autodiff::part_gradient<E>().refused;
template <class Pin, class A>
inline constexpr bool refuses_gradient<automatic_mode::LazyConstrained<Pin, A>> =
    refuses_gradient<A>;

// The gradients of `loss` with respect to the operands `K` of `given`, on drawn layouts of these;
// how many. `copies`: whether products copy operands whose dims lie in an
// unsuitable order, which no plan counts (docs/automatic.md).
template <class F, class... As, std::size_t... N, int... K>
int check(std::string_view name, F const& loss, std::tuple<As...> const& given, Grid const& mesh,
          int draws, std::index_sequence<N...>, std::integer_sequence<int, K...>,
          bool copies = false) {
  INFO(name);
  Constrained<F, As...> const f{loss};
  using R = autodiff::RecorderOn<detail::MeshAxes<Grid>::type>::type;
  autodiff::LossArguments<R> all;
  core::Kept<typename autodiff::RecordedForm<R, autodiff::wanted<K...>(static_cast<int>(
                                                    N))>::template of<As>...> const values{
      {all.template given<autodiff::wanted<K...>(static_cast<int>(N)), void>(
          std::get<N>(given))}...};
  auto const made = [&]<int... J>(std::integer_sequence<int, J...>) {
    return api::lazy(f(autodiff::kept<J>(values)...));
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{});
  {
    autodiff::LossProgram const program =
        autodiff::loss_program<Constrained<F, As...>, typename decltype(made)::whole>(all, made);
    autodiff::LossRun run(mesh, program);
    auto const want = value_and_grad<K...>(loss)(std::get<N>(given)...);
    planning::Rates const rates =
        detail::rates_for(machine_here(), -1, run.sized().sizes, program.names);
    Draw draw{std::mt19937(4711)};
    int layouts = 0;
    for (int round = 0; round < draws; ++round) {
      RecordedProgram p = run.sized();
      for (int k = 0; k < p.size; ++k) {
        if (p.nodes[k].making == planning::Making::given || p.nodes[k].pinned < 0) continue;
        int const rank = p.nodes[k].rank;
        p.nodes.edit(k).pinned =
            p.code(k).of(registry_costs::spec_of(registry_costs::drawn(draw, mesh, rank), rank));
      }
      ProgramPlan const plan = program.plan(p, rates);
      REQUIRE(plan.possible);
      INFO(name << ", layouts " << round << "\n"
                << explain(PlannedProgram{plan, program.names, machine_here()}));
      auto& memory = runtime::run_time.memory;
      std::int64_t const before = memory.now();
      memory.reset();
      shim::reset();
      run.run(plan, std::source_location::current());
      std::int64_t const held = memory.most() - before;
      std::int64_t const sent = shim::bytes();
      Coords at;
      for (int x = 0; x < program.names.axes; ++x)
        at.at[x] = program.names.axis[x].id == core::identity<registry_costs::U>
                       ? mesh.template coordinate<registry_costs::U>()
                       : mesh.template coordinate<registry_costs::W>();
      INFO("held " << held << ", planned " << plan.temporary_bytes() << "; sent " << sent
                   << ", planned " << plan.bytes(at));
      if (!copies) CHECK(held <= plan.temporary_bytes());
      CHECK(sent == plan.bytes(at));
      using Loss = typename decltype(made)::whole;
      CHECK(registry_costs::difference(run.template result<Loss>(0), want.value) <= 1e-9);
      auto const same = [&]<int J>(std::integral_constant<int, J>, auto const& theirs) {
        INFO("gradient " << J);
        CHECK(registry_costs::difference(
                  autodiff::ResultTaker(program, run, 1 + all.first[J])
                      .template gradient<void>(std::get<static_cast<std::size_t>(J)>(given)),
                  theirs) <= 1e-9);
      };
      if constexpr (sizeof...(K) == 1) {
        (same(std::integral_constant<int, K>{}, want.grad), ...);
      } else {
        [&]<std::size_t... M>(std::index_sequence<M...>) {
          (same(std::integral_constant<int, K>{}, std::get<M>(want.grad)), ...);
        }(std::make_index_sequence<sizeof...(K)>{});
      }
      ++layouts;
    }
    return layouts;
  }
}

// The same with respect to all operands.
template <class F, class... As>
void check(std::string_view name, F const& loss, Grid const& mesh, int draws, bool copies,
           As const&... as) {
  CHECK(registry_gradients::check(
            name, loss, std::tuple<As...>(as...), mesh, draws, std::index_sequence_for<As...>{},
            std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{}, copies) == draws);
}

template <auto const& list>
std::vector<std::string_view> check_all(Grid const& mesh, int draws) {
  std::vector<std::string_view> without;
  std::apply(
      [&](auto const&... s) {
        auto const one = [&]<samples::Name object, samples::Name function, class Op, class... As>(
                             samples::Sample<object, function, Op, As...> const& sample) {
          // factors carry no gradient; a sum of sines of a masked value is no number
          if constexpr (registry_costs::is_recorded(object.view()) && object.view() != "LuSolve" &&
                        object.view() != "CausalMask") {
            using Numbers = decltype(wanted(
                detail::Pack<As...>{},
                std::make_integer_sequence<int, static_cast<int>(sizeof...(As))>{}));
            if constexpr (Numbers::size() > 0) {
              using Made =
                  decltype(registry_costs::called(sample.op, lazy(std::declval<bare_t<As>>())...));
              if constexpr (refuses_gradient<Made>) {
                without.push_back(object.view());
              } else if constexpr (is_real<typename Made::whole>) {
                int const layouts = [&]<std::size_t... N>(std::index_sequence<N...> all) {
                  std::tuple<bare_t<As>...> const given{
                      registry_costs::operand<bare_t<As>>(mesh, static_cast<int>(N))...};
                  return registry_gradients::check(object.view(), Loss<Op>{sample.op}, given, mesh,
                                                   draws, all, Numbers{});
                }(std::index_sequence_for<As...>{});
                CHECK(layouts == draws);
              }
            }
          }
        };
        (one(s), ...);
      },
      list);
  return without;
}

}  // namespace registry_gradients
