#pragma once
/// Moves blocks between two meshes.

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/check/transfer.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/execute/staged.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/unpack.hpp>
#include <shardtype/plan/transfer_plan.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/tensor/operand.hpp>

namespace shardtype::execute {

/// The placement on a mesh of a tensor of sharding `spec`, with these names.
inline Placement placement(MeshState const& mesh, Names const& names, Spec const& spec) {
  AxisMap const axes = map_axes(mesh, names);
  Placement p;
  p.spec = spec;
  p.sizes = axes.sizes;
  p.ranks = mesh.job_ranks();
  p.coords.resize(p.ranks.size());
  for (std::size_t k = 0; k < p.ranks.size(); ++k) {
    auto rest = static_cast<std::int64_t>(k);
    for (std::size_t m = mesh.axes().size(); m-- > 0;) {
      std::int64_t const size = mesh.axes()[m].size;
      for (int x = 0; x < names.axes; ++x)
        if (axes.position[x] == static_cast<int>(m)) p.coords[k].at[x] = rest % size;
      rest /= size;
    }
  }
  return p;
}

/// Moves blocks of `T` in memory `Space` between two meshes. Contiguous parts in host memory are
/// sent and received in place; others are packed first.
template <class T, class Space>
class Carrier {
  using Exec = typename Space::execution_space;

 public:
  Carrier(MeshState& source, MeshState& target, TransferPlan const& plan,
          std::source_location const& where)
      : source_(source), target_(target), plan_(plan), where_(where) {}

  /// The calling rank's block at the target, from its block at the source.
  Buffer run(PlacedBlock const& from, PlacedBlock const& to, T const* data) {
    if (!source_.here() && !target_.here()) return {};
    Buffer result;
    if (target_.here()) result = take(to.layout.elements());
    auto* const out = static_cast<T*>(result.data());
    int const me = shardtype::detail::job_rank();
    sort_parcels(me, from, to);
    Buffer const sent = take(sent_elements_);
    Buffer const received = take(received_elements_);
    auto* const send_wire = static_cast<T*>(sent.data());
    auto* const recv_wire = static_cast<T*>(received.data());
    for (Part const& p : outgoing_)
      if (p.packed >= 0)
        kernels::copy_packed(exec_, data + p.begin, p.layout, send_wire + p.packed);
    runtime::fence(exec_);
    if (plan_.messages() > 0) exchange(data, send_wire, out, recv_wire);
    // parts that stay on this rank are unpacked from where they were packed
    for (Part const& p : incoming_) {
      if (p.packed < 0) continue;
      T const* const in = p.peer == me ? send_wire + own_ : recv_wire + p.packed;
      kernels::copy_unpacked(exec_, in, p.layout, out + p.begin);
    }
    runtime::fence(exec_);
    return result;
  }

 private:
  /// One parcel at this rank: its layout in the local block, and its offset when packed, or -1.
  struct Part {
    int peer = 0;
    kernels::Layout layout{};
    std::int64_t begin = 0;
    std::int64_t packed = -1;
  };

  Buffer take(std::int64_t elements) {
    return target_.pool().template take<Space>(static_cast<std::size_t>(elements) * sizeof(T));
  }

  void sort_parcels(int me, PlacedBlock const& from, PlacedBlock const& to) {
    for (Parcel const& p : plan_.parcels) {
      if (p.from == me) {
        Part part;
        part.peer = p.to;
        part.layout = from.part(p.box, to.spec, part.begin);
        if (p.to == me) own_ = sent_elements_;
        place(part, sent_elements_, p.to == me);
        outgoing_.push_back(part);
      }
      if (p.to == me) {
        Part part;
        part.peer = p.from;
        part.layout = to.part(p.box, to.spec, part.begin);
        place(part, received_elements_, p.from == me);
        incoming_.push_back(part);
      }
    }
  }
  static void place(Part& part, std::int64_t& used, bool own) {
    if (planning::lies_in_place(part.layout, own)) return;
    part.packed = used;
    used += part.layout.elements();
  }

