// The length of a loop is an extent as a number, which is known at run time only: with another
// number the function has other operations. A function that computes with the number has the same
// ones.
// EXPECT: \[shardtype A05\] the plan of this function depends on an extent or a value that is known at run time only
// EXPECT: shardtype::Tensor<float, shardtype::Dim<I, X>
// MAX-LINES: 11, 26 with echo (one of each names the precompiled header of these tests)
// NEEDS: full
// FORBID: Resolve<|basic_type|Pack<
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct J : Index<"J", 3> {};
struct I : Index<"I"> {};

struct Shifted {
  template <class A>
  constexpr auto operator()(A const& a) const {
    auto out = shift<I>(a, a.extents()[0] / 2 + 1);
#ifdef LEGAL
    std::int64_t const n = out.extents()[1];
#else
    std::int64_t const n = out.extents()[0];
#endif
    for (std::int64_t k = 0; k < n; ++k) out = shift<I>(out, 1);
    return out;
  }
};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
static_assert(plan(Shifted{}, type<A>).count(Collective::neighbor) == 4);
