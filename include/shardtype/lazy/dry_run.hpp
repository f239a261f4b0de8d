#pragma once
/// Plans programs for any machine and any number of ranks, without using them.

#include <cstdint>
#include <string>
#include <utility>

#include <shardtype/core/error.hpp>
#include <shardtype/lazy/evaluation.hpp>
#include <shardtype/lazy/planned_program.hpp>
#include <shardtype/plan/machines.hpp>

namespace shardtype {

/// A program with chosen sizes and a chosen machine: the result of `dry_run`.
///
///     auto const p = dry_run<A, B>([](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b);
///     })
///                        .extent<I>(8192).extent<J>(8192).extent<K>(8192).ranks<X>(4096)
///                        .on(machines::tpu_v5e).planned();
///     std::puts(explain(p).c_str());
template <class P>
class DryRun {
 public:
  explicit DryRun(P of = {}) : of_(std::move(of)) {}

  /// Sets the extent of a label without a static one. Error E71: the program has no such label, or
  /// its type has another extent.
  template <class I>
  DryRun& extent(std::int64_t n) {
    // an operation determines the extent of its result's dim, so that is set only if no other dim
    // has the index
    bool given = false;
    bool any = false;
    for (int l = 0; l < of_.names.labels; ++l)
      given = given || (of_.names.label[l].id == core::identity<I> && !of_.names.made[l]);
    for (int l = 0; l < of_.names.labels; ++l) {
      if (of_.names.label[l].id != core::identity<I> || (given && of_.names.made[l])) continue;
      set(l, program_.extents.own(), "index", I::name, n, 0);
      any = true;
    }
    if (!any) set(-1, program_.extents.own(), "index", I::name, n, 0);
    return *this;
  }
  /// Sets the number of ranks along an axis without a static size. Error E71.
  template <class X>
  DryRun& ranks(std::int64_t n) {
    set(of_.names.find_axis(core::identity<X>), program_.sizes.at, "axis", X::name, n, 1);
    return *this;
  }
  /// Sets the machine: one of plan/machines.hpp, or `machine_here()`, the rates that
  /// scripts/calibrate measured here (runtime/machine_file.hpp). Default: the policy's machine, or
  /// the default machine.
  DryRun& on(Machine const& m) {
    machine_ = m;
    return *this;
  }
  /// Plans as if every element had this many bytes and were multiplied as fast as a float: 2 to
  /// plan a program of float as one of bfloat16. Error E71: less than one byte.
  DryRun& element_bytes(std::int32_t bytes) {
    if (bytes < 1)
      throw Error("E71", "an element cannot have " + std::to_string(bytes) + " bytes",
                  FailedOn::every_rank);
    for (int k = 0; k < program_.size; ++k) {
      program_.nodes.edit(k).element_bytes = bytes;
      program_.nodes.edit(k).work = 1;
    }
    return *this;
  }
  /// Sets the bytes that temporaries may take on a rank.
  DryRun& within(std::int64_t bytes) {
    limit_ = bytes;
    return *this;
  }
  /// The plan; `possible` tells whether a plan keeps to the limit. Errors: E20 more than 2^58
  /// elements, E71 a size was not set.
  PlannedProgram planned() const {
    planning::RecordedProgram p = program_;
    if (int const l = p.infer_made(); l >= 0)
      throw Error("E71",
                  "index " + std::string(of_.names.label[l].name) +
                      " is given to a dim of another extent by relabel; it has extent " +
                      std::to_string(p.extents.at[l]),
                  FailedOn::every_rank);
    for (int l = 0; l < of_.names.labels; ++l)
      if (p.extents.at[l] == dynamic) open_index(l);
    for (int x = 0; x < of_.names.axes; ++x)
      if (p.sizes[x] == dynamic) open("axis", of_.names.axis[x].name);
    detail::check_countable(p);
    planning::Rates const rates = detail::rates_for(machine_, limit_, p.sizes, of_.names);
    if constexpr (requires { of_.plan(p, rates); }) {
      return {of_.plan(p, rates), of_.names, machine_};
    } else {
      return {planning::plan_program(p, rates), of_.names, machine_};
    }
  }

