#pragma once
/// Execution of `unique`.

#include <cstdint>
#include <source_location>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/execute/unique.hpp>
#include <shardtype/ops/unique.hpp>

namespace shardtype::op {

template <class F, class I, class... Result>
template <class Values, class Counts, class Number, class A>
void Unique<F, I, Result...>::fill(Values& values, Counts& counts, Number& distinct,
                                   A const& a) const {
  using T = typename A::element;
  using Space = typename A::memory_space;
  execute::OnHost<Space> const host{a.mesh().state()};
  execute::write_unique(
      host, execute::data_of(a), a.local_size(),
      execute::UniqueBlocks<T, Space>(host, execute::written(values), execute::written(counts),
                                      execute::written(distinct), values.local_size()),
      static_cast<T>(this->fill_value));
}

template <class F, class I, class... Result>
template <class R, class A>
typename R::results SharedUnique<F, I, Result...>::run(std::source_location const& where,
                                                       A const& a) const {
  using T = typename A::element;
  using Space = typename A::memory_space;
  typename R::results out = execute::results_to_write<R>(*this, a);
  if (!a.mesh().here()) return out;
  auto& [values, counts, distinct] = out;
  execute::GivenExtents const given(a);
  ResultExtents const call{R::S::names, R::S::parsed, 1, R::verdict.result, {}, given.at, nullptr};
  runtime::Buffer const* const buffers[] = {&a.buffer()};
  execute::LocalRun<T, Space> const run(a.mesh().state(), call, where,
                                        detail::block_layout(a.rows()),
                                        detail::block_layout(values.rows()), buffers, nullptr);
  execute::OnHost<Space> const host{a.mesh().state()};
  execute::UniqueBlocks<T, Space> const blocks(host, execute::written(values),
                                               execute::written(counts), execute::written(distinct),
                                               values.local_size());
  auto const fill = static_cast<T>(this->fill_value);
  if (execute::shares_rows(run)) {
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
    execute::SharedUnique<T, Space>(run, this->name.data(), this->n).run(blocks, fill);
  } else {
    execute::write_unique(host, execute::data_of(a), a.local_size(), blocks, fill);
  }
  return out;
}

}  // namespace shardtype::op
