// The mean of integers.
// EXPECT: \[shardtype P12\] .*the tensor holds integers
// EXPECT: false, shardtype::Local<int, shardtype::Dim<I>, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Local<float, Dim<I>, Varying<X>>;
#else
using A = Local<std::int32_t, Dim<I>, Varying<X>>;
#endif

void ask(A const& a) { (void)all_reduce<Mean, X>(a); }
