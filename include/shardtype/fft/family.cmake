# A library of local Fourier transforms as Shardtype::FFT: FFTW (GPL), Shardtype::FFTW too, else KissFFT (BSD, a
# header), or the one that SHARDTYPE_FFT names. Without it a transform is an Error. Where Kokkos is built for CUDA,
# cuFFT does the transforms on the device, Shardtype::cuFFT.
list(APPEND shardtype_family_targets Shardtype::FFT Shardtype::cuFFT)
list(APPEND shardtype_family_choices SHARDTYPE_FFT)
shardtype_choice(SHARDTYPE_FFT "Library of local Fourier transforms: auto, fftw (GPL), kissfft (BSD) or none")
if(SHARDTYPE_FFT MATCHES "^(auto|fftw)$")
  find_path(SHARDTYPE_FFTW_INCLUDE_DIR fftw3.h)
  find_library(SHARDTYPE_FFTW_DOUBLE fftw3)
  find_library(SHARDTYPE_FFTW_FLOAT fftw3f)
  mark_as_advanced(SHARDTYPE_FFTW_INCLUDE_DIR SHARDTYPE_FFTW_DOUBLE SHARDTYPE_FFTW_FLOAT)
  if(SHARDTYPE_FFTW_INCLUDE_DIR AND SHARDTYPE_FFTW_DOUBLE AND SHARDTYPE_FFTW_FLOAT)
    if(NOT TARGET Shardtype::FFT)
      add_library(Shardtype::FFT INTERFACE IMPORTED)
      set_target_properties(
        Shardtype::FFT
        PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${SHARDTYPE_FFTW_INCLUDE_DIR}"
                   INTERFACE_LINK_LIBRARIES "${SHARDTYPE_FFTW_DOUBLE};${SHARDTYPE_FFTW_FLOAT}"
                   INTERFACE_COMPILE_DEFINITIONS SHARDTYPE_HAVE_FFTW=1)
      add_library(Shardtype::FFTW ALIAS Shardtype::FFT)
    endif()
  endif()
endif()
if(NOT TARGET Shardtype::FFT AND SHARDTYPE_FFT MATCHES "^(auto|kissfft)$")
  find_path(SHARDTYPE_KISSFFT_INCLUDE_DIR kissfft/kissfft.hh)
  mark_as_advanced(SHARDTYPE_KISSFFT_INCLUDE_DIR)
  if(SHARDTYPE_KISSFFT_INCLUDE_DIR)
    add_library(Shardtype::FFT INTERFACE IMPORTED)
    set_target_properties(
      Shardtype::FFT PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${SHARDTYPE_KISSFFT_INCLUDE_DIR}"
                                INTERFACE_COMPILE_DEFINITIONS SHARDTYPE_HAVE_KISSFFT=1)
  endif()
endif()
if((Kokkos_ENABLE_CUDA OR "CUDA" IN_LIST Kokkos_DEVICES) AND NOT SHARDTYPE_FFT STREQUAL none)
  find_package(CUDAToolkit QUIET)
  if(TARGET CUDA::cufft AND NOT TARGET Shardtype::cuFFT)
    add_library(Shardtype::cuFFT INTERFACE IMPORTED)
    set_target_properties(
      Shardtype::cuFFT PROPERTIES INTERFACE_LINK_LIBRARIES CUDA::cufft INTERFACE_COMPILE_DEFINITIONS
                                                                       SHARDTYPE_HAVE_CUFFT=1)
  endif()
endif()
