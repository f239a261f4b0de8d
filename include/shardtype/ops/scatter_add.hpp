#pragma once
/// Sums of rows by tensors of ids. Ids are std::int32_t or std::int64_t, from 0 to extent - 1.
/// Updates with other ids, negative ones included, are ignored; with SHARDTYPE_CHECK=values such
/// ids are an Error, E50.

#include <cstdint>
#include <source_location>

#include <shardtype/check/call_site.hpp>
#include <shardtype/check/indexing.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/scatter.hpp>

namespace shardtype {

namespace execute {
template <class V>
struct Run<op::ScatterAdd<V>> : Filled<Run<op::ScatterAdd<V>>> {
  template <class Out, class A, class Ids>
  static void fill(op::ScatterAdd<V> const& op, Out& out, A const& updates, Ids const& ids) {
    using T = typename A::element;
    using Id = typename Ids::element;
    constexpr auto at = static_cast<std::size_t>(dim_of<Out, V>);
    // the dims of the updates that the result keeps, in their order, before and after V
    constexpr auto in_updates = shardtype::detail::dims_in<Out, A>();
    check_values_of<V>(ids, op.n);
    MeshRef const& mesh = updates.mesh();
    typename A::execution_space const exec{};
    auto* const to = static_cast<T*>(out.buffer().data());
    kernels::fill(exec, to, out.local_size(), T{});
    kernels::Layout const block = detail::block_layout(updates.rows());
    kernels::Layout const id_block = detail::block_layout(ids.rows());
    Part part;
    Part id_part;
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
      Range const both = intersect(updates.ranges()[k], ids.ranges()[e]);
      part.push(block, of_ids[e], updates.ranges()[k], both);
      id_part.push(id_block, static_cast<int>(e), ids.ranges()[e], both);
    }
    for (std::size_t d = at + 1; d < Out::rank; ++d) push_kept(d);
    kernels::NumberedRows const rows{
        {outer, out.ranges()[at].size(),
         kernels::inner_length(detail::block_layout(out.rows()), static_cast<int>(at))},
        out.ranges()[at].begin,
        id_part.lengths};
    Buffer keep;
    Buffer keep_ids;
    using Space = typename A::memory_space;
    if (part.lengths > 0) {
      T const* const from =
          packed<T, Space>(mesh.state(), data_of(updates) + part.offset, part.layout, keep);
      Id const* const named =
          packed<Id, Space>(mesh.state(), data_of(ids) + id_part.offset, id_part.layout, keep_ids);
      kernels::add_rows(exec, from, named, to, rows);
    }
    exec.fence();
  }
};
template <class V, class Out, class... More>
struct Run<op::ScatterAdd<V, Out, More...>> {
  template <class R, class A, class Ids>
  static auto run(op::ScatterAdd<V, Out, More...> const& op, std::source_location const& where,
                  A const& updates, Ids const& ids) {
    return run_named<R, Run<op::ScatterAdd<V>>>(op.strict(), where, updates, ids);
  }
};
}  // namespace execute

/// Adds each update to the row of a zero tensor that its id names, the transpose of `take`:
/// `updates[B@X, D@Y]`, `ids[B@X]` -> `scatter_add<V>(updates, ids, n)` -> `[V, D@Y]{U:X}`, with
/// `n` rows. V takes the position that the first dim of the ids has in the updates, or the first
/// position if the ids have no dims. A dim that is split in one operand only is sliced in the
/// other. `n` may be left out if V has a static extent. Communicates nothing; on the host the sums
/// are the same bits for any number of threads.
///
/// `scatter_add<V, Dim<V, X>, Dim<D>>(updates, ids, n)` names the result. Over axes along which the
/// operands are replicated, each rank adds only rows that it keeps. Else either the unreduced
/// result is reduced (ReduceScatter, AllReduce), or ids and updates are gathered first, whichever
/// moves fewer bytes.
///
/// Refused: C10, C11, D02, I01, I02, I05 to I09, R01 to R04 for the result. Errors: E20, E23, E24,
/// E50.
template <class V, class... Out, class A, class Ids>
constexpr auto scatter_add(A const& updates, Ids const& ids,
                           std::int64_t n = detail::static_extents<V>()[0],
                           checking::CallSite where = std::source_location::current()) {
  return call(op::ScatterAdd<V, Out...>{n}, where, updates, ids);
}

}  // namespace shardtype
