#pragma once
/// Linear algebra, each function with plan and gradient. Not part of shardtype.hpp.

// The sentences first: then compilers print no path of includes before them.
// clang-format off
#include <shardtype/check/sentences/access.hpp>
#include <shardtype/check/sentences/automatic.hpp>
#include <shardtype/check/sentences/fourier.hpp>
#include <shardtype/check/sentences/gradients.hpp>
#include <shardtype/check/sentences/indexing.hpp>
#include <shardtype/check/sentences/linear_algebra.hpp>
#include <shardtype/check/sentences/manual.hpp>
#include <shardtype/check/sentences/moves.hpp>
#include <shardtype/check/sentences/networks.hpp>
#include <shardtype/check/sentences/pointwise.hpp>
#include <shardtype/check/sentences/products.hpp>
#include <shardtype/check/sentences/shapes.hpp>
#include <shardtype/check/sentences/training.hpp>
#include <shardtype/check/sentences/types.hpp>
// clang-format on
#include <shardtype/linalg/cyclic.hpp>
#include <shardtype/linalg/cyclic_gradients.hpp>
#include <shardtype/linalg/cyclic_inverse.hpp>
#include <shardtype/linalg/determinant.hpp>
#include <shardtype/linalg/factors.hpp>
#include <shardtype/linalg/ldl.hpp>
#include <shardtype/linalg/least_squares.hpp>
#include <shardtype/linalg/misused.hpp>
#include <shardtype/linalg/norms.hpp>
#include <shardtype/linalg/orthogonal.hpp>
#include <shardtype/linalg/pseudo_inverse.hpp>
#include <shardtype/linalg/scalapack.hpp>
#include <shardtype/linalg/solve.hpp>
#include <shardtype/linalg/spectral.hpp>
#include <shardtype/linalg/svd_gradients.hpp>
#include <shardtype/linalg/tall_gradients.hpp>
#include <shardtype/linalg/triangular.hpp>
