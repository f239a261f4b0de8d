#pragma once
/// The values of a tensor as text.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <source_location>
#include <string>
#include <type_traits>

#include <shardtype/check/call_site.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/ops/run_explain.hpp>
#include <shardtype/ops/run_to_host.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/block_layout.hpp>
#include <shardtype/tensor/operand.hpp>
#include <shardtype/visualize/array_text.hpp>

namespace shardtype {

namespace detail {

/// Number of 64-bit words of an element; as words, a sum with zeros keeps its bits.
template <class T>
inline constexpr std::size_t words_of = (sizeof(T) + 7) / 8;

/// The shown indices of one dim: a head and a tail, or all as the head.
struct ShownRanges {
  Range part[2];
};
inline ShownRanges shown_ranges(std::int64_t extent, bool cut) {
  if (!cut || extent <= 2 * edge_items) return {{{0, extent}, {extent, extent}}};
  return {{{0, edge_items}, {extent - edge_items, extent}}};
}

/// A range of shown indices of one dim that the calling rank holds: their local indices, and the
/// position of the first one among the shown indices.
struct ShownPiece {
  Range local;
  std::int64_t place = 0;
};
List<ShownPiece> shown_pieces(std::int64_t extent, bool cut, Rows const& held);

/// Copies the elements of one piece of each dim to their positions in `words`.
template <class A>
void put_box(A const& a, ShownArray const& out, std::array<ShownPiece, A::rank> const& pieces,
             List<std::int64_t>& words) {
  using T = host_element<typename A::element>;
  using Memory = typename A::memory_space;
  kernels::Layout box = detail::block_layout(a.rows());
  T const* source = static_cast<T const*>(a.buffer().data());
  for (std::size_t d = 0; d < A::rank; ++d) {
    box.extent[d] = pieces[d].local.size();
    source += pieces[d].local.begin * box.stride[d];
  }
  std::int64_t const n = box.elements();
  Buffer const packed =
      a.mesh().state().pool().template take<Memory>(static_cast<std::size_t>(n) * sizeof(T));
  typename A::execution_space const& exec = runtime::instance<typename A::execution_space>();
  kernels::copy_packed(exec, source, box, static_cast<T*>(packed.data()));
  runtime::fence(exec);
  List<T> host(static_cast<std::size_t>(n));
  runtime::copy_bytes<Kokkos::HostSpace, Memory>(host.data(), packed.data(),
                                                 host.size() * sizeof(T));
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t rest = k;
    std::int64_t place = 0;
    std::int64_t stride = 1;
    for (std::size_t d = A::rank; d-- > 0;) {
      place += (pieces[d].place + rest % box.extent[d]) * stride;
      rest /= box.extent[d];
      stride *= out.shown(d);
    }
    std::memcpy(&words[static_cast<std::size_t>(place) * words_of<T>],
                &host[static_cast<std::size_t>(k)], sizeof(T));
  }
}

/// Copies the shown elements of the local block to their positions in `words`: for all combinations
/// of pieces of the dims.
template <class A>
void put_shown(A const& a, ShownArray const& out, List<std::int64_t>& words) {
  std::array<List<ShownPiece>, A::rank> pieces;
  std::int64_t boxes = 1;
  for (std::size_t d = 0; d < A::rank; ++d) {
    pieces[d] = detail::shown_pieces(a.extents()[d], out.cut, a.rows()[d]);
    boxes *= static_cast<std::int64_t>(pieces[d].size());
  }
  for (std::int64_t k = 0; k < boxes; ++k) {
    std::array<ShownPiece, A::rank> box;
    std::int64_t rest = k;
    for (std::size_t d = 0; d < A::rank; ++d) {
      auto const n = static_cast<std::int64_t>(pieces[d].size());
      box[d] = pieces[d][static_cast<std::size_t>(rest % n)];
      rest /= n;
    }
    detail::put_box(a, out, box, words);
  }
}

template <class T>
void read_words(List<std::int64_t> const& words, ShownArray& out) {
  for (std::size_t k = 0; k < words.size(); k += words_of<T>) {
    T value{};
    std::memcpy(static_cast<void*>(&value), &words[k], sizeof(T));
    if constexpr (std::is_integral_v<T>) {
      out.integers.push_back(value);
    } else if constexpr (is_real_floating<T>) {
      out.real.push_back(value);
    } else {
      out.real.push_back(value.real());
      out.imag.push_back(value.imag());
    }
  }
}

/// The shown part of `a`, on every rank of its mesh. One all_reduce of the shown elements.
template <class A>
ShownArray shown_array(A const& a, std::source_location const& where) {
  using T = typename A::element;
  ShownArray out;
  for (std::int64_t e : a.extents()) out.extents.push_back(e);
  std::int64_t n = 1;
  for (std::int64_t e : out.extents) n *= e;
  out.cut = n > most_shown;
  if constexpr (std::is_integral_v<T>) {
    out.kind = std::is_same_v<T, bool> ? ShownArray::Kind::boolean : ShownArray::Kind::integer;
  } else if constexpr (!is_real_floating<T>) {
    out.kind = ShownArray::Kind::complex;
    out.single = sizeof(T) == 8;
  } else {
    out.single = sizeof(T) <= 4;
  }
  MeshState& mesh = a.mesh().state();
  mesh.agreement().agree("print", where);
  std::int64_t shown = 1;
  for (std::size_t d = 0; d < A::rank; ++d) shown *= out.shown(d);
  List<std::int64_t> words(static_cast<std::size_t>(shown) * words_of<T>, 0);
  if (detail::first_holder(a)) detail::put_shown(a, out, words);
  mesh.whole().all_reduce(words.data(), words.data(), static_cast<std::int64_t>(words.size()),
                          ReduceKind::sum);
  detail::read_words<T>(words, out);
  return out;
}

}  // namespace detail

