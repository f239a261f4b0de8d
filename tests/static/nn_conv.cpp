// NEEDS: full
// Convolutions and pools on types: results, refusals, plans of values and gradients.
#include <cstdint>
#include <type_traits>

#include <shardtype/nn/types_conv.hpp>
#include <shardtype/nn/types_pool.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X", 4> {};
struct Y : Axis<"Y", 2> {};
struct N : Index<"N", 6> {};
struct H : Index<"H", 32> {};
struct W : Index<"W", 20> {};
struct OH : Index<"OH", 16> {};
struct OW : Index<"OW"> {};
struct V : Index<"V", 16> {};
struct KH : Index<"KH", 3> {};
struct KW : Index<"KW", 5> {};
struct C : Index<"C", 8> {};
struct F : Index<"F", 10> {};
struct G : Index<"G", 2> {};
struct Long : Index<"Long", 40> {};

template <class... Parts>
using T = Tensor<float, Parts...>;
template <class Op, class... As>
using result = typename checking::Resolve<Op, As...>::result;
template <class Op, class... As>
inline constexpr auto code = checking::Resolve<Op, As...>::verdict.code;
using nn::Window, nn::WindowOptions, nn::Grouped;
using rules::Code;

using Rows = Window<H, KH, nn::same>;
using Columns = Window<W, KW, nn::same>;
using Same = op::Conv<Rows, Columns>;
using Images = T<Dim<N>, Dim<H, X>, Dim<W>, Dim<C>>;
using Kernel = T<Dim<KH>, Dim<KW>, Dim<C>, Dim<F>>;

// Dims in x's order, features in the place of channels; splits as of a product.
static_assert(std::is_same_v<result<Same, Images, Kernel>, T<Dim<N>, Dim<H, X>, Dim<W>, Dim<F>>>);
static_assert(std::is_same_v<result<Same, T<Dim<N, X>, Dim<C>, Dim<H>, Dim<W>>, Kernel>,
                             T<Dim<N, X>, Dim<F>, Dim<H>, Dim<W>>>);
static_assert(std::is_same_v<result<Same, T<Dim<N>, Dim<H>, Dim<W>, Dim<C, Y>>,
                                    T<Dim<KH>, Dim<KW>, Dim<C, Y>, Dim<F, X>>>,
                             T<Dim<N>, Dim<H>, Dim<W>, Dim<F, X>, Unreduced<Y>>>);
static_assert(std::is_same_v<result<Same, Images, T<Dim<KH>, Dim<KW>, Dim<C>, Dim<F>, Reduced<X>>>,
                             T<Dim<N>, Dim<H, X>, Dim<W>, Dim<F>>>);
static_assert(std::is_same_v<result<Same, T<Dim<N>, Dim<H>, Dim<W>, Dim<C>, Unreduced<X>>, Kernel>,
                             T<Dim<N>, Dim<H>, Dim<W>, Dim<F>, Unreduced<X>>>);
// Both dims of windows renamed, and groups: 10 indices.
static_assert(
    std::is_same_v<result<op::Conv<Window<H, KH, WindowOptions{.stride = 2, .before = 1}, OH>,
                                   Window<W, KW, nn::valid, OW>, Grouped<G>>,
                          T<Dim<N>, Dim<H, X>, Dim<W>, Dim<G, Y>, Dim<C>>,
                          T<Dim<KH>, Dim<G, Y>, Dim<KW>, Dim<C>, Dim<F>>>,
                   T<Dim<N>, Dim<OH, X>, Dim<OW>, Dim<G, Y>, Dim<F>>>);
// The cotangents: rows as those of x; a kernel as a sum over batches and rows.
static_assert(std::is_same_v<result<op::ConvTransposed<Rows, Columns>,
                                    T<Dim<N>, Dim<H, X>, Dim<W>, Dim<F>>, Kernel>,
                             Images>);
