// Plans of a pipeline's step as constants: bytes of the moves, the head and the sums, with and
// without an embedding, and the cotangent of x; of the forward passes alone.
// NEEDS: full
#include <shardtype/pipeline/pipeline.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

struct Stage : Axis<"Stage", 2> {};
struct X : Axis<"X", 2> {};
struct M : Index<"M"> {};
struct C : Index<"C"> {};
struct L : Index<"L", 4> {};
struct B : Index<"B", 16> {};
struct D : Index<"D", 8> {};
struct H : Index<"H", 32> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using In = T<Dim<M>, Dim<B, X>, Dim<D>>;
using Gain = T<Dim<D>, Reduced<X>>;
using W1 = T<Dim<C>, Dim<L, Stage>, Dim<D>, Dim<H>, Reduced<X>>;
using W2 = T<Dim<C>, Dim<L, Stage>, Dim<H>, Dim<D>, Reduced<X>>;

constexpr auto embed = [](auto const& x, auto const& g) { return x * g; };
constexpr auto layers = [](auto const& x, auto const& w1, auto const& w2) {
  return loop(w1.template extent<L>(), x, [&](std::int64_t k, auto const& h) {
    return h + 0.5 * matmul(tanh(matmul(h, at<L>(w1, k))), at<L>(w2, k));
  });
};
constexpr auto loss = [](auto const& result, auto const& target, auto const& g) {
  return all_reduce<Mean, X>(mean(square(result * g - target)));
};

constexpr auto step =
    pipeline::value_and_grad<Stage, M, C>(pipeline::interleaved(2, 4, 2), embed, layers, loss);
constexpr auto of_step = pipeline::plan(step, type<In>, type<In>, type<Gain>, type<W1>, type<W2>);
static_assert(of_step.moves.block_bytes == 8 * 8 * 8);
static_assert(of_step.stage.bytes_per_rank() == 0);
// the loss, once forward for each microbatch; the gain's gradient stays unreduced along X
static_assert(of_step.head.bytes_per_rank() == 8);
static_assert(of_step.sums.bytes_per_rank() == 8 + 8 * 8);
static_assert(of_step.bytes_sent(0) == 4 * 3 * 512 + 72);

constexpr auto with_input = pipeline::value_and_grad<Stage, M, C>(
    pipeline::interleaved(2, 4, 2), layers,
    [](auto const& a, auto const& b) { return all_reduce<Mean, X>(mean(square(a - b))); },
    pipeline::input_grad);
constexpr auto of_input = pipeline::plan(with_input, type<In>, type<In>, type<W1>, type<W2>);
// of the batch's cotangent, broadcast along the stages: 4 microbatches of 8 x 8
static_assert(of_input.sums.bytes_per_rank() == 8 + 4 * 512);
// what a rank saves of each microbatch, and a step's time
static_assert(of_step.stored_bytes(1) ==
              pipeline::peak_stored(of_step.moves.schedule, 1) * of_step.stage.tape_bytes() +
                  3 * 512);
static_assert(of_step.peak_bytes(0) > of_step.given + of_step.stored_bytes(0));
static_assert(of_step.predict().seconds > 0 && of_step.predict().idle < 1);

// the forward passes alone: half of the moves, no gradients, nothing saved
constexpr auto evaluation =
    pipeline::evaluate<Stage, M, C>(pipeline::interleaved(2, 4, 2), embed, layers, loss);
constexpr auto of_evaluation =
    pipeline::plan(evaluation, type<In>, type<In>, type<Gain>, type<W1>, type<W2>);
static_assert(of_evaluation.moves.schedule ==
              pipeline::forward_only(pipeline::interleaved(2, 4, 2)));
static_assert(of_evaluation.bytes_sent(0) == 4 * 2 * 512 + 8);
static_assert(of_evaluation.bytes_sent(1) == 4 * 512 + 8 + 4 * 8);
static_assert(of_evaluation.stored_bytes(0) == 0 && of_evaluation.stored_bytes(1) == 0);
static_assert(of_evaluation.peak_bytes(1) < of_step.peak_bytes(1));
static_assert(of_evaluation.predict().seconds < of_step.predict().seconds);
// the results of the last stage, which the last rank broadcasts: 4 microbatches of 8 x 8
constexpr auto results = pipeline::forward<Stage, M, C>(pipeline::interleaved(2, 4, 2), layers);
constexpr auto of_results = pipeline::plan(results, type<In>, type<W1>, type<W2>);
static_assert(of_results.results == 4 * 512);
static_assert(of_results.bytes_sent(1) == 4 * 512 + 4 * 512);
