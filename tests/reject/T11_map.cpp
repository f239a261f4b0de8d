// A function of one element for two tensors.
// EXPECT: \[shardtype T11\] .*map an element of each
// EXPECT: false, shardtype::Tensor<float, shardtype::Dim<I, X>, shardtype::Dim<J> ?>
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
using A = Tensor<float, Dim<I, X>, Dim<J>>;
struct Half {
  template <class T>
  T operator()(T x) const {
    return x / 2;
  }
};

#ifdef LEGAL
void ask(A const& a) { (void)map(Half{}, a); }
#else
void ask(A const& a) { (void)map(Half{}, a, a); }
#endif