static_assert(
    std::is_same_v<result<op::ConvKernel<Rows, Columns>, T<Dim<N, Y>, Dim<H, X>, Dim<W>, Dim<C>>,
                          T<Dim<N, Y>, Dim<H, X>, Dim<W>, Dim<F>>>,
                   T<Dim<KH>, Dim<KW>, Dim<C>, Dim<F>, Unreduced<Y, X>>> ||
    std::is_same_v<result<op::ConvKernel<Rows, Columns>, T<Dim<N, Y>, Dim<H, X>, Dim<W>, Dim<C>>,
                          T<Dim<N, Y>, Dim<H, X>, Dim<W>, Dim<F>>>,
                   T<Dim<KH>, Dim<KW>, Dim<C>, Dim<F>, Unreduced<X, Y>>>);

// Refusals.
static_assert(code<op::Conv<Window<OH, KH>>, Images, Kernel> == Code::D01_no_such_index);
static_assert(code<op::Conv<Window<H, OW, nn::same>>, Images, Kernel> == Code::D24_window_labels);
static_assert(code<op::Conv<Grouped<C>>, Images, Kernel> == Code::D24_window_labels);
static_assert(code<op::Conv<Rows, Columns, Grouped<F>>, Images, Kernel> == Code::D24_window_labels);
static_assert(
    code<op::Conv<Window<H, KH, WindowOptions{.dilation = 0}>, Columns>, Images, Kernel> ==
    Code::D25_window_options);
static_assert(code<op::Conv<Window<H, KH, WindowOptions{.before = -1}>, Columns>, Images, Kernel> ==
              Code::D25_window_options);
static_assert(code<op::Conv<Window<H, KH, WindowOptions{.before = 1, .same = true}>, Columns>,
                   Images, Kernel> == Code::D25_window_options);
static_assert(code<op::Conv<Window<H, Long, nn::valid, OW>>, T<Dim<N>, Dim<H>, Dim<C>>,
                   T<Dim<Long>, Dim<C>, Dim<F>>> == Code::D27_window_too_long);
static_assert(code<op::Conv<Window<H, KH>, Columns>, Images, Kernel> == Code::D05_extent_changes);
static_assert(code<op::Conv<Window<H, KH, nn::valid, OH>, Columns>, Images, Kernel> ==
              Code::D06_extents_contradict);
static_assert(code<op::Conv<Window<H, KH, nn::same, C>, Columns>, Images, Kernel> ==
              Code::D02_index_taken);
static_assert(code<Same, Images, T<Dim<KH, Y>, Dim<KW>, Dim<C>, Dim<F>>> == Code::D03_along_split);
static_assert(code<Same, T<Dim<N>, Dim<H, Cyclic<X, 2>>, Dim<W>, Dim<C>>, Kernel> ==
              Code::B03_through_cyclic);
static_assert(code<Same, T<Dim<N>, Dim<H>, Dim<W>, Dim<C, Y>>, Kernel> == Code::C02_one_side_only);
static_assert(code<Same, Images, T<Dim<KH>, Dim<KW>, Dim<C>, Dim<F, X>>> ==
              Code::C04_axis_splits_two);
static_assert(code<Same, T<Dim<N>, Dim<H>, Dim<W>, Dim<C>, Unreduced<X>>,
                   T<Dim<KH>, Dim<KW>, Dim<C>, Dim<F>, Unreduced<X>>> == Code::C07_not_linear);
static_assert(code<Same, Images, Tensor<double, Dim<KH>, Dim<KW>, Dim<C>, Dim<F>>> ==
              Code::C10_element_types_differ);

// Plans: one exchange with a row to each side, which ranks at the ends have on one alone.
constexpr Plan same = plan(Same{}, type<Images>, type<Kernel>);
constexpr std::int64_t row = 6 * 20 * 8 * 4;
static_assert(same.count(Collective::neighbor) == 1 && same.collectives() == 1);
static_assert(same.bytes({{0}}) == row && same.bytes({{1}}) == 2 * row);
static_assert(same.local_flops == 2LL * 6 * 8 * 20 * 10 * 3 * 5 * 8);
// the result, fetched rows, messages and the copies of windows
static_assert(same.peak_bytes() - same.given_bytes() > (8 * 10 + 10 * 8) * row / 8);
static_assert(same.peak_bytes() - same.given_bytes() < (8 * 10 + 14 * 8) * row / 8 + (1 << 20));
// rows and columns that are split: the second exchange has the rows that came by the first one
using Tiles = T<Dim<N>, Dim<H, X>, Dim<W, Y>, Dim<C>>;
static_assert(std::is_same_v<result<Same, Tiles, Kernel>, T<Dim<N>, Dim<H, X>, Dim<W, Y>, Dim<F>>>);
constexpr Plan tiles = plan(Same{}, type<Tiles>, type<Kernel>);
static_assert(tiles.count(Collective::neighbor) == 2 && tiles.collectives() == 2);
static_assert(tiles.bytes({{0, 0}}) == (6 * 10 + 6 * 9 * 2) * 8 * 4);
static_assert(tiles.bytes({{1, 1}}) == (2 * 6 * 10 + 6 * 10 * 2) * 8 * 4);
constexpr Plan whole = plan(Same{}, type<T<Dim<N, X>, Dim<H>, Dim<W>, Dim<C>>>, type<Kernel>);
static_assert(whole.collectives() == 0);
// a stride of two reads rows of the own block and one before it
constexpr Plan strided =
    plan(op::Conv<Window<H, KH, WindowOptions{.stride = 2, .before = 1}, OH>, Columns>{},
         type<Images>, type<Kernel>);
