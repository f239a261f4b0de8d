#pragma once
/// The program of a loss and its gradients in automatic mode: its plan, and its run.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include <shardtype/autodiff/program_gradient.hpp>
#include <shardtype/check/manual.hpp>
#include <shardtype/lazy/evaluate.hpp>
#include <shardtype/lazy/several.hpp>
#include <shardtype/plan/program_planner.hpp>

namespace shardtype::autodiff {

/// The results of a program with a backward pass, while it runs: `keep` packs each block.
struct KeptResults {
  using Pack = Buffer (*)(execute::ProgramRun& run, int step, int k);
  shardtype::detail::List<int> values;
  shardtype::detail::List<Pack> pack;
  Buffer* kept = nullptr;

  static execute::AnyBlock keep(execute::ProgramRun& run, int step, void const* part) {
    auto const& results = *static_cast<KeptResults const*>(part);
    ProgramStep const& s = run.plan().steps[step];
    for (int k = 0; k < s.inputs; ++k)
      for (std::size_t r = 0; r < results.values.size(); ++r)
        if (results.values[r] == run.plan().steps[s.input[k]].node)
          results.kept[r] = results.pack[r](run, step, k);
    return execute::any_block(run.template fresh<float, Tensor<float>::memory_space>(step));
  }
};
/// The block of input `k`, packed, with its dims in their order.
template <class A>
Buffer packed_result(execute::ProgramRun& run, int step, int k) {
  using T = typename A::element;
  execute::AnyBlock const& from = run.input(step, k);
  if (from.layout.contiguous() && from.data == from.keep.data()) return from.keep;
  Buffer memory = run.mesh().pool().template take<typename A::memory_space>(
      static_cast<std::size_t>(from.layout.elements()) * sizeof(T));
  typename A::execution_space const exec{};
  kernels::copy_packed(exec, execute::elements_of<T>(from), from.layout,
                       static_cast<T*>(memory.data()));
  exec.fence();
  return memory;
}

/// The first part of an expression that has no gradient, though it reads an argument; void: there
/// is none.
template <class E, class Operands = typename E::operands>
struct RefusedPart;
template <class A>
struct RefusedIn {
  using type = void;
};
template <class A>
  requires(core::is_lazy<A>)
struct RefusedIn<A> : RefusedPart<A> {};
template <class E, class... As>
struct RefusedPart<E, shardtype::detail::Pack<As...>> {
  template <class First, class... Rest>
  static constexpr auto first_of() {
    using Here = typename RefusedIn<First>::type;
    if constexpr (!std::is_void_v<Here> || sizeof...(Rest) == 0) {
      return Type<Here>{};
    } else {
      return first_of<Rest...>();
    }
  }
  static constexpr auto find() {
    if constexpr (!reads_argument<E>) {
      return Type<void>{};
    } else if constexpr (autodiff::part_gradient<E>().refused) {
      return Type<E>{};
    } else if constexpr (sizeof...(As) == 0) {
      return Type<void>{};
    } else {
      return first_of<As...>();
    }
  }
  using type = typename decltype(find())::type;
};

template <class Tag, class A>
struct RefusedPart<automatic_mode::LazyShared<Tag, A>, shardtype::detail::Pack<>> : RefusedPart<A> {
};

/// The labels of a value of the program, in the order of the dims of `A`.
template <class A>
planning::ProgramLabels labels_in(automatic_mode::ProgramNames const& names, ProgramNode const& n) {
  using S = Scope<A>;
  Spec const s = S::template spec<0>;
  planning::ProgramLabels out;
  for (int d = 0; d < s.rank; ++d)
    for (int e = 0; e < n.rank; ++e)
      if (names.label[n.labels[e]].id == S::names.label_id[s.dims[d].label]) out.push(n.labels[e]);
  return out;
}

/// The program of the loss `E`, which as a result is a `Loss`, and of its gradients of types
/// `Gradients` with respect to the arguments of these numbers.
template <class E, class Results, class Numbers, class Xs>
struct LossProgram;
template <class E, class L, class... Gradients, int... Ks, class... Xs>
struct LossProgram<E, Outs<L, Gradients...>, std::integer_sequence<int, Ks...>,
                   automatic_mode::Axes<Xs...>> {
  using Loss = L;
  using results = std::tuple<Loss, Gradients...>;
  static constexpr auto const& written =
      shardtype::detail::ProgramConstant<E, typename E::whole, Xs...>::value;
  static constexpr auto const& program = written.program;
  static constexpr auto const& names = written.names;
  /// Whether the program has the axes of the results.
  static constexpr bool has_axes = shardtype::detail::has_axes_of<L>(names) &&
                                   (shardtype::detail::has_axes_of<Gradients>(names) && ...);
  static constexpr Machine machine{};
  static constexpr bool machine_known = false;
  static constexpr std::int64_t memory_limit = -1;

  /// The values of the forward pass that are the arguments whose gradients are wanted; -1: the loss
  /// does not read it.
  static shardtype::detail::List<int> operands() {
    GradientRules const rules(Type<E>{});
    shardtype::detail::List<int> out;
    for (int const number : {Ks...}) {
      int value = -1;
      for (int k = 0; k < program.size; ++k)
        if (program.nodes[k].making == planning::Making::given &&
            rules.arguments[static_cast<std::size_t>(program.nodes[k].origin)] == number)
          value = k;
      out.push_back(value);
    }
    return out;
  }
  /// The plan of both passes; `sized`: the forward pass with its sizes.
  static ProgramPlan plan(RecordedProgram const& sized, planning::Rates const& rates) {
    GradientRules const rules(Type<E>{});
    // chains of products are associated as the forward pass alone would, without a memory limit
    planning::Rates free = rates;
    free.memory_limit = -1;
    shardtype::detail::List<int> const ways =
        planning::ways_in(planning::plan_program(sized, free));
    shardtype::detail::List<int> const all = operands();
    shardtype::detail::List<int> read;
    shardtype::detail::List<planning::WantedResult> wanted_results;
    wanted_results.push_back({{}, shardtype::detail::spec_in<Loss>(names)});
    std::size_t k = 0;
    auto const want = [&]<class G>(Type<G>) {
      int const value = all[k++];
      if (value < 0) return;
      read.push_back(value);
      wanted_results.push_back({autodiff::labels_in<G>(names, sized.nodes[value]),
                                shardtype::detail::spec_in<G>(names)});
    };
    (want(Type<Gradients>{}), ...);
    planning::Transposition const both(
        sized, rules.gradients, read,
        [&](int value) { return ways[static_cast<std::size_t>(value)]; }, wanted_results);
    return planning::plan_program(both.program, rates);
  }
};

/// Plans both passes of a loss together, and runs them.
template <class P>
class GradientRun {
  using Loss = typename P::Loss;

