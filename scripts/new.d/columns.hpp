#pragma once
/// Tables whose rows are split over all ranks.

#include <shardtype/shardtype.hpp>

struct X : shardtype::Axis<"X"> {};   // the mesh axis: as many ranks as there are
struct I : shardtype::Index<"I"> {};  // rows
struct J : shardtype::Index<"J"> {};  // columns

/// f64[I@X, J]: each rank has some of the rows.
using Table = shardtype::Tensor<double, shardtype::Dim<I, X>, shardtype::Dim<J>>;

/// f64[I@X, J] -> f64[J]: the mean of each column, on all ranks. One AllReduce over X.
inline auto column_means(Table const& a) { return shardtype::mean<shardtype::Dim<J>>(a); }

/// f64[I@X, J] -> f64[I@X, J]: each column without its mean.
inline Table centered(Table const& a) { return a - column_means(a); }
