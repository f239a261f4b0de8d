#pragma once
/// Refusals of calls whose function is in a header beside shardtype.hpp, or has another name here. Only shardtype.hpp
/// includes them. As in check/misused.hpp, any other function of the name is the better match; where the header is
/// included, they do not take part at all.

#include <shardtype/check/misused.hpp>

namespace shardtype {

class RandomKey;  // #include <shardtype/random/random.hpp>

namespace checking {

// Headers, each of which completes its own.
struct RandomHeader;
struct FftHeader;
struct FrequenciesHeader;
struct FourStepHeader;
struct PageHeader;

template <class Header>
concept NotIncluded = !requires { sizeof(Header); };

}  // namespace checking

namespace api {

// Refused, A15: `fft<I>(a)` without its header.
#define SHARDTYPE_OF_HEADER(header, name)                                             \
  template <class... Names, class Header = checking::header>                          \
    requires checking::NotIncluded<Header>                                            \
  constexpr auto name(checking::Anything const&, checking::Anything const& = {},      \
                      checking::Anything const& = {}, checking::Anything const& = {}, \
                      checking::Anything const& = {}) {                               \
    checking::refused<rules::Code::A15_another_header, false, Header, Names...>{};    \
    return checking::Poisoned{};                                                      \
  }
SHARDTYPE_OF_HEADER(RandomHeader, uniform)
SHARDTYPE_OF_HEADER(RandomHeader, normal)
SHARDTYPE_OF_HEADER(RandomHeader, truncated_normal)
SHARDTYPE_OF_HEADER(RandomHeader, bernoulli)
SHARDTYPE_OF_HEADER(RandomHeader, integers)
SHARDTYPE_OF_HEADER(RandomHeader, permutation)
SHARDTYPE_OF_HEADER(FftHeader, fft)
SHARDTYPE_OF_HEADER(FftHeader, ifft)
SHARDTYPE_OF_HEADER(FftHeader, rfft)
SHARDTYPE_OF_HEADER(FftHeader, irfft)
SHARDTYPE_OF_HEADER(FftHeader, fftn)
SHARDTYPE_OF_HEADER(FftHeader, ifftn)
SHARDTYPE_OF_HEADER(FftHeader, rfftn)
SHARDTYPE_OF_HEADER(FftHeader, irfftn)
SHARDTYPE_OF_HEADER(FrequenciesHeader, fftfreq)
SHARDTYPE_OF_HEADER(FrequenciesHeader, rfftfreq)
SHARDTYPE_OF_HEADER(FrequenciesHeader, fftshift)
SHARDTYPE_OF_HEADER(FrequenciesHeader, ifftshift)
SHARDTYPE_OF_HEADER(FourStepHeader, fft_four_step)
SHARDTYPE_OF_HEADER(FourStepHeader, ifft_four_step)
SHARDTYPE_OF_HEADER(PageHeader, to_html)
SHARDTYPE_OF_HEADER(PageHeader, write_html)

// Refused, A16: `psum<X>(a)`, names of others.
#define SHARDTYPE_OF_ANOTHER_NAME(name)                                               \
  template <class... Names>                                                           \
  constexpr auto name(checking::Anything const&, checking::Anything const& = {},      \
                      checking::Anything const& = {}, checking::Anything const& = {}, \
                      checking::Anything const& = {}) {                               \
    checking::refused<rules::Code::A16_another_name, false, Names...>{};              \
    return checking::Poisoned{};                                                      \
  }
SHARDTYPE_OF_ANOTHER_NAME(reshape)
SHARDTYPE_OF_ANOTHER_NAME(psum)
SHARDTYPE_OF_ANOTHER_NAME(jvp)

}  // namespace api

}  // namespace shardtype
