#pragma once
/// Lookups by tensors of ids, and what their gradients add up. Ids are std::int32_t or std::int64_t,
/// from 0 to extent - 1. Others, negative ones too, find zeros and add nothing; under
/// SHARDTYPE_CHECK=values they are an Error, E50.

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include <shardtype/check/indexing.hpp>
#include <shardtype/execute/fused.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/fill.hpp>
#include <shardtype/kernels/lookup.hpp>
#include <shardtype/kernels/scatter.hpp>
#include <shardtype/ops/broadcast.hpp>
#include <shardtype/ops/reshard.hpp>
#include <shardtype/tensor/block_layout.hpp>
#include <shardtype/tensor/create.hpp>

namespace shardtype {

namespace execute {

/// The first of the ids in a block that is outside [0, n): Error E50.
template <class Id, class Space>
void check_ids(Id const* ids, Rows const* rows, int rank, std::int64_t n, std::string_view label) {
  std::int64_t count = 1;
  for (int d = 0; d < rank; ++d) count *= rows[d].size();
  std::int64_t k = kernels::first_outside(typename Space::execution_space{}, ids, count, n);
  if (k == count) return;
  Id id{};
  Kokkos::deep_copy(
      Kokkos::View<Id*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&id, 1),
      Kokkos::View<Id const*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(ids + k, 1));
  std::string place;
  for (int d = rank - 1; d >= 0; --d) {
    place = std::to_string(rows[d][k % rows[d].size()]) + (place.empty() ? "" : ", ") + place;
    k /= rows[d].size();
  }
  throw Error("E50", "index " + std::string(label) + " has extent " + std::to_string(n) +
                         "; the ids hold " + std::to_string(id) + " at [" + place + "]");
}

/// A block around a dim at `at`, as rows.
inline kernels::NumberedRows numbered_rows(kernels::Layout const& block, int at, Range const& range,
                                           std::int64_t count) {
  return {kernels::outer_length(block, at), range.size(), kernels::inner_length(block, at),
          range.begin, count};
}

/// A part of a block, without gaps: its own memory where it has none, else a copy.
template <class T, class Space>
T const* packed(MeshState& mesh, T const* data, kernels::Layout const& part, Buffer& keep) {
  if (part.contiguous()) return data;
  keep = mesh.pool().template take<Space>(static_cast<std::size_t>(part.elements()) * sizeof(T));
  auto* const to = static_cast<T*>(keep.data());
  typename Space::execution_space const exec{};
  kernels::copy_packed(exec, data, part, to);
  return to;
}

/// The part of an operand's block that an operation works on, dim by dim.
struct Part {
  kernels::Layout layout{};
  std::int64_t offset = 0;
  std::int64_t lengths = 1;  ///< of all dims pushed so far together

  /// Dim `d` of `block`, which holds `held`, from `used.begin` to `used.end`.
  void push(kernels::Layout const& block, int d, Range const& held, Range const& used) {
    layout.extent[layout.rank] = used.size();
    layout.stride[layout.rank++] = block.stride[d];
    offset += (used.begin - held.begin) * block.stride[d];
    lengths *= used.size();
  }
};

}  // namespace execute

