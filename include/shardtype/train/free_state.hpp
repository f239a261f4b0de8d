#pragma once
/// An optimizer's state whose sharding a plan chooses.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <shardtype/lazy/evaluate.hpp>
#include <shardtype/lazy/run.hpp>
#include <shardtype/plan/program_planner.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/train/optimizers.hpp>

namespace shardtype::train {

template <class S>
inline constexpr bool is_free_state = false;
template <class Model, int Moments>
inline constexpr bool is_free_state<FreeState<Model, Moments>> = true;

namespace detail {

/// Errors: E23 the state of a parameter is on another mesh, E24 it has other extents.
template <class W>
void check_state_of(W const& w, MeshRef const& mesh, std::int64_t const* extents) {
  shardtype::detail::check_one_mesh(w.mesh(), mesh);
  for (std::size_t d = 0; d < W::rank; ++d)
    if (extents[d] != w.extents()[d])
      throw Error("E24",
                  "a dim of a parameter has extent " + std::to_string(w.extents()[d]) + ", and " +
                      std::to_string(extents[d]) + " in the optimizer's state",
                  FailedOn::every_rank);
}

/// The blocks of one parameter's state.
template <int Moments>
struct FreeBlocks {
  MeshRef mesh{};
  std::array<std::int64_t, max_dims> extents{};
  Spec spec{};  ///< in the axes of the state
  std::array<Buffer, static_cast<std::size_t>(Moments)> moments{};
  Buffer master{};
};

/// Moves blocks between shardings that are known at run time.
class BlockMover {
 public:
  template <class W>
  BlockMover(Type<W>, MeshRef const& mesh, automatic_mode::ProgramNames const& axes,
             std::int64_t const* extents)
      : mesh_(mesh), extents_(extents), names_(axes) {
    using S = Scope<W>;
    names_.label = {};
    names_.made = {};
    names_.labels = static_cast<int>(W::rank);
    for (int d = 0; d < names_.labels; ++d) {
      int const label = S::template spec<0>.dims[d].label;
      names_.label.push_back({S::names.label_id[label], S::names.label_name[label], dynamic});
      names_.made.push_back(false);
    }
  }
  /// The block of elements `T` in sharding `from`, in sharding `to`.
  template <class T, class Space>
  Buffer moved(Buffer const& block, Spec const& from, Spec const& to) {
    planning::ProgramBuilder b;
    b.program.axes = names_.axes;
    for (int x = 0; x < names_.axes; ++x) b.program.sizes.at[x] = names_.axis[x].size;
    planning::ProgramLabels labels;
    for (int d = 0; d < names_.labels; ++d) labels.push(b.label(dynamic));
    int const given = b.given(labels, from, sizeof(T), shardtype::detail::multiply_add_work<T>());
    b.program.nodes.edit(given).origin = 0;
    b.finish(b.relabel(given, labels), labels, to);
    execute::ProgramPart part;
    part.move = &execute::move_block<T, Space>;
    part.mesh = &mesh_;
    part.extents = extents_;
    part.buffer = &block;
    shardtype::detail::List<execute::ProgramPart> const parts{part};
    runtime::AxisMap const axes = shardtype::detail::program_axes(names_, mesh_);
    planning::RecordedProgram const sized =
        shardtype::detail::program_for(b.program, names_, mesh_, axes, parts);
    planning::ProgramPlan const plan = planning::plan_program(
        sized, shardtype::detail::rates_for(machine_here(), -1, sized.sizes, names_));
    execute::AnyBlock const out = execute::ProgramRun(mesh_, axes, plan, names_.label.data(),
                                                      names_.axis, parts, std::source_location{})
                                      .run();
    if (out.layout.contiguous() && out.data == out.keep.data()) return out.keep;
    Buffer memory = mesh_.state().pool().template take<Space>(
        static_cast<std::size_t>(out.layout.elements()) * sizeof(T));
    typename Space::execution_space const& exec =
        runtime::instance<typename Space::execution_space>();
    shardtype::kernels::copy_packed(exec, execute::elements_of<T>(out), out.layout,
                                    static_cast<T*>(memory.data()));
    runtime::fence(exec);
    return memory;
  }
  /// The number of elements of this rank's block.
  std::int64_t elements(Spec const& spec) const {
    runtime::AxisMap const axes = shardtype::detail::program_axes(names_, mesh_);
    std::int64_t n = 1;
    for (int d = 0; d < names_.labels; ++d) {
      Sizes sizes;
      for (int x = 0; x < names_.axes; ++x)
        sizes.at[x] = mesh_.state().axes()[static_cast<std::size_t>(axes.position[x])].size;
      n *= core::held(extents_[d], spec.dims[d].axes, sizes, axes.coords);
    }
    return n;
  }

 private:
  MeshRef const& mesh_;
  std::int64_t const* extents_;
  automatic_mode::ProgramNames names_;
};

}  // namespace detail

/// The state of an optimizer that keeps `Moments` numbers of each element, for a model `Model`:
/// that of `adam.init_free(model)`. Its blocks lie where the plan of the first step computes the
/// updates; further steps compute them there. It can be moved, not copied.
template <class Model, int Moments>
class FreeState {
 public:
  FreeState() = default;
  FreeState(FreeState&&) = default;
  FreeState& operator=(FreeState&&) = default;
  FreeState(FreeState const&) = delete;
  FreeState& operator=(FreeState const&) = delete;
  ~FreeState() = default;

  std::int64_t step = 0;  ///< number of steps that changed the model

  using model = Model;
  using moment = state_t<Model>;