  /// Collective over the ranks of both meshes.
  void exchange(T const* data, T const* send_wire, T* out, T* recv_wire) {
    Link& link = source_.link(target_);
    if (link.agreement().begin_step()) agree(link);
    int const me = shardtype::detail::job_rank();
    shardtype::detail::List<Message<T const>> sent;
    shardtype::detail::List<Message<T>> received;
    for (Part const& p : outgoing_)
      if (p.peer != me)
        sent.push_back({Link::place(link.ranks(), p.peer),
                        p.packed < 0 ? data + p.begin : send_wire + p.packed, p.layout.elements()});
    for (Part const& p : incoming_)
      if (p.peer != me)
        received.push_back({Link::place(link.ranks(), p.peer),
                            p.packed < 0 ? out + p.begin : recv_wire + p.packed,
                            p.layout.elements()});
    if constexpr (!runtime::host_reads<Space>)
      if (!execute::moved_by_mpi<Space>()) return through_the_host(link.comm(), sent, received);
    link.comm().messages(sent, received);
  }

  /// The messages, each by memory of its own that MPI can access.
  void through_the_host(Comm& comm, shardtype::detail::List<Message<T const>>& sent,
                        shardtype::detail::List<Message<T>>& received) {
    using Host = Kokkos::HostSpace;
    auto const bytes = [](std::int64_t n) { return static_cast<std::size_t>(n) * sizeof(T); };
    shardtype::detail::List<Buffer> memory;
    auto const take = [&](std::int64_t n) {
      return static_cast<T*>(memory.push_back(execute::take_staging(target_, bytes(n))).data());
    };
    for (Message<T const>& m : sent) {
      T* const to = take(m.n);
      runtime::copy_bytes<Host, Space>(to, m.data, bytes(m.n));
      m.data = to;
    }
    auto const parts = received;
    for (Message<T>& m : received) m.data = take(m.n);
    comm.messages(sent, received);
    for (std::size_t k = 0; k < parts.size(); ++k)
      runtime::copy_bytes<Space, Host>(parts[k].data, received[k].data, bytes(parts[k].n));
  }

  /// SHARDTYPE_CHECK=agree: checks that all ranks of both meshes are about to run the same
  /// transfer.
  void agree(Link& link) {
    StepHash hash;
    std::source_location const place = core::RunningCall::place(where_);
    hash.mix(place.line());
    for (Parcel const& p : plan_.parcels) {
      hash.mix(static_cast<std::uint64_t>(p.from) << 32 | static_cast<std::uint64_t>(p.to));
      hash.mix(static_cast<std::uint64_t>(p.elements));
    }
    link.agreement().meet("transfer" + source_text(place), hash.value() | 1U);
  }

  MeshState& source_;
  MeshState& target_;
  TransferPlan const& plan_;
  std::source_location where_;
  Exec exec_ = runtime::instance<Exec>();
  shardtype::detail::List<Part> outgoing_, incoming_;
  std::int64_t sent_elements_ = 0, received_elements_ = 0;
  std::int64_t own_ = 0;  ///< offset of the packed part that stays on this rank
};

/// The placements of both ends of a transfer that `R` resolved, and its extents by the source's
/// labels.
template <class R>
struct Ends {
  Extents extents{};
  Placement from, to;

  template <class A>
  Ends(A const& a, MeshRef const& target)
      : from(execute::placement(a.mesh().state(), R::From::names, A::spec)),
        to(execute::placement(target.state(), R::To::names, R::spec)) {
    for (std::size_t d = 0; d < A::rank; ++d) extents.at[A::spec.dims[d].label] = a.extents()[d];
  }
  TransferPlan plan(std::size_t element_bytes) const {
    return planning::transfer_plan(from, to, extents, static_cast<std::int64_t>(element_bytes));
  }
};

}  // namespace shardtype::execute
