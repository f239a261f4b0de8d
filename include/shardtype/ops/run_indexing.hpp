#pragma once
/// Execution of lookups and of sums by ids.

#include <cstdint>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/kernels/scatter.hpp>
#include <shardtype/ops/indexing.hpp>
#include <shardtype/ops/scatter.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/block_layout.hpp>

namespace shardtype::execute {

/// Calls `f` on the updates and ids that both are on this rank, packed, and on their rows of `out`,
/// whose dim V has them. Does not call it if there are none. Fences.
template <class V, class Exec, class Out, class A, class Ids, class F>
void with_rows_of_ids(Exec const& exec, Out& out, A const& updates, Ids const& ids, F const& f) {
  using T = typename A::element;
  using Id = typename Ids::element;
  constexpr auto at = static_cast<std::size_t>(execute::dim_of<Out, V>);
  // the dims of the updates that the result keeps, in their order, before and after V
  constexpr auto in_updates = shardtype::detail::dims_in<Out, A>();
  runtime::MeshRef const& mesh = updates.mesh();
  kernels::Layout const block = shardtype::detail::block_layout(updates.rows());
  kernels::Layout const id_block = shardtype::detail::block_layout(ids.rows());
  execute::Part part;
  execute::Part id_part;
  auto const push_kept = [&](std::size_t d) {
    auto const k = static_cast<std::size_t>(in_updates[d]);
    part.push(block, in_updates[d], updates.ranges()[k], out.ranges()[d]);
  };
  for (std::size_t d = 0; d < at; ++d) push_kept(d);
  std::int64_t const outer = part.lengths;
  constexpr auto of_ids = shardtype::detail::dims_in<Ids, A>();
  for (std::size_t e = 0; e < Ids::rank; ++e) {
    auto const k = static_cast<std::size_t>(of_ids[e]);
    // blocks nest, so the finer one is within the other
    Range const both = core::intersect(updates.ranges()[k], ids.ranges()[e]);
    part.push(block, of_ids[e], updates.ranges()[k], both);
    id_part.push(id_block, static_cast<int>(e), ids.ranges()[e], both);
  }
  for (std::size_t d = at + 1; d < Out::rank; ++d) push_kept(d);
  kernels::NumberedRows const rows{
      {outer, out.ranges()[at].size(),
       kernels::inner_length(shardtype::detail::block_layout(out.rows()), static_cast<int>(at))},
      out.ranges()[at].begin,
      id_part.lengths};
  runtime::Buffer keep;
  runtime::Buffer keep_ids;
  using Space = typename A::memory_space;
  if (part.lengths > 0 && rows.n > 0) {
    T const* const from = execute::packed<T, Space>(
        mesh.state(), execute::data_of(updates) + part.offset, part.layout, keep);
    Id const* const named = execute::packed<Id, Space>(
        mesh.state(), execute::data_of(ids) + id_part.offset, id_part.layout, keep_ids);
    f(from, named, rows);
  }
  runtime::fence(exec);  // before packed blocks are given back
}

/// Joins the updates with the rows of `out` that their ids name.
template <class Reducer, class V, class Exec, class Out, class A, class Ids>
void join_rows(Exec const& exec, char const* name, Out& out, A const& updates, Ids const& ids) {
  execute::with_rows_of_ids<V>(
      exec, out, updates, ids,
      [&](auto const* from, auto const* named, kernels::NumberedRows const& rows) {
        runtime::Buffer const lists =
            updates.mesh().state().pool().template take<typename A::memory_space>(
                static_cast<std::size_t>(rows.n + rows.count) * sizeof(std::int64_t));
        kernels::join_rows_by_lists<Reducer>(exec, name, from, named, execute::written(out), rows,
                                             static_cast<std::int64_t*>(lists.data()));
        runtime::fence(exec);  // before the lists are given back
      });
}

}  // namespace shardtype::execute

