// One branch varies.
// EXPECT: \[shardtype V12\] the two branches return different types
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I> ?>, shardtype::Local<float, shardtype::Dim<I>, shardtype::Varying<X> ?> ?>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
using A = Local<float, Dim<I>>;
using B = Local<float, Dim<I>, Varying<X>>;
using P = Local<bool>;

void ask(P const& p, A const& a, B const& b) {
#ifdef LEGAL
  (void)branch(p, [&] { return varying<X>(a); }, [&] { return a + b; });
#else
  (void)branch(p, [&] { return a; }, [&] { return a + b; });
#endif
}
