# The vector functions of the C library as shardtype::mvec, where they are found (x86-64, glibc 2.35 and
# later). Optional. Also used by the installed package.
if(NOT TARGET shardtype::mvec)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES mvec)
  check_cxx_source_compiles(
    "typedef double Doubles __attribute__((vector_size(16)));
     extern \"C\" Doubles _ZGVbN2v_erfc(Doubles);
     int main() { return static_cast<int>(_ZGVbN2v_erfc(Doubles{0.5, 0.5})[0]); }"
    SHARDTYPE_LIBMVEC_WORKS)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(SHARDTYPE_LIBMVEC_WORKS)
    add_library(shardtype::mvec INTERFACE IMPORTED)
    set_target_properties(shardtype::mvec PROPERTIES INTERFACE_LINK_LIBRARIES mvec)
  endif()
endif()
