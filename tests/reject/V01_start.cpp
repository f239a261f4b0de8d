// A slice of a block that begins where a tensor says.
// EXPECT: \[shardtype V01\] a Tensor stands where a Local belongs, or a Local where a Tensor does
// EXPECT: false, shardtype::Local<float, shardtype::Dim<I> ?, shardtype::Dim<J> ?>, shardtype::Tensor<.*>
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
using A = Local<float, Dim<I>, Dim<J>>;

#ifdef LEGAL
using B = Local<std::int32_t>;
#else
using B = Tensor<std::int32_t>;
#endif

void ask(A const& a, B const& start) { (void)dynamic_slice<I>(a, start, 2); }
