#pragma once
/// Random tensors. Every element is a pure function of the key, the parameters and the element's
/// row-major position in the global tensor, so the values are the same bits for every sharding,
/// number of ranks and order of mesh axes. None of these functions communicates. Needs Random123.
///
/// An unreduced sum holds its value on the first rank of each group and zeros on the others; an
/// unreduced maximum or minimum, and a reduced tensor, hold it on every rank, as in
/// tensor/create.hpp. Two tensors of one key are not independent: derive a key for each by `split`
/// or `fold_in`.
///
/// Refused: M01 an axis the mesh lacks, G01 an element type or dims that a distribution does not
/// support. Errors: E20 an extent that does not fit, E30 invalid parameters of a distribution.

// A user's global may have the name of a local variable of ours.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

// The sentences first: then compilers print no path of includes before them.
// clang-format off
#include <shardtype/check/sentences/access.hpp>
#include <shardtype/check/sentences/automatic.hpp>
#include <shardtype/check/sentences/fourier.hpp>
#include <shardtype/check/sentences/gradients.hpp>
#include <shardtype/check/sentences/indexing.hpp>
#include <shardtype/check/sentences/linear_algebra.hpp>
#include <shardtype/check/sentences/manual.hpp>
#include <shardtype/check/sentences/moves.hpp>
#include <shardtype/check/sentences/networks.hpp>
#include <shardtype/check/sentences/pointwise.hpp>
#include <shardtype/check/sentences/products.hpp>
#include <shardtype/check/sentences/shapes.hpp>
#include <shardtype/check/sentences/training.hpp>
#include <shardtype/check/sentences/types.hpp>
// clang-format on

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/check/misused.hpp>
#include <shardtype/random/categorical.hpp>
#include <shardtype/random/distributions.hpp>
#include <shardtype/random/key.hpp>
#include <shardtype/random/normal_below.hpp>
#include <shardtype/random/shuffle.hpp>
#include <shardtype/random/waiting_times.hpp>
#include <shardtype/tensor/create.hpp>
#include <shardtype/tensor/generated.hpp>

namespace shardtype {

namespace checking {
struct RandomHeader {};  // check/elsewhere.hpp
}  // namespace checking

namespace detail {

template <class T>
inline constexpr bool is_complex_element =
    std::is_same_v<T, Kokkos::complex<float>> || std::is_same_v<T, Kokkos::complex<double>>;

inline void check_parameters(bool good, char const* what) {
  if (!good) throw Error("E30", what, FailedOn::every_rank);
}

/// The largest number below `x`, which is no NaN.
template <class T>
T number_below(T x) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    std::uint16_t const bits = x.bits();
    return x == 0 ? -std::numeric_limits<T>::denorm_min()
                  : T::from_bits(static_cast<std::uint16_t>(x < 0 ? bits + 1 : bits - 1));
  } else {
    return std::nextafter(x, -std::numeric_limits<T>::infinity());
  }
}

template <class T>
inline constexpr bool is_integer_element =
    std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;

/// The numbers with which a permutation of 0, ..., n - 1 begins.
template <class A, class... Xs>
A first_of_permutation(runtime::MeshOf<Xs...> const& mesh, extents_of<A> const& extents,
                       RandomKey key, std::int64_t n) {
  using T = typename A::element;
  detail::check_parameters(n - 1 <= std::numeric_limits<T>::max(),
                           "permutation and choice need an element type that holds n - 1");
  using Network = random::Feistel<T>;
  if (n > Network::least) {
    Network const network(key.bits(), n);
    if constexpr (runtime::host_reads<typename A::execution_space>) {
      using Words = random::TabulatedWords;
      int const bits = network.high_bits;
      // a block of at least as many elements as a round has numbers
      if (bits <= Words::most_bits && extents[0] / mesh.size() >= std::int64_t{1} << bits) {
        auto const table = Words::table(network.words, bits, Network::rounds);
        return detail::generated<A>(mesh, extents,
                                    random::Feistel<T, Words>(network, Words{table.data(), bits}));
      }
    }
    return detail::generated<A>(mesh, extents, network);
  }
  detail::check_mesh_has_axes<A, Xs...>();
  A out = detail::uninitialized<A>(mesh, extents);
  std::vector<std::int64_t> const order = random::shuffled(key.bits(), n);
  detail::fill_from_host(out, [&](std::array<std::int64_t, 1> const& at) {
    return static_cast<T>(order[static_cast<std::size_t>(at[0])]);
  });
  return out;
}

}  // namespace detail

