// The symbols that units of a program need, named after what this unit was compiled with.
#include <shardtype/runtime/linkage.hpp>

extern "C" {
char const shardtype_some_units_are_header_only_and_some_use_the_compiled_part = 0;
char const SHARDTYPE_LINKS_VERSION = 0;
char const SHARDTYPE_LINKS_COMPILER = 0;
char const SHARDTYPE_LINKS_INSTRUCTIONS = 0;
char const SHARDTYPE_LINKS_KOKKOS = 0;
char const SHARDTYPE_LINKS_BACKENDS = 0;
char const SHARDTYPE_LINKS_MPI = 0;
char const SHARDTYPE_LINKS_NDEBUG = 0;
char const SHARDTYPE_LINKS_GLIBCXX_DEBUG = 0;
char const SHARDTYPE_LINKS_SANITIZER = 0;
char const SHARDTYPE_LINKS_THREAD_SANITIZER = 0;
char const SHARDTYPE_LINKS_BLAS = 0;
char const SHARDTYPE_LINKS_CUBLAS = 0;
char const SHARDTYPE_LINKS_FFT = 0;
char const SHARDTYPE_LINKS_LIBMVEC = 0;
}  // extern "C"
