// One accepted call of each operation that is no case of the random programs, or of several.
#pragma once

#include <cstdint>
#include <tuple>

#include <shardtype/fft/fft.hpp>
#include <shardtype/fft/four_step.hpp>
#include <shardtype/linalg/linalg.hpp>
#include <shardtype/nn/nn.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/sample.hpp"

namespace user {
struct Half : Index<"Half", 5> {};  // of J
struct Frequencies : Index<"Frequencies"> {};
struct Rows : Index<"Rows", 6> {};
struct Cols : Index<"Cols", 6> {};
struct Spectral : Index<"Spectral", 6> {};
}  // namespace user

namespace samples {

using user::Half, user::Frequencies, user::Rows, user::Cols, user::Spectral;
using Waves = Tensor<Kokkos::complex<double>, Dim<I, X>, Dim<J>>;
using Planes = Tensor<Kokkos::complex<double>, Dim<I>, Dim<J>, Dim<K, Y>>;
using Halves = Tensor<Kokkos::complex<double>, Dim<I, X>, Dim<Half>>;

using Matrices = Tensor<double, Dim<I, X>, Dim<Rows>, Dim<Cols>>;
using RightSides = Tensor<double, Dim<I, X>, Dim<Rows>>;
using Pivots = Tensor<std::int32_t, Dim<I, X>, Dim<Cols>>;
using Norms = Tensor<double, Dim<I, X>>;

using Updates = Tensor<double, Dim<I, X>, Dim<Q>>;
using Vector = Tensor<double, Dim<J>>;
using Edges = Tensor<double, Dim<V>>;
using Heads = Tensor<double, Dim<I, X>, Dim<J>, Dim<K, Y>, Dim<L>>;
using Experts = Tensor<double, Dim<L, X>, Dim<J>, Dim<K, Y>>;
using Sizes = Tensor<std::int64_t, Dim<L, X>>;
using Taps = Tensor<double, Dim<P>, Dim<L>, Dim<Q>>;
using Convolved = Tensor<double, Dim<I, X>, Dim<J>, Dim<K, Y>, Dim<Q>>;

// One accepted call of each operation, except for those with a call beside their case.
inline constexpr std::tuple other_samples{
    on<"All", "all", Bools>(op::All<J>{}),
    on<"AllGather", "all_gather", A>(op::AllGather<X>{}),
    on<"AllReduce", "all_reduce", Sums>(op::AllReduce<X>{}),
    on<"AllToAll", "all_to_all", A>(op::AllToAll<X, I, J>{}),
    on<"Any", "any", Bools>(op::Any<J>{}),
    on<"ArgMax", "argmax", A>(op::ArgMax<J>{}),
    on<"ArgMin", "argmin", A>(op::ArgMin<J>{}),
    on<"ArgSort", "argsort", A>(op::ArgSort<J>{}),
    on<"Bincount", "bincount", Ids>(op::Bincount<V>{32, {}}),
    on<"Broadcast", "broadcast", A>(op::Broadcast<Dim<K, Y>>{{12}}),
    on<"CountedMax", "counted_max", A>(op::CountedMax<J>{}),
    on<"CountedMin", "counted_min", A>(op::CountedMin<Dim<J>>{}),
    on<"CountedProd", "counted_prod", A>(op::CountedProd<J>{}),
    on<"DynamicSlice", "dynamic_slice", A>(op::DynamicSlice<J, Q>{4, 2}),
    on<"DynamicUpdate", "dynamic_update", A, Updates>(op::DynamicUpdate<J, Q>{0}),
    on<"Einsum", "einsum", A, B>(op::Einsum<I, K>{}),
    on<"Expand", "expand", A>(op::Expand<One>{}),
    on<"HaloAdd", "halo_add", Halo<A, I>>(op::HaloAdd<I>{1, 2}),
    on<"Histogram", "histogram", A>(op::Histogram<V>{32, {0.0, 1.0}}),
    on<"LogSumExp", "logsumexp", A>(op::LogSumExp<J>{}),
    on<"Map", "map", A, A>(op::Map<functions::Add>{}),
    on<"Matmul", "matmul", A, B>(op::Matmul<>{}),
    on<"Max", "max", A>(op::Max<J>{}),
    on<"Mean", "mean", A>(op::Mean<J>{}),
    on<"MergeDims", "merge_dims", Split>(op::MergeDims<P, Q, J>{}),
    on<"Min", "min", A>(op::Min<J>{}),
    on<"Norm", "norm", A>(op::Norm<J>{}),
    on<"Norm1", "norm_1", A>(op::Norm1<J>{}),
    on<"NormInf", "norm_inf", A>(op::NormInf<J>{}),
    on<"OneHot", "one_hot", Ids>(op::OneHot<V, double>{32}),
    on<"Prod", "prod", A>(op::Prod<J>{}),
    on<"Quantile", "quantile", A>(op::Quantile<J>{0.5}),
    on<"ReduceScatter", "reduce_scatter", Sums>(op::ReduceScatter<X, I>{}),
    on<"Relabel", "relabel", Small>(op::Relabel<J, L>{}),
    on<"ReproducibleNorm", "norm(a, reproducible)", A>(op::ReproducibleNorm<J>{}),
    on<"ReproducibleSum", "sum(a, reproducible)", A>(op::ReproducibleSum<J>{}),
    on<"Reshard", "reshard", A>(op::Reshard<Dim<I>, Dim<J, Y>>{}),
    on<"ScatterAdd", "scatter_add", A, Ids>(op::ScatterAdd<V>{32}),
    on<"ScatterMax", "scatter_max", A, Ids>(op::ScatterMax<V>{32}),
    on<"ScatterMin", "scatter_min", A, Ids>(op::ScatterMin<V>{32}),
    on<"SearchSorted", "searchsorted", Edges, A>(op::SearchSorted<V>{}),
    on<"Sort", "sort", A>(op::Sort<J>{}),
    on<"SplitDim", "split_dim", A>(op::SplitDim<J, P, Q>{{2, 4}}),
    on<"Squeeze", "squeeze", Small>(op::Squeeze<One>{}),
    on<"Stack", "stack", A, A>(op::Stack<P>{}),
    on<"Sum", "sum", A>(op::Sum<J>{}),
    on<"Take", "take", Table, Ids>(op::Take<V>{}),
    on<"TakeAlong", "take_along", A, Along>(op::TakeAlong<J>{}),
    on<"ToMemory", "to_memory", A>(op::ToMemory<Kokkos::HostSpace>{}),
    on<"ToPartial", "to_partial", Whole>(op::ToPartial<X>{}),
    on<"ToReduced", "reduced", Whole>(op::ToReduced<X>{}),
    on<"TopK", "top_k", A>(op::TopK<J, P>{2}),
    on<"Transfer", "transfer", A>(op::Transfer<Mesh<Y>, Dim<I, Y>, Dim<J>>{}),
    on<"Transpose", "transpose", A>(op::Transpose<J, I>{}),
    on<"Unique", "unique", Edges>(op::Unique<double, V, P>{{2, 0.0}})};
inline constexpr std::tuple fft_samples{
    on<"Fft", "fft", Waves>(op::Fft<J>{}),
    on<"FftFourStep", "fft_four_step", Waves>(op::FftFourStep<I, P, L>{}),
    on<"Fftn", "fftn", Planes>(op::Fftn<I, J>{}),
    on<"Ifft", "ifft", Waves>(op::Ifft<J>{}),
    on<"IfftFourStep", "ifft_four_step", Waves>(op::IfftFourStep<I, Frequencies>{}),
    on<"Ifftn", "ifftn", Planes>(op::Ifftn<I, J>{}),
    on<"Irfft", "irfft", Halves>(op::Irfft<Half, J>{}),
    on<"Rfft", "rfft", A>(op::Rfft<J, Half>{})};
inline constexpr std::tuple nn_samples{
    on<"Attention", "attention", Heads, Heads, Heads>(op::Attention{}),
    on<"AvgPool", "avg_pool", Heads>(op::AvgPool<nn::Pool<J, 3, nn::same>>{}),
    on<"CausalMask", "causal_mask", A>(op::CausalMask<I, J>{}),
    on<"Conv", "conv", Heads, Taps>(op::Conv<nn::Window<J, P, nn::same>>{}),
    on<"ConvTransposed", "conv_transposed", Convolved, Taps>(
        op::ConvTransposed<nn::Window<J, P, nn::same>>{}),
    on<"Dropout", "dropout", A>(op::Dropout<>{RandomKey{1}, 0.1}),
    on<"LayerNorm", "layer_norm", A, Vector, Vector>(op::LayerNorm<J>{}),
    on<"MaxPool", "max_pool", Heads>(op::MaxPool<nn::Pool<J, 3, nn::same>>{}),
    on<"RaggedDot", "ragged_dot", A, Experts, Sizes>(op::RaggedDot<J>{}),
    on<"RmsNorm", "rms_norm", A, Vector>(op::RmsNorm<J>{}),
    on<"Rotary", "rotary", A>(op::Rotary<I, J>{})};
inline constexpr std::tuple linalg_samples{
    on<"Cholesky", "cholesky", Matrices>(op::Cholesky<Rows, Cols>{}),
    on<"Eigh", "eigh", Matrices>(op::Eigh<Rows, Cols, Spectral>{}),
    on<"EighValues", "eigvalsh", Matrices>(op::EighValues<Rows, Cols, Spectral>{}),
    on<"LeastNormSolution", "lstsq", Matrices, RightSides>(op::LeastNormSolution<Rows, Cols>{}),
    on<"LeastSquares", "lstsq", Matrices, RightSides>(op::LeastSquares<Rows, Cols>{}),
    on<"LuRcond", "rcond", Matrices, Pivots, Norms>(op::LuRcond<Rows, Cols>{}),
    on<"LuSolve", "lu_solve", Matrices, Pivots, RightSides>(op::LuSolve<Rows, Cols, false>{}),
    on<"MatrixRank", "matrix_rank", Matrices>(op::MatrixRank<Rows, Cols>{}),
    on<"PseudoInverse", "pinv", Matrices>(op::PseudoInverse<Rows, Cols>{}),
    on<"Qr", "qr", Matrices>(op::Qr<Rows, Cols, Spectral>{}),
    on<"Rcond", "rcond", Matrices>(op::Rcond<Rows, Cols>{}),
    on<"Solve", "solve", Matrices, RightSides>(op::Solve<Rows, Cols>{}),
    on<"Svd", "svd", Matrices>(op::Svd<Rows, Cols, Spectral>{}),
    on<"SvdValues", "svdvals", Matrices>(op::SvdValues<Rows, Cols, Spectral>{}),
    on<"TriangularSolve", "triangular_solve", Matrices, RightSides>(
        op::TriangularSolve<Rows, Cols>{})};

}  // namespace samples
