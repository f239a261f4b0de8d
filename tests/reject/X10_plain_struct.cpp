// A struct of tensors that does not say how it holds them.
// EXPECT: \[shardtype X10\] an argument whose gradient is wanted is neither a tensor nor a vector
// EXPECT: false, Plain
// FORBID: Resolve<|basic_type|Pack<|Sharded|Recorded
// FORBID: error:.*error:
// MAX-LINES: 10, 22 with echo
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I", 8> {};
using W = Tensor<float, Dim<I>>;

#ifdef LEGAL
template <template <class> class As>
struct Of {
  As<W> w;
  As<W> v;
};
using Plain = Of<value_t>;
#else
struct Plain {
  W w;
  W v;
};
#endif

auto train(Plain const& p, W const& x) {
  return value_and_grad<0>([](auto const& m, auto const& y) { return sum(m.w * y); })(p, x);
}
