// Least squares of wide matrices without rcond.
// EXPECT: \[shardtype Q09\] lstsq<I, J>\(a, b\) takes matrices with at least as many rows
// EXPECT: lstsq<I, J>\(a, b, \{.rcond = 1e-10\}\)
// EXPECT: , I, J>
// FORBID: Resolve<|basic_type|Pack<|least\b|triangular
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct B : Index<"B", 6> {};
struct I : Index<"I", 4> {};
struct J : Index<"J", 5> {};

void ask(Tensor<double, Dim<B, X>, Dim<I>, Dim<J>> const& a,
         Tensor<double, Dim<B, X>, Dim<I>> const& b) {
#ifdef LEGAL
  (void)linalg::lstsq<I, J>(a, b, {.rcond = 1e-10});
#else
  (void)linalg::lstsq<I, J>(a, b);
#endif
}