namespace detail {

template <class A, class I>
inline constexpr int dim_of = A::spec.find(Scope<A>::names.find_label(identity<I>));

template <class A>
auto data_of(A const& a) {
  return static_cast<typename A::element const*>(a.buffer().data());
}
template <class V, class Ids>
void check_values_of(Ids const& ids, std::int64_t n) {
  if (check_values && ids.mesh().here())
    execute::check_ids<typename Ids::element, typename Ids::memory_space>(
        data_of(ids), ids.rows().data(), static_cast<int>(Ids::rank), n, V::name);
}

/// The rows of the calling rank's part of `table` that its ids name.
template <class Out, class V, class A, class Ids>
Out look_up(A const& table, Ids const& ids) {
  constexpr auto at = static_cast<std::size_t>(dim_of<A, V>);
  check_one_mesh(table.mesh(), ids.mesh());
  extents_of<Out> extents{};
  for (std::size_t d = 0; d < Out::rank; ++d)
    extents[d] = d < at               ? table.extents()[d]
                 : d < at + Ids::rank ? ids.extents()[d - at]
                                      : table.extents()[d - Ids::rank + 1];
  Out out = uninitialized<Out>(table.mesh(), extents);
  check_values_of<V>(ids, table.extents()[at]);
  if (!table.mesh().here()) return out;
  typename A::execution_space const exec{};
  kernels::look_up(exec, data_of(table), data_of(ids),
                   static_cast<typename A::element*>(out.buffer().data()),
                   execute::numbered_rows(block_layout(table.rows()), static_cast<int>(at),
                                          table.rows()[at].range(), ids.local_size()));
  exec.fence();
  return out;
}

/// Adds the updates that the calling rank has, together with their ids, to its part of zeros.
template <class Out, class V, class A, class Ids>
Out add_up(A const& updates, Ids const& ids, std::int64_t n) {
  using T = typename A::element;
  using Id = typename Ids::element;
  using S = Scope<A, Ids>;
  constexpr auto at = static_cast<std::size_t>(dim_of<Out, V>);
  check_one_mesh(updates.mesh(), ids.mesh());
  Extents known = S::names.extents();
  execute::note_extents(known, S::names, S::template spec<0>, updates.extents().data(),
                        "the updates");
  execute::note_extents(known, S::names, S::template spec<1>, ids.extents().data(), "the ids");
  // the dims of the updates that stay, in their order, before and behind V
  constexpr auto in_updates = dims_in<Out, A>();
  extents_of<Out> extents{};
  for (std::size_t d = 0; d < Out::rank; ++d)
    extents[d] = d == at ? n : updates.extents()[static_cast<std::size_t>(in_updates[d])];
  Out out = uninitialized<Out>(updates.mesh(), extents);
  check_values_of<V>(ids, n);
  MeshRef const& mesh = updates.mesh();
  if (!mesh.here()) return out;
  typename A::execution_space const exec{};
  auto* const to = static_cast<T*>(out.buffer().data());
  kernels::fill(exec, to, out.local_size(), T{});
  kernels::Layout const block = block_layout(updates.rows());
  kernels::Layout const id_block = block_layout(ids.rows());
  execute::Part part;
  execute::Part id_part;
  auto const push_kept = [&](std::size_t d) {
    auto const k = static_cast<std::size_t>(in_updates[d]);
    part.push(block, in_updates[d], updates.ranges()[k], out.ranges()[d]);
  };
  for (std::size_t d = 0; d < at; ++d) push_kept(d);
  std::int64_t const outer = part.lengths;
  constexpr auto of_ids = dims_in<Ids, A>();
  for (std::size_t e = 0; e < Ids::rank; ++e) {
    auto const k = static_cast<std::size_t>(of_ids[e]);
    // blocks nest, so the finer one is within the other
    Range const both = intersect(updates.ranges()[k], ids.ranges()[e]);
    part.push(block, of_ids[e], updates.ranges()[k], both);
    id_part.push(id_block, static_cast<int>(e), ids.ranges()[e], both);
  }
  for (std::size_t d = at + 1; d < Out::rank; ++d) push_kept(d);
  kernels::NumberedRows const rows{
      outer, out.ranges()[at].size(),
      kernels::inner_length(block_layout(out.rows()), static_cast<int>(at)), out.ranges()[at].begin,
      id_part.lengths};
  Buffer keep;
  Buffer keep_ids;
  using Space = typename A::memory_space;
  if (part.lengths > 0) {
    T const* const from =
        execute::packed<T, Space>(mesh.state(), data_of(updates) + part.offset, part.layout, keep);
    Id const* const named = execute::packed<Id, Space>(mesh.state(), data_of(ids) + id_part.offset,
                                                       id_part.layout, keep_ids);
    kernels::add_rows(exec, from, named, to, rows);
  }
  exec.fence();
  return out;
}

/// The calling rank's part of one-hot rows.
template <class Out, class V, class Ids>
Out one_hot_rows(Ids const& ids, std::int64_t n) {
  extents_of<Out> extents{};
  for (std::size_t d = 0; d < Ids::rank; ++d) extents[d] = ids.extents()[d];
  extents[Ids::rank] = n;
  Out out = uninitialized<Out>(ids.mesh(), extents);
  check_values_of<V>(ids, n);
  if (!ids.mesh().here()) return out;
  typename Ids::execution_space const exec{};
  Range const held = out.rows()[Ids::rank].range();
  kernels::one_hot(exec, data_of(ids), static_cast<typename Out::element*>(out.buffer().data()),
                   kernels::NumberedRows{1, held.size(), 1, held.begin, ids.local_size()});
  exec.fence();
  return out;
}

template <class Out, class J, class A, class Ids>
Out taken_along(A const& a, Ids const& ids) {
  constexpr auto at = static_cast<std::size_t>(dim_of<A, J>);
  check_one_mesh(a.mesh(), ids.mesh());
  for (std::size_t d = 0; d < A::rank; ++d)
    if (d != at && a.extents()[d] != ids.extents()[d])
      throw Error("E24",
                  "index " + std::string(Scope<A>::names.label_name[A::spec.dims[d].label]) +
                      " has extent " + std::to_string(ids.extents()[d]) +
                      " in the ids, elsewhere " + std::to_string(a.extents()[d]),
                  FailedOn::every_rank);
  Out out = uninitialized<Out>(a.mesh(), ids.extents());
  check_values_of<J>(ids, a.extents()[at]);
  if (!a.mesh().here()) return out;
  typename A::execution_space const exec{};
  kernels::take_along(exec, data_of(a), data_of(ids),
                      static_cast<typename A::element*>(out.buffer().data()),
                      execute::numbered_rows(block_layout(a.rows()), static_cast<int>(at),
                                             a.rows()[at].range(), ids.rows()[at].size()));
  exec.fence();
  return out;
}

/// The two ways of a named scatter_add: `gathers` says whether its operands are gathered.
template <class R, class Way, class V, class A, class Ids>
auto scatter_by(A const& updates, Ids const& ids, std::int64_t n,
                std::source_location const& where) {
  return reshard<typename R::result>(
      add_up<typename Way::met, V>(reshard<typename Way::first>(updates, where),
                                   reshard<typename Way::ids>(ids, where), n),
      where);
}
template <class R, class V, class A, class Ids>
bool gathers_operands(A const& updates, Ids const& ids, std::int64_t n) {
  using S = typename R::S;
  Sizing z{S::names.extents(), map_axes(updates.mesh().state(), S::names).sizes,
           static_cast<std::int64_t>(sizeof(typename A::element))};
  execute::note_extents(z.extents, S::names, S::template spec<0>, updates.extents().data(),
                        "the updates");
  execute::note_extents(z.extents, S::names, S::template spec<1>, ids.extents().data(), "the ids");
  z.extents.at[S::names.find_label(identity<V>)] = n;
  return R::gathers(z);
}

/// The element type and the rest of `OneHotTo`: float unless one is named first.
template <class V, class... Out>
struct OneHotOf {
  using type = op::OneHot<V, float, Out...>;
};
template <class V, class T, class... Out>
  requires(is_element<T>)
struct OneHotOf<V, T, Out...> {
  using type = op::OneHot<V, T, Out...>;
};
template <class V, class T, class... Parts>
struct OneHotOf<V, Tensor<T, Parts...>> {
  using type = op::OneHot<V, T, Tensor<T, Parts...>>;
};

}  // namespace detail

