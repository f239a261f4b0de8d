#pragma once
/// Units of a program, and the compiled part, that do not fit together do not link: each unit needs
/// symbols whose names say with what it was compiled, and the compiled part has those of its own.
/// The linker's message is such a name.

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <shardtype/core/compiled.hpp>

// One word per property, joined by the macros below.
#define SHARDTYPE_VERSION 0_2_0
#if defined(__clang__)
#define SHARDTYPE_UNIT_COMPILER clang_
#define SHARDTYPE_UNIT_COMPILER_VERSION __clang_major__
#else
#define SHARDTYPE_UNIT_COMPILER gcc_
#define SHARDTYPE_UNIT_COMPILER_VERSION __GNUC__
#endif
#if defined(__AVX512F__)
#define SHARDTYPE_UNIT_INSTRUCTIONS AVX512F
#elif defined(__AVX2__) && defined(__FMA__)
#define SHARDTYPE_UNIT_INSTRUCTIONS AVX2_FMA
#elif defined(__AVX2__)
#define SHARDTYPE_UNIT_INSTRUCTIONS AVX2
#elif defined(__AVX__)
#define SHARDTYPE_UNIT_INSTRUCTIONS AVX
#elif defined(__SSE4_2__)
#define SHARDTYPE_UNIT_INSTRUCTIONS SSE4_2
#elif defined(__ARM_FEATURE_SVE)
#define SHARDTYPE_UNIT_INSTRUCTIONS SVE
#else
#define SHARDTYPE_UNIT_INSTRUCTIONS of_the_baseline
#endif
#ifdef KOKKOS_ENABLE_SERIAL
#define SHARDTYPE_UNIT_SERIAL _Serial
#else
#define SHARDTYPE_UNIT_SERIAL
#endif
#ifdef KOKKOS_ENABLE_OPENMP
#define SHARDTYPE_UNIT_OPENMP _OpenMP
#else
#define SHARDTYPE_UNIT_OPENMP
#endif
#ifdef KOKKOS_ENABLE_THREADS
#define SHARDTYPE_UNIT_THREADS _Threads
#else
#define SHARDTYPE_UNIT_THREADS
#endif
#ifdef KOKKOS_ENABLE_CUDA
#define SHARDTYPE_UNIT_DEVICE _Cuda
#elif defined(KOKKOS_ENABLE_HIP)
#define SHARDTYPE_UNIT_DEVICE _Hip
#else
#define SHARDTYPE_UNIT_DEVICE
#endif
// MPICH's binary interface is that of its relatives and of all versions since 3.1; Open MPI's
// changes with its major one.
#if defined(OPEN_MPI)
#define SHARDTYPE_UNIT_MPI Open_MPI_
#define SHARDTYPE_UNIT_MPI_VERSION OMPI_MAJOR_VERSION
#elif defined(MPICH_VERSION)
#define SHARDTYPE_UNIT_MPI MPICH
#define SHARDTYPE_UNIT_MPI_VERSION
#else
#define SHARDTYPE_UNIT_MPI another_MPI
#define SHARDTYPE_UNIT_MPI_VERSION
#endif

#define SHARDTYPE_JOIN_(a, b, c, d, e, f) a##b##c##d##e##f
#define SHARDTYPE_JOIN(a, b, c, d, e, f) SHARDTYPE_JOIN_(a, b, c, d, e, f)

// The symbols: a property that is a number or a list, or one that a unit has or has not.
#define SHARDTYPE_LINKS_VERSION                                       \
  SHARDTYPE_JOIN(shardtype_this_unit_has_version_, SHARDTYPE_VERSION, \
                 _and_the_compiled_part_another, , , )
#define SHARDTYPE_LINKS_COMPILER                                             \
  SHARDTYPE_JOIN(shardtype_this_unit_has_compiler_, SHARDTYPE_UNIT_COMPILER, \
                 SHARDTYPE_UNIT_COMPILER_VERSION, _and_the_compiled_part_another, , )
