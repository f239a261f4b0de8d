#pragma once
/// Common code of the reproducible sums and norms: their results have the same bits on any number
/// of ranks.

#include <shardtype/execute/reduce_run.hpp>
#include <shardtype/kernels/reproducible.hpp>

namespace shardtype {

/// Asks a sum or norm to be reproducible: `sum<Dim<J>>(a, reproducible)`.
struct Reproducible {};
inline constexpr Reproducible reproducible{};

namespace execute {
template <class T>
struct ReducerOf<reductions::ReproducibleSum, T> {
  using type = kernels::ReproducibleReducer<T, false>;
};
template <class T>
struct ReducerOf<reductions::ReproducibleNorm, T> {
  using type = kernels::ReproducibleReducer<T, true>;
};
}  // namespace execute

}  // namespace shardtype
