// Linear algebra of tensors in memory that the host cannot access.
// EXPECT: \[shardtype Q14\] linear algebra runs on the host
// FORBID: Resolve<|basic_type|Pack<
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct Far {
  using memory_space = Far;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using device_type = Kokkos::Device<execution_space, Far>;
  using size_type = std::size_t;
};

#ifdef LEGAL
using Space = Kokkos::HostSpace;
#else
using Space = Far;
#endif
using A = Tensor<double, Dim<I>, Dim<J>, Memory<Space>>;
using B = Tensor<double, Dim<I>, Memory<Space>>;

void ask(A const& a, B const& b) { (void)linalg::solve<I, J>(a, b); }