/// The rows of a table that ids name: `table[V, D@Y]`, `ids[B@X, S]` -> `take<V>(table, ids)` ->
/// `[B@X, S, D@Y]`; the dims of the ids stand where V stood, as in np.take. Communicates nothing.
///
/// Where V is split over Z, each rank looks up the ids of its rows and has zeros for the others: the
/// result owes a sum, `{U:Z}` (of bool a maximum). What the table owes stays owed; it is reduced over
/// what the table is reduced over.
///
/// `take<V, Dim<B, X>, Dim<D>>(table, ids)` names the result: ids are gathered over axes that the table
/// uses, both operands are sliced as the result wants where that is free, and what they give is resharded.
///
/// Refused: D01, I01 to I07, C10, R01 to R04 for the result. Errors: E23, E50.
template <class V, class... Out, class A, class Ids>
auto take(A const& table, Ids const& ids,
          std::source_location where = std::source_location::current()) {
  if constexpr (any_poisoned<A, Ids>) {
    return Poisoned{};
  } else {
    using R = Resolve<op::Take<V, Out...>, operand_t<A>, operand_t<Ids>>;
    if constexpr (!R::verdict) {
      return Poisoned(refusal<R, operand_t<A>, operand_t<Ids>>{});
    } else if constexpr (R::communicates) {
      using Way = typename R::way;
      return reshard<typename R::result>(
          detail::look_up<typename Way::met, V>(reshard<typename Way::first>(table, where),
                                                reshard<typename Way::ids>(ids, where)),
          where);
    } else {
      return detail::look_up<typename R::result, V>(operand(table), operand(ids));
    }
  }
}

