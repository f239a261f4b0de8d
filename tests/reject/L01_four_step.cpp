// A long Fourier transform of an expression: its two exchanges are its own, and the planner runs
// operations on dims that are whole.
// EXPECT: \[shardtype L01\] automatic mode does not record this operation
// FORBID: error:.*error:
// MAX-LINES: 11
// NEEDS: full FFT
#include <shardtype/fft/four_step.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct X : Axis<"X", 2> {};
struct I : Index<"I"> {};
struct K1 : Index<"K1"> {};
struct K2 : Index<"K2"> {};
using M = Mesh<X>;
using A = Tensor<Kokkos::complex<double>, Dim<I, X>>;

auto frequencies(M const& mesh, A const& a) {
#ifdef LEGAL
  return fft_four_step<I, K1, K2>(evaluate<Dim<I, X>>(mesh, lazy(a) * 2));
#else
  static_cast<void>(mesh);
  return fft_four_step<I, K1, K2>(lazy(a) * 2);
#endif
}
