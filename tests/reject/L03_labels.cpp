// Thirty-three indices.
// EXPECT: \[shardtype L03\] one expression has more than 32 indices
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

struct N0 : Index<"N0"> {};
struct N1 : Index<"N1"> {};
struct N2 : Index<"N2"> {};
struct N3 : Index<"N3"> {};
struct N4 : Index<"N4"> {};
struct N5 : Index<"N5"> {};
struct N6 : Index<"N6"> {};
struct N7 : Index<"N7"> {};
struct N8 : Index<"N8"> {};
struct N9 : Index<"N9"> {};
struct N10 : Index<"N10"> {};
struct N11 : Index<"N11"> {};
struct N12 : Index<"N12"> {};
struct N13 : Index<"N13"> {};
struct N14 : Index<"N14"> {};
struct N15 : Index<"N15"> {};
struct N16 : Index<"N16"> {};
struct N17 : Index<"N17"> {};
struct N18 : Index<"N18"> {};
struct N19 : Index<"N19"> {};
struct N20 : Index<"N20"> {};
struct N21 : Index<"N21"> {};
struct N22 : Index<"N22"> {};
struct N23 : Index<"N23"> {};
struct N24 : Index<"N24"> {};
struct N25 : Index<"N25"> {};
struct N26 : Index<"N26"> {};
struct N27 : Index<"N27"> {};
struct N28 : Index<"N28"> {};
struct N29 : Index<"N29"> {};
struct N30 : Index<"N30"> {};
struct N31 : Index<"N31"> {};
struct N32 : Index<"N32"> {};
using M = Mesh<X, Y>;
using A = Tensor<float, Dim<N0>, Dim<N1>, Dim<N2>, Dim<N3>, Dim<N4>, Dim<N5>, Dim<N6>>;
using B = Tensor<float, Dim<N7>, Dim<N8>, Dim<N9>, Dim<N10>, Dim<N11>, Dim<N12>, Dim<N13>>;
using C = Tensor<float, Dim<N14>, Dim<N15>, Dim<N16>, Dim<N17>, Dim<N18>, Dim<N19>, Dim<N20>>;
using D = Tensor<float, Dim<N21>, Dim<N22>, Dim<N23>, Dim<N24>, Dim<N25>, Dim<N26>, Dim<N27>>;
using E = Tensor<float, Dim<N28>, Dim<N29>, Dim<N30>, Dim<N31>, Dim<N32>>;

auto total(M const& mesh, A const& a, B const& b, C const& c, D const& d, E const& e) {
#ifdef LEGAL
  auto const some = evaluate<>(mesh, sum(lazy(a)) + sum(lazy(b)));
  return evaluate<>(mesh, some + sum(lazy(c)) + sum(lazy(d)) + sum(lazy(e)));
#else
  return evaluate<>(mesh, sum(lazy(a)) + sum(lazy(b)) + sum(lazy(c)) + sum(lazy(d)) + sum(lazy(e)));
#endif
}
