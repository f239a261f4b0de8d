#pragma once
/// Runs Fourier transforms: strict ones on the local block, named ones stage by stage.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/check/fourier.hpp>
#include <shardtype/execute/call.hpp>
#include <shardtype/fft/window.hpp>
#include <shardtype/kernels/fourier.hpp>
#include <shardtype/kernels/fourier_tiles.hpp>
#include <shardtype/tensor/block_layout.hpp>

namespace shardtype::execute {

/// The factor of a transform of `rows` rows in all dims.
template <class Op>
double fourier_factor(Op const& op, double rows) {
  if (op.norm == shardtype::op::FftNorm::ortho) return 1 / std::sqrt(rows);
  return op.divides_by_rows() ? 1 / rows : 1;
}

/// Multiplies the elements of a block on the host.
template <class Exec, class T>
void scale_block(Exec const& exec, T* data, std::int64_t n, double factor) {
  using Real = shardtype::detail::real_of<T>;
  if (factor == 1) return;
  constexpr std::int64_t parts = shardtype::detail::is_complex<T> ? 2 : 1;
  kernels::scale(exec, reinterpret_cast<Real*>(data), n * parts, static_cast<Real>(factor));
  exec.fence();
}

template <FourierKind Kind, class Over, class... To>
struct Run<op::Fourier<Kind, Over, To...>> : Filled<Run<op::Fourier<Kind, Over, To...>>> {
  using Op = op::Fourier<Kind, Over, To...>;

  template <class Out, class A>
  static void fill(Op const& op, Out& out, A const& a) {
    using Space = typename A::memory_space;
    using Both = Scope<A, Over>;
    kernels::check_fourier<Space>();
    if (a.local_size() == 0 || out.local_size() == 0) return;
    kernels::FourierDims over;
    double rows = 1;
    for (int k = 0; k < Op::dims; ++k) {
      int const d = Both::readings[0].spec.find(Both::readings[1].spec.dims[k].label);
      over.push(d);
      auto const at = static_cast<std::size_t>(d);
      rows *= static_cast<double>(Kind == FourierKind::complex_to_real ? out.extents()[at]
                                                                       : a.extents()[at]);
    }
    kernels::Layout const from = shardtype::detail::block_layout(a.rows());
    kernels::Layout const to = shardtype::detail::block_layout(out.rows());
    auto const* const in = static_cast<typename A::element const*>(a.buffer().data());
    auto* const data = static_cast<typename Out::element*>(out.buffer().data());
    typename A::execution_space const exec{};
    exec.fence();
    if constexpr (Kind == FourierKind::real_to_complex) {
      kernels::fourier_real(exec, in, from, data, to, over);
    } else if constexpr (Kind == FourierKind::complex_to_real) {
      if constexpr (Op::dims == 1) {
        kernels::fourier_half(exec, in, from, data, to, over.last());
      } else {
        Buffer const room = a.mesh().state().pool().template take<Space>(
            static_cast<std::size_t>(from.elements()) * sizeof(typename A::element));
        auto* const partial = static_cast<typename A::element*>(room.data());
        kernels::FourierDims others = over;
        --others.size;
        kernels::fourier_complex(exec, in, from, partial, from, others, false);
        kernels::fourier_half(exec, partial, from, data, to, over.last());
      }
    } else {
      kernels::fourier_complex_by_tiles(exec, in, from, data, to, over,
                                        Kind == FourierKind::forward);
    }
    scale_block(exec, data, to.elements(), fourier_factor(op, rows));
  }
};

/// One run of the plan of a named transform, from elements `T` to elements `U`.
template <class T, class U, class Space>
class FourierRun {
  using Exec = typename Space::execution_space;

 public:
  FourierRun(MeshState& mesh, AxisMap const& axes, std::source_location const& where,
             Plan const& plan, planning::FourierCall const& call, double factor)
      : mesh_(mesh), axes_(axes), where_(where), plan_(plan), call_(call), factor_(factor) {}

