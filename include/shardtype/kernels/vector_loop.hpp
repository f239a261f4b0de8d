#pragma once
/// Functions whose loops are written in vectors also where a program is compiled with -O2: g++ 12
/// then takes only the simplest loops by itself.

#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define SHARDTYPE_VECTOR_LOOP [[gnu::optimize("O3")]]
#else
#define SHARDTYPE_VECTOR_LOOP
#endif