namespace api {

/// Uniform on [low, high), for float, double and bfloat16: low + (high - low) u, u a multiple of
/// 2^-24 (2^-53 for double). `uniform<float, Dim<I, X>, Dim<J>>(mesh, {1500, 1100}, RandomKey{7})`;
/// extents may be left out if the labels have static ones, here and below. Error E30 unless low <
/// high and high - low is finite.
template <class... Parts, class... Xs>
auto uniform(runtime::MeshOf<Xs...> const& mesh, detail::created_extents<Parts...> const& extents,
             RandomKey key, detail::created_element<Parts...> low = {},
             detail::created_element<Parts...> high = detail::created_element<Parts...>(1)) {
  using A = detail::created_t<Parts...>;
  using T = typename A::element;
  if constexpr (detail::is_real_floating<T>) {
    using Value = typename random::Uniform<T>::Value;
    Value const range = static_cast<Value>(high) - static_cast<Value>(low);
    detail::check_parameters(low < high && std::isfinite(range),
                             "uniform needs low < high, both finite and their difference, too");
    random::Uniform<T> const value{key.bits(), low, range, high, detail::number_below(high)};
    return detail::generated<A>(mesh, extents, value);
  } else {
    return checking::Poisoned(checking::refused<rules::Code::G01_no_such_distribution, false, A>{});
  }
}
template <class... Parts, class... Xs>
auto uniform(runtime::MeshOf<Xs...> const& mesh, RandomKey key,
             detail::created_element<Parts...> low = {},
             detail::created_element<Parts...> high = detail::created_element<Parts...>(1)) {
  return api::uniform<Parts...>(mesh, detail::label_extents<Parts...>(), key, low, high);
}

/// Normal, for float, double, bfloat16 and complex, by inversion, in float for float and bfloat16
/// (at most 8.3 deviations from the mean). Complex: the mean of |x - mean|^2 is deviation^2, shared
/// by the real and the imaginary part. Error E30 unless mean and deviation are finite and deviation
/// is not negative.
template <class... Parts, class... Xs>
auto normal(runtime::MeshOf<Xs...> const& mesh, detail::created_extents<Parts...> const& extents,
            RandomKey key, detail::created_element<Parts...> mean = {}, double deviation = 1.0) {
  using A = detail::created_t<Parts...>;
  using T = typename A::element;
  [[maybe_unused]] char const* const need =
      "normal needs a finite mean and a finite deviation of at least 0";
  [[maybe_unused]] auto const spread =
      static_cast<detail::real_of<detail::computed_t<T>>>(deviation);
  [[maybe_unused]] bool const good = std::isfinite(spread) && deviation >= 0;
  if constexpr (detail::is_real_floating<T>) {
    detail::check_parameters(good && std::isfinite(mean), need);
    using Value = typename random::Normal<T>::Value;
    random::Normal<T> const value{key.bits(), static_cast<Value>(mean), spread};
    return detail::generated<A>(mesh, extents, value);
  } else if constexpr (detail::is_complex_element<T>) {
    detail::check_parameters(good && std::isfinite(mean.real()) && std::isfinite(mean.imag()),
                             need);
    random::Normal<T> const value{
        key.bits(), mean.real(), mean.imag(),
        static_cast<detail::real_of<T>>(deviation * 0.70710678118654752440)};
    return detail::generated<A>(mesh, extents, value);
  } else {
    return checking::Poisoned(checking::refused<rules::Code::G01_no_such_distribution, false, A>{});
  }
}
template <class... Parts, class... Xs>
auto normal(runtime::MeshOf<Xs...> const& mesh, RandomKey key,
            detail::created_element<Parts...> mean = {}, double deviation = 1.0) {
  return api::normal<Parts...>(mesh, detail::label_extents<Parts...>(), key, mean, deviation);
}

/// Standard normal given that it lies in [low, high], for float, double and bfloat16; the ends may
/// be infinite. Error E30 unless low < high and the interval has a probability of at least 1e-300.
template <class... Parts, class... Xs>
auto truncated_normal(runtime::MeshOf<Xs...> const& mesh,
                      detail::created_extents<Parts...> const& extents, RandomKey key,
                      detail::created_element<Parts...> low,
                      detail::created_element<Parts...> high) {
  using A = detail::created_t<Parts...>;
  using T = typename A::element;
  if constexpr (detail::is_real_floating<T>) {
    double const below_low = random::normal_below(low);
    double const above_high = random::normal_below(-double{high});
    // computed from the smaller two, the difference is accurate
    double const inside = low > 0 ? random::normal_below(-double{low}) - above_high
                                  : random::normal_below(high) - below_low;
    detail::check_parameters(low < high && inside >= 1e-300,
                             "truncated_normal needs low < high, and an interval that is not so "
                             "far out or so narrow that its probability is 0 in double");
    random::TruncatedNormal<T> const value{key.bits(), low, high, below_low, above_high, inside};
    return detail::generated<A>(mesh, extents, value);
  } else {
    return checking::Poisoned(checking::refused<rules::Code::G01_no_such_distribution, false, A>{});
  }
}
template <class... Parts, class... Xs>
auto truncated_normal(runtime::MeshOf<Xs...> const& mesh, RandomKey key,
                      detail::created_element<Parts...> low,
                      detail::created_element<Parts...> high) {
  return api::truncated_normal<Parts...>(mesh, detail::label_extents<Parts...>(), key, low, high);
}

/// Exponential with this mean, for float, double and bfloat16; computed in double from 52 bits,
/// above 0. Error E30 unless the scale is finite and above 0. As rng.exponential.
template <class... Parts, class... Xs>
auto exponential(runtime::MeshOf<Xs...> const& mesh,
                 detail::created_extents<Parts...> const& extents, RandomKey key,
                 double scale = 1.0) {
  using A = detail::created_t<Parts...>;
  using T = typename A::element;
  if constexpr (detail::is_real_floating<T>) {
    detail::check_parameters(std::isfinite(scale) && scale > 0,
                             "exponential needs a finite scale above 0");
    return detail::generated<A>(mesh, extents, random::Exponential<T>{key.bits(), scale});
  } else {
    return checking::Poisoned(checking::refused<rules::Code::G01_no_such_distribution, false, A>{});
  }
}
template <class... Parts, class... Xs>
auto exponential(runtime::MeshOf<Xs...> const& mesh, RandomKey key, double scale = 1.0) {
  return api::exponential<Parts...>(mesh, detail::label_extents<Parts...>(), key, scale);
}

/// Gumbel: location - scale log(-log(u)), for float, double and bfloat16; computed in double.
/// `categorical` draws by it. Error E30 unless both are finite and the scale is above 0. As
/// rng.gumbel.
template <class... Parts, class... Xs>
auto gumbel(runtime::MeshOf<Xs...> const& mesh, detail::created_extents<Parts...> const& extents,
            RandomKey key, double location = 0.0, double scale = 1.0) {
  using A = detail::created_t<Parts...>;
  using T = typename A::element;
  if constexpr (detail::is_real_floating<T>) {
    detail::check_parameters(std::isfinite(location) && std::isfinite(scale) && scale > 0,
                             "gumbel needs a finite location, and a finite scale above 0");
    return detail::generated<A>(mesh, extents, random::Gumbel<T>{key.bits(), location, scale});
  } else {
    return checking::Poisoned(checking::refused<rules::Code::G01_no_such_distribution, false, A>{});
  }
}
template <class... Parts, class... Xs>
auto gumbel(runtime::MeshOf<Xs...> const& mesh, RandomKey key, double location = 0.0,
            double scale = 1.0) {
  return api::gumbel<Parts...>(mesh, detail::label_extents<Parts...>(), key, location, scale);
}

/// Gamma, of density x^(shape - 1) e^(-x) / Gamma(shape), times the scale, for float, double and
/// bfloat16; computed in double. A small shape gives numbers below the least one, which are 0.
/// Error E30 unless both are finite and above 0. As rng.gamma. Source: random/waiting_times.hpp.
template <class... Parts, class... Xs>
auto gamma(runtime::MeshOf<Xs...> const& mesh, detail::created_extents<Parts...> const& extents,
           RandomKey key, double shape, double scale = 1.0) {
  using A = detail::created_t<Parts...>;
  using T = typename A::element;
  if constexpr (detail::is_real_floating<T>) {
    detail::check_parameters(std::isfinite(shape) && shape > 0 && std::isfinite(scale) && scale > 0,
                             "gamma needs a finite shape and a finite scale, both above 0");
    return detail::generated<A>(mesh, extents, random::Gamma<T>{key.bits(), shape, scale});
  } else {
    return checking::Poisoned(checking::refused<rules::Code::G01_no_such_distribution, false, A>{});
  }
}
template <class... Parts, class... Xs>
auto gamma(runtime::MeshOf<Xs...> const& mesh, RandomKey key, double shape, double scale = 1.0) {
  return api::gamma<Parts...>(mesh, detail::label_extents<Parts...>(), key, shape, scale);
}

/// 1 with this probability (rounded up to a multiple of 2^-53), else 0, for every element type but
/// complex. Error E30 unless 0 <= probability <= 1.
template <class... Parts, class... Xs>
auto bernoulli(runtime::MeshOf<Xs...> const& mesh, detail::created_extents<Parts...> const& extents,
               RandomKey key, double probability) {
  using A = detail::created_t<Parts...>;
  using T = typename A::element;
  if constexpr (!detail::is_complex_element<T>) {
    detail::check_parameters(probability >= 0 && probability <= 1,
                             "bernoulli needs a probability from 0 to 1");
    random::Bernoulli<T> const value{key.bits(),
                                     static_cast<std::uint64_t>(std::ceil(probability * 0x1p53))};
    return detail::generated<A>(mesh, extents, value);
  } else {
    return checking::Poisoned(checking::refused<rules::Code::G01_no_such_distribution, false, A>{});
  }
}
template <class... Parts, class... Xs>
auto bernoulli(runtime::MeshOf<Xs...> const& mesh, RandomKey key, double probability) {
  return api::bernoulli<Parts...>(mesh, detail::label_extents<Parts...>(), key, probability);
}

/// Integers low, ..., high - 1, all exactly equally likely, for int32 and int64; both give the same
/// numbers. Error E30 unless low < high and all of them fit the element type.
template <class... Parts, class... Xs>
auto integers(runtime::MeshOf<Xs...> const& mesh, detail::created_extents<Parts...> const& extents,
              RandomKey key, std::int64_t low, std::int64_t high) {
  using A = detail::created_t<Parts...>;
  using T = typename A::element;
  if constexpr (detail::is_integer_element<T>) {
    detail::check_parameters(
        low < high && low >= std::numeric_limits<T>::min() &&
            high - 1 <= std::numeric_limits<T>::max(),
        "integers needs low < high, and low and high - 1 to fit the element type");
    auto const span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    random::Integers<T> const value{key.bits(), static_cast<std::uint64_t>(low), span,
                                    (0 - span) % span};
    return detail::generated<A>(mesh, extents, value);
  } else {
    return checking::Poisoned(checking::refused<rules::Code::G01_no_such_distribution, false, A>{});
  }
}
template <class... Parts, class... Xs>
auto integers(runtime::MeshOf<Xs...> const& mesh, RandomKey key, std::int64_t low,
              std::int64_t high) {
  return api::integers<Parts...>(mesh, detail::label_extents<Parts...>(), key, low, high);
}

/// A random permutation of 0, ..., n - 1, for int32 and int64 and one dim:
/// `permutation<std::int64_t, Dim<I, X>>(mesh, {n}, RandomKey{7})`. Each rank computes its own
/// block. Up to 1024 elements all permutations are equally likely; beyond, a Feistel network
/// generates one of 2^64. Error E30 if n - 1 does not fit the element type.
template <class... Parts, class... Xs>
auto permutation(runtime::MeshOf<Xs...> const& mesh,
                 detail::created_extents<Parts...> const& extents, RandomKey key) {
  using A = detail::created_t<Parts...>;
  if constexpr (detail::is_integer_element<typename A::element> && A::rank == 1) {
    return detail::first_of_permutation<A>(mesh, extents, key, extents[0]);
  } else {
    return checking::Poisoned(checking::refused<rules::Code::G01_no_such_distribution, false, A>{});
  }
}
template <class... Parts, class... Xs>
auto permutation(runtime::MeshOf<Xs...> const& mesh, RandomKey key) {
  return api::permutation<Parts...>(mesh, detail::label_extents<Parts...>(), key);
}

/// Different numbers below n in random order, for int32 and int64 and one dim:
/// `choice<std::int64_t, Dim<K, X>>(mesh, {8}, RandomKey{7}, n)` are 8, those with which the
/// permutation of n begins; `take<I>(a, choice<...>(...))` are as many rows of `a`, none twice.
/// Each rank computes its own block. Error E30 if n is less than the extent, or n - 1 does not fit
/// the element type.
template <class... Parts, class... Xs>
auto choice(runtime::MeshOf<Xs...> const& mesh, detail::created_extents<Parts...> const& extents,
            RandomKey key, std::int64_t n) {
  using A = detail::created_t<Parts...>;
  if constexpr (detail::is_integer_element<typename A::element> && A::rank == 1) {
    detail::check_parameters(extents[0] <= n,
                             "choice needs at least as many numbers as it chooses");
    return detail::first_of_permutation<A>(mesh, extents, key, n);
  } else {
    return checking::Poisoned(checking::refused<rules::Code::G01_no_such_distribution, false, A>{});
  }
}
template <class... Parts, class... Xs>
auto choice(runtime::MeshOf<Xs...> const& mesh, RandomKey key, std::int64_t n) {
  return api::choice<Parts...>(mesh, detail::label_extents<Parts...>(), key, n);
}

// Everyday mistakes (check/misused.hpp).
SHARDTYPE_NOT_CREATED(uniform)
SHARDTYPE_NOT_CREATED(normal)
SHARDTYPE_NOT_CREATED(truncated_normal)
SHARDTYPE_NOT_CREATED(exponential)
SHARDTYPE_NOT_CREATED(gumbel)
SHARDTYPE_NOT_CREATED(gamma)
SHARDTYPE_NOT_CREATED(bernoulli)
SHARDTYPE_NOT_CREATED(integers)
SHARDTYPE_NOT_CREATED(permutation)
SHARDTYPE_NOT_CREATED(choice)

}  // namespace api

}  // namespace shardtype

#pragma GCC diagnostic pop