  bool is_laid_out() const { return !each_.empty(); }
  /// The state as tensors, in the shardings of the model, or of the model `Layout` of the same
  /// tensors: to save it, say. Communicates what moves the blocks there. Refused: X13.
  template <class Layout>
  State<Layout, Moments> as(Model const& of) const;
  State<Model, Moments> as(Model const& of) const { return this->template as<Model>(of); }

  // What steps use.

  /// Errors: E23, E24 a state that was laid out for another model.
  void check(Model& of) const {
    std::size_t k = 0;
    train::for_each_tensor(
        [&]<class W>(std::string_view, W& w) {
          if constexpr (is_trained<W>) {
            if (k < each_.size()) detail::check_state_of(w, each_[k].mesh, each_[k].extents.data());
            ++k;
          }
        },
        of);
    if (is_laid_out() && k != each_.size())
      throw Error("E24",
                  "the model has " + std::to_string(k) + " parameters, the optimizer's state " +
                      std::to_string(each_.size()),
                  FailedOn::every_rank);
  }
  /// The sharding of the state of parameter `k`, in the axes of a program.
  Spec sharding(automatic_mode::ProgramNames const& names, std::size_t k) const {
    return is_laid_out() ? in_axes(each_[k].spec, axes_, names) : Spec{};
  }
  /// Makes the state of the next parameter, `w`, with this sharding in the axes of `names`.
  template <class W>
  void lay_out(automatic_mode::ProgramNames const& names, Spec const& spec, W const& w,
               bool mastered);
  /// Finds the blocks of parameter `k`.
  template <class Part>
  void find(std::size_t k, Part& to) const {
    using C = typename Part::C;
    detail::FreeBlocks<Moments> const& from = each_[k];
    for (std::size_t m = 0; m < from.moments.size(); ++m)
      to.moments[m] = static_cast<C*>(from.moments[m].data());
    to.master = static_cast<C*>(from.master.data());
  }

 private:
  /// A sharding in the axes of other names.
  static Spec in_axes(Spec const& s, automatic_mode::ProgramNames const& from,
                      automatic_mode::ProgramNames const& to) {
    Spec out;
    for (int d = 0; d < s.rank; ++d) {
      AxisList axes;
      for (int k = 0; k < s.dims[d].axes.size; ++k)
        axes.push(to.find_axis(from.axis[s.dims[d].axes[k]].id));
      out.add(d, axes);
    }
    return out;
  }
  template <class Out, class W>
  Out brought(W const& w, Spec const& from, Buffer const& block) const {
    detail::BlockMover mover(Type<W>{}, w.mesh(), axes_, w.extents().data());
    Buffer moved{};
    if (w.mesh().here())
      moved = mover.template moved<typename Out::element, typename W::memory_space>(
          block, from, shardtype::detail::spec_in<Out>(axes_));
    bool const shared = moved.data() == block.data();
    Out out(w.mesh(), w.extents(), std::move(moved));
    return shared ? out.clone() : out;
  }

  automatic_mode::ProgramNames axes_{};
  shardtype::detail::List<detail::FreeBlocks<Moments>> each_;
};

template <class Model, int Moments>
template <class W>
void FreeState<Model, Moments>::lay_out(automatic_mode::ProgramNames const& names, Spec const& spec,
                                        W const& w, bool mastered) {
  using T = typename W::element;
  using C = shardtype::detail::computed_t<T>;
  using Space = typename W::memory_space;
  axes_ = names;
  detail::FreeBlocks<Moments>& to = each_.push_back({});
  to.spec = spec;
  to.mesh = w.mesh();
  for (std::size_t d = 0; d < W::rank; ++d) to.extents[d] = w.extents()[d];
  if (!w.mesh().here()) return;
  detail::BlockMover mover(Type<W>{}, w.mesh(), axes_, w.extents().data());
  std::int64_t const n = mover.elements(spec);
  auto const taken = [&] {
    return w.mesh().state().pool().template take<Space>(static_cast<std::size_t>(n) * sizeof(C));
  };
  typename W::execution_space const& exec = runtime::instance<typename W::execution_space>();
  for (Buffer& m : to.moments) {
    m = taken();
    shardtype::kernels::fill(exec, static_cast<C*>(m.data()), n, C{});
  }
  runtime::fence(exec);
  if (!mastered) return;
  Buffer const block =
      mover.template moved<T, Space>(w.buffer(), shardtype::detail::spec_in<W>(axes_), spec);
  to.master = taken();
  kernels::convert(exec, static_cast<T const*>(block.data()), static_cast<C*>(to.master.data()), n);
}

template <class Model, int Moments>
template <class Layout>
State<Layout, Moments> FreeState<Model, Moments>::as(Model const& of) const {
  static_assert(detail::same_tensors<Layout, Model>,
                "the layout of a state has the tensors of its model, in other shardings");
  auto const structure = [&](auto const& block_of) {
    std::size_t k = 0;
    return detail::keep<state_t, Layout>(of, [&]<class W, class Out>(W const& w, Type<Out>) -> Out {
      if (!is_laid_out()) return autodiff::filled<Out>(w, 0);
      detail::FreeBlocks<Moments> const& from = each_[k++];
      return brought<Out>(w, from.spec, block_of(from));
    });
  };
  State<Layout, Moments> out{step,
                             [&]<std::size_t... M>(std::index_sequence<M...>) {
                               return std::array<state_t<Layout>, sizeof...(M)>{
                                   structure([](auto const& from) { return from.moments[M]; })...};
                             }(std::make_index_sequence<static_cast<std::size_t>(Moments)>{}),
                             {}};
  if (!detail::has_small_elements(of)) return out;
  if (is_laid_out()) {
    out.master.emplace(structure([](auto const& from) { return from.master; }));
  } else {
    out.master.emplace(train::copy_as_state<Layout>(of));
  }
  return out;
}

}  // namespace shardtype::train
