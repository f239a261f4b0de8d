// The plan depends on the extent of I, which is known at run time only.
// EXPECT: \[shardtype A05\] the plan of this function depends on an extent or a value that is known at run time only
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X> ?>, I>
// MAX-LINES: 11, 23 with echo (one of each names the precompiled header of these tests)
// FORBID: Resolve<|basic_type|Pack<
#include <shardtype/types.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
#ifdef LEGAL
struct I : Index<"I", 8> {};
#else
struct I : Index<"I"> {};
#endif

struct Halved {
  template <class A>
  constexpr std::int64_t operator()(A const& a) const {
    return a.template extent<I>() / 2;
  }
};
static_assert(plan(Halved{}, type<Tensor<float, Dim<I, X>>>).collectives() == 0);
