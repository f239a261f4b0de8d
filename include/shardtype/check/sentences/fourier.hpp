#pragma once
/// Refusals of Fourier transforms.

#include <shardtype/check/refused.hpp>

namespace shardtype::checking {

template <bool legal, class... YourTypes>
struct refused<Code::F01_element_type, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype F01] fft, ifft and irfft transform Kokkos::complex of float or double, "
                "rfft transforms float or double. Use rfft for real numbers (half the work), or "
                "cast<Kokkos::complex<float>>(a) first; both are free of communication.");
};
template <bool legal, class... YourTypes>
struct refused<Code::F02_along_split, legal, YourTypes...> : Poisoned {
  static_assert(
      legal,
      "[shardtype F02] a Fourier transform is local, and a mesh axis splits a dim that it "
      "transforms. Name the dims of the result behind the labels, as in fft<I, Dim<I>, "
      "Dim<J, X>>(a): it moves the axis to another dim by all_to_all (each rank sends its "
      "block once) and gathers nothing. Or all_to_all the axis to another dim first.");
};
template <bool legal, class... YourTypes>
struct refused<Code::F03_extremum, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype F03] a maximum or minimum is pending, and the Fourier transform of "
                "maxima is not the maximum of transforms. all_reduce the axis first (each rank "
                "sends its block twice); a pending sum needs none.");
};
template <bool legal, class... YourTypes>
struct refused<Code::F04_no_other_dim, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype F04] a mesh axis splits a dim that this Fourier transform names, "
                "and no other dim can take the axis: there is none, or all others are cyclic. "
                "If a full gather is meant, write fft<I>(all_gather<X>(a)): each rank gets "
                "the whole dim.");
};
template <bool legal, class... YourTypes>
struct refused<Code::F05_transposed_order, legal, YourTypes...> : Poisoned {
  static_assert(legal,
                "[shardtype F05] ifft_four_step<K1, K2, I>(f) takes the order that fft_four_step "
                "gives, [K1@X, K2]: frequency k1 + n1 k2, the first dim split and the second one "
                "whole; here a mesh axis splits the second. all_to_all<X, K2, K1>(f) first (each "
                "rank sends its block once).");
};

}  // namespace shardtype::checking
