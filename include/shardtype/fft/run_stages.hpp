#pragma once
/// Runs named Fourier transforms stage by stage.

#include <array>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/call.hpp>
#include <shardtype/fft/kernels_fourier.hpp>
#include <shardtype/fft/kernels_tiles.hpp>
#include <shardtype/fft/run_pieces.hpp>
#include <shardtype/fft/run_strict.hpp>
#include <shardtype/fft/run_window.hpp>
#include <shardtype/fft/types_operations.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::execute {

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
    Value<T> v = execute::whole_value<T>(call_.given, given, axes_.coords, std::move(operand));
    Value<U> w;
    rest_ = planning::all_of(call_);
    int k = 0;
    if constexpr (runtime::shared_with_host<Space>) {
      std::int64_t const bytes[] = {static_cast<std::int64_t>(sizeof(T)),
                                    static_cast<std::int64_t>(sizeof(U))};
      FourierWindow window(mesh_, axes_, plan_, call_, bytes);
      if (window.used()) k = run_in(window, before, after, v, w);
    }
    for (; k < plan_.size; ++k) {
      if constexpr (runtime::shared_with_host<Space>) {
        if (int const n = run_in_pieces(k, before, after, v, w); n > 0) {
          k += n - 1;
          continue;
        }
      }
      Step const& s = plan_.steps[k];
      bool const of_result = s.slot == Slot::result;
      if (s.move == Move::compute) {
        compute(s, v, w, Blocks<U, Space>{mesh_, axes_, made}.fresh(s.after));
      } else if (s.move == Move::finish) {
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
    if (!scaled_)
      execute::scale_block(runtime::instance<Exec>(), static_cast<U*>(result.data()),
                           w.layout.elements(), factor_);
    return result;
  }

 private:
  /// Where a transform writes to. The plan decides it, so it is the same on all ranks.
  enum class Into : std::int8_t { own_memory, window };

  void compute(Step const& s, Value<T>& v, Value<U>& w, Value<U> out,
               Into into = Into::own_memory) {
    kernels::FourierDims const over = next(s.after);
    transform(v, out, over, into);
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
      if (s.is_collective()) of_result ? after.agree_on(s) : before.agree_on(s);
      if (s.move == Move::compute && !std::is_same_v<T, U> && inside && k < last) {
        // the elements change their size: what others still read must not be overwritten
        compute(s, v, w,
                Blocks<U, Space>{mesh_, axes_, plan_.sizing_of(Slot::result)}.fresh(s.after));
        window.meet(window.steps().axes);
        inside = false;
      } else if (s.move == Move::compute) {
        Sizing const z = plan_.sizing_of(Slot::result);
        bool const ends = k > last;
        if (ends)
          compute(s, v, w, Blocks<U, Space>{mesh_, axes_, z}.fresh(s.after));
        else
          compute(s, v, w, window.part<U>(Slot::result, s.after, z), Into::window);
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
    if (s.move == Move::finish) {
      Value<V> out = ends ? Blocks<V, Space>{mesh_, axes_, z}.fresh(s.after)
                          : window.part<V>(s.slot, s.after, z);
      transform(v, out, next(s.after), ends ? Into::own_memory : Into::window);
      v = std::move(out);
      return !ends;
    }
    if (s.is_collective()) {
      if (!inside) {
        Value<V> const out = window.part<V>(s.slot, s.before, z);
        Blocks<V, Space> blocks{mesh_, axes_, z};
        blocks.pack(v);
        kernels::copy_unpacked(runtime::instance<Exec>(), v.data, out.layout,
                               const_cast<V*>(out.data));
        runtime::fence(runtime::instance<Exec>());
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
  /// Runs the exchange of step `k`, or of the step after it, in pieces, with the transforms beside
  /// it that have the rows of the outermost dim one by one. Returns the number of steps; 0: the
  /// same on all ranks, the step is run as any other.
  int run_in_pieces(int k, Executor<T, Space>& before, Executor<U, Space>& after, Value<T>& v,
                    Value<U>& w) {
    bool const makes = plan_.steps[k].move == Move::compute;
    int const x = makes ? k + 1 : k;
    if (x == plan_.size || (makes && k > 0)) return 0;
    for (int j = 0; j < x; ++j)
      if (plan_.steps[j].move == Move::slice || plan_.steps[j].move == Move::transpose) return 0;
    if (plan_.steps[x].slot == Slot::result) return pieces_of(k, x, after, v, w, w);
    return makes ? 0 : pieces_of(k, x, before, v, w, v);
  }
  /// Runs the exchange of step `x` for run_in_pieces. `moved` is the one of `v` and `w` that is
  /// exchanged; the step before computes `w` from the operand, which is kept anyway.
  template <class E>
  int pieces_of(int k, int x, Executor<E, Space>& executor, Value<T>& v, Value<U>& w,
                Value<E>& moved) {
    using Pieces = FourierPieces<E, Space>;
    Step const& s = plan_.steps[x];
    Sizing const z = plan_.sizing_of(s.slot);
    int const d = Pieces::outermost(s, z);
    if (d < 0) return 0;
    bool const makes = x > k;
    planning::FourierRest left = rest_;
    kernels::FourierDims const first =
        makes ? next(plan_.steps[k].after, left) : kernels::FourierDims{};
    if (makes && (s.to == d || first.contains(d) || !Pieces::fits_cache(row(s.before, z, d))))
      return 0;
    Step const* const then = x + 1 < plan_.size ? &plan_.steps[x + 1] : nullptr;
    bool const computes = then != nullptr && then->move == Move::compute;
    bool uses = then != nullptr && s.from != d && (computes || then->move == Move::finish) &&
                Pieces::fits_cache(row(s.after, z, d));
    // what plans count: the result of real numbers needs more memory than they; a block that is one
    // message is transformed where it has arrived
    if (computes && sizeof(U) > sizeof(E)) uses = false;
    if (kernels::lies_in_segments(planning::packed_layout(s.after, z), s.from)) uses = false;
    kernels::FourierDims second;
    if (uses) {
      planning::FourierRest after = left;
      second = next(then->after, after);
      uses = !second.contains(d);
      if (uses) left = after;
    }
    if (!makes && !uses && Pieces::count(s, z) == 1) return 0;
    rest_ = left;

    executor.agree_on(s);
    runtime::fence(runtime::instance<Exec>());
    Pieces p(mesh_, axes_, s, z);
    if (makes)
      p.reserve();
    else
      p.send_from(moved);
    Buffer const arrived = p.receive();
    for (int c = 0; c < p.pieces(); ++c) {
      if constexpr (std::is_same_v<E, U>) {
        if (makes) {
          Pieces::for_rows(p.sends(c), p.row_in(), [&](Range const& rows) {
            Value<E> const some =
                cached<Pieces>(execute::whole_value<E>(s.before, z, axes_.coords, {}), d, rows);
            transform_only(part(v, d, rows), some, first);
            p.pack(some.data, rows, c);
            p.poke();
          });
        }
      }
      p.start(c);
    }
    if (makes) v = {};
    if (!uses) {
      Blocks<E, Space> blocks{mesh_, axes_, z};
      moved = p.joins() ? blocks.fresh(s.after)
                        : execute::whole_value<E>(s.after, z, axes_.coords, arrived);
      for (int c = 0; c < p.pieces(); ++c) {
        p.wait(c);
        if (!p.joins()) continue;
        p.join(const_cast<E*>(moved.data) + p.completes(c).begin * p.row_out(), p.completes(c), c);
        p.poke();
      }
      return x - k + 1;
    }
    if (computes) {
      w = Blocks<U, Space>{mesh_, axes_, plan_.sizing_of(Slot::result)}.fresh(then->after);
      use_pieces(p, execute::whole_value<E>(s.after, z, axes_.coords, {}), w, d, second);
      v = {};
    } else {
      moved = Blocks<E, Space>{mesh_, axes_, z}.fresh(then->after);
      use_pieces(p, execute::whole_value<E>(s.after, z, axes_.coords, {}), moved, d, second);
    }
    return x - k + 2;
  }
  /// Transforms the rows of `out` as they arrive.
  template <class Pieces, class E, class Made>
  void use_pieces(Pieces& p, Value<E> const& like, Value<Made> const& out, int d,
                  kernels::FourierDims const& over) {
    for (int c = 0; c < p.pieces(); ++c) {
      p.wait(c);
      Pieces::for_rows(p.completes(c), p.row_out(), [&](Range const& rows) {
        Value<Made> const to = part(out, d, rows);
        // in place where that is possible: FFTW is slow from some strides to others
        Value<E> some;
        if constexpr (std::is_same_v<E, Made>)
          some = to;
        else
          some = cached<Pieces>(like, d, rows);
        p.join(const_cast<E*>(some.data), rows, c);
        transform_only(some, to, over);
        if (rest_.empty())
          execute::scale_block(runtime::instance<Exec>(), const_cast<Made*>(to.data),
                               to.layout.elements(), factor_);
        p.poke();
      });
    }
    scaled_ = rest_.empty();
  }
  /// Elements of a row of dim `d` of the largest block.
  static std::int64_t row(Spec const& s, Sizing const& z, int d) {
    return kernels::inner_length(planning::packed_layout(s, z), d);
  }
  /// Rows `rows` of dim `d`.
  template <class Any>
  static Value<Any> part(Value<Any> v, int d, Range const& rows) {
    v.layout.extent[d] = rows.size();
    v.data += rows.begin * v.layout.stride[d];
    return v;
  }
  /// So many rows of a block like `v`, in a cache.
  template <class Pieces, class E>
  static Value<E> cached(Value<E> v, int d, Range const& rows) {
    v.layout.extent[d] = rows.size();
    v.layout = v.layout.packed();
    v.data = Pieces::cached(v.layout.elements());
    return v;
  }
  /// The dims of a value of sharding `s` that are transformed now.
  kernels::FourierDims next(Spec const& s) { return next(s, rest_); }
  kernels::FourierDims next(Spec const& s, planning::FourierRest& rest) const {
    planning::FourierRest const now = planning::transformable(call_, rest, s);
    rest.bits &= ~now.bits;
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
  /// The last transform scales what it makes, also where a block is empty: an exchange may follow.
  /// A part of the window is not packed: the result that is made of it is scaled.
  template <class From, class Made>
  void transform(Value<From> const& v, Value<Made> const& out, kernels::FourierDims const& over,
                 Into into = Into::own_memory) {
    transform_only(v, out, over);
    if (!rest_.empty() || into == Into::window) return;
    execute::scale_block(runtime::instance<Exec>(), const_cast<Made*>(out.data),
                         out.layout.elements(), factor_);
    scaled_ = true;
  }
  /// The same transform, not scaled.
  template <class From, class Made>
  void transform_only(Value<From> const& v, Value<Made> const& out,
                      kernels::FourierDims const& over) {
    runtime::fence(runtime::instance<Exec>());
    if (v.layout.elements() == 0 || out.layout.elements() == 0) return;
    auto* const data = const_cast<Made*>(out.data);
    if constexpr (!std::is_same_v<From, Made>) {
      if constexpr (shardtype::detail::is_complex<Made>)
        kernels::fourier_real(runtime::instance<Exec>(), v.data, v.layout, data, out.layout, over);
      else
        kernels::fourier_half(runtime::instance<Exec>(), v.data, v.layout, data, out.layout,
                              over.last());
    } else if constexpr (shardtype::detail::is_complex<From>) {
      bool const forward =
          call_.kind == FourierKind::forward || call_.kind == FourierKind::real_to_complex;
      kernels::fourier_complex_by_tiles(runtime::instance<Exec>(), v.data, v.layout, data,
                                        out.layout, over, forward);
    }
  }

  MeshState& mesh_;
  AxisMap const& axes_;
  std::source_location where_;
  Plan const& plan_;
  planning::FourierCall const& call_;
  double const factor_;
  planning::FourierRest rest_{};
  bool scaled_ = false;  ///< the same on all ranks: a block may change hands once more
};

}  // namespace shardtype::execute

namespace shardtype::op {

template <rules::FourierKind Kind, class Over, class... To>
template <class R, class A>
typename R::result Fourier<Kind, Over, To...>::run_named(std::source_location const& where,
                                                         A const& a) const {
  using Result = typename R::result;
  using Space = typename A::memory_space;
  runtime::AxisMap const axes = runtime::map_axes(a.mesh().state(), R::S::names);
  Sizing const z = execute::named_sizing<R>(*this, axes, a);
  Plan const& plan = execute::plan_of<R>(z);
  std::array<std::int64_t, Result::rank> extents{};
  for (std::size_t d = 0; d < Result::rank; ++d) extents[d] = z.extents[plan.result.dims[d].label];
  if (!a.mesh().here()) return Result(a.mesh(), extents, runtime::Buffer());
  kernels::check_fourier<Space>();
  double rows = 1;
  for (int d = 0; d < R::made.rank; ++d)
    if (R::fourier.over.contains(R::fourier.given.dims[d].label))
      rows *= static_cast<double>(
          z.extents[Kind == FourierKind::complex_to_real ? R::made.dims[d].label
                                                         : R::fourier.given.dims[d].label]);
  execute::FourierRun<typename A::element, typename Result::element, Space> stages(
      a.mesh().state(), axes, where, plan, R::fourier, execute::fourier_factor(*this, rows));
  return Result(a.mesh(), extents, stages.run(a.buffer()));
}

}  // namespace shardtype::op