  /// The block of the result from that of the operand.
  Buffer run(Buffer operand) {
    Sizing const given = plan_.sizing_of(Slot::a);
    Sizing const made = plan_.sizing_of(Slot::result);
    Executor<T, Space> before(mesh_, axes_, given, where_);
    Executor<U, Space> after(mesh_, axes_, made, where_);
    Value<T> v = whole_value<T>(call_.given, given, axes_.coords, std::move(operand));
    Value<U> w;
    rest_ = planning::all_of(call_);
    int k = 0;
    if constexpr (on_host) {
      std::int64_t const bytes[] = {static_cast<std::int64_t>(sizeof(T)),
                                    static_cast<std::int64_t>(sizeof(U))};
      FourierWindow window(mesh_, axes_, plan_, call_, bytes);
      if (window.used()) k = run_in(window, before, after, v, w);
    }
    for (; k < plan_.size; ++k) {
      Step const& s = plan_.steps[k];
      bool const of_result = s.slot == Slot::result;
      if (s.action == Action::compute) {
        compute(s, v, w, Blocks<U, Space>{mesh_, axes_, made}.fresh(s.after));
      } else if (s.action == Action::finish) {
        kernels::FourierDims const over = next(s.after);
        if (of_result)
          transform_again(w, made, over);
        else
          transform_again(v, given, over);
      } else if (of_result) {
        w = after.step(s, std::move(w));
      } else {
        v = before.step(s, std::move(v));
      }
    }
    Buffer const result = after.packed(w);
    // a part of the window is not scaled, but the result that is made of it
    scale_block(Exec{}, static_cast<U*>(result.data()), w.layout.elements(), factor_);
    return result;
  }

 private:
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible &&
      Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;

  void compute(Step const& s, Value<T>& v, Value<U>& w, Value<U> out) {
    kernels::FourierDims const over = next(s.after);
    transform(v, out, over);
    w = std::move(out);
    v = {};
  }

  /// Runs the steps up to the last exchange and the transform after it, in shared memory; returns
  /// the number of steps. The result has memory of its own.
  int run_in(FourierWindow& window, Executor<T, Space>& before, Executor<U, Space>& after,
             Value<T>& v, Value<U>& w) {
    int const last = window.steps().last;
    bool inside = false;  // whether the value lies in the window
    int k = 0;
    for (; k < plan_.size && (k <= last || inside); ++k) {
      Step const& s = plan_.steps[k];
      bool const of_result = s.slot == Slot::result;
      if (s.action == Action::communicate) of_result ? after.agree_on(s) : before.agree_on(s);
      if (s.action == Action::compute && !std::is_same_v<T, U> && inside && k < last) {
        // the elements change their size: what others still read must not be overwritten
        compute(s, v, w,
                Blocks<U, Space>{mesh_, axes_, plan_.sizing_of(Slot::result)}.fresh(s.after));
        window.meet(window.steps().axes);
        inside = false;
      } else if (s.action == Action::compute) {
        Sizing const z = plan_.sizing_of(Slot::result);
        bool const ends = k > last;
        compute(s, v, w,
                ends ? Blocks<U, Space>{mesh_, axes_, z}.fresh(s.after)
                     : window.part<U>(Slot::result, s.after, z));
        inside = !ends;
      } else if (of_result) {
        inside = step_in(window, s, k, w, inside);
      } else {
        inside = step_in(window, s, k, v, inside);
      }
    }
    if (inside) w = Blocks<U, Space>{mesh_, axes_, plan_.sizing_of(Slot::result)}.copy(w);
    window.leave();
    return k;
  }
  /// One step of a value that keeps its elements; returns whether it lies in the window then.
  template <class V>
  bool step_in(FourierWindow& window, Step const& s, int k, Value<V>& v, bool inside) {
    Sizing const z = plan_.sizing_of(s.slot);
    bool const ends = k > window.steps().last;
    if (s.action == Action::finish) {
      Value<V> out = ends ? Blocks<V, Space>{mesh_, axes_, z}.fresh(s.after)
                          : window.part<V>(s.slot, s.after, z);
      transform(v, out, next(s.after));
      v = std::move(out);
      return !ends;
    }
    if (s.action == Action::communicate) {
      if (!inside) {
        Value<V> const out = window.part<V>(s.slot, s.before, z);
        Blocks<V, Space> blocks{mesh_, axes_, z};
        blocks.pack(v);
        kernels::copy_unpacked(Exec{}, v.data, out.layout, const_cast<V*>(out.data));
        Exec{}.fence();
      }
      window.count(s, z, static_cast<std::int64_t>(sizeof(V)));
      window.meet(s.axes);
      v = window.part<V>(s.slot, s.after, z);
      return true;
    }
    if (inside) {
      v = window.part<V>(s.slot, s.after, z);
      return true;
    }
    v = Executor<V, Space>(mesh_, axes_, z, where_).step(s, std::move(v));
    return false;
  }
  /// The dims of a value of sharding `s` that are transformed now.
  kernels::FourierDims next(Spec const& s) {
    planning::FourierRest const now = planning::transformable(call_, rest_, s);
    rest_.bits &= ~now.bits;
    kernels::FourierDims over;
    for (int k = 0; k < call_.over.size; ++k) {
      if (!now.contains(k)) continue;
      int const d = s.find(call_.over.at[k]);
      over.push(d < 0 ? s.find(call_.renamed) : d);
    }
    return over;
  }
  /// Transforms a value in its own memory, if it has some.
  template <class Any>
  void transform_again(Value<Any>& v, Sizing const& z, kernels::FourierDims const& over) {
    bool const own = v.layout.contiguous() && v.data == v.keep.data() && v.keep.holders() == 1;
    Value<Any> out = own ? v : Blocks<Any, Space>{mesh_, axes_, z}.fresh(v.spec);
    transform(v, out, over);
    v = std::move(out);
  }
  template <class From, class Into>
  void transform(Value<From> const& v, Value<Into> const& out, kernels::FourierDims const& over) {
    Exec const exec{};
    exec.fence();
    if (v.layout.elements() == 0 || out.layout.elements() == 0) return;
    auto* const data = const_cast<Into*>(out.data);
    if constexpr (!std::is_same_v<From, Into>) {
      if constexpr (shardtype::detail::is_complex<Into>)
        kernels::fourier_real(exec, v.data, v.layout, data, out.layout, over);
      else
        kernels::fourier_half(exec, v.data, v.layout, data, out.layout, over.last());
    } else if constexpr (shardtype::detail::is_complex<From>) {
      bool const forward =
          call_.kind == FourierKind::forward || call_.kind == FourierKind::real_to_complex;
      kernels::fourier_complex_by_tiles(exec, v.data, v.layout, data, out.layout, over, forward);
    }
    if (rest_.empty() && out.layout.contiguous()) {
      scale_block(exec, data, out.layout.elements(), factor_);
      factor_ = 1;
    }
  }

