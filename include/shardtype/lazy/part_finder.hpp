#pragma once
/// Finds the parts of an expression that a run of its plan needs.

#include <cstddef>

#include <shardtype/core/compiled.hpp>
#include <shardtype/lazy/run.hpp>
#include <shardtype/lazy/run_own_call.hpp>
#include <shardtype/lazy/run_totals.hpp>
#include <shardtype/lazy/walk.hpp>

namespace shardtype::execute {

/// Collects an expression's tensors and functions, in the order in which ProgramWriter numbers
/// them. Error E70.
class PartFinder {
 public:
  shardtype::detail::List<ProgramPart> parts;

  template <class E>
  int visit(E const* e, shardtype::detail::WalkedOperands const&) {
    using Whole = typename E::whole;
    ProgramPart& p = parts.push_back({});
    p.move = &move_block<typename Whole::element, typename Whole::memory_space>;
    p.part = e;
    describe(p, e);
    return 0;
  }
  template <class Pin, class A>
  int visit(automatic_mode::LazyConstrained<Pin, A> const*,
            shardtype::detail::WalkedOperands const&) {
    return 0;
  }
  bool found(Identity type, int&) const;
  void remember(Identity type, int) { found_.push_back(type); }
  bool is_known(Identity tag, void const* at, int&) const;
  int share(Identity tag, void const* at, int);
  void read_again(int) const {}

 private:
  template <class E, class A, int Number>
  static void describe(ProgramPart& p, automatic_mode::LazyLeaf<E, A, Number> const* e) {
    p.mesh = &e->tensor().mesh();
    p.extents = e->tensor().extents().data();
    p.buffer = &e->tensor().buffer();
    p.argument = Number;
  }
  template <class A, class B, class Whole>
  static void describe(ProgramPart& p, automatic_mode::LazyProduct<A, B, Whole> const*) {
    p.make = &product_block<typename Whole::element, typename Whole::memory_space>;
  }
  template <class F, class... Args>
  static void describe(ProgramPart& p, automatic_mode::LazyMap<F, Args...> const*) {
    p.make = &map_block<automatic_mode::LazyMap<F, Args...>>;
  }
  template <class Op, class Whole, class... As>
  static void describe(ProgramPart& p, automatic_mode::LazyOperation<Op, Whole, As...> const*) {
    using Run = OperationRun<automatic_mode::LazyOperation<Op, Whole, As...>>;
    p.make = &Run::make;
    if constexpr (shardtype::detail::joins_totals<Op>)
      p.move = &TotalsRun<automatic_mode::LazyOperation<Op, Whole, As...>>::move;
    p.set_extents = &Run::set_extents;
    p.equal = &Run::equal;
  }
  template <class Op, class Results, class Result, class... As>
  static void describe(ProgramPart& p,
                       automatic_mode::LazyOwnCall<Op, Results, Result, As...> const*) {
    using Run = OperationRun<automatic_mode::LazyOwnCall<Op, Results, Result, As...>>;
    p.make = &Run::make;
    p.set_extents = &Run::set_extents;
    p.equal = &Run::equal;
  }
  template <std::size_t K, class Whole, class Node>
  static void describe(ProgramPart& p, automatic_mode::LazyResult<K, Whole, Node> const*) {
    using Run = ResultRun<automatic_mode::LazyResult<K, Whole, Node>>;
    p.make = &Run::make;
    p.set_extents = &Run::set_extents;
  }
  template <class F, class Result, class... As>
  static void describe(ProgramPart& p, automatic_mode::LazyShardMap<F, Result, As...> const*) {
    p.make = &ShardMapRun<automatic_mode::LazyShardMap<F, Result, As...>>::make;
  }
  template <class F, class Whole, class A>
  static void describe(ProgramPart& p, automatic_mode::LazyReduction<F, Whole, A> const*) {
    p.make = &reduction_block<F, Whole, element_t<typename A::whole>>;
  }
  template <class Whole, class A>
  static void describe(ProgramPart&, automatic_mode::LazyRelabel<Whole, A> const*) {}

  shardtype::detail::List<Identity> found_;
  shardtype::detail::List<Identity> tags_;
  shardtype::detail::List<void const*> objects_;
};

}  // namespace shardtype::execute

#ifndef SHARDTYPE_COMPILED
#include <shardtype/lazy/part_finder.ipp>
#endif
