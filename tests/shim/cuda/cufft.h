// A stand-in for cuFFT on the host, for tests/unit/fourier_cufft.cpp: transforms by their definition, in the layouts of
// cufftMakePlanMany64 (element x of row b is at b * distance + x * stride). It is as strict as cuFFT may be: real numbers
// must be aligned as complex ones, and a complex-to-real transform overwrites its operand.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <type_traits>
#include <vector>

using cudaStream_t = void*;
inline constexpr int cudaSuccess = 0;
inline int cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

using cufftHandle = int;
struct cufftComplex {
  float x, y;
};
struct cufftDoubleComplex {
  double x, y;
};
using cufftReal = float;
using cufftDoubleReal = double;
enum cufftResult {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
  CUFFT_INVALID_DEVICE = 11
};
enum cufftType {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69
};
inline constexpr int CUFFT_FORWARD = -1;
inline constexpr int CUFFT_INVERSE = 1;

namespace mock {

struct Plan {
  long long n = 0, stride = 0, distance = 0, stride_out = 0, distance_out = 0, batch = 0;
  cufftType type{};
};
inline std::map<cufftHandle, Plan> plans;
inline int plans_made = 0;
inline int transforms = 0;
inline bool no_memory = false;

template <class T>
std::complex<double> number(T const& x) {
  return {static_cast<double>(x.x), static_cast<double>(x.y)};
}
inline std::complex<double> number(float x) { return x; }
inline std::complex<double> number(double x) { return x; }
template <class T>
void assign(T& to, std::complex<double> const& x) {
  to.x = static_cast<decltype(to.x)>(x.real());
  to.y = static_cast<decltype(to.y)>(x.imag());
}
inline void assign(float& to, std::complex<double> const& x) { to = static_cast<float>(x.real()); }
inline void assign(double& to, std::complex<double> const& x) { to = x.real(); }

template <class In, class Out>
cufftResult run(cufftHandle handle, cufftType type, In* in, Out* out, int sign) {
  auto const found = plans.find(handle);
  if (found == plans.end() || found->second.type != type) return CUFFT_INVALID_PLAN;
  Plan const& p = found->second;
  constexpr bool from_real = std::is_floating_point_v<In>;
  constexpr bool to_real = std::is_floating_point_v<Out>;
  if (from_real && reinterpret_cast<std::uintptr_t>(in) % (2 * sizeof(In)) != 0)
    return CUFFT_UNALIGNED_DATA;
  ++transforms;
  double const turn = 2 * std::acos(-1.0) / static_cast<double>(p.n);
  std::vector<std::complex<double>> row(static_cast<std::size_t>(p.n));
  for (long long b = 0; b < p.batch; ++b) {
    for (long long x = 0; x < p.n; ++x) {
      bool const mirrored = to_real && x > p.n / 2;
      auto& v = row[static_cast<std::size_t>(x)];
      v = number(in[b * p.distance + (mirrored ? p.n - x : x) * p.stride]);
      if (mirrored) v = std::conj(v);
      if (to_real && (x == 0 || 2 * x == p.n)) v = v.real();
    }
    for (long long k = 0; k < (from_real ? p.n / 2 + 1 : p.n); ++k) {
      std::complex<double> sum = 0;
      for (long long x = 0; x < p.n; ++x)
        sum += row[static_cast<std::size_t>(x)] *
               std::polar(1.0, sign * turn * static_cast<double>(x * k % p.n));
      assign(out[b * p.distance_out + k * p.stride_out], sum);
    }
    if (to_real)
      for (long long x = 0; x < p.n / 2 + 1; ++x) assign(in[b * p.distance + x * p.stride], 1e9);
  }
  return CUFFT_SUCCESS;
}

}  // namespace mock

inline cufftResult cufftCreate(cufftHandle* handle) {
  *handle = ++mock::plans_made;
  mock::plans[*handle] = {};
  return CUFFT_SUCCESS;
}
inline cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* n, long long* embed,
                                       long long stride, long long distance, long long* embed_out,
                                       long long stride_out, long long distance_out, cufftType type,
                                       long long batch, std::size_t* work) {
  if (rank != 1 || *n < 1 || batch < 1) return CUFFT_INVALID_SIZE;
  if (embed == nullptr || embed_out == nullptr) return CUFFT_INVALID_VALUE;
  if (mock::no_memory) return CUFFT_ALLOC_FAILED;
  mock::plans[handle] = {*n, stride, distance, stride_out, distance_out, batch, type};
  *work = 0;
  return CUFFT_SUCCESS;
}
inline cufftResult cufftSetStream(cufftHandle, cudaStream_t) { return CUFFT_SUCCESS; }
inline cufftResult cufftDestroy(cufftHandle handle) {
  return mock::plans.erase(handle) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
inline cufftResult cufftExecC2C(cufftHandle p, cufftComplex* in, cufftComplex* out, int sign) {
  return mock::run(p, CUFFT_C2C, in, out, sign);
}
inline cufftResult cufftExecZ2Z(cufftHandle p, cufftDoubleComplex* in, cufftDoubleComplex* out,
                                int sign) {
  return mock::run(p, CUFFT_Z2Z, in, out, sign);
}
inline cufftResult cufftExecR2C(cufftHandle p, cufftReal* in, cufftComplex* out) {
  return mock::run(p, CUFFT_R2C, in, out, CUFFT_FORWARD);
}
inline cufftResult cufftExecD2Z(cufftHandle p, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return mock::run(p, CUFFT_D2Z, in, out, CUFFT_FORWARD);
}
inline cufftResult cufftExecC2R(cufftHandle p, cufftComplex* in, cufftReal* out) {
  return mock::run(p, CUFFT_C2R, in, out, CUFFT_INVERSE);
}
inline cufftResult cufftExecZ2D(cufftHandle p, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return mock::run(p, CUFFT_Z2D, in, out, CUFFT_INVERSE);
}