#define SHARDTYPE_LINKS_INSTRUCTIONS                                                 \
  SHARDTYPE_JOIN(shardtype_this_unit_has_instructions_, SHARDTYPE_UNIT_INSTRUCTIONS, \
                 _and_the_compiled_part_others, , , )
#define SHARDTYPE_LINKS_KOKKOS                                                                    \
  SHARDTYPE_JOIN(shardtype_this_unit_has_Kokkos_, KOKKOS_VERSION, _and_the_compiled_part_another, \
                 , , )
#define SHARDTYPE_LINKS_BACKENDS                                                       \
  SHARDTYPE_JOIN(shardtype_this_unit_has_Kokkos_backends, SHARDTYPE_UNIT_SERIAL,       \
                 SHARDTYPE_UNIT_OPENMP, SHARDTYPE_UNIT_THREADS, SHARDTYPE_UNIT_DEVICE, \
                 _and_the_compiled_part_others)
#define SHARDTYPE_LINKS_MPI                                                                    \
  SHARDTYPE_JOIN(shardtype_this_unit_has_MPI_, SHARDTYPE_UNIT_MPI, SHARDTYPE_UNIT_MPI_VERSION, \
                 _and_the_compiled_part_another, , )
#ifdef NDEBUG
#define SHARDTYPE_LINKS_NDEBUG shardtype_this_unit_has_NDEBUG_and_the_compiled_part_has_not
#else
#define SHARDTYPE_LINKS_NDEBUG shardtype_this_unit_has_no_NDEBUG_and_the_compiled_part_has
#endif
#ifdef _GLIBCXX_DEBUG
#define SHARDTYPE_LINKS_GLIBCXX_DEBUG \
  shardtype_this_unit_has_GLIBCXX_DEBUG_and_the_compiled_part_has_not
#else
#define SHARDTYPE_LINKS_GLIBCXX_DEBUG \
  shardtype_this_unit_has_no_GLIBCXX_DEBUG_and_the_compiled_part_has
#endif
#ifdef __SANITIZE_ADDRESS__
#define SHARDTYPE_UNIT_ADDRESS_SANITIZER
#endif
#ifdef __SANITIZE_THREAD__
#define SHARDTYPE_UNIT_THREAD_SANITIZER
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SHARDTYPE_UNIT_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define SHARDTYPE_UNIT_THREAD_SANITIZER
#endif
#endif
#ifdef SHARDTYPE_UNIT_ADDRESS_SANITIZER
#define SHARDTYPE_LINKS_SANITIZER \
  shardtype_this_unit_has_the_address_sanitizer_and_the_compiled_part_has_not
#else
#define SHARDTYPE_LINKS_SANITIZER \
  shardtype_this_unit_has_no_address_sanitizer_and_the_compiled_part_has
#endif
#ifdef SHARDTYPE_UNIT_THREAD_SANITIZER
#define SHARDTYPE_LINKS_THREAD_SANITIZER \
  shardtype_this_unit_has_the_thread_sanitizer_and_the_compiled_part_has_not
#else
#define SHARDTYPE_LINKS_THREAD_SANITIZER \
  shardtype_this_unit_has_no_thread_sanitizer_and_the_compiled_part_has