 public:
  template <class E>
  GradientRun(MeshRef const& mesh, E const& e)
      : mesh_(mesh), axes_(shardtype::detail::program_axes<P>(mesh)), operands_(P::operands()) {
    shardtype::detail::walk(finder_, &e);
    sized_ = shardtype::detail::program_for<P>(mesh, axes_, finder_.parts);
  }
  /// The forward pass with its sizes.
  RecordedProgram const& sized() const { return sized_; }
  ProgramPlan const& plan() const {
    return shardtype::detail::program_cache<P>.get(sized_, [&] {
      shardtype::detail::check_countable(sized_);
      return P::plan(sized_, shardtype::detail::rates_for(shardtype::detail::planning_machine<P>(),
                                                          P::memory_limit, sized_.sizes, P::names));
    });
  }

  /// The loss and the gradients with respect to `as`, by this plan.
  template <class... As>
  typename P::results run(ProgramPlan const& plan, std::source_location const& where,
                          As const&... as) {
    RecordedProgram const& p = plan.program;
    Buffer kept[1 + sizeof...(As)];
    KeptResults results;
    results.kept = kept;
    auto const pack = []<class... Rs>(Type<std::tuple<Rs...>>) {
      return std::array<KeptResults::Pack, sizeof...(Rs)>{&packed_result<Rs>...};
    }(Type<typename P::results>{});
    int count = 1;
    for (int const value : operands_) count += value >= 0 ? 1 : 0;
    for (std::size_t k = 0; k <= operands_.size(); ++k) {
      if (k > 0 && operands_[k - 1] < 0) continue;
      auto const number = static_cast<int>(results.values.size());
      results.values.push_back(shardtype::detail::node_of_result(p, p.root, number, count));
      results.pack.push_back(pack[k]);
    }
    shardtype::detail::List<execute::ProgramPart> parts = finder_.parts;
    execute::ProgramPart last;
    last.make = &KeptResults::keep;
    last.part = &results;
    parts.push_back(last);
    if (mesh_.here()) {
      shardtype::detail::TracedRun const traced(&P::names, plan, P::names,
                                                shardtype::detail::planning_machine<P>(), where);
      execute::ProgramRun(mesh_, axes_, plan, P::names.label.data(), P::names.axis, parts, where)
          .run();
    }
    std::size_t next = 1;
    std::size_t operand = 0;
    auto const gradient = [&]<class Out, class A>(Type<Out>, A const& a) {
      if (operands_[operand++] < 0)
        return autodiff::filled<Out>(a, 0);  // the loss does not read it
      return tensor<Out>(p, results, next++);
    };
    return [&]<class... Gs>(Type<std::tuple<Loss, Gs...>>) {
      return std::tuple<Loss, Gs...>{tensor<Loss>(p, results, 0), gradient(Type<Gs>{}, as)...};
    }(Type<typename P::results>{});
  }

 private:
  template <class Out>
  Out tensor(RecordedProgram const& p, KeptResults const& results, std::size_t k) const {
    std::array<std::int64_t, Out::rank> extents{};
    for (std::size_t d = 0; d < Out::rank; ++d)
      extents[d] = p.extents[p.nodes[results.values[k]].labels[d]];
    return Out(mesh_, extents, results.kept[k]);
  }

  MeshRef const& mesh_;
  AxisMap axes_;
  shardtype::detail::List<int> operands_;
  GradientFinder finder_;
  RecordedProgram sized_;
};

}  // namespace shardtype::autodiff