namespace shardtype::op {

template <class V>
template <class Out, class A, class Ids>
void TakeRows<V>::fill(Out& out, A const& table, Ids const& ids) const {
  constexpr auto at = static_cast<std::size_t>(execute::dim_of<A, V>);
  execute::check_values_of<V>(ids, table.extents()[at]);
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::look_up(exec, execute::data_of(table), execute::data_of(ids), execute::written(out),
                   execute::numbered_rows(detail::block_layout(table.rows()), static_cast<int>(at),
                                          table.rows()[at].range(), ids.local_size()));
  runtime::fence(exec);
}

template <class V>
template <class Out, class A, class Ids>
void AddRows<V>::fill(Out& out, A const& updates, Ids const& ids) const {
  using T = typename A::element;
  execute::check_values_of<V>(ids, n);
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::fill(exec, execute::written(out), out.local_size(), T{});
  if constexpr (shardtype::detail::is_converted<T>) {
    execute::join_rows<kernels::SumReducer<T>, V>(exec, "shardtype::add_rows", out, updates, ids);
  } else {
    execute::with_rows_of_ids<V>(
        exec, out, updates, ids,
        [&](T const* from, auto const* named, kernels::NumberedRows const& rows) {
          kernels::add_rows(exec, from, named, execute::written(out), rows);
        });
  }
}

template <class V, class F>
template <class Out, class A, class Ids>
void ExtremeRows<V, F>::fill(Out& out, A const& updates, Ids const& ids) const {
  using T = typename A::element;
  using Reducer = kernels::ExtremeReducer<T, largest>;
  execute::check_values_of<V>(ids, n);
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::fill(exec, execute::written(out), out.local_size(),
                kernels::extreme_value<T, !largest>());
  execute::join_rows<Reducer, V>(exec, "shardtype::extreme_rows", out, updates, ids);
}

template <class V, class T>
template <class Out, class Ids>
void OneHotRows<V, T>::fill(Out& out, Ids const& ids) const {
  execute::check_values_of<V>(ids, n);
  typename Ids::execution_space const& exec = runtime::instance<typename Ids::execution_space>();
  Range const held = out.rows()[Ids::rank].range();
  kernels::one_hot(exec, execute::data_of(ids), execute::written(out),
                   kernels::NumberedRows{{1, held.size(), 1}, held.begin, ids.local_size()});
  runtime::fence(exec);
}

template <class J, class... Into>
template <class Out, class A, class Ids>
void TakeAlong<J, Into...>::fill(Out& out, A const& a, Ids const& ids) const {
  constexpr auto at = static_cast<std::size_t>(execute::dim_of<A, J>);
  execute::check_values_of<J>(ids, a.extents()[at]);
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::take_along(exec, execute::data_of(a), execute::data_of(ids), execute::written(out),
                      execute::numbered_rows(detail::block_layout(a.rows()), static_cast<int>(at),
                                             a.rows()[at].range(), ids.rows()[at].size()));
  runtime::fence(exec);
}

template <class J, class... At>
template <class Out, class A, class Ids>
void ScatterAlong<J, At...>::fill(Out& out, A const& updates, Ids const& ids) const {
  using T = typename A::element;
  constexpr auto at = static_cast<std::size_t>(execute::dim_of<Out, J>);
  execute::check_values_of<J>(ids, n);
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  auto* const to = execute::written(out);
  std::int64_t const elements = out.local_size();
  auto const add = [&](auto* sums) {
    kernels::fill(exec, sums, elements, std::remove_reference_t<decltype(*sums)>{});
    kernels::add_along(
        exec, execute::data_of(updates), execute::data_of(ids), sums,
        execute::numbered_rows(detail::block_layout(out.rows()), static_cast<int>(at),
                               out.rows()[at].range(), updates.rows()[at].size()));
  };
  if constexpr (shardtype::detail::is_converted<T>) {
    using Sum = shardtype::detail::computed_t<T>;
    runtime::Buffer const memory =
        updates.mesh().state().pool().template take<typename A::memory_space>(
            static_cast<std::size_t>(elements) * sizeof(Sum));
    auto* const sums = static_cast<Sum*>(memory.data());
    add(sums);
    kernels::round_block(exec, static_cast<Sum const*>(sums), to, elements);
    runtime::fence(exec);  // before the sums are given back
  } else {
    add(to);
  }
  runtime::fence(exec);
}

}  // namespace shardtype::op
