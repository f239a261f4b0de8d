#pragma once
/// The reducer that computes each reduction.

#include <utility>

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

/// The reducers (kernels/reducers.hpp) that run reductions on elements `T`.
template <class T>
struct Reducers {
  static SumReducer<T> of(reductions::Sum);
  static SumReducer<T> of(reductions::Mean);
  static ProductReducer<T> of(reductions::Product);
  static ExtremeReducer<T, true> of(reductions::Maximum);
  static ExtremeReducer<T, false> of(reductions::Minimum);
  static ExtremeReducer<T, false> of(reductions::All);
  static ExtremeReducer<T, true> of(reductions::Any);
  static NonZerosReducer<T> of(reductions::NonZeros);
  static PlaceReducer<T, true> of(reductions::PlaceOfMaximum);
  static PlaceReducer<T, false> of(reductions::PlaceOfMinimum);
  static LogSumExpReducer<T> of(reductions::LogSumExp);
  static NormReducer<T> of(reductions::Norm);
  static Norm1Reducer<T> of(reductions::Norm1);
  static NormInfReducer<T> of(reductions::NormInf);
  static VarianceReducer<T, false> of(reductions::Variance);
  static VarianceReducer<T, true> of(reductions::Deviation);
  static CountedExtreme<T, true> of(reductions::CountedMaximum);
  static CountedExtreme<T, false> of(reductions::CountedMinimum);
  static CountedProduct<T> of(reductions::CountedProduct);
  static ReproducibleReducer<T, false> of(reductions::ReproducibleSum);
  static ReproducibleReducer<T, true> of(reductions::ReproducibleNorm);
  static LogSumExpReducer<T> of(reductions::LogSumExpParts);
  static ProductInParts<T> of(reductions::ProductParts);

  /// Those that finish the further results of a reduction in parts.
  static LargestOfExponentials<T> second(reductions::LogSumExpParts);
  static SumOfExponentials<T> third(reductions::LogSumExpParts);
  static FactorOfProduct<T> second(reductions::ProductParts);
  static ScaleOfProduct<T> third(reductions::ProductParts);
};
template <class F, class T>
using reducer_t = decltype(Reducers<T>::of(std::declval<F>()));

}  // namespace shardtype::kernels