namespace api {

/// The type and the values, as `print` writes them, on every rank of the mesh; "" on ranks outside.
/// Communicates one all_reduce of the shown elements, 8 bytes each (16 for complex<double>).
/// Refused: A02 while unreduced.
template <class A>
std::string to_text(core::Argument<A> const& given, checking::CallSite where = {}) {
  A const& a = given.self();
  using Operand = detail::operand_t<A>;
  using Judged = detail::judged_t<detail::StillUnreduced<Operand>, Operand>;
  if constexpr (core::is_active<A>) {
    return api::to_text(a.tensor().value(), where);
  } else if constexpr (detail::accepts<Judged>) {
    core::RunningCall const running("print", where);
    if (!a.mesh().here()) return "";
    decltype(auto) held = detail::operand(a);
    return api::type_name(held) + "\n" + detail::array_text(detail::shown_array(held, where));
  } else {
    static_cast<void>(checking::Poisoned(Judged{}));
    return "";
  }
}

/// Prints the type and, in the form of NumPy's print, the values, on the mesh's first rank:
///
///     f32[2@X, 3]
///     [[0.   0.5  1.  ]
///      [1.5  2.   2.25]]
///
/// If there are more than 1000 elements, only the corners are shown and sent. Collective over the
/// mesh; communicates as `to_text`. Refused: A02 while unreduced.
template <class A>
void print(core::Argument<A> const& given, checking::CallSite where = {}) {
  A const& a = given.self();
  using Operand = detail::operand_t<A>;
  using Judged = detail::judged_t<detail::StillUnreduced<Operand>, Operand>;
  if constexpr (core::is_active<A>) {
    api::print(a.tensor().value(), where);
  } else if constexpr (detail::accepts<Judged>) {
    std::string const text = api::to_text(a, where);
    runtime::MeshState& mesh = a.mesh().state();
    if (!mesh.here() || mesh.whole().rank() != 0) return;
    std::fputs((text + "\n").c_str(), stdout);
    std::fflush(stdout);
  } else {
    static_cast<void>(checking::Poisoned(Judged{}));
  }
}

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/visualize/print.ipp>
#endif
