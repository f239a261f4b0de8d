#pragma once
/// The reducer that computes each reduction.

#include <shardtype/check/counted.hpp>
#include <shardtype/check/reduction.hpp>
#include <shardtype/kernels/counted.hpp>
#include <shardtype/kernels/moments.hpp>
#include <shardtype/kernels/norms.hpp>
#include <shardtype/kernels/reducers.hpp>
#include <shardtype/kernels/reproducible.hpp>

namespace shardtype::kernels {

/// Counts the elements that are not zero, a NaN among them.
template <class T>
struct NonZerosReducer : SumReducer<bool> {
  using Element = T;
  KOKKOS_FUNCTION static Part load(T const& x) { return x != T{} ? 1 : 0; }
};

template <class Reducer>
struct ReducesBy {
  using type = Reducer;
};
/// The reducer (kernels/reducers.hpp) that runs the reduction `F` on elements `T`.
template <class F, class T>
struct ReducerOf;
template <class T>
struct ReducerOf<reductions::Sum, T> : ReducesBy<SumReducer<T>> {};
template <class T>
struct ReducerOf<reductions::Mean, T> : ReducesBy<SumReducer<T>> {};
template <class T>
struct ReducerOf<reductions::Product, T> : ReducesBy<ProductReducer<T>> {};
template <class T>
struct ReducerOf<reductions::Maximum, T> : ReducesBy<ExtremeReducer<T, true>> {};
template <class T>
struct ReducerOf<reductions::Minimum, T> : ReducesBy<ExtremeReducer<T, false>> {};
template <class T>
struct ReducerOf<reductions::All, T> : ReducesBy<ExtremeReducer<T, false>> {};
template <class T>
struct ReducerOf<reductions::Any, T> : ReducesBy<ExtremeReducer<T, true>> {};
template <class T>
struct ReducerOf<reductions::NonZeros, T> : ReducesBy<NonZerosReducer<T>> {};
template <class T>
struct ReducerOf<reductions::PlaceOfMaximum, T> : ReducesBy<PlaceReducer<T, true>> {};
template <class T>
struct ReducerOf<reductions::PlaceOfMinimum, T> : ReducesBy<PlaceReducer<T, false>> {};
template <class T>
struct ReducerOf<reductions::LogSumExp, T> : ReducesBy<LogSumExpReducer<T>> {};
template <class T>
struct ReducerOf<reductions::Norm, T> : ReducesBy<NormReducer<T>> {};
template <class T>
struct ReducerOf<reductions::Norm1, T> : ReducesBy<Norm1Reducer<T>> {};
template <class T>
struct ReducerOf<reductions::NormInf, T> : ReducesBy<NormInfReducer<T>> {};
template <class T>
struct ReducerOf<reductions::Variance, T> : ReducesBy<VarianceReducer<T, false>> {};
template <class T>
struct ReducerOf<reductions::Deviation, T> : ReducesBy<VarianceReducer<T, true>> {};
template <class T>
struct ReducerOf<reductions::CountedMaximum, T> : ReducesBy<CountedExtreme<T, true>> {};
template <class T>
struct ReducerOf<reductions::CountedMinimum, T> : ReducesBy<CountedExtreme<T, false>> {};
template <class T>
struct ReducerOf<reductions::CountedProduct, T> : ReducesBy<CountedProduct<T>> {};
template <class T>
struct ReducerOf<reductions::ReproducibleSum, T> : ReducesBy<ReproducibleReducer<T, false>> {};
template <class T>
struct ReducerOf<reductions::ReproducibleNorm, T> : ReducesBy<ReproducibleReducer<T, true>> {};
template <class T>
struct ReducerOf<reductions::LogSumExpParts, T> : ReducesBy<LogSumExpReducer<T>> {};
template <class T>
struct ReducerOf<reductions::ProductParts, T> : ReducesBy<ProductInParts<T>> {};
template <class F, class T>
using reducer_t = typename ReducerOf<F, T>::type;

/// The reducers that finish the further results of a reduction in parts.
template <class F, class T>
struct PartsOf;
template <class T>
struct PartsOf<reductions::LogSumExpParts, T> {
  using Second = LargestOfExponentials<T>;
  using Third = SumOfExponentials<T>;
};
template <class T>
struct PartsOf<reductions::ProductParts, T> {
  using Second = FactorOfProduct<T>;
  using Third = ScaleOfProduct<T>;
};

}  // namespace shardtype::kernels
