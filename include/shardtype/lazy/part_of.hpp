#pragma once
/// One of the results of an operation that has two, as automatic mode records it: `top_k`.

#include <cstdint>
#include <source_location>
#include <string_view>
#include <tuple>

#include <shardtype/execute/call.hpp>
#include <shardtype/ops/sorting.hpp>

namespace shardtype {

namespace automatic_mode {

/// Result `Part` of `Op`. A reader of this result alone computes no other; readers of both run `Op`
/// twice, each on its own.
template <class Op, int Part>
struct PartOf : Op {
  using operation = PartOf<Op, Part>;
};
/// The positions of `top_k`.
template <class I, class... Result>
struct PartOf<op::TopK<I, Result...>, 1> : op::TopK<I, Result...> {
  using operation = PartOf<op::TopK<I, Result...>, 1>;
  template <class A>
  using element = std::int64_t;
};

}  // namespace automatic_mode

namespace execute {
template <class Op, int Part>
struct Run<automatic_mode::PartOf<Op, Part>> {
  template <class R, class A>
  static auto run(automatic_mode::PartOf<Op, Part> const& op, std::source_location const& where,
                  A const& a) {
    return std::get<Part>(Run<Op>::template run<Resolve<Op, A>>(op, where, a));
  }
};
}  // namespace execute

}  // namespace shardtype
