// An operation without a name.
// EXPECT: \[shardtype T18\] this operation lacks a public member
// EXPECT: NoName, ?(shardtype::)?Twice
// FORBID: Resolve<|BesideWays|RuledResult|has_way_to_run
// FORBID: error:.*error:
// NEEDS: full
#include <source_location>
#include <string_view>

#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Tensor<float, Dim<I, X>>;

struct Twice {
  using operation = Twice;
#ifdef LEGAL
  static constexpr std::string_view name = "twice";
#endif
  static constexpr op::Verdict rule(op::Question const& q) { return rules::accept(q.a()); }
  template <class Exec, class Out, class In>
  void kernel(Exec const&, Out const&, In const&) const {}
};

auto ask(A const& a) { return call(Twice{}, std::source_location::current(), a); }