#endif
#ifdef SHARDTYPE_HAVE_BLAS
#define SHARDTYPE_LINKS_BLAS shardtype_this_unit_has_BLAS_and_the_compiled_part_has_not
#else
#define SHARDTYPE_LINKS_BLAS shardtype_this_unit_has_no_BLAS_and_the_compiled_part_has
#endif
#ifdef SHARDTYPE_HAVE_CUBLAS
#define SHARDTYPE_LINKS_CUBLAS shardtype_this_unit_has_cuBLAS_and_the_compiled_part_has_not
#else
#define SHARDTYPE_LINKS_CUBLAS shardtype_this_unit_has_no_cuBLAS_and_the_compiled_part_has
#endif
#ifdef SHARDTYPE_HAVE_FFTW
#define SHARDTYPE_UNIT_FFT FFTW
#elif defined(SHARDTYPE_HAVE_KISSFFT)
#define SHARDTYPE_UNIT_FFT KissFFT
#else
#define SHARDTYPE_UNIT_FFT none
#endif
#ifdef SHARDTYPE_HAVE_CUFFT
#define SHARDTYPE_UNIT_DEVICE_FFT _and_cuFFT
#else
#define SHARDTYPE_UNIT_DEVICE_FFT
#endif
#define SHARDTYPE_LINKS_FFT                                                          \
  SHARDTYPE_JOIN(shardtype_this_unit_has_Fourier_transforms_by_, SHARDTYPE_UNIT_FFT, \
                 SHARDTYPE_UNIT_DEVICE_FFT, _and_the_compiled_part_others, , )
#ifdef SHARDTYPE_HAVE_LIBMVEC
#define SHARDTYPE_LINKS_LIBMVEC \
  shardtype_this_unit_has_vector_functions_and_the_compiled_part_has_not
#else
#define SHARDTYPE_LINKS_LIBMVEC \
  shardtype_this_unit_has_no_vector_functions_and_the_compiled_part_has
#endif

extern "C" {

#ifdef SHARDTYPE_COMPILED
extern char const shardtype_some_units_are_header_only_and_some_use_the_compiled_part;
extern char const SHARDTYPE_LINKS_VERSION;
extern char const SHARDTYPE_LINKS_COMPILER;
extern char const SHARDTYPE_LINKS_INSTRUCTIONS;
extern char const SHARDTYPE_LINKS_KOKKOS;
extern char const SHARDTYPE_LINKS_BACKENDS;
extern char const SHARDTYPE_LINKS_MPI;
extern char const SHARDTYPE_LINKS_NDEBUG;
extern char const SHARDTYPE_LINKS_GLIBCXX_DEBUG;
extern char const SHARDTYPE_LINKS_SANITIZER;
extern char const SHARDTYPE_LINKS_THREAD_SANITIZER;
extern char const SHARDTYPE_LINKS_BLAS;
extern char const SHARDTYPE_LINKS_CUBLAS;
extern char const SHARDTYPE_LINKS_FFT;
extern char const SHARDTYPE_LINKS_LIBMVEC;
#else
/// Thread-local here and not where the compiled part is used: linkers refuse a symbol that is both.
[[gnu::used]] inline thread_local constinit char
    shardtype_some_units_are_header_only_and_some_use_the_compiled_part = 0;
#endif

}  // extern "C"

#ifdef SHARDTYPE_COMPILED
namespace shardtype::runtime {
namespace {

/// The symbols of the compiled part that this unit needs.
[[gnu::used]] char const* const links[] = {
    &shardtype_some_units_are_header_only_and_some_use_the_compiled_part,
    &SHARDTYPE_LINKS_VERSION,
    &SHARDTYPE_LINKS_COMPILER,
    &SHARDTYPE_LINKS_INSTRUCTIONS,
    &SHARDTYPE_LINKS_KOKKOS,
    &SHARDTYPE_LINKS_BACKENDS,
    &SHARDTYPE_LINKS_MPI,
    &SHARDTYPE_LINKS_NDEBUG,
    &SHARDTYPE_LINKS_GLIBCXX_DEBUG,
    &SHARDTYPE_LINKS_SANITIZER,
    &SHARDTYPE_LINKS_THREAD_SANITIZER,
    &SHARDTYPE_LINKS_BLAS,
    &SHARDTYPE_LINKS_CUBLAS,
    &SHARDTYPE_LINKS_FFT,
    &SHARDTYPE_LINKS_LIBMVEC};

}  // namespace
}  // namespace shardtype::runtime
#endif