  MeshState& mesh_;
  AxisMap const& axes_;
  std::source_location where_;
  Plan const& plan_;
  planning::FourierCall const& call_;
  double factor_;
  planning::FourierRest rest_{};
};

template <FourierKind Kind, class Over, class... To, class... Out>
struct Run<op::Named<op::Fourier<Kind, Over, To...>, Out...>> {
  template <class R, class A>
  static typename R::result run(op::Named<op::Fourier<Kind, Over, To...>, Out...> const& named,
                                std::source_location const& where, A const& a) {
    using Result = typename R::result;
    using Space = typename A::memory_space;
    auto const& op = named.strict();
    AxisMap const axes = map_axes(a.mesh().state(), R::S::names);
    Sizing const z = named_sizing<R>(op, axes, a);
    Plan const& plan = plan_of<R>(z);
    std::array<std::int64_t, Result::rank> extents{};
    for (std::size_t d = 0; d < Result::rank; ++d)
      extents[d] = z.extents[plan.result.dims[d].label];
    if (!a.mesh().here()) return Result(a.mesh(), extents, Buffer());
    kernels::check_fourier<Space>();
    double rows = 1;
    for (int d = 0; d < R::made.rank; ++d)
      if (R::fourier.over.contains(R::fourier.given.dims[d].label))
        rows *= static_cast<double>(
            z.extents[Kind == FourierKind::complex_to_real ? R::made.dims[d].label
                                                           : R::fourier.given.dims[d].label]);
    FourierRun<typename A::element, typename Result::element, Space> stages(
        a.mesh().state(), axes, where, plan, R::fourier, fourier_factor(op, rows));
    return Result(a.mesh(), extents, stages.run(a.buffer()));
  }
};

}  // namespace shardtype::execute
