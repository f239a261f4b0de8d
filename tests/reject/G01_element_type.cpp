// NEEDS: full, Random123
// Half an integer is no uniform number.
// EXPECT: \[shardtype G01\] .*no tensors of this type
// EXPECT: shardtype::Tensor<int, shardtype::Dim<I, X> ?>
// FORBID: error:.*error:
#include <cstdint>

#include <shardtype/random/random.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};

#ifdef LEGAL
using T = float;
#else
using T = std::int32_t;
#endif

auto make(Mesh<X> const& mesh) { return uniform<T, Dim<I, X>>(mesh, {100}, RandomKey{7}); }