/// Zeros with `n` rows to which each update is added at the row that its id names, the transpose of
/// `take`: `updates[B@X, D@Y]`, `ids[B@X]` -> `scatter_add<V>(updates, ids, n)` -> `[V, D@Y]{U:X}`. V
/// stands where the first dim of the ids stands in the updates, before all others if the ids have none. A
/// dim that is split in one operand only is sliced in the other. `n` may be left out where V settles it.
/// Communicates nothing; on the host the sums are the same bits for any number of threads.
///
/// `scatter_add<V, Dim<V, X>, Dim<D>>(updates, ids, n)` names the result. Over axes along which the
/// operands are the same, each rank adds its own rows alone. Else what is owed is reduced (ReduceScatter,
/// AllReduce), or ids and updates are gathered and nothing is owed, whichever moves fewer bytes.
///
/// Refused: C10, C11, D02, I01, I02, I05 to I09, R01 to R04 for the result. Errors: E20, E23, E24, E50.
template <class V, class... Out, class A, class Ids>
auto scatter_add(A const& updates, Ids const& ids, std::int64_t n = detail::static_extents<V>()[0],
                 std::source_location where = std::source_location::current()) {
  if constexpr (any_poisoned<A, Ids>) {
    return Poisoned{};
  } else {
    using R = Resolve<op::ScatterAdd<V, Out...>, operand_t<A>, operand_t<Ids>>;
    if constexpr (!R::verdict) {
      return Poisoned(refusal<R, operand_t<A>, operand_t<Ids>>{});
    } else if constexpr (R::communicates) {
      if constexpr (R::can_gather)
        if (detail::gathers_operands<R, V>(operand(updates), operand(ids), n))
          return detail::scatter_by<R, typename R::gathering, V>(operand(updates), operand(ids), n,
                                                                 where);
      return detail::scatter_by<R, typename R::way, V>(operand(updates), operand(ids), n, where);
    } else {
      return detail::add_up<typename R::result, V>(operand(updates), operand(ids), n);
    }
  }
}

/// 1 where V is the id, else 0: `ids[B@X]` -> `one_hot<V>(ids, n)` -> `f32[B@X, V]`. Of another element
/// type: `one_hot<V, double>(ids, n)`. `one_hot<V, Dim<B, X>, Dim<V, Y>>(ids, n)` names the result: each
/// rank makes its own part. Communicates nothing, unless a named result splits the ids less. Refused: D02,
/// I01, I02, R01 to R04 for the result. Errors: E20, E50.
template <class V, class... Out, class Ids>
auto one_hot(Ids const& ids, std::int64_t n = detail::static_extents<V>()[0],
             std::source_location where = std::source_location::current()) {
  if constexpr (any_poisoned<Ids>) {
    return Poisoned{};
  } else {
    using R = Resolve<typename detail::OneHotOf<V, Out...>::type, operand_t<Ids>>;
    if constexpr (!R::verdict) {
      return Poisoned(refusal<R, operand_t<Ids>>{});
    } else if constexpr (R::communicates) {
      using Way = typename R::way;
      return reshard<typename R::result>(
          detail::one_hot_rows<typename Way::met, V>(reshard<typename Way::ids>(ids, where), n),
          where);
    } else {
      return detail::one_hot_rows<typename R::result, V>(operand(ids), n);
    }
  }
}

/// For each place of the ids the element of `a` at that place but along J, where the id says:
/// `a[I@X, J]`, `ids[I@X, J]` -> `take_along<J>(a, ids)` -> `[I@X, J]`, as np.take_along_axis. The ids
/// have the dims of `a`, split alike; in J's place they may have another extent, another index,
/// `take_along<J, K>(a, ids[I@X, K@Y])` -> `[I@X, K@Y]`, and axes along which `a` is the same. J is not
/// split in `a`. What `a` owes stays owed. Communicates nothing. Refused: C10, D01, D03, D12, I01, I02,
/// I06. Errors: E23, E24, E50.
template <class J, class... Into, class A, class Ids>
auto take_along(A const& a, Ids const& ids) {
  if constexpr (any_poisoned<A, Ids>) {
    return Poisoned{};
  } else {
    using R = Resolve<op::TakeAlong<J, Into...>, operand_t<A>, operand_t<Ids>>;
    if constexpr (R::verdict) {
      return detail::taken_along<typename R::result, J>(operand(a), operand(ids));
    } else {
      return Poisoned(refusal<R, operand_t<A>, operand_t<Ids>>{});
    }
  }
}

}  // namespace shardtype
