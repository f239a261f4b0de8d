// The plan of a pipeline's step whose layers have no static number.
// EXPECT: \[shardtype A05\] the plan of this function depends on an extent or a value that is known at run time only
// FORBID: Resolve<|basic_type
// NEEDS: full
#include <shardtype/pipeline/pipeline.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;
struct Stage : Axis<"Stage", 2> {};
struct M : Index<"M"> {};
#ifdef LEGAL
struct L : Index<"L", 4> {};
#else
struct L : Index<"L"> {};
#endif
struct B : Index<"B", 8> {};
struct D : Index<"D", 4> {};
using In = Tensor<float, Dim<M>, Dim<B>, Dim<D>>;
using W = Tensor<float, Dim<L, Stage>, Dim<D>>;
constexpr auto stage = [](auto const& x, auto const& w) { return x * at<L>(w, 0); };
constexpr auto loss = [](auto const& a, auto const& b) { return sum(square(a - b)); };
constexpr auto step = pipeline::value_and_grad<Stage, M>(pipeline::gpipe(2, 4), stage, loss);
auto ask() { return pipeline::plan(step, type<In>, type<In>, type<W>); }
