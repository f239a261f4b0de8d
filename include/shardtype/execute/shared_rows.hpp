#pragma once
/// What calls have in common that work along a dim whose rows ranks share.

#include <cstdint>

#include <shardtype/execute/on_host.hpp>
#include <shardtype/execute/window.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::execute {

/// Whether ranks share the rows of the dim that a call works along.
template <class T, class Space>
bool shares_rows(LocalRun<T, Space> const& run) {
  AxisList const& axes = run.call.a().dims[run.call.dim()].axes;
  return axes.size > 0 && runtime::map_axes(run.mesh, run.call.names).sizes.product(axes) > 1;
}

/// Base of one call on the calling rank: the blocks of the ranks along the dim's axes, and memory
/// where the host can read it, which sends and merges.
template <class T, class Space>
class SharedRows {
 protected:
  using Int = std::int64_t;

  /// `number`: of the call, compared by SHARDTYPE_CHECK=agree.
  SharedRows(LocalRun<T, Space> const& run, char const* name, Int number)
      : along_(run),
        caller_(run.where, name, number),
        spec_(run.call.a()),
        axes_(spec_.dims[along_.dim].axes),
        me_(core::rank_in_group(axes_, along_.map.sizes, along_.map.coords)) {
    execute::member_blocks(spec_, along_.dim, along_.sizing, along_.map, axes_, blocks_);
  }
  ~SharedRows() = default;

  Int ranks() const { return along_.map.sizes.product(axes_); }
  Int rows() const { return in_.row(); }
  /// Elements of a row of rank `g`.
  Int block(Int g) const { return blocks_[static_cast<std::size_t>(g)].size(); }
  /// Where those of this rank begin.
  Int begin() const { return blocks_[static_cast<std::size_t>(me_)].begin; }

  template <class U>
  Buffer take(Int n) const {
    return host_.template take<U>(n);
  }
  /// A block where the host can read it.
  template <class U>
  Buffer near(Buffer here, Int n) const {
    Buffer const copy = host_.near(static_cast<U const*>(here.data()), n);
    return runtime::host_reads<Space> ? here : copy;
  }
  void agree(planning::Step const& s) const {
    if (run_.mesh.agreement().begin_step())
      execute::agree_on_collective(run_.mesh, along_.map, along_.sizing, s, caller_);
  }
  Comm& group() const { return execute::group_of(run_.mesh, along_.map, axes_); }

  AlongDim<T, Space> along_;
  LocalRun<T, Space> const& run_ = along_.run;
  OnHost<Space> host_{run_.mesh};
  Caller caller_;
  Spec const& spec_;
  AxisList const& axes_;
  Around in_{run_.in, along_.dim};
  Int me_;

 private:
  /// Blocks of the ranks along the dim's axes, in order; owned by the mesh, so that steps do not
  /// allocate.
  detail::List<Range>& blocks_ = run_.mesh.scratch().blocks;
};

}  // namespace shardtype::execute
