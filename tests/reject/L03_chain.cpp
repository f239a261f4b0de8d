// A chain of fifteen factors.
// EXPECT: \[shardtype L03\] one chain of products has more than 14 factors
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 2> {};

struct L0 : Index<"L0"> {};
struct L1 : Index<"L1"> {};
struct L2 : Index<"L2"> {};
struct L3 : Index<"L3"> {};
struct L4 : Index<"L4"> {};
struct L5 : Index<"L5"> {};
struct L6 : Index<"L6"> {};
struct L7 : Index<"L7"> {};
struct L8 : Index<"L8"> {};
struct L9 : Index<"L9"> {};
struct L10 : Index<"L10"> {};
struct L11 : Index<"L11"> {};
struct L12 : Index<"L12"> {};
struct L13 : Index<"L13"> {};
struct L14 : Index<"L14"> {};
struct L15 : Index<"L15"> {};
using M = Mesh<X, Y>;
template <class A, class B>
auto factor() -> Tensor<float, Dim<A>, Dim<B>> const&;

auto chain(M const& mesh) {
#ifdef LEGAL
  auto const left = evaluate<Dim<L0>, Dim<L2>>(mesh, lazy(factor<L0, L1>()) * factor<L1, L2>());
  return evaluate<Dim<L0>, Dim<L15>>(mesh, lazy(left) * factor<L2, L3>() * factor<L3, L15>());
#else
  return evaluate<Dim<L0>, Dim<L15>>(
      mesh, lazy(factor<L0, L1>()) * factor<L1, L2>() * factor<L2, L3>() * factor<L3, L4>() *
                factor<L4, L5>() * factor<L5, L6>() * factor<L6, L7>() * factor<L7, L8>() *
                factor<L8, L9>() * factor<L9, L10>() * factor<L10, L11>() * factor<L11, L12>() *
                factor<L12, L13>() * factor<L13, L14>() * factor<L14, L15>());
#endif
}