 private:
  static void set(int number, std::int64_t* sizes, char const* what, std::string_view name,
                  std::int64_t n, std::int64_t least) {
    if (number < 0)
      throw Error("E71", "the program has no " + std::string(what) + " " + std::string(name),
                  FailedOn::every_rank);
    if (n < least || (sizes[number] != dynamic && sizes[number] != n))
      throw Error("E71",
                  std::string(what) + " " + std::string(name) + " cannot have size " +
                      std::to_string(n) +
                      (sizes[number] == dynamic ? std::string()
                                                : ": it has " + std::to_string(sizes[number])),
                  FailedOn::every_rank);
    sizes[number] = n;
  }
  [[noreturn]] void open_index(int l) const {
    for (int k = 0; k < of_.names.labels; ++k)
      if (of_.names.label[k].id == of_.names.label[l].id && !of_.names.made[k] && of_.names.made[l])
        throw Error("E71",
                    "index " + std::string(of_.names.label[l].name) +
                        " gets another extent within the program, by an operation whose arguments "
                        "are known "
                        "where it runs: planned(evaluate_to<...>, mesh, e) has its plan",
                    FailedOn::every_rank);
    open("index", of_.names.label[l].name);
  }
  [[noreturn]] static void open(char const* what, std::string_view name) {
    throw Error("E71",
                "the size of " + std::string(what) + " " + std::string(name) +
                    " is open; give it with " + (what[0] == 'i' ? "extent<" : "ranks<") +
                    std::string(name) + ">(n)",
                FailedOn::every_rank);
  }

  P of_;  ///< the program: values of a type, or of this object
  planning::RecordedProgram program_ = of_.program;
  Machine machine_ = of_.machine;
  std::int64_t limit_ = of_.memory_limit;
};

}  // namespace shardtype

namespace shardtype::automatic_mode {

/// The result of a refused dry_run, so that one mistake gives one message.
class RefusedDryRun : public Poisoned {
 public:
  constexpr explicit RefusedDryRun(Poisoned const& why = {}) : Poisoned(why) {}
  template <class I>
  RefusedDryRun& extent(std::int64_t);
  template <class X>
  RefusedDryRun& ranks(std::int64_t);
  RefusedDryRun& on(Machine const&);
  RefusedDryRun& element_bytes(std::int32_t);
  RefusedDryRun& within(std::int64_t);
  PlannedProgram planned() const;
};

}  // namespace shardtype::automatic_mode

namespace shardtype {

namespace api {

/// The program of `f` on symbols of the types `Given`, as in plan_traced, to be planned for sizes
/// and machines that need not exist here. Communicates nothing. Refused: as `evaluate`.
template <class... Given, class F>
  requires(!std::is_base_of_v<core::GradientFunction, F>)
auto dry_run([[maybe_unused]] F f) {
  using By = detail::Symbols<Given...>;
  // reports a refusal inside of the function: after this condition clang stops
  if constexpr (checking::any_poisoned<decltype(By::call(f))>) {
    return automatic_mode::RefusedDryRun();
  } else if constexpr (!detail::is_traced<decltype(By::call(f))>) {
    return automatic_mode::RefusedDryRun(
        checking::refused<rules::Code::L05_not_evaluated, false, decltype(By::call(f))>{});
  } else {
    using T = decltype(By::call(f));
    using Xs = typename By::axes;
    using R = typename T::template evaluation<Xs>;
    if constexpr (R::verdict) {
      return DryRun<typename T::template planned<Xs>>();
    } else {
      return automatic_mode::RefusedDryRun(detail::evaluation_refusal<R>{});
    }
  }
}

}  // namespace api

}  // namespace shardtype
