#pragma once
/// Execution of the largest elements along a dim that ranks may share.

#include <cstdint>
#include <source_location>
#include <tuple>

#include <shardtype/execute/call.hpp>
#include <shardtype/execute/lookup.hpp>
#include <shardtype/execute/shared_top_k.hpp>
#include <shardtype/ops/shared_top_k.hpp>

namespace shardtype::op {

template <class I, class... Result>
template <class R, class A>
typename R::results SharedTopK<I, Result...>::run(std::source_location const& where,
                                                  A const& a) const {
  using T = typename A::element;
  using Space = typename A::memory_space;
  typename R::results out = execute::results_to_write<R>(*this, a);
  if (!a.mesh().here()) return out;
  auto& [values, places] = out;
  execute::GivenExtents const given(a);
  ResultExtents const call{R::S::names, R::S::parsed, 1, R::verdict.result, {}, given.at, nullptr};
  runtime::Buffer const* const buffers[] = {&a.buffer()};
  execute::LocalRun<T, Space> const run(a.mesh().state(), call, where,
                                        detail::block_layout(a.rows()),
                                        detail::block_layout(values.rows()), buffers, nullptr);
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names are literals
  execute::SharedTopK<T, Space>(run, name.data(), k)
      .run(execute::written(values), execute::written(places));
  return out;
}

}  // namespace shardtype::op
