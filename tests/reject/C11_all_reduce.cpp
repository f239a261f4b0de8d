// A sum of bool; any and all are a maximum and a minimum.
// EXPECT: \[shardtype C11\] the operands hold bool
// EXPECT: false, shardtype::Local<bool, shardtype::Dim<I>, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using A = Local<std::int64_t, Dim<I>, Varying<X>>;
#else
using A = Local<bool, Dim<I>, Varying<X>>;
#endif

void ask(A const& a) { (void)all_reduce<X>(a); }
