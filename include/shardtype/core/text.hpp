#pragma once
/// The printed form of shardings: `A[I@X, J@(X,Y), K@Z%64]{U:Y}`.

#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/scope.hpp>

namespace shardtype::core {

// Appends piece by piece: for "text" + std::string g++ 12 at -O3 wrongly warns of overlapping
// copies (-Wrestrict).

/// `I`, `I@X`, `I@(X,Y)`, block-cyclic `I@X%64`; with its extent if one is given: `1500@X`.
std::string dim_text(DimSpec const& d, Names const& n, Extents const* extents = nullptr);

/// Names of the axes of a set, in order of name: `X,Y`.
std::string axes_text(AxisSet set, Names const& n);

/// `[I@X, J]{U:Y}`, with extents instead of labels if they are given.
std::string spec_text(Spec const& s, Names const& n, Extents const* extents = nullptr);

}  // namespace shardtype::core

#ifndef SHARDTYPE_COMPILED
#include <shardtype/core/text.ipp>
#endif
