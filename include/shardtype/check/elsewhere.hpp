#pragma once
/// Refusals of calls whose function is in a header beside shardtype.hpp, or has another name here.
/// Only shardtype.hpp includes them. As in check/misused.hpp, any other function of the name is the
/// better match; where the header is included, they do not take part at all.

#include <shardtype/check/misused.hpp>
#include <shardtype/core/name.hpp>

namespace shardtype {

class RandomKey;  // #include <shardtype/random/random.hpp>

namespace checking {

// Headers, each of which completes its own.
struct RandomHeader;
struct FftHeader;
struct FrequenciesHeader;
struct FourStepHeader;
struct PageHeader;
struct TimelineHeader;
struct PngHeader;
struct ChoicesHeader;
struct SourceHeader;

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
SHARDTYPE_OF_HEADER(RandomHeader, exponential)
SHARDTYPE_OF_HEADER(RandomHeader, gumbel)
SHARDTYPE_OF_HEADER(RandomHeader, gamma)
SHARDTYPE_OF_HEADER(RandomHeader, categorical)
SHARDTYPE_OF_HEADER(RandomHeader, bernoulli)
SHARDTYPE_OF_HEADER(RandomHeader, integers)
SHARDTYPE_OF_HEADER(RandomHeader, permutation)
SHARDTYPE_OF_HEADER(RandomHeader, choice)
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
SHARDTYPE_OF_HEADER(TimelineHeader, to_svg)
SHARDTYPE_OF_HEADER(TimelineHeader, write_svg)
SHARDTYPE_OF_HEADER(PngHeader, save_png)
SHARDTYPE_OF_HEADER(ChoicesHeader, layout_choices)
SHARDTYPE_OF_HEADER(ChoicesHeader, explain_choices)
SHARDTYPE_OF_HEADER(SourceHeader, to_source)
// the same with the name of what is printed
template <core::FixedString Name, class... Names, class Header = checking::SourceHeader>
  requires checking::NotIncluded<Header>
constexpr auto to_source(checking::Anything const&, checking::Anything const& = {},
                         checking::Anything const& = {}, checking::Anything const& = {},
                         checking::Anything const& = {}, checking::Anything const& = {}) {
  checking::refused<rules::Code::A15_another_header, false, Header, Names...>{};
  return checking::Poisoned{};
}

// Refused, A16: `psum<X>(a)`, names of others.
#define SHARDTYPE_OF_ANOTHER_NAME(name)                                               \
  template <class... Names>                                                           \
  constexpr auto name(checking::Anything const&, checking::Anything const& = {},      \
                      checking::Anything const& = {}, checking::Anything const& = {}, \
                      checking::Anything const& = {}) {                               \
    checking::refused<rules::Code::A16_another_name, false, Names...>{};              \
    return checking::Poisoned{};                                                      \
  }
SHARDTYPE_OF_ANOTHER_NAME(psum)
SHARDTYPE_OF_ANOTHER_NAME(jvp)
// Refused, A19: `randn(...)`, `fft2<I, J>(a)`, names of random numbers and transforms.
#define SHARDTYPE_OF_NUMBERS(name) \
  SHARDTYPE_REFUSED_CALLS(name, A19_another_name_of_numbers, checking::Poisoned)
SHARDTYPE_OF_NUMBERS(randn)
SHARDTYPE_OF_NUMBERS(randint)
SHARDTYPE_OF_NUMBERS(randperm)
// NOLINTNEXTLINE(readability-identifier-naming): as JAX writes it
SHARDTYPE_OF_NUMBERS(PRNGKey)
SHARDTYPE_OF_NUMBERS(fft2)
SHARDTYPE_OF_NUMBERS(ifft2)
SHARDTYPE_OF_NUMBERS(rfft2)
SHARDTYPE_OF_NUMBERS(irfft2)

}  // namespace api

namespace random {

// Refused, A19: names of numpy.random, jax.random and torch.
SHARDTYPE_OF_NUMBERS(randn)
SHARDTYPE_OF_NUMBERS(rand)
SHARDTYPE_OF_NUMBERS(randint)
SHARDTYPE_OF_NUMBERS(randperm)
SHARDTYPE_OF_NUMBERS(normal)
SHARDTYPE_OF_NUMBERS(uniform)
SHARDTYPE_OF_NUMBERS(truncated_normal)
SHARDTYPE_OF_NUMBERS(standard_normal)
SHARDTYPE_OF_NUMBERS(bernoulli)
SHARDTYPE_OF_NUMBERS(integers)
SHARDTYPE_OF_NUMBERS(permutation)
SHARDTYPE_OF_NUMBERS(shuffle)
SHARDTYPE_OF_NUMBERS(choice)
SHARDTYPE_OF_NUMBERS(categorical)
SHARDTYPE_OF_NUMBERS(gumbel)
SHARDTYPE_OF_NUMBERS(exponential)
SHARDTYPE_OF_NUMBERS(gamma)
// NOLINTNEXTLINE(readability-identifier-naming): as JAX writes it
SHARDTYPE_OF_NUMBERS(PRNGKey)
SHARDTYPE_OF_NUMBERS(key)
SHARDTYPE_OF_NUMBERS(split)
SHARDTYPE_OF_NUMBERS(fold_in)
SHARDTYPE_OF_NUMBERS(seed)
SHARDTYPE_OF_NUMBERS(manual_seed)
SHARDTYPE_OF_NUMBERS(default_rng)

}  // namespace random

}  // namespace shardtype