static_assert(strided.bytes({{0}}) == row && strided.bytes({{3}}) == 0);

// Named results: operands are sliced as the result is, and gathered where the rule refuses them.
template <class... Out>
using NamedSame = op::Named<Same, Out...>;
using Named = NamedSame<Dim<N>, Dim<H, X>, Dim<W, Y>, Dim<F>>;
static_assert(std::is_same_v<result<Named, T<Dim<N>, Dim<H>, Dim<W>, Dim<C>>, Kernel>,
                             T<Dim<N>, Dim<H, X>, Dim<W, Y>, Dim<F>>>);
constexpr Plan sliced = plan(Named{}, type<T<Dim<N>, Dim<H>, Dim<W>, Dim<C>>>, type<Kernel>);
static_assert(sliced.bytes({{1, 1}}) == tiles.bytes({{1, 1}}) && sliced.collectives() == 2);
// a kernel that X splits is gathered, and x is not
constexpr Plan stored = plan(NamedSame<Dim<N>, Dim<H, X>, Dim<W>, Dim<F>>{}, type<Images>,
                             type<T<Dim<KH>, Dim<KW>, Dim<C, X>, Dim<F>>>);
static_assert(stored.count(Collective::all_gather) == 1 &&
              stored.count(Collective::neighbor) == 1 && stored.collectives() == 2);
constexpr Plan split_taps =
    plan(NamedSame<Dim<N>, Dim<H>, Dim<W>, Dim<F, X>>{}, type<T<Dim<N>, Dim<H>, Dim<W>, Dim<C>>>,
         type<T<Dim<KH, Y>, Dim<KW>, Dim<C>, Dim<F>>>);
static_assert(split_taps.collectives() == 1 &&
              split_taps.local_flops == 2LL * 6 * 32 * 20 * 3 * 3 * 5 * 8);
// another label of the result's dim, and more than eight labels
using Strided = op::Conv<Window<H, KH, WindowOptions{.stride = 2, .before = 1}, OH>,
                         Window<W, KW, nn::valid, V>>;
using NamedStrided = op::Named<Strided, Dim<OH, X>, Dim<N>, Dim<V>, Dim<F>>;
constexpr Plan halved = plan(NamedStrided{}, type<T<Dim<N>, Dim<H>, Dim<W>, Dim<C>>>, type<Kernel>);
static_assert(halved.count(Collective::neighbor) == 1 && halved.collectives() == 1);
static_assert(code<NamedSame<Dim<H>, Dim<F>>, Images, Kernel> == Code::R01_indices_differ);

// Pools: x's dims in their order, splits and states; sums through means alone.
using nn::Pool;
using Halves = op::MaxPool<Pool<H, 2, WindowOptions{.stride = 2}, OH>, Pool<W, 4, nn::same>>;
using Means = op::AvgPool<Pool<H, 3, nn::same>, Pool<W, 3, nn::same>>;
static_assert(std::is_same_v<result<Halves, T<Dim<N>, Dim<W>, Dim<H, X>, Dim<C, Y>>>,
                             T<Dim<N>, Dim<W>, Dim<OH, X>, Dim<C, Y>>>);
