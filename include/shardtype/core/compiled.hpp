#pragma once
/// The library is used in one of two ways. Header-only, the default, needs nothing. With the
/// compiled part (the target shardtype::compiled, which defines SHARDTYPE_COMPILED) the functions
/// of `*.ipp` files, and the templates for usual element types, are compiled once, in src/.

#ifdef SHARDTYPE_COMPILED
/// Before the definitions in `*.ipp` files: nothing where only src/ compiles them.
#define SHARDTYPE_INLINE
#else
#define SHARDTYPE_INLINE inline
#endif

namespace shardtype::core {

/// Whether this unit uses the compiled part. Then the planner's `constexpr` functions, which
/// constant evaluations need here, are called there at run time.
#ifdef SHARDTYPE_COMPILED
inline constexpr bool compiled_part = true;
#else
inline constexpr bool compiled_part = false;
#endif

}  // namespace shardtype::core