static_assert(
    std::is_same_v<result<Halves, T<Dim<H>, Dim<W>, Reduced<X>>>, T<Dim<OH>, Dim<W>, Reduced<X>>>);
static_assert(std::is_same_v<result<Means, T<Dim<H, X>, Dim<W>, Unreduced<Y>>>,
                             T<Dim<H, X>, Dim<W>, Unreduced<Y>>>);
static_assert(
    std::is_same_v<result<op::MaxPool<Pool<H, 2, nn::same>>, Tensor<std::int32_t, Dim<H>>>,
                   Tensor<std::int32_t, Dim<H>>>);
using Taps = Tensor<std::int32_t, Dim<OH, X>, Dim<C>, Reduced<Y>>;
using Back = op::MaxPoolBack<Pool<H, 2, WindowOptions{.stride = 2}, OH>>;
static_assert(std::is_same_v<result<Back, T<Dim<OH, X>, Dim<C>, Unreduced<Y>>, Taps>,
                             T<Dim<H, X>, Dim<C>, Unreduced<Y>>>);
static_assert(std::is_same_v<result<op::PoolTake<Pool<H, 2, WindowOptions{.stride = 2}, OH>>,
                                    T<Dim<H, X>, Dim<C>, Unreduced<Y>>, Taps>,
                             T<Dim<OH, X>, Dim<C>, Unreduced<Y>>>);
static_assert(code<Back, T<Dim<OH>, Dim<C>>, Taps> == Code::D12_dims_differ);

using Rows32 = T<Dim<H, X>, Dim<W>>;
static_assert(
    std::is_same_v<result<op::Named<Means, Dim<W>, Dim<H, Y>>, Rows32>, T<Dim<W>, Dim<H, Y>>>);
static_assert(code<op::MaxPool<Pool<N, 2, nn::same>>, Rows32> == Code::D01_no_such_index);
static_assert(code<op::MaxPool<Pool<H, 3, nn::same, W>>, Rows32> == Code::D02_index_taken);
static_assert(code<op::MaxPool<Pool<H, 2>>, Rows32> == Code::D05_extent_changes);
static_assert(code<op::MaxPool<Pool<H, 3, nn::valid, OH>>, Rows32> == Code::D06_extents_contradict);
static_assert(code<op::MaxPool<Pool<H, 2, nn::same>, Pool<H, 2, nn::same>>, Rows32> ==
              Code::T02_index_twice);
static_assert(code<op::AvgPool<>, Rows32> == Code::D24_window_labels);
static_assert(code<op::AvgPool<Pool<H, 0>>, Rows32> == Code::D25_window_options);
static_assert(code<op::AvgPool<Pool<H, 0, nn::same>>, Rows32> == Code::D25_window_options);
static_assert(code<op::AvgPool<Pool<H, 33>>, Rows32> == Code::D27_window_too_long);
static_assert(code<Means, T<Dim<H, Cyclic<X, 2>>, Dim<W>>> == Code::B03_through_cyclic);
static_assert(code<Halves, T<Dim<H, X>, Dim<W>, Unreduced<Y>>> == Code::P04_not_linear);
static_assert(code<Means, Tensor<std::int32_t, Dim<H>, Dim<W>>> == Code::P12_not_floating);
static_assert(code<Means, Tensor<Kokkos::complex<float>, Dim<H>, Dim<W>>> ==
              Code::P12_not_floating);
static_assert(code<Halves, Tensor<Kokkos::complex<float>, Dim<H>, Dim<W>>> == Code::S04_no_order);

// Plans: windows that end with a block fetch nothing, others the rows that are beyond it.
using Split = T<Dim<H, X>, Dim<W>, Dim<C>>;
constexpr std::int64_t line = 20 * 8 * 4;
constexpr Plan apart = plan(Halves{}, type<Split>);
static_assert(apart.bytes({{0}}) == 0 && apart.local_flops == 4 * 20 * 8 * 8);
constexpr Plan over = plan(Means{}, type<Split>);
static_assert(over.count(Collective::neighbor) == 1 && over.collectives() == 1);
static_assert(over.bytes({{0}}) == line && over.bytes({{1}}) == 2 * line);
// the result, fetched rows and messages
static_assert(over.peak_bytes() - over.given_bytes() == (8 + 10 + 4) * line);

}  // namespace
